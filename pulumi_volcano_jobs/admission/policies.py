"""Check `policies` of a job and of its tasks: events, exit codes and actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_volcano_jobs.core.errors import ErrorType, Problem, RejectionStage, value_text
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.spec.model import Policy
from pulumi_volcano_jobs.spec.releases import is_older

EVENTS = ("*", "JobUpdated", "PodEvicted", "PodFailed", "PodPending", "TaskCompleted", "TaskFailed", "Unknown")
ACTIONS = {
    "AbortJob": "abort the job",
    "CompleteJob": "complete the job",
    "RestartJob": "restart the job",
    "RestartPartition": "restart the partition",
    "RestartPod": "restart the Pod",
    "RestartTask": "restart the task",
    "ResumeJob": "resume the job",
    "TerminateJob": "terminate the job",
}
"""Actions of a policy, and their meaning."""
RESTARTS_OF_PARTS = {"RestartPartition": "partition", "RestartPod": "Pod", "RestartTask": "task"}
"""Actions that restart a part of the job, and this part."""
_EVENTS_SINCE = {"PodPending": "1.11"}
_ACTIONS_SINCE = {"RestartPod": "1.11", "RestartPartition": "1.14"}


def check(policies: Sequence[Policy], path: str) -> Iterator[Problem]:
    """Yield the problems for which Volcano's webhook rejects policies."""
    seen_events: set[str] = set()
    seen_codes: set[int] = set()
    for index, policy in enumerate(policies):
        place = f"{path}[{index}]"
        events = dict.fromkeys([*(policy.events or ()), *((policy.event,) if policy.event else ())])
        if events and policy.exit_code is not None:
            yield webhook_problem(
                place, "Forbidden", "may not specify both an event and exitCode", hint="split it into two policies"
            )
        elif events:
            yield from _events(list(events), policy.action, seen_events, place)
        elif policy.exit_code is None:
            yield webhook_problem(place, "Required", "must specify event, events or exitCode")
        elif policy.exit_code == 0:
            yield webhook_problem(
                f"{place}.exitCode", "Invalid", "must be the exit code of a failure", 0, "use event: TaskCompleted"
            )
        elif policy.exit_code in seen_codes:
            yield webhook_problem(
                f"{place}.exitCode",
                "Duplicate",
                "another policy has this exit code",
                policy.exit_code,
                "remove one of them",
            )
        seen_codes |= {policy.exit_code} if policy.exit_code is not None else set()
    if "*" in seen_events and len(seen_events) > 1:
        yield webhook_problem(
            path, "Forbidden", 'may not specify "*" with other events', hint='remove "*" or the other events'
        )


def _events(events: Sequence[str], action: str | None, seen_events: set[str], path: str) -> Iterator[Problem]:
    for event in events:
        if event not in EVENTS:
            yield webhook_problem(
                path, "NotSupported", f"supported values: {', '.join(map(value_text, EVENTS))}", event
            )
        if event in seen_events:
            yield webhook_problem(path, "Duplicate", "another policy has this event", event, "merge the policies")
        seen_events.add(event)
    if action not in ACTIONS:
        error_type: ErrorType = "NotSupported" if action else "Required"
        yield webhook_problem(
            f"{path}.action", error_type, f"supported values: {', '.join(map(value_text, ACTIONS))}", action or ""
        )


def missing_in(policies: Sequence[Policy], path: str, version: str) -> Iterator[Problem]:
    """Yield a Problem for each event or action that the webhook of a release rejects."""
    for index, policy in enumerate(policies):
        used = [("event", policy.event, _EVENTS_SINCE), ("action", policy.action, _ACTIONS_SINCE)]
        used += [(f"events[{position}]", event, _EVENTS_SINCE) for position, event in enumerate(policy.events or ())]
        for key, value, known in used:
            since = known.get(value or "", "")
            if is_older(version, since):
                reason = f"Volcano {version} does not support it (added in {since})"
                yield Problem(
                    f"{path}[{index}].{key}",
                    "NotSupported",
                    reason,
                    "use another value, or upgrade Volcano",
                    value_text(value),
                    RejectionStage.WEBHOOK,
                )


def meaning(policy: Policy) -> str:
    """Return a policy in words."""
    cause = ", ".join(policy.events or ()) or policy.event or f"exit code {policy.exit_code}"
    return f"{ACTIONS.get(policy.action or '', policy.action)} on {cause}"
