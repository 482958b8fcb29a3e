"""The installed program, as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import job, task

PROGRAM = Path(sys.executable).parent / "volcano-jobs"
HERE = Path(__file__).parent


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program, which never shows a traceback."""
    done = subprocess.run(
        [PROGRAM, *arguments], input=stdin, capture_output=True, env=os.environ | environment, check=False, timeout=60
    )
    assert b"Traceback" not in done.stderr
    return done


def test_it_renders_as_the_command_does() -> None:
    """The golden output, byte for byte."""
    done = run("render", str(HERE / "golden" / "job.yaml"))

    assert (done.returncode, done.stderr.decode()) == (0, PLACEHOLDERS)
    assert done.stdout == (HERE / "golden" / "whole.yaml").read_bytes()


@pytest.mark.parametrize(
    ("text", "code"), [(b"", 1), (b"a: [1", 1), (b"\xff", 2), (b"kind: Pod", 1)], ids=["empty", "YAML", "binary", "Pod"]
)
def test_it_ends_with_the_exit_code_and_one_line(text: bytes, code: int) -> None:
    """A shell and a CI job can tell a bad job from a bad file."""
    done = run("validate", "-", stdin=text)

    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (code, b"", 1)


def test_its_output_is_utf_8_whatever_the_terminal_speaks(shell: Shell) -> None:
    """A job is the same file on every machine."""
    document = job()
    document["metadata"]["annotations"] = {"example.org/note": "训练 é"}

    done = run("render", shell.write("job.yaml", document), PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stderr) == (0, b"")
    assert "example.org/note: 训练 é\n".encode() in done.stdout


def test_its_input_is_utf_8_whatever_the_terminal_speaks() -> None:
    """A path with characters of its own is told apart from what is no text."""
    text = "kind: Job\nmetadata: {name: a}\nspec: {tasks: [], größe: 1}\n"

    done = run("validate", "-", stdin=text.encode(), PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")

    assert done.returncode == 1
    assert done.stderr.startswith(b"<stdin>:3:")


def test_a_reader_that_goes_away_is_no_error(shell: Shell) -> None:
    """`volcano-jobs render ... | head -1` ends quietly."""
    file = shell.write("job.yaml", job(task(replicas=500)))
    with subprocess.Popen([PROGRAM, "render", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert (first, said) == (b"---\n", b"")


def test_output_to_a_full_disk_is_an_error(shell: Shell, snapshot: SnapshotAssertion) -> None:
    """Every command prints one message, without a traceback."""
    commands = ("render", "validate --format=json", "explain", "graph", "convert")
    file = shell.write("job.yaml", job())

    answers = {}
    for command in commands:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run([PROGRAM, *command.split(), file], stdout=full, stderr=subprocess.PIPE, check=False)
        answers[command] = (done.returncode, done.stderr.decode())

    _, message = answers["render"]
    assert answers == dict.fromkeys(commands, (2, message))
    assert message == snapshot


def test_a_closed_standard_input_is_an_error(snapshot: SnapshotAssertion) -> None:
    """Cron and some CI systems start programs without standard input."""
    done = subprocess.run(["sh", "-c", f"{PROGRAM} validate - <&-"], capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stderr.decode() == snapshot


def test_it_loads_no_pulumi() -> None:
    """Whatever the command, with keys too: the program starts at once, on machines without Pulumi too."""
    job_file = str(HERE / "golden" / "job.yaml")
    code = (
        "import sys\n"
        "from pulumi_volcano_jobs import cli\n"
        "for command in (['render', '--show-keys'], ['validate'], ['convert'], ['convert', '--language=yaml'],"
        " ['explain'], ['graph']):\n"
        f"    assert cli.app([*command, {job_file!r}], standalone_mode=False) in (None, 0)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('pulumi', 'pulumi_kubernetes', 'grpc')],"
        " file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.startswith("---\n")
    assert done.stderr == "[]\n"
