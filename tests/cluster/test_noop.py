"""An update without an edit leaves a job alone, in every phase of its life and whatever admission made of its Pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cluster import Cluster

from tests.cluster.conftest import Changes, Manifest, Objects, Space, Stack, changes, container, task
from tests.engine.conftest import Steps

# A webhook that puts its own before what is there, as service meshes and secret injectors do.
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
    """Give a mutating admission policy for the Pods of namespaces with our label."""
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
    """Give a job whose Pods have an init container and a variable that others can be put in front of."""
    worker = task("worker", 2, env=[{"name": "OURS", "value": "1"}])
    master = task("master", env=[{"name": "OURS", "value": "1"}])
    for each in (master, worker):
        each["template"]["spec"]["initContainers"] = [{"name": "ours", "image": "example.org/init:1"}]
    plugins: Manifest = {"pytorch": [], "ssh": []}
    return {"name": "train", "namespace": namespace, "plugins": plugins, "tasks": [master, worker], "run": run}


@dataclass
class Seen:
    """What the updates after one phase of a job's life did to it."""

    steps: Steps
    after_up: Changes
    after_refresh: Changes


@dataclass
class Life:
    """A job's life, in a namespace where admission leaves Pods alone, and in one where it does not."""

    first: dict[str, Objects]
    when: dict[tuple[str, str], Seen]
    last: dict[str, Changes]
    phases: dict[str, set[str]]


@pytest.fixture(scope="module")
def life(cluster: Cluster, new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Bring two jobs up; update, refresh and update them in each phase; then ask for another run."""
    spaces = {"plain": new_space(), "mutated": new_space(**{LABEL: "in-front"})}
    cluster.apply(policy(IN_FRONT))
    cluster.wait(lambda: is_mutated(cluster, spaces["mutated"].name), "the admission policy", 20)
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
    """Tell whether admission has begun to put its own into Pods."""
    spec = {
        "containers": [container(env=[{"name": "A", "value": "1"}])],
        "initContainers": [container() | {"name": "i"}],
    }
    metadata = {"name": "probe", "namespace": namespace}
    (pod,) = cluster.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}], dry=True)
    return len(pod["spec"]["containers"]) == 2


def test_admission_has_put_its_own_in_front(life: Life) -> None:
    """The sidecar, the init container and the variable stand before ours: the tests here are of what they say."""
    for name in PODS:
        spec = life.first["mutated"][f"Pod {name}"]["spec"]
        assert [item["name"] for item in spec["containers"]] == ["theirs", "main"]
        assert [item["name"] for item in spec["initContainers"]] == ["theirs-first", "ours"]
        assert [item["name"] for item in spec["containers"][1]["env"]][:2] == ["THEIRS", "OURS"]
        assert len(life.first["plain"][f"Pod {name}"]["spec"]["containers"]) == 1


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("when", WHEN)
def test_a_second_up_does_nothing(life: Life, when: str, where: str) -> None:
    """Neither the engine has a step to do, nor has the API server anything else than before."""
    seen = life.when[when, where]

    assert seen.steps == {}
    assert seen.after_up == {}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("when", WHEN)
def test_a_refresh_and_an_up_after_it_do_nothing(life: Life, when: str, where: str) -> None:
    """The engine may write a Pod's annotations again; the API server has the same objects with the same content."""
    assert life.when[when, where].after_refresh == {}


@pytest.mark.parametrize("where", WHERE)
def test_another_token_runs_a_finished_job_again(life: Life, where: str) -> None:
    """All Pods are new and wait for a scheduler; nothing else is touched."""
    assert life.last[where] == {f"Pod {name}": "replaced" for name in PODS}
    assert life.phases[where] == {"Pending"}
