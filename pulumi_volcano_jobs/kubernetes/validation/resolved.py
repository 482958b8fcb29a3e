"""Type checks of Outputs that resolve during an update.

A value may be a secret, so problems do not show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage, output_as_text
from pulumi_volcano_jobs.core.text import holds_output
from pulumi_volcano_jobs.core.tree import scalars
from pulumi_volcano_jobs.kubernetes.schema import QUANTITY, SchemaPruner
from pulumi_volcano_jobs.kubernetes.validation.resources import QUANTITY_RULE, parsed


class TypePath(NamedTuple):
    """A Kubernetes type, and the path of a value in it."""

    definition: str
    """The type."""
    keys: tuple[str | int, ...] = ()
    """The fields, keys and indexes of the path from the type to the value."""

    def below(self, key: str | int) -> TypePath:
        """Return the path of a field, key or index below this one."""
        return self._replace(keys=(*self.keys, key))


class _ResolvedValuePruner(SchemaPruner):
    """A pruner that also parses amounts, because the rules for amounts in a template skip unresolved Outputs."""

    def scalar(self, value: Any, kind: str, path: str, number_format: str = "") -> Any:
        """Return a plain value after a check of its type, and of its text if it is an amount."""
        known = super().scalar(value, kind, path, number_format)
        nano = parsed(value) if kind == QUANTITY and isinstance(value, (str, int, float)) else 0
        if nano is None or nano < 0:
            self.problems.append(Problem(path, "Invalid", QUANTITY_RULE, stage=RejectionStage.DECODE))
        return known


def check(value: Any, typed: TypePath, path: str) -> Sequence[Problem]:
    """Return the problems of a resolved value."""
    pruner = _ResolvedValuePruner()
    pruner.apply_below(value, typed.definition, typed.keys, path)
    texts = [text for text in scalars(value) if holds_output(text)]
    pruner.problems += [output_as_text(path, text) for text in texts[:1]]
    # Unknown fields are not a problem here: the API server drops them.
    return [problem for problem in pruner.problems if problem.stage is not RejectionStage.STRICT]
