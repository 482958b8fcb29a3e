"""Check the tasks of a job: their names, the names of their Pods, and their dependencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pulumi_volcano_jobs.admission.defaults import default_name
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
            # A task without a name is named after its position.
            is_default = name in [default_name(index) for index in range(len(tasks))]
            hint = "set a unique name for each task" if is_default else "use a unique name for each task"
            yield webhook_problem("spec.tasks", "Duplicate", f"{count} tasks have this name", name, hint)


def pod_name(job: Job, task: Task, index: int) -> Iterator[Problem]:
    """Yield a Problem if Volcano's webhook rejects the name of a task as part of Pod names."""
    # Upstream uses the position of the task instead of the index of the Pod.
    name = f"{job.name}-{task.name}-{index}"
    if not is_qualified(name):
        reason = f"the name of a Pod, such as {name}, may not be more than {MAX_LABEL} characters"
        yield webhook_problem(_place_of_name(task, index), "TooLong", reason, task.name, _shorten(task, index))


def last_pod_name(job: Job, task: Task, index: int) -> Iterator[Problem]:
    """Yield a Problem if the name of the last Pod of a task is too long for a hostname."""
    last = job_names.pod(job.name, task.name or "", max(task.size - 1, 0))
    if len(last) > MAX_LABEL:
        reason = f"the hostname of a Pod may not be more than {MAX_LABEL} characters, but {last} has {len(last)}"
        yield Problem(_place_of_name(task, index), "TooLong", reason, _shorten(task, index), stage=RejectionStage.API)


def _has_default_name(task: Task, index: int) -> bool:
    return task.name == default_name(index)


def _place_of_name(task: Task, index: int) -> str:
    """Return the field that sets the first part of the name of a Pod that the user can shorten."""
    return "metadata.name" if _has_default_name(task, index) else f"spec.tasks[{index}].name"


def _shorten(task: Task, index: int) -> str:
    if _has_default_name(task, index):
        return f"shorten the name of the job, or set a short spec.tasks[{index}].name"
    return "shorten the name of the job or the task"


def dependencies(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a Problem for each unknown, duplicate or circular dependency."""
    needs = {task.name: set((task.depends_on.name if task.depends_on else None) or ()) for task in tasks}
    for index, task in enumerate(tasks):
        for name in sorted(needs[task.name] - needs.keys()):
            place = f"spec.tasks[{index}].dependsOn.name"
            yield webhook_problem(
                place, "NotFound", "the job has no task with this name", name, "use the name of a task of this job"
            )
        listed = (task.depends_on.name if task.depends_on else None) or ()
        seen: set[str] = set()
        for position, name in enumerate(listed):
            if name in seen:
                reason = (
                    "the dependencies do not form a directed acyclic graph (DAG), because Volcano counts each entry"
                )
                place = f"spec.tasks[{index}].dependsOn.name[{position}]"
                yield webhook_problem(place, "Duplicate", reason, name, "remove one of them")
            seen.add(name)
    waiting, followers = {name: len(names) for name, names in needs.items()}, _followers(needs)
    ready = [name for name, count in waiting.items() if not count]
    # The loop appends to this list.
    for done in ready:
        for follower in followers.get(done, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    stuck = [name or "" for name, names in needs.items() if waiting[name] and names <= needs.keys()]
    if stuck:
        yield webhook_problem(
            "spec.tasks", "Invalid", f"the dependencies form a cycle: {', '.join(stuck)}", hint="remove one of them"
        )


def _followers(needs: Mapping[str | None, set[str]]) -> dict[str | None, list[str | None]]:
    """Return the tasks that wait for each task."""
    followers: dict[str | None, list[str | None]] = {}
    for name, names in needs.items():
        for other in names:
            followers.setdefault(other, []).append(name)
    return followers
