"""Probes and lifecycle hooks of a container."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, SupportedValues, check_one_of
from pulumi_volcano_jobs.kubernetes.validation.ports import MAX_PORT, PORT_RULE, is_port_name

FIELDS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_ACTIONS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEME = SupportedValues("scheme", ("HTTP", "HTTPS"))
_HEADER = re.compile(r"[-A-Za-z0-9]+")
_GRACE = 30


def check(container: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    """Yield invalid probes and hooks of a container."""
    for key in FIELDS[1:]:
        probe = container.child(key)
        if probe:
            yield from _probe(probe, key)
    hooks = container.child("lifecycle")
    for hook in (hooks.child("postStart"), hooks.child("preStop")) if hooks else ():
        if hook:
            yield from _handler(hook, _HOOKS)
            yield from _sleep(hook, spec)


def _probe(probe: ObjectField, kind: str) -> Iterator[Problem]:
    yield from _handler(probe, _ACTIONS)
    for key in _NUMBERS:
        yield from probe.check_minimum(key, 0, "remove it for the default")
    yield from probe.check_minimum("terminationGracePeriodSeconds", 1, "remove it for the value of the Pod")
    if kind == "readinessProbe":
        if probe.has("terminationGracePeriodSeconds"):
            reason = "must not be set for readinessProbes"
            yield probe.problem("terminationGracePeriodSeconds", "Invalid", reason, "remove it")
    elif (probe.number("successThreshold") or 0) > 1:
        yield probe.problem("successThreshold", "Invalid", f"must be 1 for a {kind}", "remove it")


def _handler(field: ObjectField, kinds: tuple[str, ...]) -> Iterator[Problem]:
    yield from check_one_of(field, kinds, "may not specify more than 1 handler type", "must specify a handler type")
    command, web, socket, grpc = (field.child(kind) for kind in _ACTIONS)
    if command:
        yield from command.check_required("command", "set a command such as [cat, /tmp/ready]")
    if web:
        yield from _SCHEME.check(web)
        yield from _port(web)
        for header in web.children("httpHeaders"):
            if not header.is_unknown("name") and not _HEADER.fullmatch(header.text("name")):
                yield header.problem(
                    "name", "Invalid", "a valid HTTP header must consist of alphanumeric characters or '-'"
                )
    if socket:
        yield from _port(socket)
    if grpc:
        yield from grpc.check_range("port", 1, MAX_PORT, PORT_RULE)


def _port(field: ObjectField) -> Iterator[Problem]:
    """Yield a Problem if a port is neither a valid number nor a valid name."""
    yield from field.check_range("port", 1, MAX_PORT, PORT_RULE)
    name = field.fields.get("port")
    if isinstance(name, str) and name.isdecimal():
        yield field.problem(
            "port",
            "Invalid",
            "must contain at least one letter (a-z), because text is the name of a port",
            "remove the quotes",
        )
    elif isinstance(name, str) and not is_port_name(name):
        yield field.problem("port", "Invalid", "must be the number or the name of a port")


def _sleep(hook: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    sleep = hook.child("sleep")
    if not sleep:
        return
    grace = spec.number("terminationGracePeriodSeconds")
    maximum = _GRACE if grace is None else grace
    if maximum < 0:
        # Kubernetes replaces a negative value with 1.
        maximum = 1
    reason = f"must be between 0 and terminationGracePeriodSeconds ({maximum}), inclusive"
    hint = "shorten it, or raise spec.terminationGracePeriodSeconds"
    if spec.is_unknown("terminationGracePeriodSeconds"):
        yield from sleep.check_minimum("seconds", 0)
    else:
        yield from sleep.check_range("seconds", 0, maximum, reason, hint)
