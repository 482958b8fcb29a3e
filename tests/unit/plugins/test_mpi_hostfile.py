"""The script that waits for MPI workers, run in the shells of the machine with the tools of each case."""

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
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import MpiPlugin, render
from tests.conftest import job, task
from tests.deadlines import DEADLINE

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
# Errors of nc for a name that does not resolve: BusyBox, OpenBSD and traditional netcat.
SAID = [
    "nc: bad address 'x'",
    'nc: getaddrinfo for host "x" port 22: Name or service not known',
    "x: forward host lookup failed: Unknown host",
    'nc: getaddrinfo for host "x" port 22: Temporary failure in name resolution',
]


def command(port: int, timeout: int) -> list[str]:
    """Return the init container's command without its shell, with a file in the working directory."""
    plugin = MpiPlugin(wait_for_workers=True, wait_for_workers_timeout=timeout, port=port)
    made = render(job(task("master"), task("worker"), plugins=[plugin]), strict=False)
    (waiting,) = made.pods[0]["spec"]["initContainers"]
    words: list[str] = waiting["command"]
    return ["hosts" if word == "/etc/volcano/worker.host" else word for word in words[1:]]


@pytest.fixture(name="image")
def _image(tmp_path: Path) -> Path:
    """Create a folder with the few commands that any image has, and a file of hosts."""
    image = tmp_path / "bin"
    image.mkdir()
    for name in ("cat", "date", "grep", "sleep", "timeout"):
        (image / name).symlink_to(str(shutil.which(name)))
    return image


def add_bash(image: Path) -> None:
    """Add bash to the image."""
    (image / "bash").symlink_to(str(shutil.which("bash")))


def add_nc(image: Path, usage: str, said: str = "", code: int = 0) -> None:
    """Add an nc that prints a usage, logs its calls, prints a message and exits with a code."""
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
    """Run the script to its end. Return code, output and errors, with PORT instead of the port."""
    with begin(image, hosts, port, timeout, shell) as process:
        out, errors = (text.replace(f"port {port}", "port PORT") for text in process.communicate(timeout=DEADLINE))
    return process.returncode, out, errors


@contextmanager
def listening(after: float = 0) -> Iterator[int]:
    """Listen on a port, at once or after a delay."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        late = threading.Timer(after, server.listen)
        late.start()
        if not after:
            late.join()
        yield server.getsockname()[1]
        late.join()


def test_the_script_ends_when_all_workers_answer(image: Path, snapshot: SnapshotAssertion) -> None:
    """The list ends without a line break, as svc writes it. All shells have the same output."""
    add_bash(image)
    with listening() as port:
        runs = {run(image, "127.0.0.1\n127.0.0.1", port, 30, shell) for shell in SHELLS}

    ((code, out, errors),) = runs
    assert (code, errors) == (0, "")
    assert out == snapshot


def test_the_script_names_the_missing_workers_and_the_reason(image: Path, snapshot: SnapshotAssertion) -> None:
    """It does not name the other workers. All shells have the same output."""
    add_bash(image)
    with listening() as port:
        runs = {run(image, "127.0.0.1\nnosuch.invalid", port, 0, shell) for shell in SHELLS}

    ((code, out, errors),) = runs
    assert (code, out) == (1, "")
    assert errors == snapshot


def test_a_closed_port_has_its_own_reason(image: Path, snapshot: SnapshotAssertion) -> None:
    """The Pod of the worker runs, but sshd does not."""
    add_bash(image)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        code, out, errors = run(image, "127.0.0.1", port, 0)

    assert (code, out) == (1, "")
    assert errors == snapshot


def test_the_script_waits_for_late_workers_and_prints_changes_only(image: Path, snapshot: SnapshotAssertion) -> None:
    """It prints the missing workers once."""
    add_bash(image)
    with listening(after=3) as port:
        code, out, errors = run(image, "127.0.0.1", port, 60)

    assert (code, errors) == (0, "")
    assert out == snapshot


def test_the_script_stops_at_its_timeout(image: Path, snapshot: SnapshotAssertion) -> None:
    """It does not stop before."""
    add_bash(image)
    start = time.monotonic()
    code, _, errors = run(image, "nosuch.invalid", 22, 3)

    assert code == 1
    assert errors == snapshot
    assert time.monotonic() - start >= 2


def test_without_workers_the_script_ends_at_once(image: Path, snapshot: SnapshotAssertion) -> None:
    """A user can scale a job down to its master."""
    add_bash(image)

    code, out, errors = run(image, "", 22, 30)

    assert (code, errors) == (0, "")
    assert out == snapshot


def test_an_image_without_a_tool_to_connect_ends_the_script_at_once(image: Path, snapshot: SnapshotAssertion) -> None:
    """Waiting would not help. The message names the option for another image."""
    add_nc(image, "Usage: nc [-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]")
    code, out, errors = run(image, "127.0.0.1", 22, 300)

    assert (code, out) == (1, "")
    assert "wait_for_workers_image" in errors
    assert errors == snapshot


@pytest.mark.parametrize("usage", ["\t-z\tZero-I/O mode (scanning)", "\t\t-z\t\tZero-I/O mode [used for scanning]"])
def test_netcat_is_used_if_it_supports_z(image: Path, usage: str) -> None:
    """Each call has a timeout."""
    add_nc(image, usage)

    code, out, errors = run(image, "one two", 2222, 30)

    assert (code, errors) == (0, "")
    assert out.startswith("2 of 2 ")
    assert (image / "calls").read_text("utf-8") == "-z -w 2 one 2222\n-z -w 2 two 2222\n"


@pytest.mark.parametrize("said", SAID)
def test_the_error_of_each_netcat_for_an_unknown_name_is_recognized(image: Path, said: str) -> None:
    """The reason is the one that bash has, and not that of another error."""
    add_nc(image, "-z", said, 1)
    found = run(image, "nosuch.invalid", 22, 0)
    add_nc(image, "-z", "Connection refused", 1)
    refused = run(image, "nosuch.invalid", 22, 0)
    (image / "nc").unlink()
    add_bash(image)

    assert found == run(image, "nosuch.invalid", 22, 0)
    assert found != refused


def test_the_script_ends_when_its_pod_is_deleted(image: Path) -> None:
    """The first process of a container ignores signals that it does not handle."""
    add_bash(image)
    with begin(image, "nosuch.invalid", 22, 60) as process:
        assert process.stdout
        process.stdout.readline()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=DEADLINE) == 143


def test_kubernetes_expands_nothing_in_the_script() -> None:
    """`$$` would become `$`, and `$(NAME)` the value of a variable."""
    script = command(22, 300)[1]

    assert "$$" not in script
    assert not re.search(r"\$\(\w+\)", script)
