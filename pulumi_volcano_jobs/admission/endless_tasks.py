"""Warnings about tasks that never end by themselves, and keep their resources after the job is done."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_VOLCANO, Phrase, counted
from pulumi_volcano_jobs.kubernetes import processes
from pulumi_volcano_jobs.kubernetes.commands import ShellCommand
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in
from pulumi_volcano_jobs.kubernetes.manifest import Manifest
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin, TensorflowPlugin
from pulumi_volcano_jobs.plugins.resource_requests import accelerators
from pulumi_volcano_jobs.plugins.tensorflow import PARAMETER_SERVER
from pulumi_volcano_jobs.spec.model import Job, Policy, Task

_EVENTS, _ACTIONS = frozenset({"*", "TaskCompleted"}), frozenset({"AbortJob", "CompleteJob", "TerminateJob"})
_SERVER = "a TensorFlow server"
_PS_ARGUMENT = re.compile(r"--job[-_]name[= ]ps\b")


class _Endless(NamedTuple):
    """A task that never ends, and what its Pods run."""

    position: int
    task: Task
    what: str


def warnings(
    job: Job, plugins: Sequence[Plugin], first_pods: Mapping[str, Manifest], *, native: bool
) -> Iterator[Problem]:
    """Yield a warning for each task that never ends although another task ends, unless a policy ends the job.

    Without Volcano's controllers, a policy has no effect. Then the warning is only about tasks with accelerators,
    because another warning lists all ignored policies.
    """
    tasks = [(position, task) for position, task in enumerate(job.tasks or ()) if task.size]
    policies = itertools.chain(job.policies or (), *(task.policies or () for _, task in tasks))
    has_policy = job.min_success is not None or any(map(_ends_job, policies))
    if native and has_policy:
        return
    endless = list(_endless(tasks, plugins, first_pods))
    names = {item.task.name for item in endless}
    ending = [task for _, task in tasks if task.name not in names and _may_end(task)]
    if not ending:
        return
    name = _main_task(ending, plugins).name
    policy = f"policies: [{{event: TaskCompleted, action: CompleteJob}}] on the task {name}"
    hint = (
        policy if native else Phrase(MANAGED_BY_VOLCANO, ", to apply the policies" if has_policy else f" and {policy}")
    )
    for item in endless:
        count = _accelerators(item.task)
        if count or not has_policy:
            kept = counted(count, "accelerator") if count else "their resources"
            reason = f"its Pods run {item.what} and never end, so they keep {kept} after the task {name} completes"
            yield Problem(f"spec.tasks[{item.position}]", "Warning", reason, Phrase("set ", hint), code="VJ141")


def _ends_job(policy: Policy) -> bool:
    """Check whether a policy ends the job when a task completes."""
    return policy.action in _ACTIONS and not _EVENTS.isdisjoint([*(policy.events or ()), policy.event])


def _may_end(task: Task) -> bool:
    policy = task.pod_spec.get("restartPolicy")
    return isinstance(policy, Leaf) or policy in {"Never", "OnFailure"}


def _accelerators(task: Task) -> int:
    counts = [accelerators(container) for container in containers_in(task.pod_spec)]
    known: list[int] = [count for count in counts if not isinstance(count, Leaf)]
    return task.size * sum(known)


def _main_task(ending: Sequence[Task], plugins: Sequence[Plugin]) -> Task:
    """Return the task whose end is the end of the job."""
    roles: list[str] = []
    for plugin in plugins:
        roles += [plugin.master] if isinstance(plugin, MpiPlugin) else []
        roles += [plugin.chief, plugin.worker] if isinstance(plugin, TensorflowPlugin) else []
    return next((task for role in roles for task in ending if task.name == role), ending[0])


def _endless(
    tasks: Sequence[tuple[int, Task]], plugins: Sequence[Plugin], first_pods: Mapping[str, Manifest]
) -> Iterator[_Endless]:
    containers = {task.name: containers_in(first_pods[task.name or ""]["spec"]) for _, task in tasks}
    run = {name: [processes.run_by(container) for container in items] for name, items in containers.items()}
    found = {name: next(filter(None, map(processes.endless_in, items)), "") for name, items in containers.items()}
    heads = [name for name, commands in run.items() if any(map(_is_ray_head, itertools.chain(*commands)))]
    # Ray's workers end within a minute after their head.
    has_ending_head = any(not found[name] for name in heads)
    for position, task in tasks:
        what = _role(task, plugins, run[task.name]) or found[task.name]
        if what and not (what == processes.RAY and has_ending_head):
            yield _Endless(position, task, what)


def _role(task: Task, plugins: Sequence[Plugin], run: Sequence[Sequence[ShellCommand]]) -> str:
    """Return what a task runs in its role, if the role never ends."""
    for plugin in plugins:
        # Without a command, the image probably starts sshd.
        if isinstance(plugin, MpiPlugin) and task.name == plugin.worker and not any(run) and _accelerators(task):
            return processes.SSHD
        if isinstance(plugin, TensorflowPlugin):
            servers = (plugin.ps, plugin.worker) if plugin.strategy == PARAMETER_SERVER else (plugin.ps,)
            if task.name in servers and all(map(_may_serve, itertools.chain(*run))):
                return _SERVER
    has_argument = any(_PS_ARGUMENT.search(" ".join(command.words)) for command in itertools.chain(*run))
    return _SERVER if has_argument else ""


def _may_serve(command: ShellCommand) -> bool:
    """Check whether a command may start a TensorFlow server. Inline code shows that it does not."""
    code = " ".join(command.words)
    return "-c" not in command.words or bool(re.search("server|train_and_evaluate", code, re.IGNORECASE))


def _is_ray_head(command: ShellCommand) -> bool:
    return processes.starts_ray(command) and "--head" in command.words
