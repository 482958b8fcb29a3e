"""Additions to Volcano's Ray containers: arguments of `ray start`, a command after it, and probes."""

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
# Flags that the plugin sets, and the setting for each.
RESERVED_FLAGS: Mapping[str, str] = {
    "--address": "head",
    "--block": "",
    "--dashboard-port": "dashboard_port",
    "--head": "",
    "--port": "port",
    "--ray-client-server-port": "client_port",
}
# KubeRay's timing: a Pod becomes unready after about 1 minute, and its container restarts after about 10 minutes.
_READINESS = {"initialDelaySeconds": 10, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 10}
_LIVENESS = {"initialDelaySeconds": 30, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 120}


def flag_of(argument: str) -> str:
    """Return the flag of an argument such as `--num-cpus=4`."""
    return argument.partition("=")[0]


def amounts(container: Container, arguments: Sequence[str]) -> Iterator[Any]:
    """Yield arguments with the requests of a container, except flags in `arguments`. Each may be a leaf."""
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
    """Build the command of a container: `ray start` with its arguments, and then the program, if any.

    The program is passed as arguments of the shell, so that it needs no quotes.
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
    """Add readiness and liveness probes over HTTP, unless the template has them."""
    check = {"httpGet": {"path": path, "port": port}}
    for name, timing in (("readinessProbe", _READINESS), ("livenessProbe", _LIVENESS)):
        container.fields.setdefault(name, check | timing)


def agent_port(arguments: Sequence[str]) -> int:
    """Return the port of a node's agent, which reports the health of its raylet."""
    # The value of a flag may be a separate argument.
    pairs = zip(arguments, (*arguments[1:], ""), strict=False)
    ports = [
        argument.partition("=")[2] or next_argument
        for argument, next_argument in pairs
        if flag_of(argument) == _AGENT_FLAG
    ]
    return int(ports[-1]) if ports and ports[-1].isdecimal() else AGENT_PORT
