"""The rules of Volcano's validating webhook (contract, section 5)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import ClusterFacts, Queue, render
from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, problems, refused, task, typed


def policies(*found: Wire) -> Wire:
    """Give a job with policies."""
    return job(policies=list(found))


def of_task(**fields: Any) -> Wire:
    """Give a job of one task with some fields."""
    return job({**task("worker", 4), **fields})


def volumes(*found: Wire) -> Wire:
    """Give a job with volumes."""
    return job(volumes=list(found))


def depending(**names: list[str]) -> Wire:
    """Give a job whose tasks wait for others."""
    return job(*({**task(name), "dependsOn": {"name": others}} for name, others in names.items()))


def asking_for(resources: Wire, policy: str = "restricted") -> Wire:
    """Give a job whose task asks for a topology."""
    return job({**task(containers=[container(resources=resources)]), "topologyPolicy": policy})


BOTH_TIERS = {"highestTierAllowed": 1, "highestTierName": "rack"}
PARTITION = {"totalPartitions": 2, "partitionSize": 2}
FAILED = {"event": "PodFailed", "action": "RestartJob"}
WHOLE = "spec.tasks[0].template.spec.containers[0].resources"

CASES: dict[str, tuple[Wire, list[tuple[str, str]]]] = {
    "no tasks": ({"metadata": {"name": "train"}, "spec": {}}, [("spec.tasks", "Required")]),
    "mpi without its master's task": (
        job(task("worker"), plugins={"mpi": ["--worker=worker"]}),
        [("spec.plugins.mpi", "NotFound")],
    ),
    "mpi whose named master is no task": (
        job(task("worker"), plugins={"mpi": ["--worker=worker", "--master=boss"]}),
        [("spec.plugins.mpi[1]", "NotFound")],
    ),
    "an unknown plugin": (job(plugins={"torch": []}), [("spec.plugins.torch", "NotSupported")]),
    "two tiers of the job": (job(networkTopology=BOTH_TIERS), [("spec.networkTopology", "Forbidden")]),
    "two tiers of a partition": (
        of_task(partitionPolicy={**PARTITION, "networkTopology": BOTH_TIERS}),
        [("spec.tasks[0].partitionPolicy.networkTopology", "Forbidden")],
    ),
    "a task's minimum above its replicas": (
        of_task(minAvailable=5),
        [("spec.minAvailable", "Invalid"), ("spec.tasks[0].minAvailable", "Invalid")],
    ),
    "the job's minimum above all replicas": (job(minAvailable=2), [("spec.minAvailable", "Invalid")]),
    "two tasks of one name": (job(task("a"), task("b"), task("a")), [("spec.tasks", "Duplicate")]),
    "a job's name of 64 characters": (job(name="x" * 64), [("spec.tasks[0].name", "TooLong")]),
    "a Pod's name of 63 characters": (job(task("x" * 55)), []),
    "a Pod's name of 64 characters": (job(task("x" * 56)), [("spec.tasks[0].name", "TooLong")]),
    "a template without containers": (
        job(task(containers=[])),
        [("spec.tasks[0].template.spec.containers", "Required")],
    ),
    "a topology without CPUs": (asking_for({}), [(WHOLE, "Invalid")]),
    "a topology with a fraction of a CPU": (asking_for({"requests": {"cpu": "1500m"}}), [(WHOLE, "Invalid")]),
    "a topology with no CPU": (asking_for({"limits": {"cpu": 0}}), [(WHOLE, "Invalid")]),
    "a topology with memory alone": (
        asking_for({"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}),
        [(WHOLE, "Invalid")],
    ),
    "a topology whose requests hide whole limits": (
        asking_for({"requests": {"cpu": "500m"}, "limits": {"cpu": 1}}, "best-effort"),
        [(WHOLE, "Invalid")],
    ),
    "a topology with whole requests": (asking_for({"requests": {"cpu": "2000m"}}), []),
    "a topology with whole limits": (asking_for({"limits": {"cpu": 2}}, "single-numa-node"), []),
    "no topology": (asking_for({}, "none"), []),
    "a topology, and an init container without CPUs": (
        job(
            task(containers=[container(resources={"requests": {"cpu": 1}})], initContainers=[container("early")])
            | {"topologyPolicy": "restricted"},
        ),
        [("spec.tasks[0].template.spec.initContainers[0].resources", "Invalid")],
    ),
    "partitions that are not the replicas": (
        of_task(partitionPolicy={"totalPartitions": 3, "partitionSize": 2}),
        [("spec.tasks[0].partitionPolicy", "Invalid")],
    ),
    "least partitions that are not the minimum": (
        of_task(partitionPolicy={**PARTITION, "minPartitions": 1}, minAvailable=3),
        [("spec.tasks[0].partitionPolicy", "Invalid")],
    ),
    "least partitions that are the minimum": (of_task(partitionPolicy={**PARTITION, "minPartitions": 1}), []),
    "a policy of nothing": (policies({"action": "AbortJob"}), [("spec.policies[0]", "Required")]),
    "a policy of an event and an exit code": (policies({**FAILED, "exitCode": 1}), [("spec.policies[0]", "Forbidden")]),
    "a policy for success": (
        policies({"exitCode": 0, "action": "AbortJob"}),
        [("spec.policies[0].exitCode", "Invalid")],
    ),
    "an exit code used twice": (
        policies({"exitCode": 3, "action": "AbortJob"}, {"exitCode": 3, "action": "RestartJob"}),
        [("spec.policies[1].exitCode", "Duplicate")],
    ),
    "an event used twice": (policies(FAILED, {**FAILED, "action": "AbortJob"}), [("spec.policies[1]", "Duplicate")]),
    "an event used twice in one list": (
        policies({"events": ["PodFailed", "PodEvicted"], "action": "AbortJob"}, FAILED),
        [("spec.policies[1]", "Duplicate")],
    ),
    "an event that is named once more beside the list": (
        policies({**FAILED, "events": ["PodFailed", "PodEvicted"]}),
        [],
    ),
    "all events and another one": (
        policies({"event": "*", "action": "AbortJob"}, FAILED),
        [("spec.policies", "Forbidden")],
    ),
    "an event of Volcano's own": (
        policies({"event": "OutOfSync", "action": "AbortJob"}),
        [("spec.policies[0]", "NotSupported")],
    ),
    "an action that is none": (
        policies({"event": "PodFailed", "action": "Panic"}),
        [("spec.policies[0].action", "NotSupported")],
    ),
    "no action": (policies({"event": "PodFailed"}), [("spec.policies[0].action", "Required")]),
    "an action of Volcano's own": (
        policies({**FAILED, "action": "SyncJob"}),
        [("spec.policies[0].action", "NotSupported")],
    ),
    "any action of an exit code": (policies({"exitCode": 3, "action": "Panic"}), []),
    "a task's policy": (of_task(policies=[{"action": "AbortJob"}]), [("spec.tasks[0].policies[0]", "Required")]),
    "one event for the job and for a task": (job({**task(), "policies": [FAILED]}, policies=[FAILED]), []),
    "a path mounted twice": (
        volumes({"mountPath": "/a", "volumeClaimName": "x"}, {"mountPath": "/a", "volumeClaimName": "y"}),
        [("spec.volumes[0].mountPath", "Duplicate"), ("spec.volumes[1].mountPath", "Duplicate")],
    ),
    "a volume without a claim": (volumes({"mountPath": "/a"}), [("spec.volumes[0]", "Required")]),
    "a volume with two claims": (
        volumes({"mountPath": "/a", "volumeClaimName": "x", "volumeClaim": {}}),
        [("spec.volumes[0]", "Forbidden")],
    ),
    "a claim's bad name": (
        volumes({"mountPath": "/a", "volumeClaimName": "No_"}),
        [("spec.volumes[0].volumeClaimName", "Invalid")],
    ),
    "the root queue": (job(queue="root"), [("spec.queue", "Forbidden")]),
    "a task that waits twice for another": (
        depending(a=["b", "b"], b=[]),
        [("spec.tasks[0].dependsOn.name[1]", "Duplicate")],
    ),
    "a task that waits for no task": (depending(a=["b"]), [("spec.tasks[0].dependsOn.name", "NotFound")]),
    "a task that waits for itself": (depending(a=["a"]), [("spec.tasks", "Invalid")]),
    "tasks that wait in a circle": (depending(a=["c"], b=["a"], c=["b"]), [("spec.tasks", "Invalid")]),
    "tasks that wait for one another in order": (depending(a=[], b=["a"], c=["a", "b"]), []),
}


def lenient_problems(document: Wire, **options: Any) -> list[Problem]:
    """Return the problems of a job in lenient mode; the webhook is the first to reject each of them."""
    found = problems(document, strict=False, **options)
    assert {problem.stage for problem in found} == {Stage.WEBHOOK}
    return found


@pytest.mark.parametrize("name", [name for name, (_, expected) in CASES.items() if expected])
def test_a_job_that_the_webhook_rejects_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """Lenient mode rejects it too."""
    document, expected = CASES[name]

    found = lenient_problems(document)

    assert typed(found) == expected
    assert list(map(str, found)) == snapshot


@pytest.mark.parametrize("name", [name for name, (_, expected) in CASES.items() if not expected])
def test_a_job_that_the_webhook_accepts_is_rendered(name: str) -> None:
    """These are near misses of the rules."""
    document, _ = CASES[name]

    assert render(document, strict=False).pods


def test_several_problems_are_reported_at_once() -> None:
    """Problems of the job, its tasks, policies, volumes and queue."""
    document = job(
        {**task("a", containers=[]), "minAvailable": 3, "policies": [{"action": "AbortJob"}]},
        task("a"),
        queue="root",
        plugins={"nope": []},
        volumes=[{"mountPath": "/a"}],
    )

    assert [problem.path for problem in lenient_problems(document)] == [
        "spec.minAvailable",
        "spec.plugins.nope",
        "spec.queue",
        "spec.tasks",
        "spec.tasks[0].minAvailable",
        "spec.tasks[0].policies[0]",
        "spec.tasks[0].template.spec.containers",
        "spec.volumes[0]",
    ]


QUEUES = {
    "open": Queue(),
    "closed": Queue("Closed"),
    "closing": Queue("Closing"),
    "new": Queue(""),
    "parent": Queue(children=2),
}


@pytest.mark.parametrize(
    ("queue", "error_type"),
    [
        ("closed", "Forbidden"),
        ("closing", "Forbidden"),
        ("new", "Forbidden"),
        ("parent", "Forbidden"),
        ("elsewhere", "NotFound"),
        ("root", "Forbidden"),
    ],
)
def test_a_queue_must_be_an_open_leaf(queue: str, error_type: str, snapshot: SnapshotAssertion) -> None:
    """The queues of the cluster are known."""
    (problem,) = lenient_problems(job(queue=queue), cluster=ClusterFacts(queues=QUEUES))

    assert typed([problem]) == [("spec.queue", error_type)]
    assert problem.value == queue
    assert str(problem) == snapshot


@pytest.mark.parametrize("cluster", [ClusterFacts(), ClusterFacts(queues=QUEUES)], ids=["unknown", "known"])
def test_an_open_queue_is_taken(cluster: ClusterFacts) -> None:
    """And any, if nothing is known."""
    assert render(job(queue="open"), cluster=cluster).job.queue == "open"


def test_a_job_without_a_queue_is_checked_for_the_default_one() -> None:
    """The mutating webhook has filled it in before."""
    assert typed(lenient_problems(job(), cluster=ClusterFacts(queues=QUEUES))) == [("spec.queue", "NotFound")]


def test_an_unknown_queue_passes() -> None:
    """Its name is only known when the program has run."""
    made = render(job(queue=Leaf("queue")), cluster=ClusterFacts(queues={}))

    assert repr(made.objects[0]["spec"]["queue"]) == "<Leaf queue>"


@pytest.mark.parametrize(
    "resources",
    [Leaf("r"), {"requests": Leaf("r")}, {"limits": Leaf("r")}, {"requests": {"cpu": Leaf("r")}}],
    ids=["all", "requests", "limits", "the CPUs"],
)
def test_unknown_cpus_pass(resources: Any) -> None:
    """A topology wants whole ones."""
    assert render(asking_for(resources)).pods


def test_a_claim_must_exist_in_the_namespace_if_claims_are_known(snapshot: SnapshotAssertion) -> None:
    """The controller would leave the job pending."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "there"}, {"mountPath": "/b", "volumeClaimName": "gone"})
    cluster = ClusterFacts(claims=frozenset({("default", "there"), ("other", "gone")}))

    error = refused(document, strict=False, cluster=cluster)

    assert typed(error.problems) == [("spec.volumes[1].volumeClaimName", "NotFound")]
    assert error.problems[0].value == "gone"
    assert error.stage is Stage.CONTROLLER
    assert str(error) == snapshot
    assert render(document).pods


def test_a_claim_is_not_looked_for_in_an_unknown_namespace() -> None:
    """Nobody can tell yet."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "gone"})
    document["metadata"]["namespace"] = Leaf("namespace")

    assert render(document, cluster=ClusterFacts(claims=frozenset())).pods
