"""Commands write whole files, keep private keys to the owner, and report every failure to write."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.cli import output
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.cli.conftest import Shell
from tests.conftest import container, job, task

START = "from pulumi_volcano_jobs.start import main; main()"
PAIR = ssh_keys.generate()
GIVEN = job(
    plugins={"ssh": [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public.strip()}"], "svc": []}
)


def mode(path: Path) -> int:
    """Return the mode of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_symlink_in_the_folder_is_not_followed(shell: Shell) -> None:
    """Another user may have placed it, to overwrite a file of this user."""
    target = shell.folder / "target"
    target.write_text("mine")
    shell("render", shell.write("job.yaml", job()), "-o", "out")
    (first, *_) = sorted((shell.folder / "out").iterdir())
    written = first.read_text()
    first.unlink()
    first.symlink_to(target)

    assert shell("render", "job.yaml", "-o", "out").code == 2
    shell.good("render", "job.yaml", "-o", "out", "--force")

    assert (target.read_text(), first.is_symlink(), first.read_text()) == ("mine", False, written)


@pytest.mark.parametrize(
    "command", [("render", "-o", "out"), ("convert", "--force", "-o", "out.py")], ids=["render", "convert"]
)
def test_a_full_disk_leaves_the_old_files(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """No temporary file is left in the folder."""
    file = shell.write("job.yaml", job())
    shell(command[0], file, *command[1:])
    before = {path: path.read_bytes() for path in shell.folder.rglob("*") if path.is_file()}
    opened = os.fdopen

    def full(descriptor: int, *options: str, **more: str) -> object:
        opened(descriptor, *options, **more).close()
        raise OSError(28, "No space left on device")

    shell.write("job.yaml", job(task("other")))
    before[shell.folder / "job.yaml"] = (shell.folder / "job.yaml").read_bytes()
    monkeypatch.setattr(output.os, "fdopen", full)
    answer = shell(command[0], file, *command[1:])

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith(": No space left on device\n")
    assert {path: path.read_bytes() for path in shell.folder.rglob("*") if path.is_file()} == before


def test_files_with_a_private_key_are_the_owner_s_alone(shell: Shell) -> None:
    """Secrets, a native Job with a given key and a template with a key; an existing file also gets the mode."""
    file = shell.write("job.yaml", GIVEN)
    shell.good("render", file, "-o", "out", "--show-keys", "--managed-by", "volcano")
    (native,) = (shell.folder / "out").iterdir()
    native.chmod(0o644)
    shell.good("render", file, "-o", "out", "--show-keys", "--managed-by", "volcano")
    shell.good("render", file, "-o", "composed", "--show-keys")
    env = [{"name": "KEY", "value": PAIR.private}]
    shell.good(
        "render", shell.write("env.yaml", job(task(containers=[container(env=env)]))), "-o", "env", "--show-keys"
    )

    private = {path.name: mode(path) == 0o600 for path in (shell.folder / "composed").iterdir()}
    (pod,) = (shell.folder / "env").glob("*.pod.*")
    assert (mode(native), PAIR.private.splitlines()[1] in native.read_text()) == (0o600, True)
    assert [name for name, is_private in private.items() if is_private] == ["default.secret.train-ssh.yaml"]
    assert mode(pod) == 0o600


def test_a_file_without_a_key_keeps_its_mode(shell: Shell) -> None:
    """Its owner may have made it group-readable."""
    file = shell.write("job.yaml", job())
    shell.good("convert", file, "-o", "out.py")
    (shell.folder / "out.py").chmod(0o640)
    shell.good("convert", file, "-o", "out.py")

    assert mode(shell.folder / "out.py") == 0o640


def test_convert_follows_a_symlink(shell: Shell) -> None:
    """The user chose the symlink with -o."""
    (shell.folder / "link.py").symlink_to("real.py")

    shell.good("convert", shell.write("job.yaml", job()), "-o", "link.py")

    assert (shell.folder / "link.py").is_symlink()
    assert "VolcanoJob(" in (shell.folder / "real.py").read_text()


@pytest.mark.parametrize("command", ["render", "convert"])
def test_a_loop_of_symlinks_is_bad_usage(shell: Shell, command: str, snapshot: SnapshotAssertion) -> None:
    """In the path of `-o`, and in the path of a job file."""
    file = shell.write("job.yaml", job())
    (shell.folder / "a").symlink_to("b")
    (shell.folder / "b").symlink_to("a")

    answers = [shell(command, file, "-o", "a"), shell(command, "a")]

    assert [(answer.code, answer.out) for answer in answers] == [(2, "")] * 2
    assert [answer.err for answer in answers] == snapshot


def test_a_deleted_current_folder_is_bad_usage(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """The current folder of a shell may be deleted."""
    file = shell.folder / shell.write("job.yaml", job())
    gone = shell.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    (answer,) = {shell(command, str(file), "-o", "out") for command in ("render", "convert")}

    assert answer.code == 2
    assert answer.err == snapshot


COMMANDS = [("render",), ("explain",), ("graph",), ("convert",), ("validate",), ("validate", "--format", "json")]


def test_a_closed_standard_output_is_an_error(shell: Shell, snapshot: SnapshotAssertion) -> None:
    """Exit code 0 would hide that nothing is written."""
    file = shell.folder / shell.write("job.yaml", job())
    program = "import os; os.close(1); os.execv(os.sys.executable, [os.sys.executable, *os.sys.argv[1:]])"

    answers = {}
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-c", program, "-c", START, *command, str(file)],
            capture_output=True,
            check=False,
            text=True,
        )
        answers[command] = (done.returncode, done.stderr)

    _, message = answers["render",]
    assert answers == dict.fromkeys(COMMANDS, (2, message))
    assert message == snapshot


def test_a_closed_pipe_prints_no_message(shell: Shell) -> None:
    """`volcano-jobs render job.yaml | head -1` prints no message."""
    file = shell.folder / shell.write("job.yaml", job(task(replicas=2000)))
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-c", START, "render", str(file)],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)

    assert done.stderr == b""


WIDTHS = {"0": 80, "00": 80, "-5": 80, "wide": 80, "\u00b2": 80, "": 80, "1": 40, "120": 120, "9" * 5000: 1000}


@pytest.mark.parametrize(("columns", "width"), WIDTHS.items(), ids=[name[:5] for name in WIDTHS])
def test_tables_are_printed_for_any_columns(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    """The width has bounds, and a COLUMNS that is not a width is ignored."""
    monkeypatch.setenv("COLUMNS", columns)

    answer = shell.good("explain", shell.write("job.yaml", job(plugins={"svc": [], "env": []})))

    assert "ConfigMap" in answer.out
    assert max(map(len, answer.out.splitlines())) <= width


LOADED = [
    "typer",
    "rich.console",
    "yaml",
    "pydantic",
    "pulumi_volcano_jobs.cli",
    "pulumi_volcano_jobs.rendering.renderer",
]


@pytest.mark.parametrize("module", LOADED)
def test_ctrl_c_while_modules_are_loaded_ends_without_a_traceback(module: str) -> None:
    """The exit code is 130, as in a shell."""
    program = f"""
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from pulumi_volcano_jobs.start import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


class TestExistingFiles:
    """No command overwrites a file that it did not write."""

    COMMANDS: ClassVar[dict[str, tuple[tuple[str, ...], str]]] = {
        "convert": (("convert", "-o", "made"), "made"),
        "graph": (("graph", "-o", "made"), "made"),
        "render": (("render", "-o", "out"), "out/default.pod.train-worker-0.yaml"),
        "render as JSON": (("render", "--format", "json", "-o", "out"), "out/default.pod.train-worker-0.json"),
    }

    @pytest.mark.parametrize(("command", "path"), COMMANDS.values(), ids=COMMANDS)
    def test_a_file_of_the_user_is_kept(
        self, shell: Shell, command: tuple[str, ...], path: str, snapshot: SnapshotAssertion
    ) -> None:
        """The way out is --force."""
        file = shell.write("job.yaml", job())
        (shell.folder / "out").mkdir()
        (shell.folder / path).write_text("mine\n")
        before = sorted(shell.folder.rglob("*"))

        answer = shell(command[0], file, *command[1:])

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot
        assert (shell.folder / path).read_text() == "mine\n"
        assert sorted(shell.folder.rglob("*")) == before
        shell.good(command[0], file, "--force", *command[1:])
        assert (shell.folder / path).read_text() != "mine\n"

    @pytest.mark.parametrize("command", ["graph", "render"])
    def test_a_file_that_the_command_wrote_is_overwritten(self, shell: Shell, command: str) -> None:
        """Its first line is a comment that names the program."""
        arguments, path = self.COMMANDS[command]
        shell.good(arguments[0], shell.write("job.yaml", job()), *arguments[1:])
        first = (shell.folder / path).read_text("utf-8")

        shell.write("job.yaml", job(task(terminationGracePeriodSeconds=7), plugins={"svc": []}))
        shell.good(arguments[0], "job.yaml", *arguments[1:])

        second = (shell.folder / path).read_text("utf-8")
        assert first != second
        assert "Generated by volcano-jobs" in first.partition("\n")[0]
        assert first.partition("\n")[0] == second.partition("\n")[0]

    def test_an_edited_program_is_kept(self, shell: Shell) -> None:
        """A program has no such line, because users edit it. An unedited one is the same as the new one."""
        file = shell.write("job.yaml", job())
        shell.good("convert", file, "-o", "made")
        shell.good("convert", file, "-o", "made")
        with (shell.folder / "made").open("a") as program:
            program.write("# edited\n")

        assert shell("convert", file, "-o", "made").code == 2

    @pytest.mark.parametrize("command", ["graph", "convert"])
    @pytest.mark.parametrize("inputs", ["jobs/job.yaml", "jobs"])
    def test_no_command_overwrites_its_input(self, shell: Shell, command: str, inputs: str) -> None:
        """Also with --force, and if the input is in a folder."""
        (shell.folder / "jobs").mkdir()
        file = shell.write("jobs/job.yaml", job())
        text = Path(file).read_bytes()

        answer = shell(command, inputs, "-o", "./jobs/job.yaml", "--force")

        assert (answer.code, answer.out) == (2, "")
        assert Path(file).read_bytes() == text

    def test_a_written_graph_is_the_printed_one_after_its_comment(self, shell: Shell) -> None:
        """The comment is one of Mermaid's."""
        file = shell.write("job.yaml", job())
        assert shell.good("graph", file, "-o", "made").out == ""

        comment, _, text = (shell.folder / "made").read_text("utf-8").partition("\n")

        assert comment.startswith("%% ")
        assert text == shell.good("graph", file, "-o", "-").out

    @pytest.mark.parametrize("output", ["", "nowhere/made"])
    def test_a_graph_that_cannot_be_written_is_bad_usage(self, shell: Shell, output: str) -> None:
        """Like the program of `convert`."""
        file = shell.write("job.yaml", job())

        answers = [shell(command, file, "-o", output) for command in ("graph", "convert")]

        assert answers[0] == answers[1]
        assert answers[0].code == 2
