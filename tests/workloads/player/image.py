"""Images: this machine's root, with a layer of files above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Image:
    """What a container starts from."""

    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    entrypoint: Sequence[str] = ()
    """What runs where the container has no command."""
    layer: Path | None = None
    """A folder whose files are above the machine's own."""
