"""Values that become known while an update runs. They are checked by their types only.

A value may be a secret, so no problem shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.schema import QUANTITY, SchemaPruner
from pulumi_volcano_jobs.kubernetes.validation.resources import QUANTITY_RULE, parsed


class TypePath(NamedTuple):
    """A type of Kubernetes, and the path of a value in it."""

    definition: str
    """The type."""
    keys: tuple[str | int, ...] = ()
    """The fields, keys and indexes that lead from it to the value."""

    def below(self, key: str | int) -> TypePath:
        """Return the path of a field, key or index of this value."""
        return self._replace(keys=(*self.keys, key))


class _ResolvedValuePruner(SchemaPruner):
    """A walk that also parses amounts, because the rules for amounts of a template skip unknown values."""

    def scalar(self, value: Any, kind: str, path: str, number_format: str = "") -> Any:
        """Check a plain value, and parse it if it is an amount."""
        known = super().scalar(value, kind, path, number_format)
        nano = parsed(value) if kind == QUANTITY and isinstance(value, (str, int, float)) else 0
        if nano is None or nano < 0:
            self.problems.append(Problem(path, "Invalid", QUANTITY_RULE, stage=RejectionStage.DECODE))
        return known


def check(value: Any, typed: TypePath, path: str) -> Sequence[Problem]:
    """Return the problems of a value that has become known."""
    pruner = _ResolvedValuePruner()
    pruner.apply_below(value, typed.definition, typed.keys, path)
    # Unknown fields are for the API server to drop.
    return [problem for problem in pruner.problems if problem.stage is not RejectionStage.STRICT]
