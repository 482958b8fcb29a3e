"""The rules that `pulumi up --policy-pack ../policy` holds every job to."""

from platform_jobs import TEAMS
from platform_jobs.rules import team_pays
from pulumi_volcano_jobs import policy

policy.pack(
    "platform",
    queues=[team.queue for team in TEAMS.values()],
    registries=["registry.example.com/training"],
    more=[team_pays],
)
