"""What Ray's containers get beside Volcano's own: further arguments of `ray start`, a program behind it, probes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pulumi_volcano_jobs.core.leaf import Leaf, derive, is_given
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.plugins import resource_requests

AGENT_PORT = 52365
_AGENT_FLAG = "--dashboard-agent-listen-port"
GCS_HEALTH, RAYLET_HEALTH = "/api/gcs_healthz", "/api/local_raylet_healthz"
# What the plugin itself gives `ray start`, and the setting that changes it.
RESERVED_FLAGS: Mapping[str, str] = {
    "--address": "head",
    "--block": "",
    "--dashboard-port": "dashboard_port",
    "--head": "",
    "--port": "port",
    "--ray-client-server-port": "client_port",
}
# KubeRay's: a minute until traffic is kept away, ten until the container is started again.
_READINESS = {"initialDelaySeconds": 10, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 10}
_LIVENESS = {"initialDelaySeconds": 30, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 120}


def flag_of(argument: str) -> str:
    """Give the flag of an argument such as `--num-cpus=4`."""
    return argument.partition("=")[0]


def amounts(container: Container, arguments: Sequence[str]) -> Iterator[Any]:
    """Give the arguments that tell Ray what the container requests (each a leaf, maybe), but those that are given."""
    given_flags = {flag_of(argument) for argument in arguments}
    measures = (
        ("--num-cpus", resource_requests.cpus),
        ("--num-gpus", resource_requests.gpus),
        ("--memory", resource_requests.memory),
    )
    for flag, measure in measures:
        if flag not in given_flags:
            yield derive(lambda amount, flag=flag: f"{flag}={amount}" if amount else "", measure(container.fields))


def command(start: str, extra_arguments: Sequence[Any], arguments: Sequence[str], program: Any = ()) -> Any:
    """Write the command of a container: `ray start` with its arguments, and behind it a program in its place.

    The program is handed on as arguments of the shell, so that nothing of it needs quotes.
    """
    line = derive(_line, start, list(extra_arguments), list(arguments))
    if not is_given(program):
        return ["sh", "-c", line]
    shell = ["sh", "-c", derive(_with_program, line), "sh"]
    return derive(_joined, shell, program) if isinstance(program, Leaf) else _joined(shell, program)


def _line(start: str, extra_arguments: Sequence[str], arguments: Sequence[str]) -> str:
    return " ".join([start, *filter(None, extra_arguments), *map(shlex.quote, arguments)])


def _with_program(line: str) -> str:
    return f'{line} && exec "$@"'


def _joined(shell: Sequence[Any], program: Sequence[Any]) -> list[Any]:
    return [*shell, *program]


def probe(container: Container, path: str, port: int) -> None:
    """Look for Ray's answer over HTTP, where the template has no probe of its own."""
    check = {"httpGet": {"path": path, "port": port}}
    for name, timing in (("readinessProbe", _READINESS), ("livenessProbe", _LIVENESS)):
        container.fields.setdefault(name, check | timing)


def agent_port(arguments: Sequence[str]) -> int:
    """Give the port of a node's agent, which tells of its raylet."""
    # A flag's value may be an argument of its own.
    pairs = zip(arguments, (*arguments[1:], ""), strict=False)
    ports = [
        argument.partition("=")[2] or next_argument
        for argument, next_argument in pairs
        if flag_of(argument) == _AGENT_FLAG
    ]
    return int(ports[-1]) if ports and ports[-1].isdecimal() else AGENT_PORT
