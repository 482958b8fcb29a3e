"""The installed program, run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import job, task
from tests.deadlines import DEADLINE

PROGRAM = Path(sys.executable).parent / "volcano-jobs"
HERE = Path(__file__).parent


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program, and check that it shows no traceback."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        check=False,
        timeout=DEADLINE,
    )
    assert b"Traceback" not in done.stderr
    return done


def test_the_program_prints_the_golden_output() -> None:
    """The output is compared byte for byte."""
    done = run("render", str(HERE / "golden" / "job.yaml"))

    assert (done.returncode, done.stderr.decode()) == (0, PLACEHOLDERS)
    assert done.stdout == (HERE / "golden" / "whole.yaml").read_bytes()


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"", 1), (b"a: [1", 1), (b"\xff", 2), (b"apiVersion: v1\nkind: Pod", 1)],
    ids=["empty", "YAML", "binary", "Pod"],
)
def test_the_exit_code_and_one_line_report_the_failure(text: bytes, code: int) -> None:
    """The exit code distinguishes an invalid job from an unreadable file."""
    done = run("validate", "-", stdin=text)

    assert done.returncode == code
    # Findings go to standard output with a last line that counts them, and failures to standard error.
    assert (done.stdout.count(b"\n"), done.stderr.count(b"\n")) == ((2, 0) if code == 1 else (0, 1))


def test_output_is_utf_8_in_every_locale(shell: Shell) -> None:
    """The same job gives the same file on every machine."""
    document = job()
    document["metadata"]["annotations"] = {"example.org/note": "训练 é"}

    done = run("render", shell.write("job.yaml", document), PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stderr) == (0, b"")
    assert "example.org/note: 训练 é\n".encode() in done.stdout


def test_input_is_utf_8_in_every_locale() -> None:
    """A path with non-ASCII characters works, and text that is not UTF-8 is rejected."""
    text = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec: {tasks: [], größe: 1}\n"

    done = run("validate", "-", stdin=text.encode(), PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")

    assert done.returncode == 1
    assert done.stdout.startswith(b"<stdin>:4:")


def test_a_closed_pipe_is_not_an_error(shell: Shell) -> None:
    """`volcano-jobs render ... | head -1` prints no message."""
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
    commands = ("render", "validate", "validate --format=json", "explain", "graph", "convert")
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


def test_no_command_imports_pulumi() -> None:
    """Commands start fast, and also run on machines without Pulumi."""
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

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=DEADLINE)

    assert done.stdout.startswith("---\n")
    assert done.stderr == "[]\n"
