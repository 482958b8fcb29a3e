"""A local control plane, and stacks whose jobs run on it; tests compare the stored objects."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import definitions
import pytest
import stack as stacks
from cluster import Cluster
from pulumi import automation

from pulumi_volcano_jobs.spec.naming import job_of, pod_group
from tests import upstream
from tests.conftest import CLAIM
from tests.deadlines import DEADLINE
from tests.engine.conftest import ROOT, Project, Run, short

Manifest = dict[str, Any]
Objects = dict[str, Manifest]
Changes = dict[str, str]
T = TypeVar("T")

COMPOSED = ("ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "Pod", "PodGroup", "Secret", "Service")
KINDS = (*COMPOSED, "Job")
VOLUMES = [{"mountPath": "/data", "volumeClaim": CLAIM}]
# Fields that the API server sets, and that differ between two equal objects.
ITS_OWN = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")
PROGRAM = """
import json
from pathlib import Path

import pulumi

from pulumi_volcano_jobs import VolcanoJob

for name, args in json.loads((Path(__file__).parent / "jobs.json").read_text("utf-8")).items():
    job = VolcanoJob(name, args)
    if "ssh" in job.plugins:
        pulumi.export(f"{name}-key", job.ssh.public_key)
"""
APART = """
import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import stack

folder = Path(sys.argv[2])
stack.put_engine_on_path()
opened = stack.open_stack(folder, folder / ".state", "dev")
with stack.alone(opened):
    getattr(opened, sys.argv[3])(color="never", **json.loads(sys.argv[4]))
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def engine() -> Iterator[None]:
    """Add the engine and the provider to PATH."""
    before = os.environ["PATH"]
    stacks.put_engine_on_path()
    yield
    os.environ["PATH"] = before


@pytest.fixture(scope="package")
def cluster(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide a cluster with resource definitions, because each job has a PodGroup. It stops after the last test."""
    with Cluster(tmp_path_factory.mktemp("cluster"), volcano_definitions()) as running:
        yield running


def volcano_definitions() -> list[Manifest]:
    """Return Volcano's own resource definitions, or the generated ones."""
    return upstream.definitions() if upstream.HAS_DEFINITIONS else definitions.definitions()


@dataclass(frozen=True)
class Space:
    """A namespace of the cluster, read from the API server."""

    cluster: Cluster
    name: str

    def seen(self) -> Objects:
        """Return the objects in it."""
        return objects(self.cluster, self.name)

    def pods(self) -> Objects:
        """Return its Pods by name."""
        return self.cluster.list("Pod", self.name)

    def run(self) -> None:
        """Act as scheduler and kubelet: set all Pods to Running."""
        self.cluster.bind([name for name, pod in self.pods().items() if not pod["spec"].get("nodeName")], self.name)
        self.await_phase("Running")

    def end(self) -> None:
        """Set all running Pods to Succeeded."""
        for name in self.pods():
            self.cluster.annotate("Pod", name, self.name, test_succeed="yes")
        self.await_phase("Succeeded")

    def await_phase(self, phase: str) -> None:
        """Wait until all Pods are in a phase."""
        self.cluster.wait(
            lambda: {pod["status"]["phase"] for pod in self.pods().values()} == {phase}, f"Pods to be {phase}"
        )

    def key(self, job: str = "train") -> str:
        """Return the private key in the Secret of a job."""
        key: str = self.cluster.get("Secret", f"{job}-ssh", self.name)["data"]["id_rsa"]
        return key


class Stack(Project):
    """A stack with jobs from plain data, in its own namespace."""

    def __init__(self, folder: Path, space: Space, program: str = PROGRAM) -> None:
        """Build the project in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Pulumi.yaml").write_text("name: tests\nruntime: python\n", "utf-8")
        (folder / "__main__.py").write_text(program, "utf-8")
        super().__init__(folder, config={"volcano-jobs:namespace": space.name})
        self.space = space
        self.kubeconfig = space.cluster.kubeconfig

    @property
    def saved(self) -> Path:
        """The file in which the engine keeps the state."""
        return stacks.state_file(self.state / "state", "tests", "dev")

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the provider."""
        return Path(self.stack.workspace.env_vars["KUBECONFIG"])

    @kubeconfig.setter
    def kubeconfig(self, path: Path) -> None:
        self.stack.workspace.env_vars["KUBECONFIG"] = str(path)

    def skip_checkpoints(self) -> None:
        """Write the state only at the end of an operation.

        With many resources the engine otherwise spends most of its time writing the whole state after each step.
        """
        self.stack.workspace.env_vars.update(PULUMI_EXPERIMENTAL="true", PULUMI_SKIP_CHECKPOINTS="true")

    def jobs(self, **jobs: Mapping[str, Any]) -> None:
        """Set the jobs of the program."""
        self.write("jobs.json", json.dumps(jobs))

    def make(self, **jobs: Mapping[str, Any]) -> Objects:
        """Run `up` with these jobs, and return the objects."""
        self.jobs(**jobs)
        self.up()
        return self.space.seen()

    def refresh(self) -> None:
        """Refresh the state, and drop pending operations of a killed engine."""
        with stacks.alone(self.stack):
            self.stack.refresh(color="never", clear_pending_creates=True)

    def previewed(self) -> list[tuple[str, str]] | str:
        """Return the steps of a preview, or its output if it fails."""
        try:
            return self.preview().urns
        except automation.CommandError as error:
            return str(error)

    def begin(self) -> Background:
        """Start `up` in a thread, so that the test can act as a controller."""
        return Background(self.up)

    def pending(self) -> set[str]:
        """Return the objects that the engine creates or updates now, by short name."""
        operations = json.loads(self.saved.read_bytes())["checkpoint"]["latest"].get("pending_operations") or ()
        return {short(item["resource"]["urn"]) for item in operations}

    def apart(self, operation: str, **options: Any) -> Apart:
        """Start an operation in its own process group, so that it can be killed."""
        command = [sys.executable, "-c", APART, str(ROOT / "tools"), str(self.folder), operation, json.dumps(options)]
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig)}
        return Apart(command, environment, self.saved.parent)


class Apart:
    """An operation of a stack in its own process group."""

    def __init__(self, command: list[str], environment: Mapping[str, str], states: Path) -> None:
        """Start the operation; the engine writes the state of the stack to `states`."""
        self._states = states
        self._process = subprocess.Popen(command, env=environment, start_new_session=True)

    def kill(self) -> None:
        """Kill the program and the engine with SIGKILL, and stop the provider, which would otherwise stay."""
        session = self._process.pid
        orphans = _in_session(session)
        # The engine renames the state file after writing, but writes the attributes file in place: a kill in the middle
        # leaves that file empty, and the engine then cannot read the state.
        self._stop()
        while not self._is_state_whole():
            os.killpg(session, signal.SIGCONT)
            time.sleep(0.05)
            self._stop()
        os.killpg(session, signal.SIGKILL)
        self._process.wait()
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _stop(self) -> None:
        """Stop its processes, and wait until they are stopped: a thread first finishes its system call."""
        os.killpg(self._process.pid, signal.SIGSTOP)
        while not all(_is_stopped(thread) for thread in _threads_of_group(self._process.pid)):
            time.sleep(0.001)

    def _is_state_whole(self) -> bool:
        try:
            states = [
                json.loads(path.read_bytes())
                for kind in ("*.json", "*.json.attrs")
                for path in self._states.rglob(kind)
            ]
        except ValueError:
            return False
        return bool(states)


def failed(operation: Callable[[], object]) -> str:
    """Run an operation, check that the engine reports an error, and return its output."""
    with pytest.raises(automation.CommandError) as caught:
        operation()
    return str(caught.value)


class Background:
    """An operation of a stack in a thread."""

    def __init__(self, operation: Callable[[], Run]) -> None:
        """Start the operation."""
        self._ended: Future[Run] = Future()
        # The interpreter does not wait for a daemon thread when a test has failed.
        threading.Thread(target=self._run, args=[operation], daemon=True).start()

    def _run(self, operation: Callable[[], Run]) -> None:
        try:
            self._ended.set_result(operation())
        except Exception as error:  # noqa: BLE001  # `wait` raises it
            self._ended.set_exception(error)

    def has_ended(self) -> bool:
        """Return whether it has ended."""
        return self._ended.done()

    def wait(self) -> Run:
        """Wait for the end, and return the result, or raise the error."""
        return self._ended.result(DEADLINE)


def _in_session(session: int) -> list[int]:
    """Return the processes of a session, because the provider has another process group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(path.name)) == session:
                found.append(int(path.name))
    return found


def _threads_of_group(group: int) -> list[Path]:
    """Return the threads of a process group, each as its folder in /proc."""
    found: list[Path] = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getpgid(int(path.name)) == group:
                found += path.glob("task/[0-9]*")
    return found


def _is_stopped(thread: Path) -> bool:
    """Return whether a thread is stopped by a signal or has ended."""
    try:
        state = thread.joinpath("stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "TZX"


def use(cluster: Cluster, project: Project) -> Project:
    """Configure the provider of a project for the cluster."""
    project.stack.workspace.env_vars["KUBECONFIG"] = str(cluster.kubeconfig)
    return project


def objects(cluster: Cluster, namespace: str) -> Objects:
    """Return the objects of a namespace by kind and name."""
    return {
        named(kind, item): {"kind": kind, **item} for kind in KINDS for item in cluster.list(kind, namespace).values()
    }


def named(kind: str, item: Manifest) -> str:
    """Return the kind and name of an object. A PodGroup whose name is the job's name is keyed by it."""
    name = item["metadata"]["name"]
    job = job_of(name)
    return f"{kind} {job if kind == 'PodGroup' and name == pod_group(job) else name}"


def changes(before: Objects, after: Objects) -> Changes:
    """Return the change of each object: created, deleted, replaced under the same name, or updated."""
    found = dict.fromkeys(after.keys() - before.keys(), "made") | dict.fromkeys(before.keys() - after.keys(), "deleted")
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if old["metadata"]["uid"] != new["metadata"]["uid"]:
            found[name] = "replaced"
        elif content(old) != content(new):
            found[name] = "updated"
    return found


def of_job(found: Mapping[str, T], name: str) -> dict[str, T]:
    """Return the objects of one job, or their changes, without the job name in object names."""
    own = {}
    for each, value in found.items():
        kind, _, full = each.partition(" ")
        if full == name or full.startswith(f"{name}-"):
            own[f"{kind} {full[len(name) + 1 :]}".strip()] = value
    return own


def content(item: Manifest) -> Manifest:
    """Return an object without status and server-side metadata, and with the version as in a list."""
    copy = deepcopy(item)
    copy.pop("status", None)
    copy.pop("apiVersion", None)
    for key in ITS_OWN:
        copy["metadata"].pop(key, None)
    return copy


def container(image: str = "example.org/image:1", **fields: Any) -> Manifest:
    """Return a container."""
    return {"name": "main", "image": image, **fields}


def task(name: str, replicas: int = 1, metadata: Manifest | None = None, **fields: Any) -> Manifest:
    """Return a task; the keywords are fields of its container."""
    spec = {"restartPolicy": "Never", "containers": [container(**fields)]}
    return {"name": name, "replicas": replicas, "template": {"metadata": metadata or {}, "spec": spec}}


@pytest.fixture(scope="package")
def new_space(cluster: Cluster) -> Callable[..., Space]:
    """Provide a function that creates namespaces; the keywords are labels."""
    numbers = itertools.count()

    def make(**labels: str) -> Space:
        name = f"test-{next(numbers)}"
        cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}])
        return Space(cluster, name)

    return make


@pytest.fixture
def space(new_space: Callable[..., Space]) -> Space:
    """Provide a namespace for one test."""
    return new_space()


@pytest.fixture
def stack(space: Space, tmp_path: Path) -> Stack:
    """Provide a stack for one test."""
    return Stack(tmp_path / "project", space)
