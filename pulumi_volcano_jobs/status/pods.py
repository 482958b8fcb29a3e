"""A Pod of a job, with the states of its containers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pulumi_volcano_jobs.kubernetes.container_lists import CONTAINERS, INIT_CONTAINERS
from pulumi_volcano_jobs.kubernetes.manifest import GROUP_ANNOTATION, TASK_INDEX, TASK_SPEC
from pulumi_volcano_jobs.status.fields import Object, condition, listed, mapping, name_of, number, text, time
from pulumi_volcano_jobs.status.model import PodState

_STATUSES = {INIT_CONTAINERS: "initContainerStatuses", CONTAINERS: "containerStatuses"}


@dataclass(frozen=True)
class Termination:
    """The end of a container."""

    exit_code: int
    reason: str
    message: str
    finished: dt.datetime | None

    @classmethod
    def of(cls, state: Object) -> Termination | None:
        """Return the end that a container state describes, or None."""
        ended = mapping(state, "terminated")
        if not ended:
            return None
        return cls(number(ended, "exitCode"), text(ended, "reason"), text(ended, "message"), time(ended, "finishedAt"))

    @property
    def failed(self) -> bool:
        """Whether the container ended with an error."""
        return bool(self.exit_code) or self.reason in {"OOMKilled", "Error", "ContainerCannotRun", "StartError"}


@dataclass(frozen=True)
class ContainerState:
    """A container with its status."""

    name: str
    spec: Object
    is_init: bool
    is_started: bool
    is_ready: bool
    restarts: int
    waiting: str
    """The reason why the kubelet does not run it, such as `ImagePullBackOff`."""
    message: str
    """The message of that reason."""
    is_running: bool
    ended: Termination | None
    """The end of the current instance."""
    ended_before: Termination | None
    """The end of the instance before a restart."""

    @classmethod
    def of(cls, name: str, spec: Object, status: Object, *, is_init: bool) -> ContainerState:
        """Build the state from an entry of `containers` and one of `containerStatuses`."""
        state = mapping(status, "state")
        return cls(
            name=name,
            spec=spec,
            is_init=is_init,
            is_started=bool(status.get("started")),
            is_ready=bool(status.get("ready")),
            restarts=number(status, "restartCount"),
            waiting=text(state, "waiting", "reason"),
            message=text(state, "waiting", "message"),
            is_running="running" in state,
            ended=Termination.of(state),
            ended_before=Termination.of(mapping(status, "lastState")),
        )

    @property
    def is_sidecar(self) -> bool:
        """Whether it is an init container that keeps running."""
        return self.is_init and self.spec.get("restartPolicy") == "Always"

    @property
    def last_end(self) -> Termination | None:
        """The newest end."""
        return self.ended or self.ended_before


class PodView:
    """A Pod as it is recorded."""

    def __init__(self, manifest: Object) -> None:
        """Read the identity of the Pod."""
        self.manifest = manifest
        self.name = name_of(manifest)
        self.spec = mapping(manifest, "spec")
        self.phase = text(manifest, "status", "phase") or "Unknown"
        self.reason = text(manifest, "status", "reason")
        self.task = self._marked(TASK_SPEC) or self.name
        index = self._marked(TASK_INDEX) or self.name.rpartition("-")[2]
        self.index = int(index) if index.isdecimal() and index.isascii() and len(index) < 10 else 0  # noqa: PLR2004
        self.node = text(self.spec, "nodeName")
        self.group = text(manifest, "metadata", "annotations", GROUP_ANNOTATION)
        self.is_terminating = bool(text(manifest, "metadata", "deletionTimestamp"))
        self.created = time(manifest, "metadata", "creationTimestamp")
        self.started = time(manifest, "status", "startTime")

    def _marked(self, key: str) -> str:
        metadata = mapping(self.manifest, "metadata")
        return text(metadata, "labels", key) or text(metadata, "annotations", key)

    @property
    def rank(self) -> str:
        """The task and the index, such as `worker-0`."""
        return f"{self.task}-{self.index}"

    @property
    def host(self) -> str:
        """The host name."""
        return text(self.spec, "hostname") or self.name

    @cached_property
    def containers(self) -> list[ContainerState]:
        """The containers, init containers first."""
        return list(self._containers())

    def _containers(self) -> Iterator[ContainerState]:
        for kind, field in _STATUSES.items():
            statuses = {text(item, "name"): item for item in listed(self.manifest, "status", field)}
            for spec in listed(self.spec, kind):
                name = text(spec, "name")
                yield ContainerState.of(name, spec, statuses.get(name, {}), is_init=kind == INIT_CONTAINERS)

    @property
    def scheduled(self) -> Object:
        """The condition PodScheduled."""
        return condition(self.manifest, "PodScheduled")

    @property
    def is_bound(self) -> bool:
        """Whether the Pod has a node."""
        return bool(self.node)

    @property
    def has_ended(self) -> bool:
        """Whether all its containers have ended."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def is_ready(self) -> bool:
        """Whether other Pods can reach it by its Service."""
        return condition(self.manifest, "Ready").get("status") == "True"

    @property
    def runs(self) -> bool:
        """Whether all its containers run or have ended well."""
        mains = [item for item in self.containers if not item.is_init]
        return (
            self.phase == "Running"
            and not self.is_terminating
            and all(item.is_running or (item.ended and not item.ended.failed) for item in mains)
        )

    @property
    def init_in_progress(self) -> ContainerState | None:
        """The first init container that has not ended well, if the Pod still initializes."""
        if self.phase != "Pending":
            return None
        return next((item for item in self.containers if item.is_init and not _is_done(item)), None)

    @property
    def restarts(self) -> int:
        """The number of restarts of all containers."""
        return sum(item.restarts for item in self.containers)

    @cached_property
    def status(self) -> str:
        """The column STATUS of `kubectl get pods` (upstream: `printPod` of k8s.io/kubernetes)."""
        if self.is_terminating:
            return "Unknown" if self.reason == "NodeLost" else "Terminating"
        init = self.init_in_progress if self.is_bound else None
        if init and not self.reason:
            return self._init_status(init)
        shown = self.reason or self.phase
        if self.scheduled.get("reason") == "SchedulingGated":
            shown = "SchedulingGated"
        for item in reversed([item for item in self.containers if not item.is_init]):
            if item.waiting:
                shown = item.waiting
            elif item.ended:
                shown = item.ended.reason or f"ExitCode:{item.ended.exit_code}"
        runs = any(item.is_running and item.is_ready and not item.is_init for item in self.containers)
        if shown == "Completed" and runs:
            return "Running" if self.is_ready else "NotReady"
        return shown

    def _init_status(self, init: ContainerState) -> str:
        if init.ended:
            return f"Init:{init.ended.reason or f'ExitCode:{init.ended.exit_code}'}"
        if init.waiting and init.waiting != "PodInitializing":
            return f"Init:{init.waiting}"
        inits = [item for item in self.containers if item.is_init]
        return f"Init:{inits.index(init)}/{len(inits)}"

    def state(self) -> PodState:
        """Return the state for output."""
        return PodState(self.name, self.index, self.status, self.node, self.restarts, self.created)


def _is_done(init: ContainerState) -> bool:
    if init.is_sidecar:
        return init.is_started
    return init.ended is not None and not init.ended.exit_code
