"""An update without an edit changes nothing, in each phase of a job and with mutated Pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cluster import Cluster

from tests.cluster.conftest import Changes, Manifest, Objects, Space, Stack, changes, container, task
from tests.engine.conftest import Steps

# A webhook that inserts entries at the beginning of lists, like service meshes and secret injectors.
IN_FRONT = """[
  JSONPatch{op: "add", path: "/spec/initContainers/0",
            value: Object.spec.initContainers{name: "theirs-first", image: "example.org/init:1"}},
  JSONPatch{op: "add", path: "/spec/containers/0",
            value: Object.spec.containers{name: "theirs", image: "example.org/sidecar:1"}},
  JSONPatch{op: "add", path: "/spec/containers/1/env/0",
            value: Object.spec.containers.env{name: "THEIRS", value: "1"}}
]"""
LABEL = "admission"
WHEN = ("pending", "running", "succeeded")
PODS = ("train-master-0", "train-worker-0", "train-worker-1")
WHERE = ("plain", "mutated")


def policy(rules: str) -> list[Manifest]:
    """Return a mutating admission policy for Pods in namespaces with the test label."""
    version = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "in-front"}}
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [pods], "namespaceSelector": {"matchLabels": {LABEL: "in-front"}}},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": rules}}],
    }
    return [
        version | {"kind": "MutatingAdmissionPolicy", "spec": spec},
        version | {"kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "in-front"}},
    ]


def job(namespace: str, run: str) -> Manifest:
    """Return a job whose Pods have an init container and a variable, before which admission inserts others."""
    worker = task("worker", 2, env=[{"name": "OURS", "value": "1"}])
    master = task("master", env=[{"name": "OURS", "value": "1"}])
    for each in (master, worker):
        each["template"]["spec"]["initContainers"] = [{"name": "ours", "image": "example.org/init:1"}]
    plugins: Manifest = {"pytorch": [], "ssh": []}
    return {"name": "train", "namespace": namespace, "plugins": plugins, "tasks": [master, worker], "run": run}


@dataclass
class Seen:
    """Effect of the updates after one phase of a job."""

    steps: Steps
    after_up: Changes
    after_refresh: Changes


@dataclass
class Life:
    """Results for a job in a namespace without mutation, and for one in a namespace with it."""

    first: dict[str, Objects]
    when: dict[tuple[str, str], Seen]
    last: dict[str, Changes]
    phases: dict[str, set[str]]


@pytest.fixture(scope="module")
def life(cluster: Cluster, new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Create two jobs; run update, refresh and update in each phase; then request another run."""
    spaces = {"plain": new_space(), "mutated": new_space(**{LABEL: "in-front"})}
    cluster.apply(policy(IN_FRONT))
    cluster.wait(lambda: is_mutated(cluster, spaces["mutated"].name), "the admission policy")
    stack = Stack(tmp_path_factory.mktemp("noop"), spaces["plain"])

    def bring_up(run: str) -> Steps:
        stack.jobs(**{where: job(space.name, run) for where, space in spaces.items()})
        return stack.up().steps

    def update() -> dict[str, Seen]:
        before = {where: space.seen() for where, space in spaces.items()}
        steps = bring_up("1")
        after_up = {where: changes(before[where], space.seen()) for where, space in spaces.items()}
        stack.refresh()
        bring_up("1")
        return {where: Seen(steps, after_up[where], changes(before[where], spaces[where].seen())) for where in WHERE}

    bring_up("1")
    first = {where: space.seen() for where, space in spaces.items()}
    seen = {("pending", where): found for where, found in update().items()}
    for space in spaces.values():
        space.run()
    seen |= {("running", where): found for where, found in update().items()}
    for space in spaces.values():
        space.end()
    seen |= {("succeeded", where): found for where, found in update().items()}
    before = {where: space.seen() for where, space in spaces.items()}
    bring_up("2")
    last = {where: changes(before[where], space.seen()) for where, space in spaces.items()}
    phases = {where: {pod["status"]["phase"] for pod in space.pods().values()} for where, space in spaces.items()}
    return Life(first, seen, last, phases)


def is_mutated(cluster: Cluster, namespace: str) -> bool:
    """Return whether admission has started to mutate Pods."""
    spec = {
        "containers": [container(env=[{"name": "A", "value": "1"}])],
        "initContainers": [container() | {"name": "i"}],
    }
    metadata = {"name": "probe", "namespace": namespace}
    (pod,) = cluster.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}], dry=True)
    return len(pod["spec"]["containers"]) == 2


def test_admission_inserts_fields_before_those_of_the_job(life: Life) -> None:
    """The mutated Pods have another first sidecar, init container and variable; the tests below depend on it."""
    for name in PODS:
        spec = life.first["mutated"][f"Pod {name}"]["spec"]
        assert [item["name"] for item in spec["containers"]] == ["theirs", "main"]
        assert [item["name"] for item in spec["initContainers"]] == ["theirs-first", "ours"]
        assert [item["name"] for item in spec["containers"][1]["env"]][:2] == ["THEIRS", "OURS"]
        assert len(life.first["plain"][f"Pod {name}"]["spec"]["containers"]) == 1


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("when", WHEN)
def test_a_second_up_changes_nothing(life: Life, when: str, where: str) -> None:
    """The engine has no step, and the API server has the same objects."""
    seen = life.when[when, where]

    assert seen.steps == {}
    assert seen.after_up == {}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("when", WHEN)
def test_a_refresh_and_a_later_up_change_nothing(life: Life, when: str, where: str) -> None:
    """The engine may rewrite annotations of a Pod, but the objects have the same content."""
    assert life.when[when, where].after_refresh == {}


@pytest.mark.parametrize("where", WHERE)
def test_a_new_run_token_runs_a_finished_job_again(life: Life, where: str) -> None:
    """All Pods are new and unscheduled; other objects are unchanged."""
    assert life.last[where] == {f"Pod {name}": "replaced" for name in PODS}
    assert life.phases[where] == {"Pending"}
