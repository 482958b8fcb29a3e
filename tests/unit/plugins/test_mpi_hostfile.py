"""The script that waits for MPI workers, run in the machine's shells with the tools that a case gives it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pulumi_volcano_jobs import MpiPlugin, render
from tests.conftest import job, task

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
UNKNOWN = "nosuch.invalid: its name does not resolve: is its Pod running, and ready?"
# What nc says of a name that does not resolve: of busybox, of OpenBSD, the traditional one.
SAID = [
    "nc: bad address 'x'",
    'nc: getaddrinfo for host "x" port 22: Name or service not known',
    "x: forward host lookup failed: Unknown host",
    'nc: getaddrinfo for host "x" port 22: Temporary failure in name resolution',
]


def command(port: int, timeout: int) -> list[str]:
    """Give the init container's command, without its shell and with a file in the working directory."""
    plugin = MpiPlugin(wait_for_workers=True, wait_for_workers_timeout=timeout, port=port)
    made = render(job(task("master"), task("worker"), plugins=[plugin]), strict=False)
    (waiting,) = made.pods[0]["spec"]["initContainers"]
    words: list[str] = waiting["command"]
    return ["hosts" if word == "/etc/volcano/worker.host" else word for word in words[1:]]


@pytest.fixture(name="image")
def _image(tmp_path: Path) -> Path:
    """Give a folder with the few commands that any image has, and a file of hosts beside it."""
    image = tmp_path / "bin"
    image.mkdir()
    for name in ("cat", "date", "grep", "sleep", "timeout"):
        (image / name).symlink_to(str(shutil.which(name)))
    return image


def add_bash(image: Path) -> None:
    """Give the image bash."""
    (image / "bash").symlink_to(str(shutil.which("bash")))


def add_nc(image: Path, usage: str, said: str = "", code: int = 0) -> None:
    """Give the image an nc that shows a usage, notes how it is called, says something and ends with a code."""
    nc = image / "nc"
    nc.write_text(
        f"#!/bin/sh\nif [ $1 = -h ]; then echo '{usage}' >&2; exit 1; fi\n"
        f"echo \"$*\" >>'{image}/calls'\ncat <<'EOF' >&2\n{said}\nEOF\nexit {code}\n",
        "utf-8",
    )
    nc.chmod(0o755)


def begin(image: Path, hosts: str, port: int, timeout: int, shell: str = "sh") -> subprocess.Popen[str]:
    """Start the script in the image."""
    (image.parent / "hosts").write_text(hosts, "utf-8")
    return subprocess.Popen(
        [str(shutil.which(shell)), *command(port, timeout)],
        cwd=image.parent,
        env={"PATH": str(image)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(image: Path, hosts: str, port: int, timeout: int, shell: str = "sh") -> tuple[int, str, str]:
    """Run the script to its end; give code, output and errors."""
    with begin(image, hosts, port, timeout, shell) as process:
        out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


@contextmanager
def listening(after: float = 0) -> Iterator[int]:
    """Hold a port on which something listens, from the beginning or a while later."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        late = threading.Timer(after, server.listen)
        late.start()
        if not after:
            late.join()
        yield server.getsockname()[1]
        late.join()


@pytest.mark.parametrize("shell", SHELLS)
def test_it_ends_well_once_all_workers_answer(image: Path, shell: str) -> None:
    """The list ends without a line break, as svc writes it."""
    add_bash(image)
    with listening() as port:
        assert run(image, "127.0.0.1\n127.0.0.1", port, 30, shell) == (0, "2 of 2 workers answer\n", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_it_names_who_is_missing_and_why(image: Path, shell: str) -> None:
    """And no one else."""
    add_bash(image)
    with listening() as port:
        code, out, errors = run(image, "127.0.0.1\nnosuch.invalid", port, 0, shell)

    assert (code, out) == (1, "")
    assert errors == f"1 of 2 workers did not answer within 0 s:\n{UNKNOWN}\n"


def test_a_closed_port_is_another_reason(image: Path) -> None:
    """The worker is there, its sshd is not."""
    add_bash(image)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        _, _, errors = run(image, "127.0.0.1", port, 0)

    reason = f"nothing answers on port {port}: does sshd run there?"
    assert errors == f"1 of 1 workers did not answer within 0 s:\n127.0.0.1: {reason}\n"


def test_it_waits_for_those_that_come_late_and_says_so_once(image: Path) -> None:
    """It tells of a change only."""
    add_bash(image)
    with listening(after=3) as port:
        code, out, errors = run(image, "127.0.0.1", port, 60)

    reason = f"nothing answers on port {port}: does sshd run there?"
    assert (code, errors) == (0, "")
    assert out == f"1 of 1 workers do not answer yet:\n127.0.0.1: {reason}\n1 of 1 workers answer\n"


def test_it_gives_up_at_its_timeout(image: Path) -> None:
    """Not before."""
    add_bash(image)
    start = time.monotonic()
    code, _, errors = run(image, "nosuch.invalid", 22, 3)

    assert code == 1
    assert errors == f"1 of 1 workers did not answer within 3 s:\n{UNKNOWN}\n"
    assert time.monotonic() - start >= 2


def test_without_workers_there_is_nothing_to_wait_for(image: Path) -> None:
    """A job that was scaled down to its master."""
    add_bash(image)

    assert run(image, "", 22, 30) == (0, "0 of 0 workers answer\n", "")


def test_an_image_that_cannot_ask_is_told_at_once(image: Path) -> None:
    """It would wait in vain."""
    add_nc(image, "Usage: nc [-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]")
    code, out, errors = run(image, "127.0.0.1", 22, 300)

    assert (code, out) == (1, "")
    assert errors == (
        "this image has neither nc -z nor bash to look for the workers with: give wait_for_workers_image another\n"
    )


@pytest.mark.parametrize("usage", ["\t-z\tZero-I/O mode (scanning)", "\t\t-z\t\tZero-I/O mode [used for scanning]"])
def test_netcat_is_asked_where_there_is_one_that_can(image: Path, usage: str) -> None:
    """Within bounds."""
    add_nc(image, usage)

    assert run(image, "one two", 2222, 30) == (0, "2 of 2 workers answer\n", "")
    assert (image / "calls").read_text("utf-8") == "-z -w 2 one 2222\n-z -w 2 two 2222\n"


@pytest.mark.parametrize("said", SAID)
def test_each_netcat_s_words_for_an_unknown_name_are_known(image: Path, said: str) -> None:
    """They differ."""
    add_nc(image, "-z", said, 1)

    assert run(image, "nosuch.invalid", 22, 0)[2].endswith(f"{UNKNOWN}\n")


def test_it_ends_when_its_pod_is_deleted(image: Path) -> None:
    """The first process of a container ignores what it does not handle."""
    add_bash(image)
    with begin(image, "nosuch.invalid", 22, 60) as process:
        assert process.stdout
        process.stdout.readline()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=30) == 143


def test_kubernetes_finds_nothing_to_expand_in_it() -> None:
    """`$$` would become `$`, and `$(NAME)` a variable's value."""
    script = command(22, 300)[1]

    assert "$$" not in script
    assert not re.search(r"\$\(\w+\)", script)
