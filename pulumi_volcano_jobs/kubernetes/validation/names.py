"""Validation of DNS names, labels, annotations, and keys of ConfigMaps and Secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation.field import EMPTY, ObjectField, webhook_problem

_LABEL = re.compile(DNS_LABEL)
_SUBDOMAIN = re.compile(DNS_SUBDOMAIN)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_DATA_KEY = re.compile(r"(?!\.\.?$|\.\.)[-._a-zA-Z0-9]+")
_KEY_RULE = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', must start and end with an "
    "alphanumeric character, and be no more than 63 characters, with an optional DNS subdomain prefix and '/'"
)
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
"""The API server's words for a value that is not a DNS name."""
_KEY_HINT = "use a key such as example.org/team"
_MAX_ANNOTATIONS = 256 * 1024
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', must start and end "
    "with an alphanumeric character, and be no more than 63 characters"
)


def object_meta(metadata: Mapping[str, Any], path: str, stage: RejectionStage) -> Iterator[Problem]:
    """Yield labels and annotations that Kubernetes rejects in the metadata of an object or a template."""
    annotations, place = metadata.get("annotations"), f"{path}.annotations"
    yield from labels(metadata.get("labels"), f"{path}.labels", stage)
    # Unlike the key of a label, the key of an annotation may have upper-case letters in its prefix.
    yield from _label_keys(annotations, place, stage, ignore_case=True)
    size = sum(map(_bytes, [*annotations, *annotations.values()])) if isinstance(annotations, Mapping) else 0
    if size > _MAX_ANNOTATIONS:
        reason = f"may not be more than {_MAX_ANNOTATIONS} bytes"
        yield Problem(place, "TooLong", reason, f"remove annotations, which have {size} bytes in total", stage=stage)


def _bytes(value: Any) -> int:
    return len(value.encode(errors="surrogatepass")) if isinstance(value, str) else 0


def labels(mapping: Any, path: str, stage: RejectionStage) -> Iterator[Problem]:
    """Yield labels with keys or values that Kubernetes rejects."""
    yield from _label_keys(mapping, path, stage)
    for key, value in mapping.items() if isinstance(mapping, Mapping) else ():
        yield from label_value(value, paths.join(path, key), stage)


def _label_keys(mapping: Any, path: str, stage: RejectionStage, *, ignore_case: bool = False) -> Iterator[Problem]:
    for key in mapping if isinstance(mapping, Mapping) else ():
        if not is_qualified(key.lower() if ignore_case else key):
            yield Problem(paths.join(path, key), "Invalid", _KEY_RULE, _KEY_HINT, value_text(key), stage)


def label_key(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is not a valid label key."""
    if isinstance(value, str) and not is_qualified(value):
        yield webhook_problem(path, "Invalid", _KEY_RULE, value, _KEY_HINT)


def label_value(value: Any, path: str, stage: RejectionStage = RejectionStage.WEBHOOK) -> Iterator[Problem]:
    """Yield a Problem if a value is not a valid label value."""
    if isinstance(value, str) and not is_label_value(value):
        yield Problem(path, "Invalid", _VALUE_RULE, value=value_text(value), stage=stage)


def is_label_value(value: str) -> bool:
    """Return whether a label can have a value."""
    return len(value) <= MAX_LABEL and bool(_LABEL_VALUE.fullmatch(value))


def is_qualified(text: str) -> bool:
    """Return whether a text is a qualified name: at most 63 characters, with an optional DNS prefix and '/'."""
    prefix, slash, name = text.rpartition("/")
    is_valid = len(name) <= MAX_LABEL and _QUALIFIED.fullmatch(name)
    return bool(is_valid) and (not slash or is_subdomain(prefix))


def is_subdomain(text: str) -> bool:
    """Return whether a text is a DNS subdomain."""
    return len(text) <= MAX_SUBDOMAIN and bool(_SUBDOMAIN.fullmatch(text))


def dns_label(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is not a DNS label."""
    if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL.fullmatch(value)):
        reason = (
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', must start and end "
            "with an alphanumeric character, and be no more than 63 characters"
        )
        if value:
            yield webhook_problem(path, "Invalid", reason, value)
        else:
            yield webhook_problem(path, "Required", "", value, "set a name")


def subdomain(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is not a DNS subdomain."""
    if isinstance(value, str) and not is_subdomain(value):
        is_long = len(value) > MAX_SUBDOMAIN
        reason = f"must be no more than {MAX_SUBDOMAIN} characters" if is_long else SUBDOMAIN_RULE
        yield webhook_problem(path, "Invalid", reason, value)


def reference(field: ObjectField, object_kind: str, error_type: ErrorType = "Required") -> Iterator[Problem]:
    """Yield a Problem if a reference to an object is empty or not a DNS subdomain."""
    if name := field.text("name"):
        yield from subdomain(name, field.at("name"))
    else:
        reason = EMPTY if error_type == "Invalid" else ""
        yield from field.check_required("name", f"set the name of the {object_kind}", reason, error_type)


def is_data_key(text: str) -> bool:
    """Return whether a ConfigMap or a Secret can have a key."""
    return len(text) <= MAX_SUBDOMAIN and bool(_DATA_KEY.fullmatch(text))


def data_key(field: ObjectField, key: str, object_kind: str) -> Iterator[Problem]:
    """Yield a Problem if a field is not a valid key of a ConfigMap or a Secret."""
    text = field.text(key)
    if text and not is_data_key(text):
        yield field.problem(
            key,
            "Invalid",
            f"a valid config key must consist of alphanumeric characters, '-', '_' or '.', must not start with '..', "
            f"and be no more than {MAX_SUBDOMAIN} characters",
        )
    elif not text:
        yield from field.check_required(key, f"set a key of the {object_kind}")
