"""Processes of a container that its command shows: whether it runs until it is stopped, waits, or starts sshd.

Only text is read. A command that is not known yet (a leaf) shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_KINDS = ("command", "args")
# A program that runs until it is stopped, unless a single & after its arguments moves it to the background.
_ENDLESS = re.compile(
    r"\b(sleep\s+inf(inity)?|tail\b[^;&|]*\s-\w*[fF]|sshd\b[^;&|]*\s-\w*D\w*|ray\s+start\b[^;&|]*\s--block)\b"
    r"([^;&|]|>&)*(;|&&|\||$)"
)
_LOOP = re.compile(r"\bwhile\s+(true|:)\s*(;|\bdo\b)")
_LOOP_END = re.compile(r"\b(break|exit|exec)\b")
# Servers that run until they are stopped, unless the container has another command.
_SERVER_IMAGES = frozenset({"httpd", "memcached", "nginx", "pause", "redis"})
_WAIT = re.compile(r"\b(sleep|until|while|for)\s")
_MPI_COMMAND = re.compile(r"\b(mpirun|mpiexec)\b[^;&|]*")
_MPI_PROCESSES = re.compile(r"\s-(?:np|n|c)\s+([0-9]{1,6})\b")
_MPI_HOSTS = re.compile(r"\s--?host\s+[\"']?\$(MPI_HOST|\{MPI_HOST\}|\(MPI_HOST\))[\"']?(\s|$)")
_MPI_SLOTS = re.compile(r"\s--?(oversubscribe|hostfile|machinefile|map-by|npernode|N)\b")
_OPEN_MPI = re.compile(r"\s--?(allow-run-as-root|mca|gmca)\b")
_DEEPSPEED = re.compile(r"(^|[\s;&|/])deepspeed\s")
_SSHD = re.compile(r"\bsshd\b|\bssh\s+(re)?start\b")
# A port or a configuration file of sshd: `sshd -p 2222`, `sshd -f FILE`, or `Port 2222` as an option or a line.
_SSHD_PORT = re.compile(r"\bsshd\b[^;&|]*\s-\w*(f|p\s*(?!22\b)\S)|\bPort\W{1,3}(?!22\b)[0-9$]", re.IGNORECASE)


def script(container: Mapping[str, Any]) -> str:
    """Return the command and the arguments of a container as one line of shell."""
    text = " ".join(_entries(container))
    return text.replace("\\\n", " ").replace("\n", ";")


def _entries(container: Mapping[str, Any]) -> Iterator[str]:
    for kind in _KINDS:
        entries = container.get(kind)
        if isinstance(entries, (list, tuple)):
            yield from (entry for entry in entries if isinstance(entry, str))


def is_from_image(container: Mapping[str, Any]) -> bool:
    """Check whether the image decides what runs, because the container has no command and no arguments."""
    return all(container.get(kind) in (None, [], ()) for kind in _KINDS)


def never_ends(container: Mapping[str, Any]) -> bool:
    """Check whether the main process of a container runs until it is stopped."""
    text = script(container)
    if _ENDLESS.search(text) or (_LOOP.search(text) and not _LOOP_END.search(text)):
        return True
    image = container.get("image")
    if not (isinstance(image, str) and is_from_image(container)):
        return False
    return re.split("[:@]", image.rpartition("/")[2])[0] in _SERVER_IMAGES


def waits(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container sleeps or has a loop, with which it can wait for other Pods."""
    return bool(_WAIT.search(script(container)))


def excess_slots(container: Mapping[str, Any], hosts: int) -> int:
    """Return the processes that Open MPI starts on `--host $MPI_HOST`, if they are more than one on each host.

    Other launchers have no limit, so an option of Open MPI is required. The result is 0 without such a command.
    """
    for match in _MPI_COMMAND.finditer(script(container)):
        count = _MPI_PROCESSES.search(match[0])
        has_slots = _MPI_SLOTS.search(match[0])
        if count and _OPEN_MPI.search(match[0]) and _MPI_HOSTS.search(match[0]) and not has_slots:
            processes = int(count[1])
            return processes if processes > hosts else 0
    return 0


def runs_deepspeed(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container starts DeepSpeed's launcher without a host file."""
    match = _DEEPSPEED.search(script(container))
    return bool(match) and not re.search(r"--hostfile|-H\b|--include|--launcher|/job/hostfile", script(container))


def sets_variable(container: Mapping[str, Any], name: str) -> bool:
    """Check whether the script of a container sets a variable."""
    return bool(re.search(rf"(^|[\s;&|(]){name}=", script(container)))


def starts_sshd(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container starts sshd."""
    return bool(_SSHD.search(script(container)))


def sets_sshd_port(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container sets a port of sshd other than 22, or its configuration file."""
    return bool(_SSHD_PORT.search(script(container)))
