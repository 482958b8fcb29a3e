"""Build what the demo and the tests run from pinned Go modules (tools/pins.py), where it is not on PATH.

Each tool is built once, into ``${XDG_CACHE_HOME:-~/.cache}/pulumi-volcano-jobs/<key>/bin``. The key of a tool covers
its own pins and build flags, so a change to one tool leaves the others alone. A tool that PATH has is used as it is.

On the command line::

    python tools/build.py                        # all tools
    python tools/build.py pulumi                 # one of them
    prefix=$(python tools/build.py --print-path)
    export PATH="${prefix:+$prefix:}$PATH"

From another script, ``ensure(["pulumi"], print)`` returns the directories to put first on PATH.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pins import TOOLS, BuildError, Tool, cache  # a sibling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INTERVAL = 10.0
"""Seconds between two progress messages."""
LAST_LINES = 15
"""How many of Go's last lines an error shows."""


def ensure(names: Sequence[str], progress: Callable[[str], None]) -> list[Path]:
    """Build those of the named tools that neither PATH nor the cache has.

    Args:
        names: keys of TOOLS.
        progress: is called with each line to show; lines with the same start, up to a colon, update each other.

    Returns:
        The directories to put first on PATH; none for tools that PATH has already.

    Raises:
        BuildError: a name is unknown, Go is missing or too old, or a download or build failed.

    """
    ours = [tool for tool in _look_up(names) if not _is_on_path(tool, progress)]
    missing = [tool for tool in ours if not _is_program(tool.built)]
    for tool in missing:
        _check_go(tool)
    if missing:
        titles = " and ".join(tool.title for tool in missing)
        progress(f"building {titles} from Go modules, once: the first time, some minutes for each")
    for tool in missing:
        with _lock(tool, progress):
            # Another run may have built it while this one waited.
            if not _is_program(tool.built):
                _build(tool, progress)
    return [tool.built.parent for tool in ours]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        folders = ensure(options.tools or list(TOOLS), Display(sys.stderr))
    except (BuildError, OSError) as error:
        print(f"tools/build.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/build.py: stopped; what Go has compiled so far is kept", file=sys.stderr)
        return 128 + signal.SIGINT
    if options.print_path:
        print(os.pathsep.join(map(str, folders)))
    return 0


class Display:
    """Shows progress on a stream; on a terminal, a message replaces an earlier one with the same start."""

    def __init__(self, stream: TextIO) -> None:
        """Write to the given stream."""
        self._stream = stream
        self._rewrites = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._subject = ""

    def __call__(self, text: str) -> None:
        """Show one message."""
        subject, colon, _ = text.partition(": ")
        # A line that the terminal wraps cannot be taken back by going up one line.
        fits = len(text) < shutil.get_terminal_size().columns
        if self._rewrites and fits and colon and subject == self._subject:
            self._stream.write("\x1b[1A\x1b[2K")
        self._subject = subject if fits else ""
        print(text, file=self._stream, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Build the tools that are not on PATH, once, into a cache.")
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"one of {', '.join(TOOLS)} (default: all)")
    parser.add_argument("--print-path", action="store_true", help="print the directories to put first on PATH")
    return parser


def _look_up(names: Sequence[str]) -> list[Tool]:
    for name in names:
        if name not in TOOLS:
            msg = f"there is no tool {name!r}; there are {', '.join(TOOLS)}"
            raise BuildError(msg)
    return [TOOLS[name] for name in dict.fromkeys(names)]


def _is_on_path(tool: Tool, progress: Callable[[str], None]) -> bool:
    """Tell whether PATH has the tool, new enough; say so if it is too old."""
    found = shutil.which(tool.name)
    if found is None or tool.minimum is None:
        return found is not None
    said = _said_version(found)
    if _numbers(said) >= tool.minimum:
        return True
    wanted = ".".join(map(str, tool.minimum))
    progress(f"{found} is {said or 'of no known version'}, but {wanted} is needed: using {tool.version}, built here")
    return False


def _said_version(program: str) -> str:
    """Return what a program on PATH says its version is, or nothing if it does not run."""
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        run = subprocess.run([program, "version"], capture_output=True, env=environment, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.decode(errors="replace").strip()


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


@contextlib.contextmanager
def _lock(tool: Tool, progress: Callable[[str], None]) -> Iterator[None]:
    """Keep other runs from building the same tool; the system ends the lock even if this run is killed."""
    folder = cache() / tool.key
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another run that is building {tool.title}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_go(tool: Tool) -> None:
    """Raise BuildError unless there is a Go that can read the tool's go.mod."""
    needs = f"building {tool.title} needs Go {tool.go} or newer"
    cure = f"Install it from https://go.dev/dl/, or put your own {tool.name} on PATH."
    if shutil.which("go") is None:
        msg = f"{needs}, and no go is on PATH. {cure}"
        raise BuildError(msg)
    # Asked outside the source, where an old go would refuse go.mod before it answers.
    asked = subprocess.run(["go", "env", "GOVERSION", "GOTOOLCHAIN"], cwd="/", capture_output=True, check=False)
    version, toolchain, *_ = [*asked.stdout.decode().splitlines(), "", ""]
    # With any other GOTOOLCHAIN go itself fetches a newer one.
    if _numbers(version) < _numbers(tool.go) and toolchain in {"", "local"}:
        found = f"the go on PATH is {version or 'broken'} and fetches no newer one (GOTOOLCHAIN=local)"
        msg = f"{needs}; {found}. {cure}"
        raise BuildError(msg)


def _build(tool: Tool, progress: Callable[[str], None]) -> None:
    """Build a tool beside its final place and move it there when it is whole."""
    started = time.monotonic()
    with _scratch(cache() / tool.key / "build") as scratch:
        go = _Go(tool, scratch, progress)
        program = go.compile(go.download())
        tool.built.parent.mkdir(exist_ok=True)
        program.replace(tool.built)
    progress(f"built {tool.title} in {_duration(started)}: {tool.built}")


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Provide an empty folder and remove it afterwards, however the block ends."""
    # One name rather than a random one, so that what a killed run left is removed by the next.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Step:
    """What a run of go is for, as a person is told it."""

    what: str
    cure: str
    count: Callable[[list[str]], str]
    """Turns the lines that go has written to standard error into "3 of 7 packages"."""
    noise: frozenset[str] = frozenset()
    """Lines that explain nothing when go fails."""

    def failure(self, code: int, lines: list[str]) -> BuildError:
        """Return the error for a run that ended with this code."""
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        last = [f"    {line}" for line in lines if line and line not in self.noise][-LAST_LINES:]
        return BuildError("\n".join([f"{self.what} failed ({how}). The last lines of go:", *last, self.cure]))


class _Go:
    """The go commands that build one tool, run on a copy of its pins so that nothing in the checkout changes."""

    def __init__(self, tool: Tool, scratch: Path, progress: Callable[[str], None]) -> None:
        self._tool = tool
        self._source = scratch / "source"
        self._program = scratch / "program"
        self._temporary = scratch / "tmp"
        self._progress = progress

    def download(self) -> frozenset[str]:
        """Fetch the modules and return the packages to compile."""
        step = _Step(
            what=f"downloading the modules of {self._tool.title}",
            cure="Check the network and GOPROXY, then run this again: what has arrived is kept.",
            count=lambda lines: f"{sum(line.startswith('go: downloading ') for line in lines)} so far",
        )
        self._progress(step.what)
        self._copy_sources(step)
        # Unlike "go mod download" without a name, this fetches only what the build needs.
        return frozenset(self._run(step, "list", "-mod=readonly", "-deps", self._tool.package).split())

    def compile(self, packages: frozenset[str]) -> Path:
        """Compile and link, and return the program."""
        step = _Step(
            what=f"building {self._tool.title}",
            cure="Run this again: what go has compiled is kept. If memory ran out, set GOFLAGS=-p=1.",
            # With -v, go names each package that it compiles, and none that its own cache has.
            count=lambda lines: f"{len(packages.intersection(lines))} of {len(packages)} packages",
            noise=packages,
        )
        self._run(step, "build", "-v", *self._tool.flags, "-o", str(self._program), self._tool.package)
        return self._program

    def _copy_sources(self, step: _Step) -> None:
        self._source.mkdir()
        for path in self._tool.pins:
            shutil.copyfile(path, self._source / path.name)
        if self._tool.embeds:
            answer = self._run(step, "mod", "download", "-json", self._tool.module)
            module = Path(json.loads(answer)["Dir"])
            for name in self._tool.embeds:
                shutil.copyfile(module / name, self._source / Path(name).name)

    def _run(self, step: _Step, *arguments: str) -> str:
        """Run go on the source and return what it prints."""
        started = time.monotonic()
        process = subprocess.Popen(
            ["go", *arguments],
            cwd=self._source,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        watch = _watcher(step, started, self._progress)
        output, lines = _communicate(process, watch)
        if process.returncode != 0:
            raise step.failure(process.returncode, lines)
        return output

    def _environment(self) -> dict[str, str]:
        self._temporary.mkdir(exist_ok=True)
        # The tool runs on this machine, whatever the caller is cross-compiling for.
        kept = {name: value for name, value in os.environ.items() if name not in {"GOOS", "GOARCH"}}
        # Without cgo no C compiler is needed. A temporary folder of ours goes away with the scratch folder.
        return {**kept, "CGO_ENABLED": "0", "GOWORK": "off", "GOTMPDIR": str(self._temporary)}


def _watcher(step: _Step, started: float, progress: Callable[[str], None]) -> Callable[[list[str]], None]:
    return lambda lines: progress(f"{step.what}: {step.count(lines)}, {_duration(started)}")


def _communicate(process: subprocess.Popen[bytes], watch: Callable[[list[str]], None]) -> tuple[str, list[str]]:
    """Wait for a process, calling watch now and then with the lines on its standard error; return all output."""
    try:
        output, lines = _wait(process)
        while process.returncode is None:
            watch(lines)
            output, lines = _wait(process)
    except BaseException:
        # An interrupt lets go end its compilers; one typed at a terminal has reached it already.
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    return output, lines


def _wait(process: subprocess.Popen[bytes]) -> tuple[str, list[str]]:
    """Wait for the end of a process, but no longer than INTERVAL; return what it has printed so far."""
    try:
        output, errors = process.communicate(timeout=INTERVAL)
    except subprocess.TimeoutExpired as waiting:
        output, errors = b"", waiting.stderr or b""
    return output.decode(), errors.decode(errors="replace").splitlines()


def _numbers(version: str) -> tuple[int, ...]:
    """Return (1, 26, 8) for "go1.26.8" or "v1.26.8-rc.1"; nothing for a text that is no version."""
    found = re.search(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def _duration(started: float) -> str:
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


if __name__ == "__main__":
    sys.exit(main())
