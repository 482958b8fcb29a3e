"""Context passed to plugin hooks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes.manifest import ObjectRef
from pulumi_volcano_jobs.plugins.ssh_keys import PLACEHOLDERS, KeyPair
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class JobContext(Sealed):
    """A job with its defaults, and values that are computed from it.

    Values that all Pods share are computed once (`once`), so that the time to render grows linearly with the Pods.
    """

    job: Job
    """The job, with its defaults."""
    keys: KeyPair = PLACEHOLDERS
    """The key pair of an ssh plugin that does not set one."""
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The job's name."""
        return self.job.name

    @property
    def namespace(self) -> Any:
        """The job's namespace: a string, or a leaf."""
        return "default" if self.job.namespace is None else self.job.namespace

    @property
    def tasks(self) -> Sequence[Task]:
        """The job's tasks, in order."""
        return self.job.tasks or ()

    def task(self, name: str) -> Task | None:
        """Return the task with a name, or None."""
        return self.once("tasks", lambda: {task.name: task for task in reversed(self.tasks)}).get(name)

    def address(self, task: Task) -> str:
        """Return the address of Pod 0 of a task."""
        return naming.address(self.name, task, 0)

    def addresses(self, task: Task) -> list[str]:
        """Return the distinct addresses of a task's Pods, in index order."""
        return self.once(("addresses", task.name), lambda: naming.addresses(self.name, task))

    def all_addresses(self, task: Task) -> list[str]:
        """Return an address for each replica of a task. A fixed hostname is repeated."""
        return self.once(("all_addresses", task.name), lambda: naming.all_addresses(self.name, task))

    def endpoints(self, task: Task) -> list[ObjectRef]:
        """Return the headless Service and the Pods of a task, on which the addresses of the task depend."""
        return [ObjectRef("Service", self.name), *self.pods(task)]

    def pods(self, task: Task) -> list[ObjectRef]:
        """Return the Pods of a task, in index order."""
        return self.once(
            ("pods", task.name),
            lambda: [ObjectRef("Pod", naming.pod(self.name, task.name or "", index)) for index in range(task.size)],
        )

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value, which is computed on the first call and then shared. Treat it as read-only."""
        if key not in self._made:
            self._made[key] = make()
        value: T = self._made[key]
        return value
