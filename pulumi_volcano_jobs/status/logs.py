"""The containers whose logs a job has, by rank, and the first failure first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.pods import ContainerState, PodView
from pulumi_volcano_jobs.status.reasons.failures import failures


class LogSource(NamedTuple):
    """A container that has a log."""

    pod: str
    container: str
    prefix: str
    """The rank, such as `worker-0`, followed by the container if the Pod shows several."""
    restarts: int


def sources(job: JobView, task: str = "") -> list[LogSource]:
    """Return the containers that have a log, in the order of ranks, after the container that failed first."""
    pods = [pod for pod in job.pods if not task or pod.task == task]
    first = next((failure.pod.name for failure in failures(pods)), "")
    ordered = sorted(pods, key=lambda pod: pod.name != first)
    return [source for pod in ordered for source in _of_pod(pod)]


def without_log(job: JobView, task: str = "") -> list[PodView]:
    """Return the Pods that have no log yet."""
    return [pod for pod in job.pods if (not task or pod.task == task) and not any(_of_pod(pod))]


def _of_pod(pod: PodView) -> Iterator[LogSource]:
    shown = [container for container in pod.containers if _is_shown(container)]
    for container in shown:
        is_single = len(pod.containers) == 1 or (len(shown) == 1 and not container.is_init)
        prefix = pod.rank if is_single else f"{pod.rank} {container.name}"
        yield LogSource(pod.name, container.name, prefix, container.restarts)


def _is_shown(container: ContainerState) -> bool:
    """Return whether a container has a log. Init containers that ended well are left out."""
    if container.is_init and not container.is_sidecar:
        return container.is_running or bool(container.last_end and container.last_end.failed)
    return container.is_running or container.last_end is not None
