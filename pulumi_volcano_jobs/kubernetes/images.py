"""References to images: which of them name a registry, and how one is put before the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, Stage, shown
from pulumi_volcano_jobs.core.leaf import Leaf, derive, is_given

_HOST = r"(localhost|[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+|[A-Za-z0-9-]+(?=:[0-9]))(:[0-9]+)?"
_PATH = r"(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*"
_REGISTRY = re.compile(_HOST + _PATH)
_LISTS = ("containers", "initContainers")


def problems(registry: Any, path: str) -> Iterator[Problem]:
    """Yield a Problem if a value is no registry, perhaps with a path in it."""
    if not isinstance(registry, (str, Leaf)):
        yield Problem(path, "TypeInvalid", "this must be a string", "for example ghcr.io/team", stage=Stage.DECODE)
    if isinstance(registry, str) and registry and not _REGISTRY.fullmatch(registry):
        plain = registry.partition("://")[2] or registry
        hint = f"write {plain.rstrip('/')}" if _REGISTRY.fullmatch(plain.rstrip("/")) else "for example ghcr.io/team"
        reason = "this is no registry: a host (with a dot, a port, or localhost), and perhaps a path"
        yield Problem(path, "Invalid", reason, hint, shown(registry))


def in_registry(image: Any, registry: Any) -> Any:
    """Put a registry before an image that names none; one that does, or none at all, stays as it is."""
    return derive(_joined, image, registry) if is_given(image) and is_given(registry) else image


def _joined(image: Any, registry: Any) -> Any:
    return f"{registry}/{image}" if isinstance(image, str) and registry and not names_registry(image) else image


def names_registry(image: str) -> bool:
    """Tell whether an image says where it is, as container runtimes read it: `train:1` and `team/train:1` do not."""
    first, slash, _ = image.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost" or first != first.lower())


def of_template(template: Mapping[str, Any], registry: Any) -> dict[str, Any]:
    """Copy a Pod template with the registry before the images of its containers and init containers."""
    spec = template.get("spec")
    if not is_given(registry) or not isinstance(spec, Mapping):
        return dict(template)
    lists = {
        key: [_container(item, registry) for item in spec[key]] for key in _LISTS if isinstance(spec.get(key), list)
    }
    return {**template, "spec": {**spec, **lists}}


def _container(container: Any, registry: Any) -> Any:
    if not isinstance(container, Mapping) or "image" not in container:
        return container
    return {**container, "image": in_registry(container["image"], registry)}
