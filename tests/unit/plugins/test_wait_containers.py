"""The script that waits for the port of another Pod, run in the shell of the machine with the tools of each case."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.plugins.wait_containers import NO_TOOL, SCRIPT, TIMED_OUT
from tests.deadlines import DEADLINE

_NC = """#!/bin/sh
[ "$1" = -h ] && { echo "usage: nc [-v] [-w SEC] [-z] HOST PORT" >&2; exit 1; }
echo "$*" >>"$0.calls"
echo "$SAYS" >&2
exit "$ENDS"
"""
_OLD_NC = '#!/bin/sh\necho "Usage: nc [-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]" >&2\nexit 1\n'


@pytest.fixture(name="tools")
def _tools(tmp_path: Path) -> Path:
    """Create a folder with the few commands that any image with a shell has."""
    for name in ("date", "sleep"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def add(tools: Path, name: str, text: str = "") -> None:
    """Add a tool to the folder: that of the machine, or a script."""
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
    """Run the script to its end. Return exit code, output and errors."""
    with begin(tools, address, port, limit, **more) as process:
        out, error = process.communicate(timeout=DEADLINE)
        return process.returncode, out, error


def steady(text: str) -> str:
    """Return output of the script with PORT and N instead of a port of the machine and of seconds."""
    return re.sub(r"\b\d+ s\b", "N s", re.sub(r"\b\d{4,}\b", "PORT", text))


@pytest.fixture(name="closed")
def _closed() -> Iterator[socket.socket]:
    """Return a bound port without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken


def test_an_open_port_ends_the_wait_at_once(tools: Path, closed: socket.socket, snapshot: SnapshotAssertion) -> None:
    """The script prints the address and the timeout."""
    add(tools, "bash")
    closed.listen()
    port = closed.getsockname()[1]

    code, out, error = run(tools, "127.0.0.1", port, 60)

    assert (code, error) == (0, "")
    first, last = out.splitlines()
    assert (f"127.0.0.1:{port}" in first, " 60 s" in first) == (True, True)
    # A second can pass on a busy machine.
    assert re.search(r" [01] s\b", last)
    assert steady(out) == snapshot


def test_the_script_waits_for_a_port_that_opens_later(
    tools: Path, closed: socket.socket, snapshot: SnapshotAssertion
) -> None:
    """It prints the reason once."""
    add(tools, "bash")
    add(tools, "timeout")
    port = closed.getsockname()[1]
    opening = threading.Timer(3, closed.listen)
    opening.start()
    code, out, error = run(tools, "127.0.0.1", port, 60)
    opening.join()

    assert (code, error) == (0, "")
    assert str(port) in out.splitlines()[1]
    assert steady(out) == snapshot


def test_a_closed_port_and_an_unknown_name_have_different_reasons(
    tools: Path, closed: socket.socket, snapshot: SnapshotAssertion
) -> None:
    """Bash connects in an image without netcat. Its error follows the reason."""
    add(tools, "bash")
    port = closed.getsockname()[1]
    code, _, error = run(tools, "127.0.0.1", port)
    other_code, _, other = run(tools, "train-master-0.invalid", 23456)

    assert (code, other_code) == (TIMED_OUT, TIMED_OUT)
    assert "bash: connect: Connection refused\n" in error
    first, other_first = error.splitlines()[0], other.splitlines()[0]
    assert str(port) in first
    assert [steady(first), steady(other_first)] == snapshot


NETCATS: dict[str, dict[str, str]] = {
    "refused": {
        "OpenBSD": "nc: connect to a.b port 1 (tcp) failed: Connection refused",
        "traditional": "a.b [10.0.0.1] 1 (tcpmux) : Connection refused",
    },
    "no name": {
        "OpenBSD": 'nc: getaddrinfo for host "a.b" port 1: Name or service not known',
        "traditional": "a.b: forward host lookup failed: Unknown host",
        "BusyBox": "nc: bad address 'a.b'",
        "Nmap": 'Ncat: Could not resolve hostname "a.b": Name or service not known. QUITTING.',
    },
    "no answer": {"BusyBox": "nc: a.b (10.0.0.1:1): Connection timed out"},
}


@pytest.mark.parametrize("errors", NETCATS.values(), ids=NETCATS)
def test_the_reason_does_not_depend_on_the_netcat(
    tools: Path, errors: dict[str, str], snapshot: SnapshotAssertion
) -> None:
    """The error of the netcat follows the reason."""
    add(tools, "nc", _NC)

    runs = {says: run(tools, "a.b", 1, SAYS=says, ENDS="1") for says in errors.values()}

    assert {code for code, _, _ in runs.values()} == {TIMED_OUT}
    assert (tools / "nc.calls").read_text("utf-8") == "-v -z -w 5 a.b 1\n" * len(runs)
    (message,) = {steady(error.replace(says, "ERROR")) for says, (*_, error) in runs.items()}
    assert message.endswith(" ERROR\n")
    assert message == snapshot


def test_netcat_connects_in_an_image_with_busybox_only(tools: Path) -> None:
    """The script needs no bash."""
    add(tools, "nc", _NC)

    assert run(tools, "a.b", 1, SAYS="open", ENDS="0")[0] == 0


def test_an_image_without_a_tool_to_connect_ends_the_script_at_once(tools: Path, snapshot: SnapshotAssertion) -> None:
    """Debian's busybox has an nc without -z. Volcano's script would wait until its timeout."""
    code, out, error = run(tools, "a.b", 1, 600)
    add(tools, "nc", _OLD_NC)

    assert run(tools, "a.b", 1, 600) == (code, out, error)
    assert (code, out) == (NO_TOOL, "")
    assert "wait_master_image" in error
    assert error == snapshot


def test_bash_connects_where_nc_cannot(tools: Path, closed: socket.socket) -> None:
    """The script does not call an nc without -z."""
    add(tools, "nc", _OLD_NC)
    add(tools, "bash")
    closed.listen()

    assert run(tools, "127.0.0.1", closed.getsockname()[1])[0] == 0


def test_the_script_ends_when_its_pod_is_deleted(tools: Path, closed: socket.socket) -> None:
    """A shell that is the first process of a container would ignore the signal."""
    add(tools, "bash")
    with begin(tools, "127.0.0.1", closed.getsockname()[1], 600) as process:
        assert process.stdout
        process.stdout.readline()
        os.kill(process.pid, signal.SIGTERM)

        assert process.wait(timeout=DEADLINE) == 128 + signal.SIGTERM
