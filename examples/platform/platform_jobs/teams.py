"""The teams: the one place where a team is entered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Team:
    """A team, and what it may use."""

    name: str
    cost_centre: str
    """Who pays: a label of all its Pods."""
    gpus: int
    """The most GPUs that its jobs get at a time."""
    weight: int
    """Its share while teams want more than there is."""

    @property
    def queue(self) -> str:
        """The name of its queue."""
        return f"team-{self.name}"

    @property
    def labels(self) -> dict[str, str]:
        """The labels that its jobs and their Pods have."""
        return {"team": self.name, "cost-centre": self.cost_centre}


TEAMS = {
    team.name: team
    for team in (
        Team("language", cost_centre="4712", gpus=32, weight=4),
        Team("vision", cost_centre="4711", gpus=16, weight=2),
    )
}
