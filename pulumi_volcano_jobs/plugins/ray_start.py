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
TAKEN: Mapping[str, str] = {
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
    given = {flag_of(argument) for argument in arguments}
    measures = (
        ("--num-cpus", resource_requests.cpus),
        ("--num-gpus", resource_requests.gpus),
        ("--memory", resource_requests.memory),
    )
    for flag, measure in measures:
        if flag not in given:
            yield derive(lambda amount, flag=flag: f"{flag}={amount}" if amount else "", measure(container.fields))


def command(start: str, more: Sequence[Any], arguments: Sequence[str], behind: Any = ()) -> Any:
    """Write the command of a container: `ray start` with its arguments, and behind it a program in its place.

    The program is handed on as arguments of the shell, so that nothing of it needs quotes.
    """
    line = derive(_line, start, list(more), list(arguments))
    if not is_given(behind):
        return ["sh", "-c", line]
    shell = ["sh", "-c", derive(_followed, line), "sh"]
    return derive(_joined, shell, behind) if isinstance(behind, Leaf) else _joined(shell, behind)


def _line(start: str, more: Sequence[str], arguments: Sequence[str]) -> str:
    return " ".join([start, *filter(None, more), *map(shlex.quote, arguments)])


def _followed(line: str) -> str:
    return f'{line} && exec "$@"'


def _joined(shell: Sequence[Any], program: Sequence[Any]) -> list[Any]:
    return [*shell, *program]


def probe(container: Container, path: str, port: int) -> None:
    """Look for Ray's answer over HTTP, where the template has no probe of its own."""
    check = {"httpGet": {"path": path, "port": port}}
    for name, times in (("readinessProbe", _READINESS), ("livenessProbe", _LIVENESS)):
        container.fields.setdefault(name, check | times)


def agent_port(arguments: Sequence[str]) -> int:
    """Give the port of a node's agent, which tells of its raylet."""
    # A flag's value may be an argument of its own.
    pairs = zip(arguments, (*arguments[1:], ""), strict=False)
    given = [argument.partition("=")[2] or behind for argument, behind in pairs if flag_of(argument) == _AGENT_FLAG]
    return int(given[-1]) if given and given[-1].isdecimal() else AGENT_PORT
