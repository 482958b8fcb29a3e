"""Processes of a container that its command shows: whether it runs until it is stopped, waits, or starts sshd.

Only text is read. A command that is not known yet (a leaf) shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes import commands, images
from pulumi_volcano_jobs.kubernetes.commands import ShellCommand

SSHD, RAY = "sshd", "ray start --block"
"""Programs that never end."""
_LOOPS = frozenset({("while", "true"), ("while", ":"), ("while", "1"), ("until", "false")})
_LEAVING = frozenset({"break", "exit", "return"})
# Servers that run until they are stopped, unless the container has another command.
_SERVER_IMAGES = frozenset({"httpd", "memcached", "nginx", "pause", "redis"})
# Programs, or their first two words, that run until they are stopped.
_SERVERS = frozenset({("redis-server",), ("tensorboard",), ("supervisord", "-n"), ("vllm", "serve")})
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_WAIT = re.compile(r"\b(sleep|until|while|for)\s")
_MPI_PROCESSES = re.compile(r"\s-(?:np|n|c)\s+([0-9]{1,6})\b")
_MPI_HOSTS = re.compile(r"\s--?host\s+\$(MPI_HOST|\{MPI_HOST\}|\(MPI_HOST\))(\s|$)")
_MPI_SLOTS = re.compile(r"\s--?(oversubscribe|hostfile|machinefile|map-by|npernode|N)\b")
_OPEN_MPI = re.compile(r"\s--?(allow-run-as-root|mca|gmca)\b")
_DEEPSPEED_HOSTS = re.compile(r"--hostfile|-H\b|--include|--launcher|/job/hostfile")
# A port or a configuration file of sshd: `sshd -p 2222`, `sshd -f FILE`, or `Port 2222` as an option or a line.
_SSHD_PORT = re.compile(r"\bsshd\b[^;&|]*\s-\w*(f|p\s*(?!22\b)\S)|\bPort\W{1,3}(?!22\b)[0-9$]", re.IGNORECASE)


def run_by(container: Mapping[str, Any]) -> Sequence[ShellCommand]:
    """Return the commands that a container runs, in their order."""
    arguments = commands.arguments_of(container)
    return commands.run_by(arguments) if arguments else ()


def endless(run: Sequence[ShellCommand]) -> str:
    """Return the command at which a container never ends, or an empty string."""
    background = ""
    for command in run:
        what = "" if command.has_timeout else _never_ends(command, run)
        if command.in_background:
            background = background or what
        elif command.is_certain and (what or (background and command.words == ("wait",))):
            return what or background
    return ""


def _never_ends(command: ShellCommand, run: Sequence[ShellCommand]) -> str:
    program, words = command.program, command.words
    if program == "sshd" and any(re.fullmatch(r"-[A-Za-z]*D[A-Za-z]*", word) for word in words):
        return SSHD
    if starts_ray(command) and "--block" in words:
        return RAY
    is_server = not _SERVERS.isdisjoint({(program,), (program, *words[1:2])})
    if is_server or (program == "sleep" and _is_endless_sleep(words[1:])):
        return program if is_server else " ".join(words)
    if program == "tail" and any(re.fullmatch(r"-[a-z]*[fF]|--follow\S*", word) for word in words):
        return "tail -f"
    if words in _LOOPS and not any(other.program in _LEAVING for other in run):
        return "an endless loop"
    return ""


def _is_endless_sleep(durations: Sequence[str]) -> bool:
    """Check whether `sleep` lasts for a day or more, which is meant as the time until the Pod is deleted."""
    if durations in {("inf",), ("infinity",)}:
        return True
    parts = [re.fullmatch(r"([0-9]{1,12})([smhd]?)", duration) for duration in durations]
    return sum(int(part[1]) * _SECONDS[part[2]] for part in parts if part) >= _SECONDS["d"]


def endless_in(container: Mapping[str, Any]) -> str:
    """Return what a container runs until it is stopped, or an empty string."""
    image = container.get("image")
    has_command = any(is_given(container.get(kind)) for kind in commands.FIELDS)
    name = commands.base_name(images.repository(image)) if isinstance(image, str) and not has_command else ""
    return endless(run_by(container)) or (name if name in _SERVER_IMAGES else "")


def waits(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container sleeps or has a loop, with which it can wait for other Pods."""
    return bool(_WAIT.search(_text(container)))


def excess_slots(container: Mapping[str, Any], hosts: int) -> int:
    """Return the processes that Open MPI starts on `--host $MPI_HOST`, if they are more than one on each host.

    Other launchers have no limit, so an option of Open MPI is required. The result is 0 without such a command.
    """
    for command in run_by(container):
        text = " ".join(command.words) if command.program in {"mpirun", "mpiexec"} else ""
        count = _MPI_PROCESSES.search(text)
        if count and _OPEN_MPI.search(text) and _MPI_HOSTS.search(text) and not _MPI_SLOTS.search(text):
            processes = int(count[1])
            return processes if processes > hosts else 0
    return 0


def runs_deepspeed(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container starts DeepSpeed's launcher without a host file."""
    is_started = any(command.program == "deepspeed" for command in run_by(container))
    return is_started and not _DEEPSPEED_HOSTS.search(_text(container))


def sets_variable(container: Mapping[str, Any], name: str) -> bool:
    """Check whether the script of a container sets a variable."""
    return bool(re.search(rf"(^|[\s;&|(]){name}=", _text(container)))


def starts_sshd(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container starts sshd, itself or as a service."""
    return any(
        command.program == SSHD
        or ({"ssh", "sshd"} & {command.program, *command.words} and {"start", "restart"} & {*command.words})
        for command in run_by(container)
    )


def starts_ray(command: ShellCommand) -> bool:
    """Check whether a command starts Ray."""
    return command.program == "ray" and "start" in command.words


def sets_sshd_port(container: Mapping[str, Any]) -> bool:
    """Check whether the command of a container sets a port of sshd other than 22, or its configuration file."""
    return bool(_SSHD_PORT.search(_text(container)))


def _text(container: Mapping[str, Any]) -> str:
    """Return the command and the arguments of a container as one line of shell."""
    texts = (text for _, _, text in commands.texts_of(container))
    return " ".join(texts).replace("\\\n", " ").replace("\n", ";")
