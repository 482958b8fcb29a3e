"""What several commands are told."""

from __future__ import annotations

import enum
from typing import Annotated

import typer


class Manager(enum.Enum):
    """Who makes the Pods."""

    PULUMI = "pulumi"
    VOLCANO = "volcano"


Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Volcano Job files; - is standard input.")]
