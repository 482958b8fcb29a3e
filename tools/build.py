"""Build the tools of the demo and the tests from pinned Go modules (tools/pins.py), unless they are on PATH.

Each tool is built once, into ``${XDG_CACHE_HOME:-~/.cache}/pulumi-volcano-jobs/<key>/bin``. The key is a digest of the
pins and the build flags of the tool, so a change to one tool does not rebuild other tools. A tool on PATH is used
without a build.

On the command line::

    python tools/build.py                        # all tools
    python tools/build.py pulumi                 # one tool
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
"""The number of lines of Go's output in an error."""


def ensure(names: Sequence[str], progress: Callable[[str], None]) -> list[Path]:
    """Build the named tools that are neither on PATH nor in the cache.

    Args:
        names: keys of TOOLS.
        progress: function that shows a line. A line replaces the previous one if both have the same text up to a colon.

    Returns:
        The directories to put first on PATH. Tools that are already on PATH have none.

    Raises:
        BuildError: if a name is unknown, Go is missing or too old, or a download or build failed.

    """
    ours = [tool for tool in _look_up(names) if not _is_on_path(tool, progress)]
    missing = [tool for tool in ours if not _is_program(tool.built)]
    for tool in missing:
        _check_go(tool)
    if missing:
        titles = " and ".join(tool.title for tool in missing)
        progress(f"building {titles} from Go modules (only once, a few minutes for each)")
    for tool in missing:
        with _lock(tool, progress):
            # Another run may have built it while this run waited.
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
        print("tools/build.py: stopped; compiled packages are kept", file=sys.stderr)
        return 128 + signal.SIGINT
    if options.print_path:
        print(os.pathsep.join(map(str, folders)))
    return 0


class Display:
    """Progress messages on a stream. On a terminal, a message replaces the previous one about the same subject."""

    def __init__(self, stream: TextIO) -> None:
        """Create a display that writes to a stream."""
        self._stream = stream
        self._rewrites = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._subject = ""

    def __call__(self, text: str) -> None:
        """Show one message."""
        subject, colon, _ = text.partition(": ")
        # A line that the terminal wraps cannot be erased by moving up one line.
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
            msg = f"unsupported tool {name!r}: supported tools: {', '.join(TOOLS)}"
            raise BuildError(msg)
    return [TOOLS[name] for name in dict.fromkeys(names)]


def _is_on_path(tool: Tool, progress: Callable[[str], None]) -> bool:
    """Check whether a tool is on PATH and new enough. Report a tool that is too old."""
    found = shutil.which(tool.name)
    if found is None or tool.minimum is None:
        return found is not None
    said = _said_version(found)
    if _numbers(said) >= tool.minimum:
        return True
    wanted = ".".join(map(str, tool.minimum))
    progress(f"{found} is {said or 'of unknown version'}, but {wanted} is required: building {tool.version}")
    return False


def _said_version(program: str) -> str:
    """Return the output of a program's `version` command, or nothing if it does not run."""
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
    """Lock a tool so that no other run builds it. The system releases the lock even if this run is killed."""
    folder = cache() / tool.key
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another run that builds {tool.title}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _check_go(tool: Tool) -> None:
    """Check that the version of Go supports the tool's go.mod.

    Raises:
        BuildError: if Go is missing or too old.
    """
    needs = f"building {tool.title} requires Go {tool.go} or newer"
    cure = f"Install Go from https://go.dev/dl/, or put {tool.name} on PATH."
    if shutil.which("go") is None:
        msg = f"{needs}, but go is not on PATH. {cure}"
        raise BuildError(msg)
    # Run outside the source: an old go rejects go.mod before it prints its version.
    asked = subprocess.run(["go", "env", "GOVERSION", "GOTOOLCHAIN"], cwd="/", capture_output=True, check=False)
    version, toolchain, *_ = [*asked.stdout.decode().splitlines(), "", ""]
    # With any other GOTOOLCHAIN, go downloads a newer version.
    if _numbers(version) < _numbers(tool.go) and toolchain in {"", "local"}:
        found = f"the go on PATH is {version or 'broken'} and does not download a newer version (GOTOOLCHAIN=local)"
        msg = f"{needs}; {found}. {cure}"
        raise BuildError(msg)


def _build(tool: Tool, progress: Callable[[str], None]) -> None:
    """Build a tool in a scratch folder, and move the complete program to its final path."""
    started = time.monotonic()
    with _scratch(cache() / tool.key / "build") as scratch:
        go = _Go(tool, scratch, progress)
        program = go.compile(go.download())
        tool.built.parent.mkdir(exist_ok=True)
        program.replace(tool.built)
    progress(f"built {tool.title} in {_duration(time.monotonic() - started)}: {tool.built}")


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Create an empty folder, and remove it at the end of the block."""
    # The name is fixed, so that a run removes the folder of an earlier run that was killed.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Step:
    """The description of a run of go, for messages."""

    what: str
    cure: str
    count: Callable[[list[str]], int]
    """Function that returns how much is done from the lines of go on standard error."""
    unit: str
    """The text after the count, such as "of 700 packages"."""
    total: int = 0
    """The count at the end, if it is known."""
    noise: frozenset[str] = frozenset()
    """Lines to leave out of an error."""

    def failure(self, code: int, lines: list[str]) -> BuildError:
        """Return the error for a run that ended with an exit code."""
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        last = [f"    {line}" for line in lines if line and line not in self.noise][-LAST_LINES:]
        return BuildError("\n".join([f"{self.what} failed ({how}). The last lines of go:", *last, self.cure]))


class _Go:
    """The go commands that build one tool. They run on a copy of its pins, so the checkout does not change."""

    def __init__(self, tool: Tool, scratch: Path, progress: Callable[[str], None]) -> None:
        self._tool = tool
        self._source = scratch / "source"
        self._program = scratch / "program"
        self._temporary = scratch / "tmp"
        self._progress = progress

    def download(self) -> frozenset[str]:
        """Download the modules, and return the packages to compile."""
        step = _Step(
            what=f"downloading the modules of {self._tool.title}",
            cure="Check the network and GOPROXY, then run this again: downloaded modules are kept.",
            count=lambda lines: sum(line.startswith("go: downloading ") for line in lines),
            unit="so far",
        )
        self._progress(step.what)
        self._copy_sources(step)
        # Unlike "go mod download" without a module, this downloads only the modules that the build needs.
        return frozenset(self._run(step, "list", "-mod=readonly", "-deps", self._tool.package).split())

    def compile(self, packages: frozenset[str]) -> Path:
        """Compile and link the tool, and return the path of the program."""
        step = _Step(
            what=f"building {self._tool.title}",
            cure="Run this again: compiled packages are kept. If memory ran out, set GOFLAGS=-p=1.",
            # With -v, go prints each package that it compiles, but no package that is in its cache.
            count=lambda lines: len(packages.intersection(lines)),
            unit=f"of {len(packages)} packages",
            total=len(packages),
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
        """Run go on the source, and return its standard output."""
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
        # The tool runs on this machine, even if the caller cross-compiles.
        kept = {name: value for name, value in os.environ.items() if name not in {"GOOS", "GOARCH"}}
        # cgo would need a C compiler. The temporary folder is removed together with the scratch folder.
        return {**kept, "CGO_ENABLED": "0", "GOWORK": "off", "GOTMPDIR": str(self._temporary)}


def _watcher(step: _Step, started: float, progress: Callable[[str], None]) -> Callable[[list[str]], None]:
    def watch(lines: list[str]) -> None:
        count, seconds = step.count(lines), time.monotonic() - started
        progress(f"{step.what}: {count} {step.unit}, {_duration(seconds)}{_estimate(count, step.total, seconds)}")

    return watch


def _estimate(count: int, total: int, seconds: float) -> str:
    """Return how long the rest takes at the same speed, once a tenth is done."""
    if not 0 < total <= 10 * count:
        return ""
    return f" (about {_duration((total - count) * seconds / count)} left)"


def _communicate(process: subprocess.Popen[bytes], watch: Callable[[list[str]], None]) -> tuple[str, list[str]]:
    """Wait for a process, and return its output. Call `watch` at intervals with the lines on its standard error."""
    try:
        output, lines = _wait(process)
        while process.returncode is None:
            watch(lines)
            output, lines = _wait(process)
    except BaseException:
        # On an interrupt, go ends its compilers. After Ctrl-C in a terminal, go has already received it.
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    return output, lines


def _wait(process: subprocess.Popen[bytes]) -> tuple[str, list[str]]:
    """Wait for a process for up to INTERVAL seconds, and return its output so far."""
    try:
        output, errors = process.communicate(timeout=INTERVAL)
    except subprocess.TimeoutExpired as waiting:
        output, errors = b"", waiting.stderr or b""
    return output.decode(), errors.decode(errors="replace").splitlines()


def _numbers(version: str) -> tuple[int, ...]:
    """Return (1, 26, 8) for "go1.26.8" or "v1.26.8-rc.1", and () for a text without a version."""
    found = re.search(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def _duration(duration: float) -> str:
    minutes, seconds = divmod(round(duration), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


if __name__ == "__main__":
    sys.exit(main())
