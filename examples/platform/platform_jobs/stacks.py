"""How a stack finds the others."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi


class Queues:
    """The queues of the teams, from the stack that owns them.

    It is the stack of the same name: `training` in `dev` uses the queues of `dev`.
    """

    def __init__(self) -> None:
        """Refer to that stack."""
        self._name = f"{pulumi.get_organization()}/platform-queues/{pulumi.get_stack()}"
        self._stack = pulumi.StackReference(self._name)

    def of(self, team: str) -> pulumi.Output[str]:
        """Return the name of a team's queue."""

        def find(outputs: Mapping[str, str]) -> str:
            if team not in outputs:
                there = ", ".join(sorted(outputs)) or "none"
                raise pulumi.RunError(
                    f"the stack {self._name} has no queue of the team {team} (it has {there}): enter the team in"
                    " platform_jobs/teams.py, and run `pulumi up` in queues/"
                )
            return outputs[team]

        return self._stack.outputs.apply(find)
