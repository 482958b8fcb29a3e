"""Warn of policies that never act: their event does not occur, another policy takes precedence, or nothing changes.

Upstream: `applyPolicies`, `updatePod` and `killPods` of Volcano's job controller. The first policy that matches an
event acts. Policies of the task come before policies of the job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.admission.policies import ACTIONS, EVENTS, RESTARTS_OF_PARTS
from pulumi_volcano_jobs.core.errors import Problem, value_text
from pulumi_volcano_jobs.core.suggestions import did_you_mean
from pulumi_volcano_jobs.kubernetes.container_lists import all_containers
from pulumi_volcano_jobs.spec.model import Job, Policy, Task

_ANY, _FAILED, _PENDING, _UNKNOWN = "*", "PodFailed", "PodPending", "Unknown"
# The exit codes of a Pod that the kubelet evicts, whatever its restartPolicy is.
_OF_EVICTION = frozenset({137, 143})
_LARGEST_CODE = 255
_RESTARTING = frozenset({"Always", "OnFailure", None})


class _Scope(NamedTuple):
    """Facts about the tasks to which a list of policies applies."""

    of_job: bool
    restart_policies: frozenset[str | None]
    """The restartPolicy of each task; empty if a container has its own."""
    has_partitions: bool
    is_windows: bool
    events: frozenset[str]
    """Events on which policies of all tasks act."""
    exit_codes: frozenset[int] | None
    """Exit codes on which policies of all tasks act; None for all exit codes."""


class _Cause(NamedTuple):
    """Why a policy never acts, and the fix."""

    reason: str
    hint: str


def warnings(job: Job) -> Iterator[Problem]:
    """Yield a warning for each policy of a job and its tasks that never acts."""
    running = [task for task in job.tasks or () if task.size]
    if running and job.policies:
        yield from _of_list(job.policies, "spec.policies", _scope(running, of_job=True))
    for index, task in enumerate(job.tasks or ()):
        if task.size and task.policies:
            yield from _of_list(task.policies, f"spec.tasks[{index}].policies", _scope([task], of_job=False))


def _scope(tasks: Sequence[Task], *, of_job: bool) -> _Scope:
    events = [_handled_events(task) for task in tasks] if of_job else [frozenset[str]()]
    codes = [
        frozenset(policy.exit_code for policy in task.policies or () if policy.exit_code is not None)
        for task, handled in zip(tasks, events, strict=True)
        if _FAILED not in handled
    ]
    has_own = any(container.get("restartPolicy") for task in tasks for container in all_containers(task.pod_spec))
    restart_policies = [task.pod_spec.get("restartPolicy") for task in tasks]
    return _Scope(
        of_job,
        frozenset() if has_own else frozenset(map(_text, restart_policies)),
        any(task.partition_policy for task in tasks),
        any(_is_windows(task) for task in tasks),
        frozenset.intersection(*events),
        (frozenset.intersection(*codes) if codes else None) if of_job else frozenset(),
    )


def _text(value: Any) -> str | None:
    # A leaf has no value yet.
    return value if isinstance(value, str) or value is None else "unknown"


def _handled_events(task: Task) -> frozenset[str]:
    """Return the events on which policies of a task act."""
    handled = {
        event
        for policy in task.policies or ()
        for _, event in _events(policy)
        if event != _PENDING or policy.timeout is not None
    }
    return frozenset({*handled, *EVENTS} - {_PENDING} if _ANY in handled else handled)


def _of_list(policies: Sequence[Policy], path: str, scope: _Scope) -> Iterator[Problem]:
    is_failure_handled = False
    for index, policy in enumerate(policies):
        events = _events(policy)
        causes: list[tuple[str, str | int, _Cause | None]]
        causes = [(key, event, _event(event, policy, scope)) for key, event in events]
        # The webhook rejects an event with an exit code.
        if policy.exit_code is not None and not events:
            cause = _exit_code(policy.exit_code, scope, is_failure_handled=is_failure_handled)
            causes.append(("exitCode", policy.exit_code, cause))
        causes.append(("action", policy.action or "", _action(policy, scope)))
        for key, value, cause in causes:
            if cause is not None:
                on_event = " on this event" if key.startswith("event") else ""
                text = f"this policy never acts{on_event}: {cause.reason}"
                yield Problem(f"{path}[{index}].{key}", "Warning", text, cause.hint, value_text(value), code="VJ134")
        is_failure_handled = is_failure_handled or not {_FAILED, _ANY}.isdisjoint(event for _, event in events)


def _events(policy: Policy) -> list[tuple[str, str]]:
    """Return the events of a policy with their fields."""
    events: list[tuple[str, str]] = [(f"events[{index}]", event) for index, event in enumerate(policy.events or ())]
    return [*events, ("event", policy.event)] if policy.event else events


def _event(event: str, policy: Policy, scope: _Scope) -> _Cause | None:
    """Return why a policy never acts on an event."""
    if event == "JobUpdated":
        return _Cause("Volcano's controllers do not raise this event", "remove it")
    if event == _PENDING and policy.timeout is None:
        return _Cause("Volcano ignores PodPending in a policy without a timeout", "set timeout: 10m")
    if event == _UNKNOWN and not scope.of_job:
        reason = "the event is about the whole job, so policies of tasks do not apply"
        return _Cause(reason, "move the policy to spec.policies")
    if cause := _restart_policy(event, scope):
        return cause
    if event in scope.events:
        return _Cause("policies of all tasks for this event take precedence", "remove this policy, or those of tasks")
    return None


def _restart_policy(event: str, scope: _Scope) -> _Cause | None:
    """Return why an event does not occur with the restartPolicy of the Pods."""
    if event == "TaskCompleted" and scope.restart_policies == {"Always"}:
        return _Cause("Pods with restartPolicy Always do not complete", "set restartPolicy: OnFailure or Never")
    if event == "TaskFailed" and scope.restart_policies == {"Never"}:
        reason = "TaskFailed counts the restarts of containers, which do not restart with restartPolicy Never"
        return _Cause(reason, "use event: PodFailed")
    return None


def _exit_code(code: int, scope: _Scope, *, is_failure_handled: bool) -> _Cause | None:
    """Return why a policy never acts on an exit code."""
    if not 0 <= code <= _LARGEST_CODE and not scope.is_windows:
        return _Cause(f"an exit code is from 0 to {_LARGEST_CODE} on Linux", "use the exit code that the container has")
    if is_failure_handled:
        return _Cause("an earlier policy acts on each PodFailed", "move this policy before it")
    if scope.exit_codes is None or code in scope.exit_codes:
        reason = "policies of all tasks for this exit code or PodFailed take precedence"
        return _Cause(reason, "remove this policy, or those of tasks")
    if code not in _OF_EVICTION and scope.restart_policies and scope.restart_policies <= _RESTARTING:
        reason = "only a Pod that fails has an exit code, and the containers restart in their Pod instead"
        return _Cause(reason, "set restartPolicy: Never in the template")
    return None


def _action(policy: Policy, scope: _Scope) -> _Cause | None:
    """Return why an action changes nothing. Volcano's webhook checks the actions of events, but not of exit codes."""
    action = policy.action or ""
    if policy.exit_code is not None and action not in ACTIONS:
        hint = did_you_mean(action, ACTIONS) or f"use one of {', '.join(ACTIONS)}"
        return _Cause("Volcano ignores an unknown action" if action else "it has no action", hint)
    if action == "ResumeJob":
        reason = "ResumeJob only resumes an aborted job, and does nothing while the job runs"
        return _Cause(reason, "use RestartJob, or resume the job with vcctl job resume")
    if action == "RestartPartition" and not scope.has_partitions:
        return _Cause("no task to which it applies has a partitionPolicy", "use RestartTask, or add partitionPolicy")
    if action in RESTARTS_OF_PARTS and [event for _, event in _events(policy)] == [_UNKNOWN]:
        reason = f"the event Unknown is about the whole job, so there is no {RESTARTS_OF_PARTS[action]} to restart"
        return _Cause(reason, "use RestartJob")
    return None


def _is_windows(task: Task) -> bool:
    system = task.pod_spec.get("os")
    return isinstance(system, dict) and system.get("name") == "windows"
