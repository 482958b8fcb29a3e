"""Tests of tools/build.py: with a ``go`` that only pretends, so nothing is downloaded or compiled."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import build
import pins
import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "build.py"

GO_MOD = """\
module example.com/tools/engine

go 1.26.6

require (
	example.com/engine/sdk v9.9.9 // indirect
	example.com/engine v3.274.1 // indirect
)
"""

# Answers as go does, writes what it was asked to a log, and then does what a test has put into FAKE_GO.
FAKE_GO = """\
#!/bin/sh
echo "$*" >> "$FAKE_GO_LOG"
case "$1" in
env) echo "${FAKE_GO_VERSION:-go1.26.8}"; echo "${FAKE_GO_TOOLCHAIN:-local}" ;;
list) printf 'errors\\nexample.com/engine\\nexample.com/engine/cmd\\n' ;;
mod) printf '{"Dir": "%s"}' "$FAKE_GO_MODULE" ;;
esac
eval "$FAKE_GO"
while [ "$#" -gt 0 ]; do
  if [ "$1" = -o ]; then /bin/cp "$0" "$2"; fi
  shift
done
"""


class World:
    """A PATH with nothing but a pretended go, an empty cache, and one tool with pins of its own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Set it up below root."""
        self.root = root
        self.bin = root / "path"
        self.bin.mkdir()
        self.log = root / "go.log"
        self.said: list[str] = []
        self._monkeypatch = monkeypatch
        self.program("go", FAKE_GO)
        self.set(PATH=str(self.bin), XDG_CACHE_HOME=str(root / "cache"), FAKE_GO_LOG=str(self.log))
        monkeypatch.setattr(build, "TOOLS", {})
        self.tool = self.add_tool("engine")

    def set(self, **variables: str) -> None:
        """Set environment variables."""
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)

    def program(self, name: str, text: str) -> Path:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def add_tool(self, name: str, **settings: object) -> Any:
        """Put a tool into the table; its pins are its own."""
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text(GO_MOD)
        (folder / "go.sum").write_text(f"example.com/engine v3.274.1 h1:{name}=\n")
        tool = build.Tool(name=name, folder=folder, module="example.com/engine", **settings)
        self._monkeypatch.setitem(build.TOOLS, name, tool)
        return tool

    def ensure(self, *names: str) -> list[Path]:
        """Call ensure, keeping what it says."""
        result: list[Path] = build.ensure(names or list(build.TOOLS), self.said.append)
        return result

    def runs(self, command: str) -> list[str]:
        """Return how go was called with this command."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.split()[0] == command]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Provide a fresh World."""
    return World(tmp_path, monkeypatch)


class TestKey:
    """The name of a tool's folder in the cache."""

    @pytest.mark.parametrize("name", ["go.mod", "go.sum", "main.go"])
    def test_changes_with_each_pin(self, world: World, name: str) -> None:
        """A changed, or an added, pin gives a new key."""
        before = world.tool.key

        with (world.tool.folder / name).open("a") as pin:
            pin.write("// changed\n")

        assert before != world.tool.key

    @pytest.mark.parametrize("change", [{"stamps": ("a.B={version}",)}, {"package": "example.com/b"}])
    def test_changes_with_the_flags(self, world: World, change: dict[str, object]) -> None:
        """What go is told to build is part of the key."""
        assert dataclasses.replace(world.tool, **change).key != world.tool.key

    def test_changes_with_the_platform(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """A cache that two kinds of machine share keeps their programs apart."""
        before = world.tool.key

        monkeypatch.setattr(pins, "platform", SimpleNamespace(system=lambda: "Plan9", machine=lambda: "vax"))

        assert before != world.tool.key

    def test_is_per_tool(self, world: World) -> None:
        """A change to one tool builds that one again, and no other."""
        world.add_tool("provider")
        world.ensure()

        (world.tool.folder / "go.sum").write_text("")
        world.ensure()

        assert len(world.runs("build")) == 3


class TestEnsure:
    """What is built, and what is not."""

    def test_builds_into_the_cache(self, world: World) -> None:
        """A tool that is nowhere is built, and its folder is to be put on PATH."""
        (folder,) = world.ensure()

        assert world.root / "cache" / "pulumi-volcano-jobs" / world.tool.key / "bin" == folder
        assert [path.name for path in folder.iterdir()] == ["engine"]
        assert os.access(folder / "engine", os.X_OK)

    def test_leaves_nothing_else(self, world: World) -> None:
        """Sources and temporary files are gone after a build, and the checkout is as it was."""
        (folder,) = world.ensure()

        assert {"bin", "lock"} == {path.name for path in folder.parent.iterdir()}
        assert {"go.mod", "go.sum"} == {path.name for path in world.tool.folder.iterdir()}

    def test_second_time_builds_nothing(self, world: World) -> None:
        """What the cache has is used without a word, even where go is missing."""
        first = world.ensure()
        (world.bin / "go").unlink()
        world.said.clear()

        assert first == world.ensure()
        assert world.said == []

    def test_uses_a_tool_on_path(self, world: World) -> None:
        """A tool on PATH is used as it is."""
        world.program("engine", "")

        assert world.ensure() == []
        assert not world.log.exists()

    def test_names_a_tool_once(self, world: World) -> None:
        """A name that is given twice yields one folder."""
        assert len(world.ensure("engine", "engine")) == 1

    def test_pins_and_stamps(self, world: World) -> None:
        """Go may not change the pins, and the program is told the version that go.mod pins."""
        world.add_tool("engine", package="example.com/engine/cmd", stamps=("example.com/v.Version={version}",))

        world.ensure()

        (run,) = world.runs("build")
        assert "-mod=readonly -trimpath -buildvcs=false" in run
        assert "-X example.com/v.Version=v3.274.1 -o" in run
        assert run.endswith(" example.com/engine/cmd")

    def test_environment_of_the_build(self, world: World) -> None:
        """The caller's settings pass through, but the program is for this machine and needs no C compiler."""
        world.set(GOPROXY="off", GOARCH="vax", FAKE_GO=f'echo "$GOPROXY $GOARCH $CGO_ENABLED" > {world.root}/env')

        world.ensure()

        assert (world.root / "env").read_text() == "off  0\n"

    def test_copies_what_main_embeds(self, world: World) -> None:
        """Files that main.go embeds come from the module."""
        module = world.root / "module"
        (module / "cmd").mkdir(parents=True)
        (module / "cmd" / "schema.json").write_text("{}")
        world.add_tool("engine", embeds=("cmd/schema.json",))
        world.set(FAKE_GO_MODULE=str(module), FAKE_GO=f"[ $1 = build ] && /bin/cp schema.json {world.root}/seen")

        world.ensure()

        assert world.runs("mod") == ["mod download -json example.com/engine"]
        assert (world.root / "seen").read_text() == "{}"

    def test_two_runs_build_once(self, world: World) -> None:
        """A run that finds another one building waits, and uses what that one has built."""
        world.set(FAKE_GO="[ $1 = build ] && /bin/sleep 0.2")
        threads = [threading.Thread(target=world.ensure) for _ in range(2)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(world.runs("build")) == 1
        assert "waiting for another run that is building engine v3.274.1" in world.said

    def test_removes_what_a_killed_run_left(self, world: World) -> None:
        """A half-built program of an earlier run is in nobody's way."""
        left = world.tool.built.parents[1] / "build"
        left.mkdir(parents=True)
        (left / "program").write_text("half")

        world.ensure()

        assert not left.exists()


class TestOldPulumi:
    """A program on PATH that is older than what the library needs."""

    @pytest.mark.parametrize("said", ["v3.226.0", "v3.300.1-dev", "4.0.0"])
    def test_new_enough(self, world: World, said: str) -> None:
        """A version from the minimum on is used."""
        world.add_tool("engine", minimum=(3, 226))
        world.program("engine", f"#!/bin/sh\necho {said}\n")

        assert world.ensure() == []

    def test_too_old(self, world: World) -> None:
        """An older one is passed over, which one line says."""
        world.add_tool("engine", minimum=(3, 226))
        found = world.program("engine", "#!/bin/sh\necho v3.99.0\n")

        (folder,) = world.ensure()

        assert os.access(folder / "engine", os.X_OK)
        assert f"{found} is v3.99.0, but 3.226 is needed: using v3.274.1, built here" == world.said[0]

    @pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/no/such/interpreter\n"])
    def test_broken(self, world: World, text: str) -> None:
        """One that does not say its version is passed over too."""
        world.add_tool("engine", minimum=(3, 226))
        world.program("engine", text)

        assert len(world.ensure()) == 1
        assert "is of no known version" in world.said[0]


class TestProgress:
    """What a person sees meanwhile."""

    def test_messages(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """The time it will take comes first, then how far it is, then where the result lies."""
        monkeypatch.setattr(build, "INTERVAL", 0.05)
        world.set(FAKE_GO="[ $1 = build ] && { echo errors >&2; echo example.com/engine >&2; /bin/sleep 0.2; }")

        world.ensure()

        assert world.said[0] == "building engine v3.274.1 from Go modules, once: the first time, some minutes for each"
        assert world.said[1] == "downloading the modules of engine v3.274.1"
        assert "building engine v3.274.1: 2 of 3 packages, 0 s" in world.said
        assert f"built engine v3.274.1 in 0 s: {world.tool.built}" == world.said[-1]

    def test_duration(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From a minute on, minutes are shown."""
        monkeypatch.setattr(build, "time", SimpleNamespace(monotonic=lambda: 130.4))

        assert build._duration(0.0) == "2 min 10 s"
        assert build._duration(120.0) == "10 s"

    def test_terminal_rewrites_a_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """On a terminal a newer count takes the line of the older one, and other messages stay."""
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        written: list[str] = []
        stream = SimpleNamespace(isatty=lambda: True, write=written.append, flush=lambda: None)
        show = build.Display(stream)

        for text in ["building a: 1 of 3", "building a: 2 of 3", "built a: /a"]:
            show(text)

        assert "".join(written) == "building a: 1 of 3\n\x1b[1A\x1b[2Kbuilding a: 2 of 3\nbuilt a: /a\n"


class TestMain:
    """The command line."""

    def test_prints_the_path_only(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Standard output has the PATH prefix and nothing else."""
        provider = world.add_tool("provider")

        assert build.main(["--print-path"]) == 0

        printed = capsys.readouterr()
        assert f"{world.tool.built.parent}{os.pathsep}{provider.built.parent}\n" == printed.out
        assert "built provider" in printed.err

    def test_prints_nothing_unasked(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Without --print-path standard output stays empty."""
        assert build.main(["engine"]) == 0
        assert capsys.readouterr().out == ""
        assert len(world.runs("build")) == 1

    def fails(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
        """Run the command line, which must fail without a traceback, and return the message."""
        assert build.main(list(arguments)) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "Traceback" not in printed.err
        return printed.err

    def test_unknown_tool(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """An unknown name is answered with the known ones."""
        assert world.tool.name == "engine"
        assert "there is no tool 'motor'; there are engine" in self.fails(capsys, "motor")

    def test_go_is_missing(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Without go the message says which one to install, or what else to do."""
        (world.bin / "go").unlink()

        message = self.fails(capsys)

        assert "building engine v3.274.1 needs Go 1.26.6 or newer, and no go is on PATH." in message
        assert "https://go.dev/dl/, or put your own engine on PATH" in message

    @pytest.mark.parametrize("version", ["go1.26.5", "go1.25", "go1.26rc1", "unknown"])
    def test_go_is_too_old(self, world: World, capsys: pytest.CaptureFixture[str], version: str) -> None:
        """A go that is too old and may fetch no newer one is named."""
        world.set(FAKE_GO_VERSION=version)

        message = self.fails(capsys)

        assert f"the go on PATH is {version} and fetches no newer one (GOTOOLCHAIN=local)" in message
        assert world.runs("build") == []

    @pytest.mark.parametrize(
        ("version", "toolchain"), [("go1.25.1", "auto"), ("go1.27rc1", "local"), ("devel go1.28-1a2b", "local")]
    )
    def test_go_is_good_enough(self, world: World, version: str, toolchain: str) -> None:
        """A newer go is used, and so is one that fetches a newer one itself."""
        world.set(FAKE_GO_VERSION=version, FAKE_GO_TOOLCHAIN=toolchain)

        assert len(world.ensure()) == 1

    def test_download_fails(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """What go said about a failed download is shown, with what to do."""
        world.set(FAKE_GO="[ $1 = list ] && { echo 'go: dial tcp: no such host' >&2; exit 1; }")

        message = self.fails(capsys)

        assert "downloading the modules of engine v3.274.1 failed (exit code 1)" in message
        assert "    go: dial tcp: no such host\nCheck the network and GOPROXY" in message

    def test_build_fails(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Go's last lines are shown without the names of packages that compiled, and no half file is left."""
        failing = "echo errors >&2; echo '# engine' >&2; echo 'main.go:1: no disk' >&2; exit 2"
        world.set(FAKE_GO=f"[ $1 = build ] && {{ {failing}; }}")

        message = self.fails(capsys)

        assert "building engine v3.274.1 failed (exit code 2). The last lines of go:\n    # engine\n" in message
        assert "    main.go:1: no disk\nRun this again" in message
        assert [path.name for path in world.tool.built.parents[1].iterdir()] == ["lock"]

    def test_build_is_killed(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """A go that the system killed is told from one that failed."""
        world.set(FAKE_GO="[ $1 = build ] && kill -9 $$")

        assert "failed (ended by SIGKILL)" in self.fails(capsys)

    def test_cache_cannot_be_written(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """An error of the file system is told plainly."""
        (world.root / "cache").write_text("not a folder")

        assert "Not a directory" in self.fails(capsys)

    def test_interrupt(self, world: World) -> None:
        """Ctrl-C ends go, says so, and leaves neither a program nor the lock behind."""
        world.set(FAKE_GO="[ $1 = build ] && { kill -INT $PPID; exec /bin/sleep 20; }")

        run = subprocess.run(
            [sys.executable, SCRIPT, "pulumi"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            # A shell without job control lets what runs in its background ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

        assert run.returncode == 128 + signal.SIGINT
        assert run.stderr.endswith("tools/build.py: stopped; what Go has compiled so far is kept\n")
        (lock,) = (path for path in (world.root / "cache").rglob("*") if path.is_file())
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class TestTable:
    """The tools that there are."""

    @pytest.mark.parametrize("name", ["pulumi", "pulumi-resource-kubernetes"])
    def test_pins_can_be_read(self, name: str) -> None:
        """Each tool's go.mod says which version is built, and with which Go."""
        tool = build.TOOLS[name]

        assert build._numbers(tool.version) >= (3, 226)
        assert build._numbers(tool.go) >= (1, 25)
        assert any(f"={tool.version}" in flag for flag in tool.flags)

    def test_relative_cache_is_ignored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XDG_CACHE_HOME counts only if it is absolute, as its specification says."""
        monkeypatch.setenv("XDG_CACHE_HOME", "cache")

        assert Path.home() / ".cache" / "pulumi-volcano-jobs" == build.cache()
