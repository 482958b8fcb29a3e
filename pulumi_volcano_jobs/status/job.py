"""A job in a cluster: its recorded objects, and facts about them that several reasons need."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.resource_types import CLAIM, CONFIG_MAP, JOB, POD, POD_GROUP, QUEUE
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME, QUEUE_NAME, REPLICAS
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.options import ManagedBy
from pulumi_volcano_jobs.status.fields import Object, listed, mapping, name_of, namespace_of, number, text
from pulumi_volcano_jobs.status.objects import EVENT, RecordedObjects
from pulumi_volcano_jobs.status.pods import PodView

LogLines = Mapping[tuple[str, str], Sequence[str]]
"""The last lines of containers, by the names of the Pod and the container."""
_MOST_RANGES = 6
_MOST_PODS = 100_000


@dataclass(frozen=True)
class JobView:
    """The objects of one job."""

    name: str
    namespace: str
    objects: RecordedObjects
    now: dt.datetime
    replicas_of_file: Mapping[str, int] = field(default_factory=dict)
    """The replicas by task, if a file of the job is known."""
    logs: LogLines = field(default_factory=dict)

    @cached_property
    def pods(self) -> list[PodView]:
        """The Pods by task and index."""
        pods = [PodView(item) for item in self.objects.of(POD.kind, self.namespace) if job_of(item) == self.name]
        order = {task: position for position, task in enumerate(self.replicas_of_file or self._replicas_of_job)}
        return sorted(pods, key=lambda pod: (order.get(pod.task, len(order)), pod.task, pod.index, pod.name))

    @cached_property
    def job(self) -> Object | None:
        """The Job that Volcano's controllers manage, or None."""
        return self.objects.get(JOB.kind, self.name, self.namespace)

    @property
    def managed_by(self) -> ManagedBy:
        """Whether Pulumi or Volcano's controllers create the Pods."""
        owned = any(item.get("kind") == JOB.kind for pod in self.pods[:1] for item in _owners(pod))
        return "volcano" if self.job is not None or owned else "pulumi"

    @property
    def phase(self) -> str:
        """The phase of the Job, or an empty text."""
        return text(self.job, "status", "state", "phase")

    @cached_property
    def pods_by_task(self) -> dict[str, list[PodView]]:
        """The Pods of each task that has Pods."""
        by_task: dict[str, list[PodView]] = {}
        for pod in self.pods:
            by_task.setdefault(pod.task, []).append(pod)
        return by_task

    @cached_property
    def _replicas_of_job(self) -> dict[str, int]:
        """The replicas in the Job, or in the annotation of the newest Pod that Pulumi created."""
        if self.job is not None:
            return {text(task, "name"): number(task, "replicas") for task in listed(self.job, "spec", "tasks")}
        annotated = [
            (text(item, "metadata", "creationTimestamp"), text(item, "metadata", "annotations", REPLICAS))
            for item in self.objects.of(POD.kind, self.namespace)
            if job_of(item) == self.name
        ]
        try:
            found = json.loads(max(annotated, default=("", ""))[1])
        except ValueError:
            return {}
        return {task: count for task, count in mapping(found).items() if isinstance(count, int)}

    @cached_property
    def replicas(self) -> dict[str, int]:
        """The number of Pods of each task. Without a file, a Job or an annotation, it is a lower bound."""
        known = dict(self.replicas_of_file or self._replicas_of_job)
        if not known:
            minimums = mapping(self.group, "spec", "minTaskMember")
            known = {task: count for task, count in minimums.items() if isinstance(count, int)}
            for task, pods in self.pods_by_task.items():
                known[task] = max(known.get(task, 0), pods[-1].index + 1)
        return known | {task: len(pods) for task, pods in self.pods_by_task.items() if task not in known}

    @cached_property
    def missing(self) -> list[str]:
        """The names of Pods that the job has, but the cluster lacks."""
        present = {pod.name for pod in self.pods}
        counts = ((task, min(count, _MOST_PODS)) for task, count in self.replicas.items())
        names = (naming.pod(self.name, task, index) for task, count in counts for index in range(count))
        return [name for name in names if name not in present]

    @property
    def group_name(self) -> str:
        """The name of the PodGroup."""
        named = next((pod.group for pod in self.pods if pod.group), "")
        uid = text(self.job, "metadata", "uid")
        return named or (f"{self.name}-{uid}" if uid else naming.pod_group(self.name))

    @cached_property
    def group(self) -> Object | None:
        """The PodGroup, or None."""
        return self.objects.get(POD_GROUP.kind, self.group_name, self.namespace)

    @property
    def group_phase(self) -> str:
        """The phase of the PodGroup."""
        return text(self.group, "status", "phase")

    @property
    def min_member(self) -> int:
        """The number of Pods that start together."""
        return number(self.group, "spec", "minMember") if self.group is not None else sum(self.replicas.values())

    @property
    def queue_name(self) -> str:
        """The name of the queue."""
        labels = (text(pod.manifest, "metadata", "labels", QUEUE_NAME) for pod in self.pods)
        return (
            text(self.group, "spec", "queue")
            or text(self.job, "spec", "queue")
            or next((label for label in labels if label), "default")
        )

    @cached_property
    def queue(self) -> Object | None:
        """The queue, or None."""
        return self.objects.get(QUEUE.kind, self.queue_name)

    @cached_property
    def _events(self) -> dict[tuple[str, str], list[Object]]:
        by_object: dict[tuple[str, str], list[Object]] = {}
        for event in self.objects.of(EVENT):
            # Events of core/v1 and of events.k8s.io/v1 have different fields.
            subject = mapping(event, "involvedObject") or mapping(event, "regarding")
            if text(subject, "namespace") in {self.namespace, ""}:
                by_object.setdefault((text(subject, "kind"), text(subject, "name")), []).append(event)
        for events in by_object.values():
            events.sort(key=_time_of_event)
        return by_object

    def events(self, kind: str, name: str, *reasons: str) -> list[Object]:
        """Return the events of an object with one of the reasons, newest first."""
        found = reversed(self._events.get((kind, name), []))
        return [event for event in found if text(event, "reason") in reasons]

    def host_lists(self) -> Object | None:
        """Return the ConfigMap of the svc plugin, or None."""
        return self.objects.get(CONFIG_MAP.kind, naming.svc_config_map(self.name), self.namespace)

    def claims(self) -> dict[str, list[PodView]]:
        """Return the Pods that mount each claim."""
        users: dict[str, list[PodView]] = {}
        for pod in self.pods:
            for name in claims_of(pod):
                users.setdefault(name, []).append(pod)
        return users

    def claim(self, name: str) -> Object | None:
        """Return a claim, or None."""
        return self.objects.get(CLAIM.kind, name, self.namespace)


def job_of(pod: Object) -> str:
    """Return the name of the job that a Pod belongs to."""
    return text(pod, "metadata", "labels", JOB_NAME) or text(pod, "metadata", "annotations", JOB_NAME)


def claims_of(pod: PodView) -> list[str]:
    """Return the names of the claims that a Pod mounts."""
    names = (text(volume, "persistentVolumeClaim", "claimName") for volume in listed(pod.spec, "volumes"))
    return [name for name in names if name]


def message_of(event: Object) -> str:
    """Return the message of an event."""
    return text(event, "message") or text(event, "note")


def jobs_in(objects: RecordedObjects, namespace: str = "") -> list[tuple[str, str]]:
    """Return the namespaces and names of the jobs of which there are objects, sorted."""
    pods = {(namespace_of(item), job_of(item)) for item in objects.of(POD.kind, namespace) if job_of(item)}
    jobs = {(namespace_of(item), name_of(item)) for item in objects.of(JOB.kind, namespace)}
    return sorted(pods | jobs)


def names_as_ranges(names: Sequence[str]) -> str:
    """Return names of Pods, with consecutive indexes as ranges: `train-worker-{0..3,7}`."""
    indexes: dict[str, list[int]] = {}
    others: list[str] = []
    for name in names:
        stem, dash, index = name.rpartition("-")
        if dash and index.isdecimal() and index.isascii() and str(int(index[:9])) == index:
            indexes.setdefault(stem, []).append(int(index))
        else:
            others.append(name)
    parts = [f"{stem}-{_ranges(sorted(numbers))}" for stem, numbers in indexes.items()]
    return ", ".join(_first([*parts, *others]))


def _ranges(numbers: list[int]) -> str:
    ranges: list[list[int]] = []
    for number_ in numbers:
        if ranges and number_ == ranges[-1][1] + 1:
            ranges[-1][1] = number_
        else:
            ranges.append([number_, number_])
    parts = [str(low) if low == high else f"{low}..{high}" for low, high in ranges]
    return parts[0] if len(numbers) == 1 else f"{{{','.join(_first(parts))}}}"


def _first(parts: list[str]) -> list[str]:
    return parts if len(parts) <= _MOST_RANGES else [*parts[:_MOST_RANGES], "…"]


def pods_text(names: Iterable[str]) -> str:
    """Return the number and the names of Pods, for messages."""
    listed_names = list(names)
    return f"{counted(len(listed_names), 'Pod')} ({names_as_ranges(listed_names)})"


def most_common(values: Iterable[str]) -> str:
    """Return the most common value, or an empty text."""
    found = Counter(values).most_common(1)
    return found[0][0] if found else ""


def _owners(pod: PodView) -> list[Object]:
    return listed(pod.manifest, "metadata", "ownerReferences")


def _time_of_event(event: Object) -> str:
    # Times of the API server have one format, so that they sort as text.
    places = (("series", "lastObservedTime"), ("lastTimestamp",), ("eventTime",), ("metadata", "creationTimestamp"))
    return next((found for keys in places if (found := text(event, *keys))), "")
