"""Probes of a container, and what it does when it has started or is to stop."""

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
    """Yield what is wrong with the probes and hooks of a container that stays."""
    for key in FIELDS[1:]:
        probe = container.child(key)
        if probe:
            yield from _probe(probe, key)
    hooks = container.child("lifecycle")
    for hook in (hooks.child("postStart"), hooks.child("preStop")) if hooks else ():
        if hook:
            yield from _handler(hook, _HOOKS, "a hook does one thing")
            yield from _sleep(hook, spec)


def _probe(probe: ObjectField, kind: str) -> Iterator[Problem]:
    yield from _handler(probe, _ACTIONS, "a probe asks in one way")
    for key in _NUMBERS:
        yield from probe.check_minimum(key, 0, "leave it out for the default")
    yield from probe.check_minimum("terminationGracePeriodSeconds", 1, "leave it out for that of the Pod")
    if kind == "readinessProbe":
        if probe.has("terminationGracePeriodSeconds"):
            reason = "a readinessProbe ends no container"
            yield probe.problem("terminationGracePeriodSeconds", "Invalid", reason, "remove it")
    elif (probe.number("successThreshold") or 0) > 1:
        yield probe.problem("successThreshold", "Invalid", f"of a {kind} this must be 1", "remove it")


def _handler(field: ObjectField, kinds: tuple[str, ...], noun: str) -> Iterator[Problem]:
    yield from check_one_of(field, kinds, noun, f"{noun}, and there is none")
    command, web, socket, grpc = (field.child(kind) for kind in _ACTIONS)
    if command:
        yield from command.check_required("command", "for example [cat, /tmp/ready]")
    if web:
        yield from _SCHEME.check(web)
        yield from _port(web)
        for header in web.children("httpHeaders"):
            if not header.is_unknown("name") and not _HEADER.fullmatch(header.text("name")):
                yield header.problem("name", "Invalid", "a header's name has only letters, digits and '-'")
    if socket:
        yield from _port(socket)
    if grpc:
        yield from grpc.check_range("port", 1, MAX_PORT, PORT_RULE)


def _port(field: ObjectField) -> Iterator[Problem]:
    """Look at a port by its number or its name."""
    yield from field.check_range("port", 1, MAX_PORT, PORT_RULE)
    name = field.fields.get("port")
    if isinstance(name, str) and name.isdecimal():
        yield field.problem(
            "port", "Invalid", "in quotes this is a port's name, and one has a letter", "write it without quotes"
        )
    elif isinstance(name, str) and not is_port_name(name):
        yield field.problem("port", "Invalid", "this is neither a port's number nor the name of one")


def _sleep(hook: ObjectField, spec: ObjectField) -> Iterator[Problem]:
    sleep = hook.child("sleep")
    if not sleep:
        return
    grace = spec.number("terminationGracePeriodSeconds")
    maximum = _GRACE if grace is None else grace
    if maximum < 0:
        # Kubernetes takes it so.
        maximum = 1
    reason = f"must be from 0 to {maximum}, the seconds that the Pod has to stop"
    hint = "shorten it, or raise spec.terminationGracePeriodSeconds"
    if spec.is_unknown("terminationGracePeriodSeconds"):
        yield from sleep.check_minimum("seconds", 0)
    else:
        yield from sleep.check_range("seconds", 0, maximum, reason, hint)
