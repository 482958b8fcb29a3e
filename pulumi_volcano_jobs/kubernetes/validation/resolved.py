"""Checks of Outputs that resolve during an update: their types, and rules that no API server checks.

A value may be a secret, so problems do not show it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, output_as_text
from pulumi_volcano_jobs.core.text import holds_output
from pulumi_volcano_jobs.core.tree import scalars
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.kubernetes.schema import QUANTITY, SchemaPruner
from pulumi_volcano_jobs.kubernetes.validation.resources import QUANTITY_RULE, parsed

REGISTRY = "a registry"
"""A type in addition to those of Kubernetes: the registry of images, with an optional path."""
_IMAGE = re.compile(r".*\.spec\.((containers|initContainers)\[\d+\]\.image|volumes\[\d+\]\.image\.reference)")


class TypePath(NamedTuple):
    """A Kubernetes type, and the path of a value in it."""

    definition: str
    """The type."""
    keys: tuple[str | int, ...] = ()
    """The fields, keys and indexes of the path from the type to the value."""

    def below(self, key: str | int) -> TypePath:
        """Return the path of a field, key or index below this one."""
        return self._replace(keys=(*self.keys, key))


@dataclass
class _ResolvedValuePruner(SchemaPruner):
    """A pruner that also parses amounts and images, because the rules for a template skip unresolved Outputs."""

    image_problems: list[Problem] = field(default_factory=list)

    def scalar(self, value: Any, kind: str, path: str, number_format: str = "") -> Any:
        """Return a plain value after a check of its type, and of its text if it is an amount."""
        known = super().scalar(value, kind, path, number_format)
        nano = parsed(value) if kind == QUANTITY and isinstance(value, (str, int, float)) else 0
        if nano is None or nano < 0:
            self.problems.append(Problem(path, "Invalid", QUANTITY_RULE, stage=RejectionStage.DECODE))
        if isinstance(value, str) and not holds_output(value) and _IMAGE.fullmatch(path):
            self.image_problems += images.check_reference(value, path, shown=False)
        return known


def check(value: Any, typed: TypePath, path: str) -> Sequence[Problem]:
    """Return the problems of a resolved value."""
    if typed.definition == REGISTRY:
        return [*check(value, TypePath("string"), path)] or list(images.check_registry(value, path, shown=False))
    pruner = _ResolvedValuePruner()
    pruner.apply_below(value, typed.definition, typed.keys, path)
    texts = [text for text in scalars(value) if holds_output(text)]
    pruner.problems += [output_as_text(path, text) for text in texts[:1]]
    # Unknown fields are not a problem here: the API server drops them.
    known = [problem for problem in pruner.problems if problem.stage is not RejectionStage.STRICT]
    return [*known, *pruner.image_problems]
