"""The command line as it is, with little memory: what is too large ends soon, in a sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MEMORY = 1 << 30
PROGRAM = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from pulumi_volcano_jobs.cli import main
main()
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


def run(*arguments: str, stdin: bytes | int = subprocess.DEVNULL) -> tuple[int, str, str]:
    """Run the command line in a process of its own: exit code, output and messages."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        timeout=60,
        check=False,
        env=os.environ,
        **given,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def multiplied(before: str, each: str, after: str) -> str:
    """Write ten lines of ten aliases each."""
    lines = [f"a{level}: &a{level} {before}{each}{after}" for level in [0]]
    lines += [
        f"a{level}: &a{level} {before}{', '.join([each.replace('x', f'*a{level - 1}', 1)] * 10)}{after}"
        for level in LEVELS
    ]
    return "\n".join(lines) + "\n"


MANY = "a file has at most 500000 keys and values, those of aliases counted each time"
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
        "a list or a mapping cannot be a key",
    ),
    "a long text": (f"{JOB}  more: {'x' * 50_000_000}\n".encode(), 1, "spec.more: unknown field"),
    "a long key": (f"{JOB}  ? {'x' * 5_000_000}\n  : [{'1,' * 9000}]\n".encode(), 1, "spec.xxxxxx"),
    "a long name": (
        JOB.replace("train", "x" * 5_000_000).encode(),
        1,
        "metadata.name: this must be at most 253 characters",
    ),
    "many values": (b"a:\n" + b"- x\n" * 12_000_000, 1, MANY),
    "many keys": (JOB.encode() + b"  k: 1\n" * 5_000_000, 1, MANY),
    "many documents": (f"{JOB}---\n".encode() * 100_000, 1, MANY),
    "many tasks": (
        (JOB + "  - {replicas: many}\n" * 10_000).encode(),
        1,
        "spec.tasks[1].replicas: this must be a whole number",
    ),
    "more than is read": (b"#" * (65 << 20), 2, "it is larger than 64 MiB: write several files"),
    "bytes": (bytes(range(256)) * 200_000, 2, "it is not UTF-8 text"),
    "many Pods": (JOB.replace("replicas: 1", "replicas: 1000000000").encode(), 1, "Kubernetes supports 150000"),
    "deep lists": (b"a: " + b"[" * 100_000, 1, "nested more than 100 levels deep"),
    "deep mappings": (b"{a: " * 100_000, 1, "nested more than 100 levels deep"),
    "deep lines": (b"- " * 100_000, 1, "nested more than 100 levels deep"),
}


@pytest.mark.parametrize(("content", "code", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_too_large_ends_soon(tmp_path: Path, content: bytes, code: int, words: str) -> None:
    """In a gigabyte and a minute, without output and without a traceback."""
    file = tmp_path / "job.yaml"
    file.write_bytes(content)

    answer = run("render", str(file))

    first, *_ = answer[2].splitlines()
    assert answer[:2] == (code, "")
    assert words in answer[2][:2000]
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
def test_too_many_pods_end_every_command_soon(tmp_path: Path, command: tuple[str, ...], plugin: str) -> None:
    """In a gigabyte and a minute: nothing that grows with the replicas is computed."""
    file = tmp_path / "job.yaml"
    spec = f"  plugins: {{{plugin}: []}}\n  tasks:"
    many = JOB.replace("replicas: 1", "replicas: 2000000000").replace("  tasks:", spec)
    master = JOB.splitlines()[-1].replace("worker", "master")
    file.write_text(f"{many}{master}\n")

    code, out, err = run(*command, str(file))

    assert (code, out) == (1, "")
    assert "Kubernetes supports 150000 in a cluster (given: 2000000000): lower it" in err


def test_input_without_an_end_is_not_read_for_ever() -> None:
    """As `yes | volcano-jobs validate -` has it."""
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        answer = run("validate", "-", stdin=endless.stdout.fileno())
        endless.kill()

    assert answer == (2, "", "volcano-jobs: cannot read <stdin>: it is larger than 64 MiB: write several files\n")


OF_A_CLUSTER = {
    "aliases": (
        "has more than 500000 keys and values; leave out what the jobs do not need: kubectl get -n NAMESPACE in the"
        " place of -A"
    ),
    "deep lists": "is no YAML; it must be what kubectl get ... -o yaml prints",
}


@pytest.mark.parametrize(("file", "message"), OF_A_CLUSTER.items(), ids=OF_A_CLUSTER)
def test_a_cluster_s_file_has_the_same_bounds(tmp_path: Path, file: str, message: str) -> None:
    """It is read with the others."""
    cluster = tmp_path / "cluster.yaml"
    cluster.write_bytes(FILES[file][0])
    (tmp_path / "job.yaml").write_text(JOB)

    code, out, err = run("render", str(tmp_path / "job.yaml"), "--cluster", str(cluster))

    assert (code, out, err) == (2, "", f"volcano-jobs: {cluster} {message}\n")
