"""Build the programs that Pulumi needs from pinned Go modules, where they are not on PATH.

``pulumi`` (the engine) and ``pulumi-resource-kubernetes`` (its Kubernetes provider) are built once into
``${XDG_CACHE_HOME:-~/.cache}/pulumi-volcano-jobs/<key>/bin``. The key of a tool covers its own pins and build
flags, so a change to one tool leaves the others alone. A tool that PATH has is used as it is.

On the command line::

    python tools/build.py                        # all tools
    python tools/build.py pulumi                 # one of them
    prefix=$(python tools/build.py --print-path)
    export PATH="${prefix:+$prefix:}$PATH"

From another script, ``ensure(["pulumi"], print)`` returns the directories to put first on PATH.

A new tool is a folder with go.mod and go.sum (and main.go, if its module lacks a package that builds), and an
entry in ``TOOLS``.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).resolve().parent
INTERVAL = 10.0
"""Seconds between two progress messages."""
LAST_LINES = 15
"""How many of Go's last lines an error shows."""


class BuildError(Exception):
    """A tool could not be provided; the message says why and what to do."""


@dataclass(frozen=True)
class Tool:
    """A program that is built from a pinned Go module."""

    name: str
    """The file name of the program."""
    folder: Path
    """Where its go.mod, go.sum and perhaps main.go lie."""
    module: str
    """The Go module that it is made from; go.mod pins the version."""
    package: str = "."
    """What to compile: a package of the module, or the folder's own main.go."""
    stamps: tuple[str, ...] = ()
    """Go variables to set when linking, as "package.Name={version}"."""
    stamped_version: str | None = None
    """The version to put into the stamps, if it is not the one in go.mod."""
    embeds: tuple[str, ...] = ()
    """Files of the module that main.go embeds and that are copied beside it."""
    minimum: tuple[int, ...] | None = None
    """The oldest version that is taken from PATH; the program must have a command "version"."""

    @property
    def pins(self) -> list[Path]:
        """The files that say what is built."""
        return sorted(path for path in self.folder.iterdir() if path.suffix in {".go", ".mod", ".sum"})

    @property
    def version(self) -> str:
        """The version that the program is given."""
        return self.stamped_version or _search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._go_mod())

    @property
    def go(self) -> str:
        """The oldest version of Go that go.mod allows."""
        return _search(r"^go (\S+)", self._go_mod())

    @property
    def title(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"

    @property
    def flags(self) -> list[str]:
        """The flags of go build: those that make the result small and the same wherever it is built."""
        link = ["-s", "-w"]
        for stamp in self.stamps:
            link += ["-X", stamp.format(version=self.version)]
        return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", " ".join(link)]

    @property
    def key(self) -> str:
        """The name of the folder in the cache: the tool, and a digest of all that the result depends on.

        The platform is Python's name for this machine and not Go's, so that a filled cache is of use without Go.
        """
        pins = [[path.name, path.read_text(encoding="utf-8")] for path in self.pins]
        parts = [pins, self.package, self.embeds, self.flags, platform.system(), platform.machine()]
        return f"{self.name}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"

    @property
    def built(self) -> Path:
        """Where the program lies once it is built."""
        return cache() / self.key / "bin" / self.name

    def _go_mod(self) -> str:
        return (self.folder / "go.mod").read_text(encoding="utf-8")


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="pulumi",
            folder=HERE / "pulumi",
            module="github.com/pulumi/pulumi/pkg/v3",
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",),
            # Replacement triggers, which the components rely on, are broken before.
            minimum=(3, 226),
        ),
        Tool(
            name="pulumi-resource-kubernetes",
            folder=HERE / "kubernetes-provider",
            module="github.com/pulumi/pulumi-kubernetes/provider/v4",
            stamps=("github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={version}",),
            # The pin is a commit between two releases, and its pseudo-version v4.0.0-2026… would sort before all
            # of them. This is the release that its own go.mod names, written without the "v", as releases write
            # it. The engine warns where pulumi_kubernetes is newer than this, and rightly: do not raise it alone.
            stamped_version="4.24.0",
            embeds=(
                "cmd/pulumi-resource-kubernetes/schema.json",
                "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
            ),
        ),
        Tool(
            name="pulumi-language-yaml",
            folder=HERE / "pulumi-language-yaml",
            module="github.com/pulumi/pulumi-yaml",
            package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
        ),
        Tool(
            name="sdkgen",
            folder=HERE / "sdkgen",
            module="github.com/pulumi/pulumi/pkg/v3",
        ),
        Tool(
            name="kube-apiserver",
            folder=HERE / "kubernetes",
            module="k8s.io/kubernetes",
            package="k8s.io/kubernetes/cmd/kube-apiserver",
            stamps=("k8s.io/component-base/version.gitVersion={version}",),
        ),
        Tool(
            name="kube-controller-manager",
            folder=HERE / "kubernetes",
            module="k8s.io/kubernetes",
            package="k8s.io/kubernetes/cmd/kube-controller-manager",
            stamps=("k8s.io/component-base/version.gitVersion={version}",),
        ),
        Tool(
            name="etcd",
            folder=HERE / "etcd",
            module="go.etcd.io/etcd/server/v3",
            package="go.etcd.io/etcd/server/v3",
        ),
        Tool(
            name="kwok",
            folder=HERE / "kwok",
            module="sigs.k8s.io/kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
        ),
    )
}


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


def cache() -> Path:
    """Return the folder that holds what has been built."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore a relative path.
    base = configured if configured.is_absolute() else Path.home() / ".cache"
    return base / "pulumi-volcano-jobs"


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


def _search(pattern: str, text: str) -> str:
    """Return the first group of a pattern that go.mod must have."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        msg = f"go.mod has no line like {pattern}"
        raise BuildError(msg)
    return found.group(1)


def _numbers(version: str) -> tuple[int, ...]:
    """Return (1, 26, 8) for "go1.26.8" or "v1.26.8-rc.1"; nothing for a text that is no version."""
    found = re.search(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, found.group().split("."))) if found else ()


def _duration(started: float) -> str:
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


if __name__ == "__main__":
    sys.exit(main())
