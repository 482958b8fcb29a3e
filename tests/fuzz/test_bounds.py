"""The command line with little memory: input that is too large ends soon with a message."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from pulumi_volcano_jobs import JobError
from pulumi_volcano_jobs.files import job_file, yaml_reader
from tests.deadlines import CPU_SECONDS

MEMORY = 1 << 30
# Each command runs in a copy of a process that has imported the command line, because the import takes longer than most
# commands.
PROGRAM = f"""
import json, os, resource, sys
from pulumi_volcano_jobs.cli import main

while line := sys.stdin.readline():
    arguments, *streams = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, path in enumerate(streams):
            os.dup2(os.open(path, os.O_RDWR if number else os.O_RDONLY), number)
        resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
        resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}))
        sys.argv = ["volcano-jobs", *arguments]
        main()
        sys.exit()
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  tasks:
  - {name: worker, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}
"""
LEVELS = range(1, 12)


class Run(Protocol):
    """Function that runs the command line in a new process, and returns exit code, output and messages."""

    def __call__(self, *arguments: str, stdin: str = os.devnull) -> tuple[int, str, str]:
        """Run a command with the file `stdin` as its standard input."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Provide the command line with limits on memory and CPU time."""
    streams = [tmp_path_factory.mktemp("streams") / name for name in ("out", "err")]

    def run_command(*arguments: str, stdin: str = os.devnull) -> tuple[int, str, str]:
        for file in streams:
            file.write_bytes(b"")
        server.stdin.write(json.dumps([arguments, stdin, *map(str, streams)]) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        out, err = (file.read_text("utf-8") for file in streams)
        return code, out, err

    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield run_command


def multiplied(before: str, each: str, after: str) -> str:
    """Write ten lines with ten aliases each."""
    lines = [f"a{level}: &a{level} {before}{each}{after}" for level in [0]]
    lines += [
        f"a{level}: &a{level} {before}{', '.join([each.replace('x', f'*a{level - 1}', 1)] * 10)}{after}"
        for level in LEVELS
    ]
    return "\n".join(lines) + "\n"


def unreadable(text: bytes, name: str) -> str:
    """Return the message about a file that cannot be decoded."""
    with pytest.raises(JobError) as caught:
        job_file.decode(io.BytesIO(text), name)
    return str(caught.value)


MANY = str(yaml_reader._TOO_MANY)
DEEP = str(yaml_reader._TOO_DEEP)
TOO_LONG = b"#" * (65 << 20)
# The last value is the whole message, or the path of a problem.
FILES: dict[str, tuple[bytes, int, str]] = {
    "aliases": (multiplied("[", "x", "]").encode(), 1, MANY),
    "aliases in mappings": (
        (
            "a0: &a0 {k: x}\n"
            + "".join(f"a{n}: &a{n} {{" + ", ".join(f"k{m}: *a{n - 1}" for m in range(10)) + "}\n" for n in LEVELS)
        ).encode(),
        1,
        MANY,
    ),
    "aliases in merge keys": (
        (
            "a0: &a0 {k: x}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in LEVELS)
        ).encode(),
        1,
        MANY,
    ),
    "aliases in keys": (
        ("a: &a0 [x]\n" + "".join(f"? &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n: 1\n" for n in LEVELS)).encode(),
        1,
        MANY,
    ),
    "a long text": (f"{JOB}  more: {'x' * 50_000_000}\n".encode(), 1, ":7:3: spec.more: "),
    "a long key": (f"{JOB}  ? {'x' * 5_000_000}\n  : [{'1,' * 9000}]\n".encode(), 1, "spec.xxxxxx"),
    "a long name": (
        JOB.replace("train", "x" * 5_000_000).encode(),
        1,
        ":3:12: metadata.name: ",
    ),
    "many values": (b"a:\n" + b"- x\n" * 3_000_000, 1, MANY),
    "many keys": (JOB.encode() + b"  k: 1\n" * 1_500_000, 1, MANY),
    "many documents": (f"{JOB}---\n".encode() * 20_000, 1, MANY),
    "many tasks": (
        (JOB + "  - {replicas: many}\n" * 10_000).encode(),
        1,
        ":7:6: spec.tasks[1].replicas: ",
    ),
    "more than is read": (TOO_LONG, 2, unreadable(TOO_LONG, "job.yaml")),
    "bytes": (bytes(range(256)) * 200_000, 2, unreadable(b"\xff", "job.yaml")),
    "many Pods": (JOB.replace("replicas: 1", "replicas: 1000000000").encode(), 1, ":6:20: spec.tasks[0].replicas: "),
    "deep lists": (b"a: " + b"[" * 100_000, 1, DEEP),
    "deep mappings": (b"{a: " * 100_000, 1, DEEP),
    "deep lines": (b"- " * 100_000, 1, DEEP),
}


@pytest.mark.parametrize(("content", "code", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_too_large_ends_soon(run: Run, tmp_path: Path, content: bytes, code: int, words: str) -> None:
    """In a gigabyte and a minute, without output and without a traceback."""
    file = tmp_path / "job.yaml"
    file.write_bytes(content)

    answer = run("render", str(file))

    first, *_ = answer[2].splitlines()
    assert answer[:2] == (code, "")
    assert words in answer[2].replace(str(file), "job.yaml")[:2000]
    assert len(first) < 1000
    assert [line for line in answer[2].splitlines() if not re.match(r".*job\.yaml|volcano-jobs: ", line)] == []


COMMANDS = (
    ("validate",),
    ("render", "--lenient"),
    ("render", "--defaults", "recommended"),
    ("render", "--managed-by", "volcano"),
    ("explain", "--pod", "train-worker-0"),
    ("graph",),
    ("convert",),
    ("convert", "--lenient"),
)


@pytest.mark.parametrize("plugin", ["mpi", "tensorflow"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_too_many_pods_end_every_command_soon(run: Run, tmp_path: Path, command: tuple[str, ...], plugin: str) -> None:
    """In a gigabyte and a minute, because no value that grows with the replicas is computed."""
    file = tmp_path / "job.yaml"
    spec = f"  plugins: {{{plugin}: []}}\n  tasks:"
    many = JOB.replace("replicas: 1", "replicas: 2000000000").replace("  tasks:", spec)
    master = JOB.splitlines()[-1].replace("worker", "master")
    file.write_text(f"{many}{master}\n")

    code, out, err = run(*command, str(file))

    findings, product = (out, err) if command[0] == "validate" else (err, out)
    assert (code, product) == (1, "")
    (line,) = (line for line in findings.splitlines() if ": spec.tasks[0].replicas: " in line)
    assert "150000" in line
    assert "2000000000" in line


def test_the_number_of_bytes_that_are_read_is_limited(run: Run) -> None:
    """The input of `volcano-jobs validate - < /dev/zero` does not end."""
    answer = run("validate", "-", stdin="/dev/zero")

    assert answer == (2, "", f"volcano-jobs: {unreadable(TOO_LONG, '<stdin>')}\n")


def read_cluster(run: Run, folder: Path, content: bytes) -> tuple[int, str, str]:
    """Render a job with a file for `--cluster`."""
    cluster = folder / "cluster.yaml"
    cluster.write_bytes(content)
    (folder / "job.yaml").write_text(JOB)
    return run("render", str(folder / "job.yaml"), "--cluster", str(cluster))


def test_the_values_of_a_cluster_s_file_are_limited(run: Run, tmp_path: Path) -> None:
    """The fix is another one (tests/cli/test_cluster.py)."""
    code, out, err = read_cluster(run, tmp_path, FILES["aliases"][0])

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"volcano-jobs: {tmp_path / 'cluster.yaml'} ")
    assert "500000" in err
    assert "kubectl get -n NAMESPACE" in err


def test_the_levels_of_a_cluster_s_file_are_limited(run: Run, tmp_path: Path) -> None:
    """The message is that of a file that is not YAML."""
    answer = read_cluster(run, tmp_path, FILES["deep lists"][0])

    assert answer == read_cluster(run, tmp_path, b"a: [1")
    assert answer[:2] == (2, "")
    assert answer[2].startswith(f"volcano-jobs: {tmp_path / 'cluster.yaml'} ")
