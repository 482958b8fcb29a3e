"""Tasks of a job: their names, those of their Pods, and the order in which they start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.kubernetes.dns import MAX_LABEL
from pulumi_volcano_jobs.kubernetes.validation.field import webhook_problem
from pulumi_volcano_jobs.kubernetes.validation.names import is_qualified
from pulumi_volcano_jobs.spec import naming as job_names
from pulumi_volcano_jobs.spec.model import Job, Task


def unique_names(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a Problem for each name that several tasks have."""
    for name, count in Counter(task.name for task in tasks).items():
        if count > 1:
            yield webhook_problem(
                "spec.tasks",
                "Duplicate",
                f"{count} tasks have the name {name}",
                hint="give each task a name of its own",
            )


def pod_name(job: Job, task: Task, index: int) -> Iterator[Problem]:
    """Yield a Problem if Volcano's webhook rejects the name of a task, as a part of the names of its Pods."""
    # Upstream tests the task's position where the Pod has its replica index.
    name = f"{job.name}-{task.name}-{index}"
    if not is_qualified(name):
        reason = f"names of Pods such as {name} must be at most {MAX_LABEL} characters long"
        yield webhook_problem(
            f"spec.tasks[{index}].name", "TooLong", reason, task.name, "shorten the job's or the task's name"
        )


def last_pod_name(job: Job, task: Task, index: int) -> Iterator[Problem]:
    """Yield a Problem if the name of the last Pod of a task is too long for the name of a host."""
    last = job_names.pod(job.name, task.name or "", max(task.size - 1, 0))
    if len(last) > MAX_LABEL:
        reason = f"the last Pod's name {last} has {len(last)} characters; a host name has at most {MAX_LABEL}"
        yield Problem(
            f"spec.tasks[{index}].name",
            "TooLong",
            reason,
            "shorten the job's or the task's name",
            stage=RejectionStage.API,
        )


def dependencies(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a Problem for each dependency that cannot be met."""
    needs = {task.name: set((task.depends_on.name if task.depends_on else None) or ()) for task in tasks}
    for index, task in enumerate(tasks):
        for name in sorted(needs[task.name] - needs.keys()):
            place = f"spec.tasks[{index}].dependsOn.name"
            yield webhook_problem(place, "NotFound", "no task has this name", name, "name a task of this job")
        listed = (task.depends_on.name if task.depends_on else None) or ()
        seen: set[str] = set()
        for position, name in enumerate(listed):
            if name in seen:
                reason = (
                    "the dependencies do not form a directed acyclic graph (DAG), because Volcano counts each entry"
                )
                place = f"spec.tasks[{index}].dependsOn.name[{position}]"
                yield webhook_problem(place, "Duplicate", reason, name, "remove one")
            seen.add(name)
    waiting, followers = {name: len(names) for name, names in needs.items()}, _followers(needs)
    ready = [name for name, count in waiting.items() if not count]
    # The list grows while it is read.
    for done in ready:
        for follower in followers.get(done, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    stuck = [name or "" for name, names in needs.items() if waiting[name] and names <= needs.keys()]
    if stuck:
        yield webhook_problem(
            "spec.tasks", "Invalid", f"these tasks wait for each other: {', '.join(stuck)}", hint="break the circle"
        )


def _followers(needs: Mapping[str | None, set[str]]) -> dict[str | None, list[str | None]]:
    """Return the tasks that wait for each task."""
    followers: dict[str | None, list[str | None]] = {}
    for name, names in needs.items():
        for other in names:
            followers.setdefault(other, []).append(name)
    return followers
