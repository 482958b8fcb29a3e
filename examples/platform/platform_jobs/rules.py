"""A rule of this platform beside those of `pulumi_volcano_jobs.policy`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import ReportViolation, ResourceValidationArgs, ResourceValidationPolicy

from platform_jobs.teams import TEAMS

POD = "kubernetes:core/v1:Pod"
JOB_LABEL = "volcano.sh/job-name"
TASK_LABEL = "volcano.sh/task-spec"
INDEX_LABEL = "volcano.sh/task-index"
QUEUE_LABEL = "volcano.sh/queue-name"


def team_problems(labels: Mapping[str, Any]) -> Iterator[str]:
    """Say what keeps the Pod with these labels from being paid for by a team, and in its queue."""
    team = TEAMS.get(labels.get("team", ""))
    if team is None:
        yield f"the label team must be one of {', '.join(TEAMS)}: make the job with platform_jobs.TrainingJob"
        return
    if labels.get("cost-centre") != team.cost_centre:
        yield f"the label cost-centre of team {team.name} must be {team.cost_centre}: leave it to TrainingJob"
    if labels.get(QUEUE_LABEL) != team.queue:
        yield f"team {team.name} must use its own queue, {team.queue}: give Queues().of({team.name!r})"


def _of_pod(args: ResourceValidationArgs, report: ReportViolation) -> None:
    if args.resource_type != POD:
        return
    labels = args.props["metadata"].get("labels") or {}
    # All Pods of a task have the labels of its template: one message for a task is enough.
    if JOB_LABEL in labels and labels.get(INDEX_LABEL) == "0":
        for problem in team_problems(labels):
            report(f"job {labels[JOB_LABEL]}, task {labels.get(TASK_LABEL)}: {problem}", None)


team_pays = ResourceValidationPolicy(
    "platform-team", "The Pods of a job have their team's labels, and are in its queue.", _of_pod
)
