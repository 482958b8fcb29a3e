"""Numbers and names of container ports, and host ports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique, duplicates

MAX_PORT = 65535
PORT_RULE = f"must be between 1 and {MAX_PORT}, inclusive"
NAME_RULE = (
    "must be a port name: no more than 15 lower case letters (a-z), digits and hyphens (-), with at least one letter"
)
_MAX_NAME = 15
_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_PROTOCOL = SupportedValues("protocol", ("TCP", "UDP", "SCTP"))


def check(container: ObjectField) -> Iterator[Problem]:
    """Yield invalid ports of a container."""
    ports = container.children("ports")
    yield from check_unique(ports, "name")
    for port in ports:
        # For the API server, 0 is the same as no value.
        yield from port.check_range(
            "containerPort",
            1,
            MAX_PORT,
            PORT_RULE,
            error_type="Invalid" if port.number("containerPort") else "Required",
        )
        if port.number("hostPort") != 0:
            yield from port.check_range("hostPort", 1, MAX_PORT, PORT_RULE)
        if port.text("name") and not is_port_name(port.text("name")):
            yield port.problem("name", "Invalid", NAME_RULE)
        yield from _PROTOCOL.check(port)


def is_port(number: int) -> bool:
    """Return whether a number is a valid port."""
    return 1 <= number <= MAX_PORT


def is_port_name(name: str) -> bool:
    """Return whether a port can have a name."""
    return len(name) <= _MAX_NAME and bool(_NAME.fullmatch(name))


def check_host_ports(spec: ObjectField) -> Iterator[Problem]:
    """Yield duplicate host ports of a Pod, and host ports that differ from the container port with hostNetwork."""
    # Init containers run one after the other, so each is checked separately.
    groups = [spec.children("containers"), *([container] for container in spec.children("initContainers"))]
    for group in groups:
        ports = [port for container in group for port in container.children("ports")]
        hint = "remove it, or use another hostPort"
        yield from duplicates(((port.at("hostPort"), _host_port_key(port)) for port in ports), hint=hint)
    for container in spec.children("containers") if spec.is_true("hostNetwork") else ():
        for port in container.children("ports"):
            host_port = port.number("hostPort")
            if host_port and host_port != port.number("containerPort"):
                yield port.problem(
                    "hostPort", "Invalid", "must match `containerPort` when `hostNetwork` is true", "remove it"
                )


def _host_port_key(port: ObjectField) -> str:
    if not port.number("hostPort") or port.is_unknown("protocol") or port.is_unknown("hostIP"):
        return ""
    parts = (port.text("protocol") or "TCP", port.text("hostIP"), str(port.number("hostPort")))
    return " ".join(filter(None, parts))
