"""Users that the containers of a Pod run as, according to its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_CONTEXT = "securityContext"


class ContainerUser(NamedTuple):
    """The user of a container; `uid` is None if the image sets it, or if it is an unresolved Output."""

    container: str
    uid: int | None
    must_not_be_root: bool

    @property
    def is_root(self) -> bool | None:
        """Whether the user is root; None if the manifest does not determine it."""
        if self.uid is None:
            return False if self.must_not_be_root else None
        return self.uid == 0

    def __str__(self) -> str:
        """Return the UID as text, or "another user" if it is not known."""
        return "another user" if self.uid is None else str(self.uid)


def container_users(pod: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> Iterator[ContainerUser]:
    """Yield the user of each container of a Pod; a container's securityContext takes precedence over the Pod's.

    Args:
        pod: the Pod's spec, with or without the containers.
        containers: the containers in wire form.
    """
    for container in containers:
        context = {**_context(pod), **_context(container)}
        user, forbidden = context.get("runAsUser"), context.get("runAsNonRoot")
        yield ContainerUser(container.get("name", ""), user if isinstance(user, int) else None, forbidden is True)


def fs_group(pod: Mapping[str, Any]) -> int | None:
    """Return the group that owns the Pod's volumes (`fsGroup`), if it is known."""
    value = _context(pod).get("fsGroup")
    return value if isinstance(value, int) else None


def _context(holder: Mapping[str, Any]) -> dict[str, Any]:
    context = holder.get(_CONTEXT)
    # A null field has the same effect as a missing one.
    return {key: value for key, value in context.items() if value is not None} if isinstance(context, Mapping) else {}
