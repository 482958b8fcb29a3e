"""All checks of a job together, with and without strict mode."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import SshPlugin, render
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from tests.conftest import Wire, container, job, places, problems, refused, task, typed
from tests.golden.cases import META, WRITTEN, golden

TRAINING = (task("master"), task("worker", 2))

MISREAD: dict[str, list[str]] = {
    "env-args": ["env[0]", "env[1]"],
    "hcclrank-bad-flag": ["hcclrank[0]"],
    "mpi-port-text": ["mpi[0]"],
    "pytorch-one-string": ["pytorch[0]"],
    "pytorch-port-int32": ["pytorch[0]"],
    "pytorch-port-quoted": ["pytorch[0]"],
    "pytorch-port-space": ["pytorch[0]"],
    "pytorch-port-text": ["pytorch[0]", "pytorch[1]"],
    "pytorch-wait-two-words": ["pytorch[1]"],
    "ray-kebab-flag": ["ray[0]"],
    "ray-port-text": ["ray[0]"],
    "ray-port-too-big": ["ray[0]"],
    "ray-ports-equal": ["ray[0]"],
    "ssh-double-dash": ["ssh[0]"],
    "ssh-empty-argument": ["ssh[0]"],
    "ssh-help": ["ssh[0]"],
    "ssh-missing-value": ["ssh[1]"],
    "ssh-no-dashes": ["ssh[0]"],
    "ssh-port-negative": ["ssh[0]"],
    "ssh-port-overflow": ["ssh[0]"],
    "ssh-port-too-big": ["ssh[0]"],
    "ssh-public-only": ["ssh[0]"],
    "ssh-spaces-argument": ["ssh[0]"],
    "ssh-triple-dash": ["ssh[0]"],
    "ssh-unknown-flag-first": ["ssh[0]"],
    "svc-no-dashes": ["svc[0]"],
    "svc-publish-two-words": ["svc[1]"],
    "svc-unknown-flag": ["svc[0]"],
    "svc-unknown-flag-last": ["svc[1]"],
    "tensorflow-port-text": ["tensorflow[0]"],
}
OTHER: dict[str, list[str]] = {
    "env-clash": ["tasks[0].template.spec.containers[0].env[0]"],
    "mpi-no-worker": ["plugins.mpi"],
    "mpi-port-declared": ["tasks[0].template.spec.containers[0].env[0]"],
    "mpi-port-name-clash": ["tasks[1].template.spec.containers[0].ports[0]"],
    "multi-pytorch-hcclrank-masters": ["plugins.pytorch"],
    "plain-name-long-index": ["tasks[0].name"],
    "pytorch-env-clash": ["tasks[1].template.spec.containers[0].env[0]", "tasks[1].template.spec.containers[0].env[1]"],
    "pytorch-names-mismatch": ["plugins.pytorch"],
    "pytorch-no-master": ["plugins.pytorch"],
    "pytorch-two-masters": ["plugins.pytorch"],
    "ray-ports-declared": [
        "tasks[0].template.spec.containers[0].ports[0]",
        "tasks[0].template.spec.containers[0].ports[1]",
    ],
    "ssh-keys-given": ["plugins.ssh[0]"],
    "ssh-keys-multiline": ["plugins.ssh[0]"],
    "ssh-keys-equals": ["plugins.ssh[0]"],
    "ssh-path-trailing-slash": ["plugins.ssh[0]"],
    "ray-port-name-clash": ["tasks[0].template.spec.containers[0].ports[0]"],
    "ssh-mount-clash": ["tasks[0].template.spec.containers[0].volumeMounts[0]"],
    "ssh-volume-clash": ["tasks[0].template.spec.volumes[0]"],
    "svc-env-clash": ["tasks[0].template.spec.containers[0].env[0]"],
    "tensorflow-init": ["tasks[1].template.spec.containers[0].env[0]"],
    "tensorflow-no-roles": ["plugins.tensorflow"],
    "tensorflow-same-names": ["plugins.tensorflow"],
}


CREATED = [case.stem for case in WRITTEN if META[case.stem]["stage"] == "created"]
# The API server generates the name, or it has a dot, which a Service cannot have.
SPECIAL = {"plain-generate-name", "plain-job-name-dot"}


@pytest.mark.parametrize("name", MISREAD)
def test_an_argument_that_volcano_ignores_is_an_error_at_its_position(name: str) -> None:
    """All golden cases with such arguments; Volcano reports nothing."""
    assert places(golden(name)) == [f"spec.plugins.{place}" for place in MISREAD[name]]


@pytest.mark.parametrize("name", OTHER)
def test_a_job_that_volcano_accepts_and_breaks_is_an_error(name: str) -> None:
    """All golden cases with roles that no task has, or conflicts with the template."""
    assert places(golden(name)) == [f"spec.{place}" for place in OTHER[name]]


@pytest.mark.parametrize("name", [*MISREAD, *OTHER])
def test_lenient_mode_warns_of_each_error_of_strict_mode(name: str) -> None:
    """Volcano stops at the first mistake in the arguments of a plugin, and so do the warnings."""
    document = golden(name)

    warned = {item.path: item for item in render(document, strict=False).warnings if item.code == "VJ130"}

    errors = {problem.path: problem for problem in problems(document)}
    assert warned
    assert {path: str(item) for path, item in warned.items() if path in errors} == {
        path: f"{problem} [VJ130]" for path, problem in errors.items() if path in warned
    }
    assert errors.keys() <= warned.keys() or name in MISREAD


@pytest.mark.parametrize("name", [name for name in CREATED if name not in MISREAD.keys() | OTHER.keys() | SPECIAL])
def test_all_other_jobs_that_volcano_accepts_are_accepted(name: str) -> None:
    """Strict mode rejects no job that works."""
    document = golden(name)

    strict, lenient = render(document), render(document, strict=False)

    assert (strict.objects, strict.pods, strict.plugins) == (lenient.objects, lenient.pods, lenient.plugins)


UNSET = {"event": "", "events": ["PodFailed"], "action": "RestartJob"}


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
@pytest.mark.parametrize(
    "document",
    [
        job({**task(), "topologyPolicy": ""}),
        job(policies=[UNSET]),
        job({**task(), "policies": [UNSET]}),
        job(plugins=[]),
        job(plugins=None),
    ],
    ids=["topologyPolicy", "event", "event of a task", "a list of no plugins", "no plugins"],
)
def test_an_empty_optional_value_is_accepted(document: Wire, managed_by: str) -> None:
    """Volcano reads it as a missing one."""
    rendered = render(document, managed_by=managed_by)

    assert (rendered.warnings, rendered.plugins, len(rendered.pods)) == ((), (), 1)


def test_problems_of_all_kinds_are_reported_at_once() -> None:
    """Types, schema, arguments and names of plugins. Checks of the whole job are left out."""
    document = job(
        task("boss", "2", containers=[container(image=5)]),  # type: ignore[arg-type]
        task("Worker"),
        plugins={"pytorch": ["--port=x", "--nope"], "torch": [], "ssh": "--ssh-port=22"},
        queue="root",
        minAvaliable=1,
    )

    assert places(document) == [
        "spec.minAvaliable",
        "spec.plugins.pytorch[0]",
        "spec.plugins.pytorch[1]",
        "spec.plugins.ssh",
        "spec.plugins.torch",
        "spec.tasks[0].replicas",
        "spec.tasks[0].template.spec.containers[0].image",
        "spec.tasks[1].name",
    ]


def test_several_problems_of_a_valid_shape_are_reported_at_once() -> None:
    """The whole job is checked when its shape is valid."""
    document = job(
        task("boss", containers=[container("side"), container("side")]),
        {**task("worker", 2), "minAvailable": 3},
        plugins={"pytorch": ["--port=70000"], "mpi": [], "nope": []},
        queue="root",
    )

    assert places(document) == [
        "spec.plugins.mpi",
        "spec.plugins.nope",
        "spec.plugins.pytorch",
        "spec.plugins.pytorch[0]",
        "spec.queue",
        "spec.tasks[0].template.spec.containers[1].name",
        "spec.tasks[1].minAvailable",
    ]


def test_a_mistake_is_reported_once() -> None:
    """`x` is not a number; the port 0 that follows from it is not another problem."""
    assert len(problems(job(*TRAINING, plugins={"pytorch": ["--port=x"]}))) == 1


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_messages_have_no_keys(strict: bool) -> None:  # noqa: FBT001
    """Neither keys in settings nor keys in arguments that are ignored."""
    secret = "-----BEGIN-SECRET"
    document = job(
        task(containers=[container(image="")]),
        plugins={"ssh": [f"--ssh-private-key={secret}", f"--ssh-privat-key={secret}", secret]},
    )

    error = refused(document, strict=strict)

    assert secret not in str(error)
    assert secret not in repr(error.problems)


def test_a_typed_plugin_shows_no_key_in_messages_and_repr() -> None:
    """Other settings of it are wrong."""
    plugin = SshPlugin(ssh_private_key="s3cret", ssh_port=0)

    found = problems(job(plugins=[plugin]))

    assert "s3cret" not in repr(found) + repr(plugin) + str(found)


def test_objects_that_the_api_server_would_reject_are_reported() -> None:
    """Volcano accepts each of these jobs, and then creates only some of its objects."""
    refused_later = {case.stem for case in WRITTEN if META[case.stem].get("apiRejects")}

    assert len(refused_later) > 10
    assert refused_later <= MISREAD.keys() | OTHER.keys() | {"plain-job-name-dot"}


def test_a_pod_without_containers_is_an_error_with_any_plugins() -> None:
    """Plugins do not run, because each may use a container."""
    document = job(task("master", containers=[]), task("worker"), plugins={"mpi": []})

    assert typed(problems(document, defaults="recommended")) == [("spec.tasks[0].template.spec.containers", "Required")]


def policies(*found: Wire) -> Wire:
    """Build a job with policies."""
    return job(policies=list(found))


def job_with_task(**fields: Any) -> Wire:
    """Build a job of one task with some fields."""
    return job({**task("worker", 4), **fields})


def volumes(*found: Wire) -> Wire:
    """Build a job with volumes."""
    return job(volumes=list(found))


def job_with_dependencies(**names: list[str]) -> Wire:
    """Build a job whose tasks wait for others."""
    return job(*({**task(name), "dependsOn": {"name": others}} for name, others in names.items()))


def job_with_topology(resources: Wire, policy: str = "restricted") -> Wire:
    """Build a job whose task has a topologyPolicy."""
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
    "mpi whose named master is not a task": (
        job(task("worker"), plugins={"mpi": ["--worker=worker", "--master=boss"]}),
        [("spec.plugins.mpi[1]", "NotFound")],
    ),
    "an unknown plugin": (job(plugins={"torch": []}), [("spec.plugins.torch", "NotSupported")]),
    "two tiers of the job": (job(networkTopology=BOTH_TIERS), [("spec.networkTopology", "Forbidden")]),
    "two tiers of a partition": (
        job_with_task(partitionPolicy={**PARTITION, "networkTopology": BOTH_TIERS}),
        [("spec.tasks[0].partitionPolicy.networkTopology", "Forbidden")],
    ),
    "a task's minimum above its replicas": (
        job_with_task(minAvailable=5),
        [("spec.tasks[0].minAvailable", "Invalid")],
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
    "a topology without CPUs": (job_with_topology({}), [(WHOLE, "Invalid")]),
    "a topology with a fraction of a CPU": (job_with_topology({"requests": {"cpu": "1500m"}}), [(WHOLE, "Invalid")]),
    "a topology with no CPU": (job_with_topology({"limits": {"cpu": 0}}), [(WHOLE, "Invalid")]),
    "a topology with memory alone": (
        job_with_topology({"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}),
        [(WHOLE, "Invalid")],
    ),
    "a topology whose requests hide whole limits": (
        job_with_topology({"requests": {"cpu": "500m"}, "limits": {"cpu": 1}}, "best-effort"),
        [(WHOLE, "Invalid")],
    ),
    "a topology with whole requests": (job_with_topology({"requests": {"cpu": "2000m"}}), []),
    "a topology with whole limits": (job_with_topology({"limits": {"cpu": 2}}, "single-numa-node"), []),
    "no topology": (job_with_topology({}, "none"), []),
    "a topology, and an init container without CPUs": (
        job(
            task(containers=[container(resources={"requests": {"cpu": 1}})], initContainers=[container("early")])
            | {"topologyPolicy": "restricted"},
        ),
        [("spec.tasks[0].template.spec.initContainers[0].resources", "Invalid")],
    ),
    "partitions that are not the replicas": (
        job_with_task(partitionPolicy={"totalPartitions": 3, "partitionSize": 2}),
        [("spec.tasks[0].partitionPolicy", "Invalid")],
    ),
    "least partitions that are not the minimum": (
        job_with_task(partitionPolicy={**PARTITION, "minPartitions": 1}, minAvailable=3),
        [("spec.tasks[0].partitionPolicy", "Invalid")],
    ),
    "least partitions that are the minimum": (job_with_task(partitionPolicy={**PARTITION, "minPartitions": 1}), []),
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
    "an event that is repeated in the list of events": (
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
    "a task's policy": (job_with_task(policies=[{"action": "AbortJob"}]), [("spec.tasks[0].policies[0]", "Required")]),
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
        job_with_dependencies(a=["b", "b"], b=[]),
        [("spec.tasks[0].dependsOn.name[1]", "Duplicate")],
    ),
    "a task that waits for no task": (job_with_dependencies(a=["b"]), [("spec.tasks[0].dependsOn.name", "NotFound")]),
    "a task that waits for itself": (job_with_dependencies(a=["a"]), [("spec.tasks", "Invalid")]),
    "tasks that wait in a circle": (job_with_dependencies(a=["c"], b=["a"], c=["b"]), [("spec.tasks", "Invalid")]),
    "tasks that wait for one another in order": (job_with_dependencies(a=[], b=["a"], c=["a", "b"]), []),
}


def lenient_problems(document: Wire, **options: Any) -> list[Problem]:
    """Return the problems of a job in lenient mode; the webhook is the first to reject each of them."""
    found = problems(document, strict=False, **options)
    assert {problem.stage for problem in found} == {RejectionStage.WEBHOOK}
    return found


@pytest.mark.parametrize("name", [name for name, (_, expected) in CASES.items() if expected])
def test_a_job_that_the_webhook_rejects_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """Lenient mode also rejects it."""
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
        "spec.plugins.nope",
        "spec.queue",
        "spec.tasks",
        "spec.tasks[0].minAvailable",
        "spec.tasks[0].policies[0]",
        "spec.tasks[0].template.spec.containers",
        "spec.volumes[0]",
    ]
