"""Image references: which registry and repository they name, in full."""

from __future__ import annotations

from collections.abc import Collection

DOCKER_HUB = "docker.io"
_OFFICIAL = "library"
_ALIASES = {"index.docker.io": DOCKER_HUB, "registry-1.docker.io": DOCKER_HUB}


def repository(image: str) -> str:
    """Give the full repository of an image, without tag and digest: `docker.io/library/alpine` of `alpine:3`."""
    name = image.partition("@")[0]
    before, slash, last = name.rpartition("/")
    name = f"{before}{slash}{last.partition(':')[0]}"
    first, slash, rest = name.partition("/")
    # The rule of Docker and containerd: what looks like a host is one.
    if not slash or not ({*first} & {".", ":"} or first == "localhost" or first != first.lower()):
        first, rest = DOCKER_HUB, name
    host = first.lower()
    host = _ALIASES.get(host, host)
    if host == DOCKER_HUB and "/" not in rest:
        rest = f"{_OFFICIAL}/{rest}"
    return f"{host}/{rest}"


def is_within(image: str, registries: Collection[str]) -> bool:
    """Tell whether an image is of one of the registries, or below one of their paths (`ghcr.io/my-team`)."""
    full = f"{repository(image)}/"
    return any(full.startswith(f"{_in_full(registry)}/") for registry in registries)


def _in_full(registry: str) -> str:
    host, slash, path = registry.rstrip("/").partition("/")
    host = host.lower()
    return f"{_ALIASES.get(host, host)}{slash}{path}"
