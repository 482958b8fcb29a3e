"""What Kubernetes takes for names, labels and ports, wherever they stand; a value that is not known yet passes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs import paths
from pulumi_volcano_jobs.errors import Problem, Stage
from pulumi_volcano_jobs.model import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN

MAX_PORT = 65535
_MAX_PORT_NAME = 15
_LABEL = re.compile(DNS_LABEL)
_PORT_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_KEY = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(DNS_SUBDOMAIN)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def labels(given: Any, path: str, stage: Stage) -> Iterator[Problem]:
    """Yield labels whose keys or values Kubernetes refuses."""
    yield from keys(given, path, stage)
    for key, value in given.items() if isinstance(given, Mapping) else ():
        if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL_VALUE.fullmatch(value)):
            reason = (
                "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"
            )
            yield Problem(paths.join(path, key), reason, value=repr(value), stage=stage)


def keys(given: Any, path: str, stage: Stage) -> Iterator[Problem]:
    """Yield keys of labels or annotations that Kubernetes refuses."""
    for key in given if isinstance(given, Mapping) else ():
        # Kubernetes, too, takes capitals in the prefix of an annotation's key and of no label's.
        text = key.lower() if path.endswith(".annotations") else key
        prefix, slash, name = text.rpartition("/")
        sound = len(name) <= MAX_LABEL and _KEY.fullmatch(name)
        if not sound or (slash and not (len(prefix) <= MAX_SUBDOMAIN and _PREFIX.fullmatch(prefix))):
            reason = (
                "a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit,"
                " perhaps behind a DNS name and a '/'"
            )
            yield Problem(paths.join(path, key), reason, "for example example.org/team", repr(key), stage)


def dns_label(value: Any, path: str, stage: Stage = Stage.WEBHOOK) -> Iterator[Problem]:
    """Yield a Problem if a value is no DNS label."""
    if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL.fullmatch(value)):
        reason = (
            "this must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit"
        )
        yield Problem(path, reason, value=repr(value) if value else "", stage=stage)


def port_name(value: str, path: str, stage: Stage = Stage.WEBHOOK) -> Iterator[Problem]:
    """Yield a Problem if a value cannot be the name of a container's port."""
    if len(value) > _MAX_PORT_NAME or not _PORT_NAME.fullmatch(value):
        reason = "a port's name is at most 15 lower-case letters, digits and '-', with at least one letter"
        yield Problem(path, reason, value=repr(value), stage=stage)
