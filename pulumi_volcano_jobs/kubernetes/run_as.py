"""Which users the containers of a Pod run as, as far as its manifest says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_CONTEXT = "securityContext"


class ContainerUser(NamedTuple):
    """The user of a container; `uid` is None where the image decides, or where it is not known yet."""

    container: str
    uid: int | None
    must_not_be_root: bool

    @property
    def is_root(self) -> bool | None:
        """Whether it is root; None if nothing says so or the contrary."""
        if self.uid is None:
            return False if self.must_not_be_root else None
        return self.uid == 0

    def __str__(self) -> str:
        """Name it."""
        return "another user" if self.uid is None else str(self.uid)


def container_users(pod: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> Iterator[ContainerUser]:
    """Give the user of each container of a Pod; what a container says counts before what its Pod says.

    Args:
        pod: the Pod's spec, or its fields beside the containers.
        containers: the containers, or their fields.
    """
    for container in containers:
        context = {**_context(pod), **_context(container)}
        user, forbidden = context.get("runAsUser"), context.get("runAsNonRoot")
        yield ContainerUser(container.get("name", ""), user if isinstance(user, int) else None, forbidden is True)


def fs_group(pod: Mapping[str, Any]) -> int | None:
    """Give the group that the Pod's volumes get (`fsGroup`), if it is known."""
    value = _context(pod).get("fsGroup")
    return value if isinstance(value, int) else None


def _context(holder: Mapping[str, Any]) -> dict[str, Any]:
    context = holder.get(_CONTEXT)
    # A field that is null counts as none.
    return {key: value for key, value in context.items() if value is not None} if isinstance(context, Mapping) else {}
