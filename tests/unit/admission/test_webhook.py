"""What Volcano's validating webhook refuses, each rule with its place (contract, section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs import ClusterFacts, Queue, render
from pulumi_volcano_jobs.core.errors import Stage
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import Wire, container, job, problems, refused, task


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

REFUSED: dict[str, tuple[Wire, list[str]]] = {
    "no tasks": ({"metadata": {"name": "train"}, "spec": {}}, ["spec.tasks"]),
    "mpi without its master's task": (
        job(task("worker"), plugins={"mpi": ["--worker=worker"]}),
        ["spec.plugins.mpi"],
    ),
    "mpi whose named master is no task": (
        job(task("worker"), plugins={"mpi": ["--worker=worker", "--master=boss"]}),
        ["spec.plugins.mpi[1]"],
    ),
    "an unknown plugin": (job(plugins={"torch": []}), ["spec.plugins.torch"]),
    "two tiers of the job": (job(networkTopology=BOTH_TIERS), ["spec.networkTopology"]),
    "two tiers of a partition": (
        of_task(partitionPolicy={**PARTITION, "networkTopology": BOTH_TIERS}),
        ["spec.tasks[0].partitionPolicy.networkTopology"],
    ),
    "a task's minimum above its replicas": (
        of_task(minAvailable=5),
        ["spec.minAvailable", "spec.tasks[0].minAvailable"],
    ),
    "the job's minimum above all replicas": (job(minAvailable=2), ["spec.minAvailable"]),
    "two tasks of one name": (job(task("a"), task("b"), task("a")), ["spec.tasks"]),
    "a job's name of 64 characters": (job(name="x" * 64), ["spec.tasks[0].name"]),
    "a Pod's name of 63 characters": (job(task("x" * 55)), []),
    "a Pod's name of 64 characters": (job(task("x" * 56)), ["spec.tasks[0].name"]),
    "a template without containers": (job(task(containers=[])), ["spec.tasks[0].template.spec.containers"]),
    "a topology without CPUs": (asking_for({}), [WHOLE]),
    "a topology with a fraction of a CPU": (asking_for({"requests": {"cpu": "1500m"}}), [WHOLE]),
    "a topology with no CPU": (asking_for({"limits": {"cpu": 0}}), [WHOLE]),
    "a topology with memory alone": (asking_for({"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}), [WHOLE]),
    "a topology whose requests hide whole limits": (
        asking_for({"requests": {"cpu": "500m"}, "limits": {"cpu": 1}}, "best-effort"),
        [WHOLE],
    ),
    "a topology with whole requests": (asking_for({"requests": {"cpu": "2000m"}}), []),
    "a topology with whole limits": (asking_for({"limits": {"cpu": 2}}, "single-numa-node"), []),
    "no topology": (asking_for({}, "none"), []),
    "a topology, and an init container without CPUs": (
        job(
            task(containers=[container(resources={"requests": {"cpu": 1}})], initContainers=[container("early")])
            | {"topologyPolicy": "restricted"},
        ),
        ["spec.tasks[0].template.spec.initContainers[0].resources"],
    ),
    "partitions that are not the replicas": (
        of_task(partitionPolicy={"totalPartitions": 3, "partitionSize": 2}),
        ["spec.tasks[0].partitionPolicy"],
    ),
    "least partitions that are not the minimum": (
        of_task(partitionPolicy={**PARTITION, "minPartitions": 1}, minAvailable=3),
        ["spec.tasks[0].partitionPolicy"],
    ),
    "least partitions that are the minimum": (of_task(partitionPolicy={**PARTITION, "minPartitions": 1}), []),
    "a policy of nothing": (policies({"action": "AbortJob"}), ["spec.policies[0]"]),
    "a policy of an event and an exit code": (policies({**FAILED, "exitCode": 1}), ["spec.policies[0]"]),
    "a policy for success": (policies({"exitCode": 0, "action": "AbortJob"}), ["spec.policies[0].exitCode"]),
    "an exit code used twice": (
        policies({"exitCode": 3, "action": "AbortJob"}, {"exitCode": 3, "action": "RestartJob"}),
        ["spec.policies[1].exitCode"],
    ),
    "an event used twice": (policies(FAILED, {**FAILED, "action": "AbortJob"}), ["spec.policies[1]"]),
    "an event used twice in one list": (
        policies({"events": ["PodFailed", "PodEvicted"], "action": "AbortJob"}, FAILED),
        ["spec.policies[1]"],
    ),
    "an event that is named once more beside the list": (
        policies({**FAILED, "events": ["PodFailed", "PodEvicted"]}),
        [],
    ),
    "all events and another one": (policies({"event": "*", "action": "AbortJob"}, FAILED), ["spec.policies"]),
    "an event of Volcano's own": (policies({"event": "OutOfSync", "action": "AbortJob"}), ["spec.policies[0]"]),
    "an action that is none": (policies({"event": "PodFailed", "action": "Panic"}), ["spec.policies[0].action"]),
    "no action": (policies({"event": "PodFailed"}), ["spec.policies[0].action"]),
    "an action of Volcano's own": (policies({**FAILED, "action": "SyncJob"}), ["spec.policies[0].action"]),
    "any action of an exit code": (policies({"exitCode": 3, "action": "Panic"}), []),
    "a task's policy": (of_task(policies=[{"action": "AbortJob"}]), ["spec.tasks[0].policies[0]"]),
    "one event for the job and for a task": (job({**task(), "policies": [FAILED]}, policies=[FAILED]), []),
    "a path mounted twice": (
        volumes({"mountPath": "/a", "volumeClaimName": "x"}, {"mountPath": "/a", "volumeClaimName": "y"}),
        ["spec.volumes[0].mountPath", "spec.volumes[1].mountPath"],
    ),
    "a volume without a claim": (volumes({"mountPath": "/a"}), ["spec.volumes[0]"]),
    "a volume with two claims": (
        volumes({"mountPath": "/a", "volumeClaimName": "x", "volumeClaim": {}}),
        ["spec.volumes[0]"],
    ),
    "a claim's bad name": (volumes({"mountPath": "/a", "volumeClaimName": "No_"}), ["spec.volumes[0].volumeClaimName"]),
    "the root queue": (job(queue="root"), ["spec.queue"]),
    "a task that waits twice for another": (depending(a=["b", "b"], b=[]), ["spec.tasks[0].dependsOn.name[1]"]),
    "a task that waits for no task": (depending(a=["b"]), ["spec.tasks[0].dependsOn.name"]),
    "a task that waits for itself": (depending(a=["a"]), ["spec.tasks"]),
    "tasks that wait in a circle": (depending(a=["c"], b=["a"], c=["b"]), ["spec.tasks"]),
    "tasks that wait for one another in order": (depending(a=[], b=["a"], c=["a", "b"]), []),
}


def lenient_places(document: Wire, **options: Any) -> list[str]:
    """Give the places of what Volcano itself refuses, all of it by the webhook; none if it takes the job."""
    found = problems(document, strict=False, **options)
    assert {problem.stage for problem in found} == {Stage.WEBHOOK}
    return [problem.path for problem in found]


@pytest.mark.parametrize(
    ("document", "places"),
    [(document, places) for document, places in REFUSED.values() if places],
    ids=[name for name, (_, places) in REFUSED.items() if places],
)
def test_what_the_webhook_refuses_is_told_with_its_place(document: Wire, places: list[str]) -> None:
    """In lenient mode too, since Volcano itself refuses it."""
    assert lenient_places(document) == places


@pytest.mark.parametrize(
    "document",
    [document for document, places in REFUSED.values() if not places],
    ids=[name for name, (_, places) in REFUSED.items() if not places],
)
def test_what_the_webhook_takes_renders(document: Wire) -> None:
    """The near misses of the rules."""
    assert render(document, strict=False).pods


def test_several_faults_are_told_at_once() -> None:
    """Of the job, its tasks, policies, volumes and queue."""
    document = job(
        {**task("a", containers=[]), "minAvailable": 3, "policies": [{"action": "AbortJob"}]},
        task("a"),
        queue="root",
        plugins={"nope": []},
        volumes=[{"mountPath": "/a"}],
    )

    assert lenient_places(document) == [
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
    ("queue", "reason"),
    [
        ("closed", "Closed, not Open"),
        ("closing", "Closing, not Open"),
        ("new", "unknown, not Open"),
        ("parent", "queues below it: 2"),
        ("elsewhere", "no queue of this name"),
        ("root", "root queue"),
    ],
)
def test_a_queue_must_be_an_open_leaf(queue: str, reason: str) -> None:
    """If it is known which queues there are."""
    error = refused(job(queue=queue), strict=False, cluster=ClusterFacts(queues=QUEUES))

    assert [problem.path for problem in error.problems] == ["spec.queue"]
    assert reason in error.problems[0].reason
    assert error.stage is Stage.WEBHOOK


@pytest.mark.parametrize("cluster", [ClusterFacts(), ClusterFacts(queues=QUEUES)], ids=["unknown", "known"])
def test_an_open_queue_is_taken(cluster: ClusterFacts) -> None:
    """And any, if nothing is known."""
    assert render(job(queue="open"), cluster=cluster).job.queue == "open"


def test_a_job_without_a_queue_is_checked_for_the_default_one() -> None:
    """The mutating webhook has filled it in before."""
    assert lenient_places(job(), cluster=ClusterFacts(queues=QUEUES)) == ["spec.queue"]


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


def test_a_claim_must_be_there_if_claims_are_known() -> None:
    """The controller would leave the job pending; in its own namespace."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "there"}, {"mountPath": "/b", "volumeClaimName": "gone"})
    cluster = ClusterFacts(claims=frozenset({("default", "there"), ("other", "gone")}))

    error = refused(document, strict=False, cluster=cluster)

    assert [(problem.path, problem.value) for problem in error.problems] == [
        ("spec.volumes[1].volumeClaimName", "gone")
    ]
    assert error.stage is Stage.CONTROLLER
    assert render(document).pods


def test_a_claim_is_not_looked_for_in_an_unknown_namespace() -> None:
    """Nobody can tell yet."""
    document = volumes({"mountPath": "/a", "volumeClaimName": "gone"})
    document["metadata"]["namespace"] = Leaf("namespace")

    assert render(document, cluster=ClusterFacts(claims=frozenset())).pods
