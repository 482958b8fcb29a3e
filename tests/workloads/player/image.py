"""Images: the root of this machine, with a layer of files above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """The file system and the default command of a container."""

    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    entrypoint: Sequence[str] = ()
    """Command of a container without one."""
    layer: Path | None = None
    """A folder whose files hide those of the machine."""
    folders: Sequence[Path] = ()
    """Folders of the machine that are in the image at the same paths, also below /tmp, which is otherwise empty."""
