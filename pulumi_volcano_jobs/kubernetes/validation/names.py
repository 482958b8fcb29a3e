"""Names and keys as Kubernetes has them: DNS names, labels, annotations, keys of ConfigMaps and Secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN
from pulumi_volcano_jobs.kubernetes.validation.field import ObjectField, webhook_problem

_LABEL = re.compile(DNS_LABEL)
_SUBDOMAIN = re.compile(DNS_SUBDOMAIN)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_DATA_KEY = re.compile(r"(?!\.\.?$|\.\.)[-._a-zA-Z0-9]+")
_KEY_RULE = (
    "a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, perhaps behind"
    " a DNS name and a '/'"
)
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
"""The API server's words for a value that is not a DNS name."""
_KEY_HINT = "for example example.org/team"
_MAX_ANNOTATIONS = 256 * 1024
_VALUE_RULE = "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"


def object_meta(metadata: Mapping[str, Any], path: str, stage: RejectionStage) -> Iterator[Problem]:
    """Yield labels and annotations that Kubernetes rejects in the metadata of an object or a template."""
    annotations, place = metadata.get("annotations"), f"{path}.annotations"
    yield from labels(metadata.get("labels"), f"{path}.labels", stage)
    # Unlike that of a label, the key of an annotation can have capital letters in its prefix.
    yield from _label_keys(annotations, place, stage, ignore_case=True)
    size = sum(map(_bytes, [*annotations, *annotations.values()])) if isinstance(annotations, Mapping) else 0
    if size > _MAX_ANNOTATIONS:
        reason = f"may not be more than {_MAX_ANNOTATIONS} bytes"
        yield Problem(place, "TooLong", reason, f"the annotations have {size} bytes: remove some", stage=stage)


def _bytes(value: Any) -> int:
    return len(value.encode(errors="surrogatepass")) if isinstance(value, str) else 0


def labels(mapping: Any, path: str, stage: RejectionStage) -> Iterator[Problem]:
    """Yield labels whose keys or values Kubernetes refuses."""
    yield from _label_keys(mapping, path, stage)
    for key, value in mapping.items() if isinstance(mapping, Mapping) else ():
        yield from label_value(value, paths.join(path, key), stage)


def _label_keys(mapping: Any, path: str, stage: RejectionStage, *, ignore_case: bool = False) -> Iterator[Problem]:
    for key in mapping if isinstance(mapping, Mapping) else ():
        if not is_qualified(key.lower() if ignore_case else key):
            yield Problem(paths.join(path, key), "Invalid", _KEY_RULE, _KEY_HINT, value_text(key), stage)


def label_key(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if no label can have a key."""
    if isinstance(value, str) and not is_qualified(value):
        yield webhook_problem(path, "Invalid", _KEY_RULE, value, _KEY_HINT)


def label_value(value: Any, path: str, stage: RejectionStage = RejectionStage.WEBHOOK) -> Iterator[Problem]:
    """Yield a Problem if no label can have a value."""
    if isinstance(value, str) and not is_label_value(value):
        yield Problem(path, "Invalid", _VALUE_RULE, value=value_text(value), stage=stage)


def is_label_value(value: str) -> bool:
    """Tell whether a label can have a value."""
    return len(value) <= MAX_LABEL and bool(_LABEL_VALUE.fullmatch(value))


def is_qualified(text: str) -> bool:
    """Tell whether a text is a name of at most 63 characters, perhaps behind a DNS name and a '/'."""
    prefix, slash, name = text.rpartition("/")
    is_valid = len(name) <= MAX_LABEL and _QUALIFIED.fullmatch(name)
    return bool(is_valid) and (not slash or is_subdomain(prefix))


def is_subdomain(text: str) -> bool:
    """Tell whether a text is a DNS name."""
    return len(text) <= MAX_SUBDOMAIN and bool(_SUBDOMAIN.fullmatch(text))


def dns_label(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is no DNS label."""
    if isinstance(value, str) and (len(value) > MAX_LABEL or not _LABEL.fullmatch(value)):
        reason = "must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit"
        yield webhook_problem(path, "Invalid" if value else "Required", reason, value)


def subdomain(value: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is no DNS name."""
    if isinstance(value, str) and not is_subdomain(value):
        reason = (
            "must be at most 253 lower-case letters, digits, '-' and '.', each part between dots beginning and"
            " ending with a letter or digit"
        )
        yield webhook_problem(path, "Invalid", reason, value)


def reference(field: ObjectField, key: str, object_kind: str, error_type: ErrorType = "Required") -> Iterator[Problem]:
    """Yield a Problem if a field names nothing, or by what is no DNS name."""
    if field.text(key):
        yield from subdomain(field.text(key), field.at(key))
    else:
        yield from field.check_required(key, f"name the {object_kind}", error_type=error_type)


def is_data_key(text: str) -> bool:
    """Tell whether a ConfigMap or a Secret can have a key."""
    return len(text) <= MAX_SUBDOMAIN and bool(_DATA_KEY.fullmatch(text))


def data_key(field: ObjectField, key: str, object_kind: str) -> Iterator[Problem]:
    """Yield a Problem if a field is no key that a ConfigMap or a Secret can have."""
    text = field.text(key)
    if text and not is_data_key(text):
        yield field.problem(
            key, "Invalid", "a key is at most 253 letters, digits, '-', '_' and '.', and does not begin with '..'"
        )
    elif not text:
        yield from field.check_required(key, f"name the key of the {object_kind}")
