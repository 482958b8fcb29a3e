"""Image references: the registry and repository of an image, and a default registry for images without one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs.core.errors import Problem, value_text, wrong_type
from pulumi_volcano_jobs.core.leaf import Leaf, derive, is_given
from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINER_LISTS

_LABEL = "[A-Za-z0-9-]+"
REGISTRY = (
    rf"((localhost|{_LABEL}(\.{_LABEL})+)(:[0-9]+)?|{_LABEL}:[0-9]+)"
    r"(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*"
)
"""The pattern of a registry with an optional path, in the syntax that Python and Go share."""
DOCKER_HUB = "docker.io"
_REGISTRY = re.compile(REGISTRY)
_HOST_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"({_HOST_LABEL}(\.{_HOST_LABEL})*|\[[a-fA-F0-9:]+\])(:[0-9]+)?"
# Upper case is reported separately.
_PART = r"[A-Za-z0-9]+((\.|_|__|-+)[A-Za-z0-9]+)*"
_REFERENCE = re.compile(
    rf"({_HOST}/)?(?P<path>{_PART}(/{_PART})*)(:\w[\w.-]{{0,127}})?(@(?P<digest>[A-Za-z][\w.+-]*:[A-Fa-f0-9]{{32,}}))?",
    re.ASCII,
)
_LONGEST_PATH = 255
_IMAGE_FIX, _REGISTRY_FIX = "write an image such as ghcr.io/team/train:1", "set a registry such as ghcr.io/team"
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_OFFICIAL = "library"
_OFFICIAL_HOSTS = (DOCKER_HUB, "index.docker.io")
_ALIASES = {"index.docker.io": DOCKER_HUB, "registry-1.docker.io": DOCKER_HUB}


def check_registry(registry: Any, path: str, *, shown: bool = True) -> Iterator[Problem]:
    """Yield a Problem if a value is not a registry with an optional path. `shown=False` hides the value."""
    if not isinstance(registry, (str, Leaf)):
        yield wrong_type(path, "a string", _REGISTRY_FIX)
    if isinstance(registry, str) and registry and not _REGISTRY.fullmatch(registry):
        plain = (registry.partition("://")[2] or registry).rstrip("/")
        hint = f"write {plain}" if shown and _REGISTRY.fullmatch(plain) else _REGISTRY_FIX
        reason = "must be a registry host (with a dot or a port, or localhost), optionally followed by a path"
        yield Problem(path, "Invalid", reason, hint, value_text(registry) if shown else "")


def check_reference(image: str, path: str, *, shown: bool = True) -> Iterator[Problem]:
    """Yield a Problem if an image is not a reference. The API server accepts it, but no kubelet can pull it.

    The rules are those of `ParseNormalizedNamed` in github.com/distribution/reference, which the kubelet calls.
    `shown=False` hides the image.
    """
    if not image or image != image.strip():
        return  # the API server rejects it
    if problem := _reference_problem(image):
        reason, hint = problem
        reason = f"{reason}; otherwise the kubelet cannot pull it (InvalidImageName)"
        yield Problem(path, "Invalid", reason, hint if shown else _IMAGE_FIX, value_text(image) if shown else "")


def _reference_problem(image: str) -> tuple[str, str] | None:
    """Return the broken rule of an image reference, and the fix; None if the reference is valid."""
    match = _REFERENCE.fullmatch(_normalized(image))
    if match and match["path"] != match["path"].lower():
        written = match["path"].removeprefix(f"{_OFFICIAL}/")
        return "the repository must be in lower case", f"write {image.replace(written, written.lower())}"
    if re.fullmatch("[a-f0-9]{64}", image) or not match:
        return "must be an image reference", _reference_fix(image)
    if len(match["path"]) > _LONGEST_PATH:
        return f"the repository may not be more than {_LONGEST_PATH} characters", ""
    algorithm, colon, value = (match["digest"] or "").partition(":")
    if colon and not (len(value) == _DIGESTS.get(algorithm) and value == value.lower()):
        return "the digest must be sha256: and 64 lower-case hexadecimal digits", "copy the digest from the registry"
    return None


def _normalized(image: str) -> str:
    host, _, rest = image.partition("/") if names_registry(image) else (DOCKER_HUB, "", image)
    prefix = f"{_OFFICIAL}/" if host in _OFFICIAL_HOSTS and "/" not in rest else ""
    return f"{host}/{prefix}{rest}"


def _reference_fix(image: str) -> str:
    if any(map(str.isspace, image)):
        return "remove the whitespace"
    if "://" in image:
        return f"remove {image.partition('://')[0]}://"
    if any(mark in image for mark in ("$", "{{", "<")):
        return "replace the placeholder, because Kubernetes does not expand variables in images"
    return _IMAGE_FIX


def in_registry(image: Any, registry: Any) -> Any:
    """Return the image with the registry as its prefix; an image that names a registry is returned unchanged."""
    return derive(_joined, image, registry) if is_given(image) and is_given(registry) else image


def _joined(image: Any, registry: Any) -> Any:
    return f"{registry}/{image}" if isinstance(image, str) and registry and not names_registry(image) else image


def names_registry(image: str) -> bool:
    """Return whether an image names a registry, as container runtimes parse it; `train:1` and `team/train:1` do not."""
    host, slash, _ = image.partition("/")
    return bool(slash) and ("." in host or ":" in host or host == "localhost" or host != host.lower())


def repository(image: str) -> str:
    """Return the full repository of an image, without tag and digest: `docker.io/library/alpine` of `alpine:3`."""
    name = image.partition("@")[0]
    repository_name, slash, last = name.rpartition("/")
    name = f"{repository_name}{slash}{last.partition(':')[0]}"
    first, rest = DOCKER_HUB, name
    if names_registry(name):
        first, _, rest = name.partition("/")
    host = _host(first)
    if host == DOCKER_HUB and "/" not in rest:
        rest = f"{_OFFICIAL}/{rest}"
    return f"{host}/{rest}"


def is_within(image: str, registries: Collection[str]) -> bool:
    """Return whether an image is in one of the registries, or below one of their paths (`ghcr.io/my-team`)."""
    full = f"{repository(image)}/"
    return any(full.startswith(f"{_in_full(registry)}/") for registry in registries)


def _in_full(registry: str) -> str:
    host, slash, path = registry.rstrip("/").partition("/")
    return f"{_host(host)}{slash}{path}"


def _host(name: str) -> str:
    return _ALIASES.get(name.lower(), name.lower())


def template_in_registry(template: Mapping[str, Any], registry: Any) -> dict[str, Any]:
    """Return a copy of a Pod template in which images without a registry get this one."""
    spec = template.get("spec")
    if not is_given(registry) or not isinstance(spec, Mapping):
        return dict(template)
    lists = {
        kind: [_container(item, registry) for item in spec[kind]]
        for kind in CONTAINER_LISTS
        if isinstance(spec.get(kind), list)
    }
    return {**template, "spec": {**spec, **lists}}


def _container(container: Any, registry: Any) -> Any:
    if not isinstance(container, Mapping) or "image" not in container:
        return container
    return {**container, "image": in_registry(container["image"], registry)}
