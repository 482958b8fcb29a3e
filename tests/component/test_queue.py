"""`VolcanoQueue`: what it registers, what its name carries to jobs, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import VolcanoQueue
from pulumi_volcano_jobs.admission import queues
from pulumi_volcano_jobs.component.kubernetes_object import DIGEST
from pulumi_volcano_jobs.testing import UNKNOWN, Failure, SecretValue, computed, failed, run
from tests.component.programs import new_job
from tests.conftest import task, typed

QUEUE = "Queue research"


def new_queue(name: str, arguments: Any, opts: pulumi.ResourceOptions | None = None) -> VolcanoQueue:
    """Make a queue of arguments that are put together, which type checkers cannot follow."""
    return VolcanoQueue(name, arguments, opts)


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_a_queue_is_one_object_below_a_component(*, preview: bool) -> None:
    """It is in no namespace, whatever the stack's is; its fields may have either spelling."""

    def program() -> dict[str, Any]:
        queue = new_queue(
            "research",
            {
                "weight": 4,
                "dequeue_strategy": "fifo",
                "affinity": {"node_group_affinity": {"required_during_scheduling_ignored_during_execution": ["gpu"]}},
                "extendClusters": [{"name": "other"}],
            },
        )
        return {"name": queue.name}

    done = run(program, preview=preview, config={"volcano-jobs:namespace": "elsewhere"})

    assert done.tree() == {"VolcanoQueue research": "", QUEUE: "VolcanoQueue research"}
    made = done.manifests()[QUEUE]
    assert made == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "research", "annotations": made["metadata"]["annotations"]},
        "spec": {
            "affinity": {
                "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["gpu"]},
            },
            "dequeueStrategy": "fifo",
            "extendClusters": [{"name": "other"}],
            "parent": "root",
            "reclaimable": True,
            "weight": 4,
        },
    }
    name = UNKNOWN if preview else "research"
    assert done.resources["VolcanoQueue research"].outputs == {"name": name}
    assert done.outputs["name"] == name


def in_a_queue(mode: str) -> None:
    """Make a queue and a job in it."""
    queue = VolcanoQueue("research", {"name": "team-research"})
    new_job(
        "train",
        {"tasks": [task(), task("master")], "plugins": {"pytorch": []}, "queue": queue.name, "managed_by": mode},
    )


PODS = ("Pod train-master-0", "Pod train-worker-0")


def digests(*names: str) -> set[str]:
    """Return the places of the digest of what an update writes, and of the condition with it."""
    return {f"{name}: metadata.annotations.{key}" for name in names for key in (DIGEST, "pulumi.com/waitFor")}


UNKNOWN_IN_A_FIRST_PREVIEW = {
    "pulumi": {
        "PodGroup train: spec.queue",
        *(f"{pod}: metadata.{field}.volcano.sh/queue-name" for pod in PODS for field in ("annotations", "labels")),
        *digests(*PODS),
    },
    "volcano": {"Job train: spec.queue", "Job train: (trigger)", "VolcanoJob train has: pod_group_name"},
}


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_a_job_in_a_queue_waits_for_it(mode: str) -> None:
    """Whatever has the name in it depends on the Queue."""
    done = run(lambda: in_a_queue(mode))

    job = done.resources["PodGroup train" if mode == "pulumi" else "Job train"]
    assert job.inputs["spec"]["queue"] == "team-research"
    assert [item.type for item in job.depends_on if item.name == "research"] == [
        "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
    ]


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_the_first_preview_of_a_job_in_a_queue_knows_all_but_the_queues_name(mode: str) -> None:
    """The provider's dry run of a job that names a queue would be rejected: the queue does not exist yet."""
    done = run(lambda: in_a_queue(mode), preview=True)

    assert done.unknown() == {"VolcanoQueue research has: name", *UNKNOWN_IN_A_FIRST_PREVIEW[mode]}


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_a_job_of_a_queue_is_not_replaced_by_its_second_update(mode: str) -> None:
    """The name is the same text as in the first one."""
    first = run(lambda: in_a_queue(mode))
    second = run(lambda: in_a_queue(mode), state=first)

    assert not any(vars(second.changes).values())


def test_a_queue_below_another_waits_for_it() -> None:
    """So it is deleted first, too; a first preview does not know the name."""

    def program() -> None:
        parent = VolcanoQueue("all")
        VolcanoQueue("research", {"parent": parent.name})

    done = run(program)

    assert done.resources[QUEUE].inputs["spec"]["parent"] == "all"
    assert [urn for urn in done.resources[QUEUE].request.dependencies if urn.endswith("Queue::all")]
    assert run(program, preview=True).unknown() == {
        "Queue research: spec.parent",
        *digests(QUEUE),
        "VolcanoQueue all has: name",
        "VolcanoQueue research has: name",
    }


UNDER_MOCKS = """
import sys

import pulumi


class Answers(pulumi.runtime.Mocks):
    def new_resource(self, args):
        return f"{args.name}_id", args.inputs

    def call(self, args):
        return {}


pulumi.runtime.set_mocks(Answers(), preview=sys.argv[1] == "preview")

from pulumi_volcano_jobs import VolcanoQueue


@pulumi.runtime.test
def test():
    return VolcanoQueue("research", {"name": "team-research"}).name.apply(print)


test()
"""


@pytest.mark.parametrize("operation", ["preview", "up"])
def test_pulumis_own_mocks_give_a_queue_its_name(operation: str) -> None:
    """Their ids are made up."""
    command = [sys.executable, "-c", UNDER_MOCKS, operation]

    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "team-research\n"


def annotations(**fields: Any) -> dict[str, str]:
    """Return the annotations of a queue with these fields."""
    found: dict[str, str] = run(lambda: new_queue("research", fields) and None).manifests()[QUEUE]["metadata"][
        "annotations"
    ]
    return found


def test_the_provider_waits_for_the_state_of_a_queue_and_for_its_own_edit() -> None:
    """The webhooks reject jobs before Volcano's controller has set the state; an edited queue has one from before."""
    made = annotations()

    assert json.loads(made["pulumi.com/waitFor"]) == [
        f"jsonpath={{.metadata.annotations['{DIGEST}']}}={made[DIGEST]}",
        "jsonpath={.status.state}",
    ]
    assert annotations(weight=2)[DIGEST] != made[DIGEST]
    assert annotations(labels={"team": "ml"})[DIGEST] != made[DIGEST]
    assert annotations(annotations={"team": "ml"})[DIGEST] != made[DIGEST]


def test_the_users_own_condition_takes_precedence() -> None:
    """It is written as it is."""
    assert annotations(annotations={"pulumi.com/waitFor": "condition=Ready"})["pulumi.com/waitFor"] == "condition=Ready"


def test_unknown_metadata_make_only_the_digest_unknown() -> None:
    """Also if no annotation is known."""

    def unknown(fields: Any) -> set[str]:
        found = run(lambda: new_queue("research", fields()) and None, preview=True).unknown()
        return {place.partition(": metadata.")[2] for place in found} - {""}

    digest = {place.partition(": metadata.")[2] for place in digests(QUEUE)}
    assert unknown(lambda: {"labels": {"team": computed("ml"), "a": "b"}}) == {"labels.team", *digest}
    assert unknown(lambda: {"annotations": {"team": computed("ml"), "a": "b"}}) == {"annotations.team", *digest}
    assert unknown(lambda: {"annotations": computed({"team": "ml"})}) == {"annotations"}


def test_the_wait_for_a_queues_state_ends() -> None:
    """After a time of the user's, if there is one."""

    def timeouts(**opts: Any) -> list[str]:
        done = run(lambda: new_queue("research", {}, pulumi.ResourceOptions(**opts)) and None)
        found = done.resources[QUEUE].request.customTimeouts
        return [found.create, found.update, found.delete]

    assert timeouts() == ["5m", "5m", ""]
    assert timeouts(custom_timeouts=pulumi.CustomTimeouts(create="30s")) == ["30s", "", ""]


def test_a_weight_of_0_is_a_warning() -> None:
    """The queue gets Volcano's default."""
    done = run(lambda: new_queue("research", {"weight": 0}) and None)

    (warning,) = done.resources["VolcanoQueue research"].warnings
    assert [warning] == [str(problem) for problem in queues.warnings({"weight": 0})]
    assert warning.startswith("spec.weight: ")
    assert done.manifests()[QUEUE]["spec"]["weight"] == 1


def test_outputs_stay_what_they_are() -> None:
    """An amount that is unknown is the only unknown; a secret stays one."""

    def program() -> None:
        VolcanoQueue(
            "research",
            {
                "weight": pulumi.Output.secret(3),
                "capability": {"cpu": computed("8"), "memory": "1Gi"},
            },
        )

    done = run(program, preview=True)

    spec = done.manifests()[QUEUE]["spec"]
    assert spec["capability"] == {"cpu": UNKNOWN, "memory": "1Gi"}
    assert spec["weight"] == SecretValue(3)
    assert done.unknown() == {f"{QUEUE}: spec.capability.cpu", *digests(QUEUE), "VolcanoQueue research has: name"}


def test_an_option_that_pulumi_ignores_on_a_component_is_a_warning(snapshot: SnapshotAssertion) -> None:
    """The Queue itself gets `custom_timeouts`."""
    opts = pulumi.ResourceOptions(replacement_trigger="2", custom_timeouts=pulumi.CustomTimeouts(create="30s"))

    (warning,) = run(lambda: new_queue("research", {}, opts) and None).warnings

    assert warning == snapshot


def test_options_reach_the_queue() -> None:
    """Protection and staying in the cluster are of the Queue itself, and so is the provider."""

    def program() -> None:
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415  # as in children.py

        provider = kubernetes.Provider("other", kubeconfig="")
        opts = pulumi.ResourceOptions(protect=True, retain_on_delete=True, provider=provider)
        VolcanoQueue("research", {}, opts)

    request = run(program).resources[QUEUE].request

    assert (request.protect, request.retainOnDelete, request.deleteBeforeReplace) == (True, True, True)
    assert "kubernetes::other" in request.provider


def test_two_queues_of_one_name_are_rejected(snapshot: SnapshotAssertion) -> None:
    """They would overwrite each other."""

    def program() -> None:
        VolcanoQueue("one", {"name": "research"})
        VolcanoQueue("other", {"name": "research"})

    failure = failed(program)

    assert typed(failure.problems) == [("metadata.name", "Duplicate")]
    assert str(failure.error) == snapshot


def rejected(arguments: Any) -> Failure:
    """Return the failure of a program whose only queue is rejected; no resource has been registered by then."""
    failure = failed(lambda: new_queue("research", arguments) and None)
    assert isinstance(failure.error, pulumi.RunError)
    assert failure.result.resources == {}
    return failure


def test_an_error_has_all_problems() -> None:
    """Pulumi shows a RunError without a traceback."""
    failure = rejected({"weight": -1, "parent": "research"})

    assert typed(failure.problems) == [("spec.weight", "Invalid"), ("spec.parent", "Invalid")]
    assert [problem.value for problem in failure.problems] == ["-1", '"research"']
    first, *lines = str(failure.error).splitlines()
    assert "VolcanoQueue research" in first
    assert lines == [f"  {problem}" for problem in failure.problems]


def test_arguments_that_are_not_a_mapping_are_rejected(snapshot: SnapshotAssertion) -> None:
    """The path is empty, because the mistake is in no field."""
    failure = rejected([3])

    assert typed(failure.problems) == [("", "TypeInvalid")]
    assert str(failure.error) == snapshot


def test_a_job_and_a_queue_may_have_one_name() -> None:
    """They are of different types."""

    def program() -> None:
        VolcanoQueue("train", {})
        new_job("train", {"tasks": [task()]})

    assert run(program).names("Queue") == ["train"]
