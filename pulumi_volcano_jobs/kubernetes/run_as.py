"""Which users the containers of a Pod run as, as far as its manifest says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_CONTEXT = "securityContext"


class User(NamedTuple):
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


def of_containers(pod: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> Iterator[User]:
    """Give the user of each container of a Pod; what a container says counts before what its Pod says.

    Args:
        pod: the Pod's spec, or its fields beside the containers.
        containers: the containers, or their fields.
    """
    for container in containers:
        both = {**_context(pod), **_context(container)}
        user, forbidden = both.get("runAsUser"), both.get("runAsNonRoot")
        yield User(container.get("name", ""), user if isinstance(user, int) else None, forbidden is True)


def group(pod: Mapping[str, Any]) -> int | None:
    """Give the group that the Pod's volumes get (`fsGroup`), if it is known."""
    found = _context(pod).get("fsGroup")
    return found if isinstance(found, int) else None


def _context(holder: Mapping[str, Any]) -> dict[str, Any]:
    found = holder.get(_CONTEXT)
    # A field that is null counts as none.
    return {key: value for key, value in found.items() if value is not None} if isinstance(found, Mapping) else {}
