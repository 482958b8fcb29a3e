"""The queues of our teams: each is exported under its team's name, for other stacks."""

import pulumi

from platform_jobs import TEAMS
from pulumi_volcano_jobs import VolcanoQueue

protect = pulumi.Config().get_bool("protect")

for team in TEAMS.values():
    queue = VolcanoQueue(
        team.queue,
        weight=team.weight,
        capability={"nvidia.com/gpu": team.gpus},
        labels=team.labels,
        opts=pulumi.ResourceOptions(protect=protect),
    )
    pulumi.export(team.name, queue.name)
