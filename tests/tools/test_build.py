"""Tests of tools/build.py with a fake ``go``, so nothing is downloaded or compiled."""

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

from tests.deadlines import DEADLINE

SCRIPT = Path(__file__).parents[2] / "tools" / "build.py"
# Shells without job control let background processes ignore Ctrl-C. `preexec_fn` would run code in a fork of this
# process, where gRPC aborts if another test has used it.
WITH_CTRL_C = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""

GO_MOD = """\
module example.com/tools/engine

go 1.26.6

require (
	example.com/engine/sdk v9.9.9 // indirect
	example.com/engine v3.274.1 // indirect
)
"""

# Responds like go, logs its arguments, and then runs the code in FAKE_GO.
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
    """A PATH with only a fake go, an empty cache, and a tool with its own pins."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Create it in a folder."""
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
        """Add a program to PATH."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def add_tool(self, name: str, **settings: object) -> Any:
        """Add a tool with its own pins to the table."""
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text(GO_MOD)
        (folder / "go.sum").write_text(f"example.com/engine v3.274.1 h1:{name}=\n")
        tool = build.Tool(name=name, folder=folder, module="example.com/engine", **settings)
        self._monkeypatch.setitem(build.TOOLS, name, tool)
        return tool

    def ensure(self, *names: str) -> list[Path]:
        """Call ensure, and record its messages."""
        result: list[Path] = build.ensure(names or list(build.TOOLS), self.said.append)
        return result

    def runs(self, command: str) -> list[str]:
        """Return the calls of go with this command."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.split()[0] == command]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Provide a new World."""
    return World(tmp_path, monkeypatch)


class TestKey:
    """Name of a tool's folder in the cache."""

    @pytest.mark.parametrize("name", ["go.mod", "go.sum", "main.go"])
    def test_key_changes_with_each_pin(self, world: World, name: str) -> None:
        """A changed or added pin gives a new key."""
        before = world.tool.key

        with (world.tool.folder / name).open("a") as pin:
            pin.write("// changed\n")

        assert before != world.tool.key

    @pytest.mark.parametrize("change", [{"stamps": ("a.B={version}",)}, {"package": "example.com/b"}])
    def test_key_changes_with_the_build_flags(self, world: World, change: dict[str, object]) -> None:
        """The arguments of go are part of the key."""
        assert dataclasses.replace(world.tool, **change).key != world.tool.key

    def test_key_changes_with_the_platform(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """Machines of different platforms can share a cache."""
        before = world.tool.key

        monkeypatch.setattr(pins, "platform", SimpleNamespace(system=lambda: "Plan9", machine=lambda: "vax"))

        assert before != world.tool.key

    def test_key_is_per_tool(self, world: World) -> None:
        """A change of one tool does not rebuild other tools."""
        world.add_tool("provider")
        world.ensure()

        (world.tool.folder / "go.sum").write_text("")
        world.ensure()

        assert len(world.runs("build")) == 3


class TestEnsure:
    """Conditions for a build."""

    def test_ensure_builds_a_missing_tool_into_the_cache(self, world: World) -> None:
        """Its folder is added to PATH."""
        (folder,) = world.ensure()

        assert world.root / "cache" / "pulumi-volcano-jobs" / world.tool.key / "bin" == folder
        assert [path.name for path in folder.iterdir()] == ["engine"]
        assert os.access(folder / "engine", os.X_OK)

    def test_ensure_leaves_no_other_files(self, world: World) -> None:
        """Sources and temporary files are deleted, and the checkout is unchanged."""
        (folder,) = world.ensure()

        assert {"bin", "lock"} == {path.name for path in folder.parent.iterdir()}
        assert {"go.mod", "go.sum"} == {path.name for path in world.tool.folder.iterdir()}

    def test_ensure_uses_the_cache(self, world: World) -> None:
        """No message is printed, and go is not needed."""
        first = world.ensure()
        (world.bin / "go").unlink()
        world.said.clear()

        assert first == world.ensure()
        assert world.said == []

    def test_ensure_uses_a_tool_on_path(self, world: World) -> None:
        """Nothing is built."""
        world.program("engine", "")

        assert world.ensure() == []
        assert not world.log.exists()

    def test_ensure_returns_a_folder_once(self, world: World) -> None:
        """The name is passed twice."""
        assert len(world.ensure("engine", "engine")) == 1

    def test_a_build_keeps_the_pins_and_sets_the_version(self, world: World) -> None:
        """The version in the program is that of go.mod."""
        world.add_tool("engine", package="example.com/engine/cmd", stamps=("example.com/v.Version={version}",))

        world.ensure()

        (run,) = world.runs("build")
        assert "-mod=readonly -trimpath -buildvcs=false" in run
        assert "-X example.com/v.Version=v3.274.1 -o" in run
        assert run.endswith(" example.com/engine/cmd")

    def test_a_build_is_for_this_machine_without_cgo(self, world: World) -> None:
        """Other environment variables of the caller are kept."""
        world.set(GOPROXY="off", GOARCH="vax", FAKE_GO=f'echo "$GOPROXY $GOARCH $CGO_ENABLED" > {world.root}/env')

        world.ensure()

        assert (world.root / "env").read_text() == "off  0\n"

    def test_a_build_copies_embedded_files(self, world: World) -> None:
        """Files that main.go embeds are in the module."""
        module = world.root / "module"
        (module / "cmd").mkdir(parents=True)
        (module / "cmd" / "schema.json").write_text("{}")
        world.add_tool("engine", embeds=("cmd/schema.json",))
        world.set(FAKE_GO_MODULE=str(module), FAKE_GO=f"[ $1 = build ] && /bin/cp schema.json {world.root}/seen")

        world.ensure()

        assert world.runs("mod") == ["mod download -json example.com/engine"]
        assert (world.root / "seen").read_text() == "{}"

    def test_parallel_runs_build_once(self, world: World) -> None:
        """The second run waits and uses the program of the first one."""
        world.set(FAKE_GO="[ $1 = build ] && /bin/sleep 0.2")
        threads = [threading.Thread(target=world.ensure) for _ in range(2)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(world.runs("build")) == 1
        assert "waiting for another run that builds engine v3.274.1" in world.said

    def test_a_build_removes_files_of_a_killed_run(self, world: World) -> None:
        """An incomplete program does not stop the next run."""
        left = world.tool.built.parents[1] / "build"
        left.mkdir(parents=True)
        (left / "program").write_text("half")

        world.ensure()

        assert not left.exists()


class TestOldPulumi:
    """A program on PATH that is older than the minimum version."""

    @pytest.mark.parametrize("said", ["v3.226.0", "v3.300.1-dev", "4.0.0"])
    def test_a_new_program_on_path_is_used(self, world: World, said: str) -> None:
        """Versions from the minimum on are accepted."""
        world.add_tool("engine", minimum=(3, 226))
        world.program("engine", f"#!/bin/sh\necho {said}\n")

        assert world.ensure() == []

    def test_an_old_program_on_path_is_ignored(self, world: World) -> None:
        """A message names its version."""
        world.add_tool("engine", minimum=(3, 226))
        found = world.program("engine", "#!/bin/sh\necho v3.99.0\n")

        (folder,) = world.ensure()

        assert os.access(folder / "engine", os.X_OK)
        assert f"{found} is v3.99.0, but 3.226 is required: building v3.274.1" == world.said[0]

    @pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/no/such/interpreter\n"])
    def test_a_program_without_a_version_is_ignored(self, world: World, text: str) -> None:
        """A message names it."""
        world.add_tool("engine", minimum=(3, 226))
        world.program("engine", text)

        assert len(world.ensure()) == 1
        assert "is of unknown version" in world.said[0]


class TestProgress:
    """Progress messages."""

    def test_a_build_prints_duration_progress_and_result(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """The messages are in this order. The build ends after its progress was shown."""
        monkeypatch.setattr(build, "INTERVAL", 0.05)
        monkeypatch.setattr(build, "time", SimpleNamespace(monotonic=lambda: 0.0))
        shown = world.root / "shown"
        waits = f"until [ -e {shown} ]; do /bin/sleep 0.01; done"
        world.set(FAKE_GO=f"[ $1 = build ] && {{ echo errors >&2; echo example.com/engine >&2; {waits}; }}")

        def progress(text: str) -> None:
            world.said.append(text)
            if "2 of 3 packages" in text:
                shown.touch()

        build.ensure(["engine"], progress)

        assert world.said[0] == "building engine v3.274.1 from Go modules (only once, a few minutes for each)"
        assert world.said[1] == "downloading the modules of engine v3.274.1"
        assert "building engine v3.274.1: 2 of 3 packages, 0 s (about 0 s left)" in world.said
        assert f"built engine v3.274.1 in 0 s: {world.tool.built}" == world.said[-1]

    def test_durations_from_a_minute_on_are_in_minutes(self) -> None:
        """Shorter ones are in seconds."""
        assert build._duration(130.4) == "2 min 10 s"
        assert build._duration(10.4) == "10 s"

    @pytest.mark.parametrize(
        ("count", "total", "text"),
        [(9, 100, ""), (10, 100, " (about 4 min 30 s left)"), (75, 100, " (about 10 s left)"), (7, 0, "")],
    )
    def test_the_estimate_begins_when_a_tenth_is_done(self, count: int, total: int, text: str) -> None:
        """It assumes that the rest takes as long in proportion; a download has no known end."""
        assert build._estimate(count, total, 30) == text

    def test_a_terminal_shows_only_the_last_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other messages are kept."""
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

    def test_print_path_prints_only_the_path_prefix(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Standard output can be used in a shell."""
        provider = world.add_tool("provider")

        assert build.main(["--print-path"]) == 0

        printed = capsys.readouterr()
        assert f"{world.tool.built.parent}{os.pathsep}{provider.built.parent}\n" == printed.out
        assert "built provider" in printed.err

    def test_without_print_path_standard_output_is_empty(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Messages are on standard error."""
        assert build.main(["engine"]) == 0
        assert capsys.readouterr().out == ""
        assert len(world.runs("build")) == 1

    def fails(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
        """Run the command line, check that it fails without a traceback, and return the message."""
        assert build.main(list(arguments)) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "Traceback" not in printed.err
        return printed.err

    def test_an_unknown_tool_is_rejected(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """The message lists the tools."""
        assert world.tool.name == "engine"
        assert "unsupported tool 'motor': supported tools: engine" in self.fails(capsys, "motor")

    def test_a_missing_go_is_an_error(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """The message has the version to install, and the alternative."""
        (world.bin / "go").unlink()

        message = self.fails(capsys)

        assert "building engine v3.274.1 requires Go 1.26.6 or newer, but go is not on PATH." in message
        assert "https://go.dev/dl/, or put engine on PATH" in message

    @pytest.mark.parametrize("version", ["go1.26.5", "go1.25", "go1.26rc1", "unknown"])
    def test_an_old_go_is_an_error(self, world: World, capsys: pytest.CaptureFixture[str], version: str) -> None:
        """GOTOOLCHAIN does not allow it to download a newer one."""
        world.set(FAKE_GO_VERSION=version)

        message = self.fails(capsys)

        assert f"the go on PATH is {version} and does not download a newer version (GOTOOLCHAIN=local)" in message
        assert world.runs("build") == []

    @pytest.mark.parametrize(
        ("version", "toolchain"), [("go1.25.1", "auto"), ("go1.27rc1", "local"), ("devel go1.28-1a2b", "local")]
    )
    def test_a_new_go_is_used(self, world: World, version: str, toolchain: str) -> None:
        """An old one that can download a newer one is also used."""
        world.set(FAKE_GO_VERSION=version, FAKE_GO_TOOLCHAIN=toolchain)

        assert len(world.ensure()) == 1

    def test_a_failed_download_shows_the_output_of_go(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """The message has the fix."""
        world.set(FAKE_GO="[ $1 = list ] && { echo 'go: dial tcp: no such host' >&2; exit 1; }")

        message = self.fails(capsys)

        assert "downloading the modules of engine v3.274.1 failed (exit code 1)" in message
        assert "    go: dial tcp: no such host\nCheck the network and GOPROXY" in message

    def test_a_failed_build_shows_the_last_lines_of_go(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """Names of compiled packages are omitted, and no incomplete file remains."""
        failing = "echo errors >&2; echo '# engine' >&2; echo 'main.go:1: no disk' >&2; exit 2"
        world.set(FAKE_GO=f"[ $1 = build ] && {{ {failing}; }}")

        message = self.fails(capsys)

        assert "building engine v3.274.1 failed (exit code 2). The last lines of go:\n    # engine\n" in message
        assert "    main.go:1: no disk\nRun this again" in message
        assert [path.name for path in world.tool.built.parents[1].iterdir()] == ["lock"]

    def test_a_killed_build_has_its_own_message(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """The system may kill go when memory is short."""
        world.set(FAKE_GO="[ $1 = build ] && kill -9 $$")

        assert "failed (ended by SIGKILL)" in self.fails(capsys)

    def test_an_unwritable_cache_is_an_error(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        """The message is that of the file system."""
        (world.root / "cache").write_text("not a folder")

        assert "Not a directory" in self.fails(capsys)

    def test_ctrl_c_stops_go_and_cleans_up(self, world: World) -> None:
        """A message is printed; no program and no lock remain."""
        world.set(FAKE_GO="[ $1 = build ] && { kill -INT $PPID; exec /bin/sleep 20; }")

        run = subprocess.run(
            [sys.executable, "-c", WITH_CTRL_C, SCRIPT, "pulumi"],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

        assert run.returncode == 128 + signal.SIGINT
        assert run.stderr.endswith("tools/build.py: stopped; compiled packages are kept\n")
        (lock,) = (path for path in (world.root / "cache").rglob("*") if path.is_file())
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class TestTable:
    """The table of tools."""

    @pytest.mark.parametrize("name", ["pulumi", "pulumi-resource-kubernetes"])
    def test_each_tool_has_a_version_and_a_go_version(self, name: str) -> None:
        """Both are in its go.mod."""
        tool = build.TOOLS[name]

        assert build._numbers(tool.version) >= (3, 226)
        assert build._numbers(tool.go) >= (1, 25)
        assert any(f"={tool.version}" in flag for flag in tool.flags)

    def test_a_relative_cache_path_is_ignored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The XDG specification requires an absolute XDG_CACHE_HOME."""
        monkeypatch.setenv("XDG_CACHE_HOME", "cache")

        assert Path.home() / ".cache" / "pulumi-volcano-jobs" == build.cache()
