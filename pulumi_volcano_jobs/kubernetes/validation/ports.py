"""Ports: numbers, names, and the node's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_unique, duplicates

MAX_PORT = 65535
PORT_RULE = f"a port is a number from 1 to {MAX_PORT}"
NAME_RULE = "a port's name is at most 15 lower-case letters, digits and '-', with at least one letter"
_MAX_NAME = 15
_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_PROTOCOL = SupportedValues("protocol", ("TCP", "UDP", "SCTP"))


def check(container: ObjectField) -> Iterator[Problem]:
    """Yield what is wrong with the ports of a container."""
    ports = container.children("ports")
    yield from check_unique(ports, "name")
    for port in ports:
        # To the API server, a port of 0 is a port that is not set.
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
    """Check whether a number is one of a port."""
    return 1 <= number <= MAX_PORT


def is_port_name(name: str) -> bool:
    """Tell whether a port can have a name."""
    return len(name) <= _MAX_NAME and bool(_NAME.fullmatch(name))


def check_host_ports(spec: ObjectField) -> Iterator[Problem]:
    """Yield ports of the node that a Pod wants twice, or that cannot be there on the node's own network."""
    # Init containers run one by one, so each is looked at by itself.
    groups = [spec.children("containers"), *([container] for container in spec.children("initContainers"))]
    for group in groups:
        ports = [port for container in group for port in container.children("ports")]
        reason, hint = "another port of the Pod has this one of the node too", "leave it out, or give it another"
        yield from duplicates(((port.at("hostPort"), _host_port_key(port)) for port in ports), reason, hint)
    for container in spec.children("containers") if spec.is_true("hostNetwork") else ():
        for port in container.children("ports"):
            host_port = port.number("hostPort")
            if host_port and host_port != port.number("containerPort"):
                yield port.problem(
                    "hostPort", "Invalid", "with hostNetwork this must equal the containerPort", "leave it out"
                )


def _host_port_key(port: ObjectField) -> str:
    if not port.number("hostPort") or port.is_unknown("protocol") or port.is_unknown("hostIP"):
        return ""
    parts = (port.text("protocol") or "TCP", port.text("hostIP"), str(port.number("hostPort")))
    return " ".join(filter(None, parts))
