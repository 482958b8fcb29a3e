"""The script that waits for another Pod's port, run in the machine's shell with the tools that a case gives it."""

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
from pathlib import Path

import pytest

from pulumi_volcano_jobs.plugins.wait_containers import SCRIPT, TIMED_OUT, UNABLE

_NC = """#!/bin/sh
[ "$1" = -h ] && { echo "usage: nc [-v] [-w SEC] [-z] HOST PORT" >&2; exit 1; }
echo "$*" >>"$0.calls"
echo "$SAYS" >&2
exit "$ENDS"
"""
_OLD_NC = '#!/bin/sh\necho "Usage: nc [-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]" >&2\nexit 1\n'


@pytest.fixture(name="tools")
def _tools(tmp_path: Path) -> Path:
    """Give a folder with the few commands that any image with a shell has."""
    for name in ("date", "sleep"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def add(tools: Path, name: str, text: str = "") -> None:
    """Put a tool into the folder: the machine's own, or a script."""
    path = tools / name
    if not text:
        path.symlink_to(str(shutil.which(name)))
        return
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def begin(tools: Path, address: str, port: int, limit: int = 0, **more: str) -> subprocess.Popen[str]:
    """Start the script."""
    variables = {"PATH": str(tools), "MASTER_ADDR": address, "MASTER_PORT": str(port), "LC_ALL": "C", **more}
    return subprocess.Popen(
        [str(shutil.which("sh")), "-c", SCRIPT, "sh", str(limit), "busybox:9"],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(tools: Path, address: str, port: int, limit: int = 0, **more: str) -> tuple[int, str, str]:
    """Run the script to its end; give exit code, output and errors."""
    with begin(tools, address, port, limit, **more) as process:
        out, error = process.communicate(timeout=60)
        return process.returncode, out, error


@pytest.fixture(name="closed")
def _closed() -> Iterator[socket.socket]:
    """Give a port that is taken, and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken


def test_an_open_port_ends_the_wait(tools: Path, closed: socket.socket) -> None:
    """At once."""
    add(tools, "bash")
    closed.listen()
    port = closed.getsockname()[1]

    code, printed, faults = run(tools, "127.0.0.1", port, 60)

    # On a busy machine a second may pass.
    assert (code, re.sub(r"after [01] s", "after 0 s", printed), faults) == (
        0,
        f"wait-for-master: waiting for 127.0.0.1:{port}, at most 60 s\nwait-for-master: the master answers after 0 s\n",
        "",
    )


def test_a_port_that_opens_later_is_waited_for(tools: Path, closed: socket.socket) -> None:
    """What is missing is said once."""
    add(tools, "bash")
    add(tools, "timeout")
    port = closed.getsockname()[1]
    opening = threading.Timer(3, closed.listen)
    opening.start()
    code, out, error = run(tools, "127.0.0.1", port, 60)
    opening.join()

    _, reason, end = out.splitlines()
    assert (code, error) == (0, "")
    assert reason == f"wait-for-master: so far the master's Pod is there, and nothing listens on its port {port}"
    assert end.startswith("wait-for-master: the master answers after ")


def test_a_closed_port_is_told_from_a_name_that_does_not_resolve(tools: Path, closed: socket.socket) -> None:
    """By bash, in an image without netcat."""
    add(tools, "bash")
    port = closed.getsockname()[1]
    code, _, error = run(tools, "127.0.0.1", port)
    other_code, _, other = run(tools, "train-master-0.invalid", 23456)

    assert (code, other_code) == (TIMED_OUT, TIMED_OUT)
    assert f"s: the master's Pod is there, and nothing listens on its port {port}\n" in error
    assert "wait-for-master: the last try said: bash: connect: Connection refused\n" in error
    assert (
        "s: the name train-master-0.invalid does not resolve: the master's Pod is not up yet, or has ended\n" in other
    )


NETCATS: dict[str, tuple[str, str]] = {
    "OpenBSD, refused": (
        "nc: connect to a.b port 1 (tcp) failed: Connection refused",
        "the master's Pod is there, and nothing listens on its port 1",
    ),
    "traditional, refused": (
        "a.b [10.0.0.1] 1 (tcpmux) : Connection refused",
        "the master's Pod is there, and nothing listens on its port 1",
    ),
    "OpenBSD, no name": (
        'nc: getaddrinfo for host "a.b" port 1: Name or service not known',
        "the name a.b does not resolve: the master's Pod is not up yet, or has ended",
    ),
    "traditional, no name": (
        "a.b: forward host lookup failed: Unknown host",
        "the name a.b does not resolve: the master's Pod is not up yet, or has ended",
    ),
    "BusyBox, no name": (
        "nc: bad address 'a.b'",
        "the name a.b does not resolve: the master's Pod is not up yet, or has ended",
    ),
    "Nmap, no name": (
        'Ncat: Could not resolve hostname "a.b": Name or service not known. QUITTING.',
        "the name a.b does not resolve: the master's Pod is not up yet, or has ended",
    ),
    "no answer": (
        "nc: a.b (10.0.0.1:1): Connection timed out",
        "no answer: the master's Pod is gone, or a NetworkPolicy or a firewall keeps its port shut",
    ),
}


@pytest.mark.parametrize(("says", "why"), NETCATS.values(), ids=NETCATS)
def test_netcats_are_understood(tools: Path, says: str, why: str) -> None:
    """Each has words of its own, which stand behind the reason."""
    add(tools, "nc", _NC)

    code, _, error = run(tools, "a.b", 1, SAYS=says, ENDS="1")
    first, second = error.splitlines()
    assert code == TIMED_OUT
    assert first.endswith(f" s: {why}")
    assert second == f"wait-for-master: the last try said: {says}"
    assert (tools / "nc.calls").read_text("utf-8") == "-v -z -w 5 a.b 1\n"


def test_netcat_opens_the_way_too(tools: Path) -> None:
    """In an image with busybox only."""
    add(tools, "nc", _NC)

    assert run(tools, "a.b", 1, SAYS="open", ENDS="0")[0] == 0


@pytest.mark.parametrize("name", ["nothing", "an nc without -z"])
def test_an_image_that_cannot_ask_is_told_at_once(tools: Path, name: str) -> None:
    """Debian's busybox has such an nc; Volcano's script would wait to its timeout."""
    if name != "nothing":
        add(tools, "nc", _OLD_NC)

    assert run(tools, "a.b", 1, 600) == (
        UNABLE,
        "",
        (
            "wait-for-master: this image has no bash, and no nc that knows -z: set the pytorch plugin's"
            " wait_master_image to one that has, such as busybox:9\n"
        ),
    )


def test_bash_helps_out_where_nc_cannot(tools: Path, closed: socket.socket) -> None:
    """An nc without -z is left alone."""
    add(tools, "nc", _OLD_NC)
    add(tools, "bash")
    closed.listen()

    assert run(tools, "127.0.0.1", closed.getsockname()[1])[0] == 0


def test_a_pod_that_is_deleted_does_not_wait_on(tools: Path, closed: socket.socket) -> None:
    """A shell that is a container's first process would ignore the signal."""
    add(tools, "bash")
    with begin(tools, "127.0.0.1", closed.getsockname()[1], 600) as process:
        assert process.stdout
        process.stdout.readline()
        before = time.monotonic()
        os.kill(process.pid, signal.SIGTERM)

        assert process.wait(timeout=30) == 128 + signal.SIGTERM
        assert time.monotonic() - before < 10
