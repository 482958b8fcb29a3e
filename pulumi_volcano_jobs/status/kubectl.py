"""Read the objects of a job through kubectl, with its contexts, namespaces and credentials. Nothing is written."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from pulumi_volcano_jobs.core.resource_types import CLAIM, CONFIG_MAP, JOB, NETWORK_POLICY, POD, POD_GROUP, QUEUE
from pulumi_volcano_jobs.kubernetes.manifest import JOB_NAME
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.status.fields import Object, listed, namespace_of
from pulumi_volcano_jobs.status.job import JobView
from pulumi_volcano_jobs.status.objects import EVENT, NODE, RESOURCE_QUOTA, RecordedObjects
from pulumi_volcano_jobs.status.reasons.failures import LAST_LINES
from pulumi_volcano_jobs.status.summary import exists, failed_first, waiting_init_containers

RESOURCES = {
    POD.kind: "pods",
    JOB.kind: "jobs.batch.volcano.sh",
    POD_GROUP.kind: "podgroups.scheduling.volcano.sh",
    QUEUE.kind: "queues.scheduling.volcano.sh",
    EVENT: "events",
    CLAIM.kind: "persistentvolumeclaims",
    CONFIG_MAP.kind: "configmaps",
    NETWORK_POLICY.kind: "networkpolicies.networking.k8s.io",
    RESOURCE_QUOTA: "resourcequotas",
    NODE: "nodes",
}
"""The names of the kinds for kubectl. `jobs` alone could mean batch/v1."""
# Messages of the client library, which kubectl prints before its own.
_KLOG = re.compile(r"[IWEF][0-9]{4} ")
_PAGE = 500
_TIMEOUT = "30s"
_MOST_LOGS = 8
_MOST_NODES = 20


class KubectlError(Exception):
    """A failure of kubectl, with its message."""


@dataclass(frozen=True)
class Query:
    """Objects to read: all objects of a kind, or only some, by name or by selector."""

    kind: str
    names: tuple[str, ...] = ()
    selector: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kubectl:
    """The command kubectl, with options that select the cluster and the namespace."""

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""

    def command(self, *arguments: str) -> list[str]:
        """Return a command line of kubectl.

        Raises:
            KubectlError: if kubectl is not installed.
        """
        program = shutil.which("kubectl")
        if program is None:
            reason = "kubectl: command not found: install kubectl, or read recorded objects with --from FILE"
            raise KubectlError(reason)
        options = {"namespace": self.namespace, "context": self.context, "kubeconfig": self.kubeconfig}
        return [program, *arguments, *(f"--{name}={value}" for name, value in options.items() if value)]

    def get(self, query: Query) -> list[Object]:
        """Return the objects that a query selects; none if they do not exist.

        Raises:
            KubectlError: if kubectl fails.
        """
        options = ("--ignore-not-found", f"--chunk-size={_PAGE}", f"--request-timeout={_TIMEOUT}", "--output=json")
        text = self._run("get", RESOURCES[query.kind], *query.names, *query.selector, *options)
        try:
            printed = json.loads(text) if text.strip() else {}
        except ValueError:
            raise KubectlError(f"kubectl get {RESOURCES[query.kind]}: its output is not JSON") from None
        return listed(printed, "items") if "items" in printed else [printed] if printed else []

    def last_lines(self, pod: str, container: str, count: int) -> list[str]:
        """Return the last lines of a container's log; none if it has no log."""
        try:
            text = self._run(
                "logs", pod, f"--container={container}", f"--tail={count}", f"--request-timeout={_TIMEOUT}"
            )
        except KubectlError:
            return []
        return text.splitlines()

    def in_namespace(self, namespace: str) -> Kubectl:
        """Return the command for a namespace."""
        return replace(self, namespace=namespace)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(self.command(*arguments), capture_output=True, check=False)  # noqa: S603  # no shell
        if done.returncode:
            lines = [line for line in done.stderr.decode(errors="replace").splitlines() if not _KLOG.match(line)]
            message = " ".join(lines) or f"exit code {done.returncode}"
            raise KubectlError(f"kubectl {arguments[0]} {arguments[1]}: {message}")
        return done.stdout.decode(errors="replace")


@dataclass
class Reader:
    """Reads the objects of jobs. A note names the objects that the user may not read."""

    kubectl: Kubectl
    notes: list[str] = field(default_factory=list)
    """Objects that could not be read, each with the message of kubectl."""

    def read(self, name: str, replicas: Mapping[str, int], *, with_details: bool = True) -> JobView:
        """Read a job.

        Args:
            name: the name of the job.
            replicas: the replicas by task, if a file is known.
            with_details: whether to read the objects and the logs that only reasons need.

        Raises:
            KubectlError: if the Pods cannot be read.
        """
        pods = Query(POD.kind, selector=(f"--selector={JOB_NAME}={name}",))
        found, complete = self._all([Query(JOB.kind, (name,))], required=pods)
        namespace = next(filter(None, map(namespace_of, found)), self.kubectl.namespace)
        job = _view(name, namespace, found, complete, replicas)
        if not with_details:
            return job
        reader = Reader(self.kubectl.in_namespace(namespace), self.notes)
        groups = Query(POD_GROUP.kind, (job.group_name,))
        more, also = reader._all([groups, *_queries(job)])
        job = _view(name, namespace or _namespace(more), [*found, *more], complete | also, replicas)
        if not exists(job):
            return job
        queue, of_queue = reader._all([Query(QUEUE.kind, (job.queue_name,))])
        job = _view(name, job.namespace, [*found, *more, *queue], complete | also | of_queue, replicas)
        return replace(job, logs=reader._logs(job))

    def _all(self, queries: Sequence[Query], required: Query | None = None) -> tuple[list[Object], set[str]]:
        """Return the objects of several queries, and the kinds that could be read."""
        found: list[Object] = []
        complete: set[str] = set()
        every = [*([required] if required else []), *queries]
        with ThreadPoolExecutor(max_workers=len(every)) as pool:
            running = [(query, pool.submit(self.kubectl.get, query)) for query in every]
            for query, result in running:
                try:
                    found += result.result()
                    complete.add(query.kind)
                except KubectlError as error:
                    if query == required:
                        raise
                    self._note(str(error))
        return found, complete

    def _note(self, message: str) -> None:
        if message not in self.notes:
            self.notes.append(message)

    def _logs(self, job: JobView) -> dict[tuple[str, str], list[str]]:
        """Read the last lines of the first failed container, and of init containers that wait."""
        wanted = [(failure.pod.name, failure.container.name) for failure in failed_first(job)[:1]]
        wanted += waiting_init_containers(job)[:_MOST_LOGS]
        return {(pod, container): self.kubectl.last_lines(pod, container, LAST_LINES) for pod, container in wanted}


def _view(
    name: str, namespace: str, found: Iterable[Object], complete: Iterable[str], replicas: Mapping[str, int]
) -> JobView:
    return JobView(name, namespace, RecordedObjects(found, complete), dt.datetime.now(dt.timezone.utc), replicas)


def _namespace(found: Iterable[Object]) -> str:
    return next(filter(None, map(namespace_of, found)), "")


def _queries(job: JobView) -> list[Query]:
    """Return the queries for the objects that explain the state of a job."""
    queries = [
        Query(CONFIG_MAP.kind, (naming.svc_config_map(job.name),)),
        Query(NETWORK_POLICY.kind),
        _events("PodGroup", job.group_name),
        _events("Job", job.name),
    ]
    if claims := tuple(sorted(job.claims())):
        queries += [Query(CLAIM.kind, claims), _events("PersistentVolumeClaim")]
    if any(not pod.has_ended and not pod.runs for pod in job.pods):
        queries.append(_events("Pod", type="Warning"))
    if any(not pod.is_bound and not pod.has_ended for pod in job.pods) or not job.pods:
        queries += [Query(NODE), Query(RESOURCE_QUOTA)]
    elif used := sorted({pod.node for pod in job.pods if not pod.has_ended and not pod.is_ready}):
        queries.append(Query(NODE, tuple(used[:_MOST_NODES])))
    return queries


def _events(kind: str, name: str = "", **fields: str) -> Query:
    """Return the query for the events of a kind in the namespace, or of one object."""
    selected = {"involvedObject.kind": kind} | ({"involvedObject.name": name} if name else {}) | fields
    selector = ",".join(f"{key}={value}" for key, value in selected.items())
    return Query(EVENT, selector=(f"--field-selector={selector}",))
