"""Native mode: the resources of a job that Volcano's controllers manage."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    MpiPlugin,
    Policy,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    VolcanoJob,
    VolcanoQueue,
    render,
)
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.spec.document import flatten
from pulumi_volcano_jobs.testing import UNKNOWN, Failure, Result, SecretValue, computed, failed, reveal, run
from tests.component.programs import LOSES_MARKS, new_job
from tests.component.test_tree import TokenPlugin
from tests.conftest import BYTES, CLAIM, OTHER_PAIR, PAIR, Wire, container, ssh_plugin, task, typed

JOB, CLAIM_NAME = "Job train", "PersistentVolumeClaim train-pvc-data"
PRIVATE, PUBLIC = PAIR.private, PAIR.public


def job(**fields: Any) -> Wire:
    """Return a job with one master and two workers that Volcano manages."""
    return {"managed_by": "volcano", "tasks": [task("master"), task("worker", 2)], **fields}


def run_and_read(arguments: Any, read: Callable[[Any], Wire] | None = None, **options: Any) -> Result:
    """Run a program with one job, and read values from it."""

    def program() -> Wire:
        made = new_job("train", arguments)
        return read(made) if read else {}

    return run(program, **options)


def inputs(arguments: Any, **options: Any) -> Wire:
    """Return the inputs of the Job."""
    return run_and_read(arguments, **options).resources[JOB].inputs


# Children and outputs.


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_only_the_job_and_its_new_claims_are_created_in_the_cluster(*, preview: bool) -> None:
    """Volcano creates Pods, Services, the Secret and the PodGroup, so other children are components."""
    done = run_and_read(
        job(
            plugins=[PytorchPlugin(), SshPlugin()],
            volumes=[{"mountPath": "/data", "volumeClaim": CLAIM}],
        ),
        preview=preview,
    )

    assert done.tree() == {
        "VolcanoJob train": "",
        "Stash train-managed-by": "VolcanoJob train",
        "Stash train-created": "VolcanoJob train",
        "SshPlugin train-ssh": "VolcanoJob train",
        "SvcPlugin train-svc": "VolcanoJob train",
        "PytorchPlugin train-pytorch": "VolcanoJob train",
        "Task train-master": "VolcanoJob train",
        "Task train-worker": "VolcanoJob train",
        CLAIM_NAME: "VolcanoJob train",
        JOB: "VolcanoJob train",
    }


def test_the_job_has_the_type_of_the_kubernetes_provider() -> None:
    """The Job is deleted before it is replaced, and no change of it is ignored."""
    made = run_and_read(job()).resources[JOB]

    assert (made.type, made.is_component) == ("kubernetes:batch.volcano.sh/v1alpha1:Job", False)
    assert made.delete_before_replace
    assert made.ignore_changes == []
    assert made.replace_on_changes == []
    assert not made.retain_on_delete


def test_the_job_uses_the_provider_of_the_component() -> None:
    """Without one, it uses the default provider of the same version."""

    def program() -> None:
        provider = kubernetes.Provider("mine", render_yaml_to_directory="rendered", kubeconfig="")
        new_job("train", job(), pulumi.ResourceOptions(provider=provider))

    composed = run_and_read(job(managed_by="pulumi")).resources["PodGroup train"].request

    assert run_and_read(job()).resources[JOB].request.version == composed.version
    assert str(run(program).resources[JOB].provider) == "kubernetes mine"


def test_changing_the_mode_replaces_the_resource_that_the_job_depends_on() -> None:
    """The engine deletes the Job before it creates the Pods of composed mode."""
    done = run_and_read(job())
    stash = done.resources["Stash train-managed-by"]

    assert stash.inputs == {"input": "default"}
    assert (stash.replacement_trigger, stash.delete_before_replace) == ("volcano", True)
    assert stash in done.resources[JOB].inputs_from["metadata"]


def new_claim(**fields: Any) -> Wire:
    """Return a job of `job` with a new claim."""
    volume = {"mountPath": "/data", "volumeClaim": CLAIM}
    return job(volumes=[volume, {"mountPath": "/models", "volumeClaimName": "models"}], **fields)


def test_the_job_names_the_claim_that_pulumi_creates() -> None:
    """Volcano's controller would write the name of a claim into the Job, and conflict with every later update."""
    done = run_and_read(new_claim())

    claim, made = done.resources[CLAIM_NAME], done.resources[JOB]
    assert claim.inputs["metadata"]["name"] == "train-pvc-data"
    assert claim.inputs["spec"] == CLAIM
    assert made.inputs["spec"]["volumes"] == [
        {"mountPath": "/data", "volumeClaimName": "train-pvc-data"},
        {"mountPath": "/models", "volumeClaimName": "models"},
    ]
    assert claim in made.depends_on
    assert list(made.request.replace_with) == [claim.urn]


def test_a_claim_is_the_same_resource_in_both_modes() -> None:
    """None of its inputs depends on the mode, so a change of modes keeps the claim and its data."""
    native, composed = run_and_read(new_claim()), run_and_read(new_claim(managed_by="pulumi"))

    assert native.resources[CLAIM_NAME].inputs == composed.resources[CLAIM_NAME].inputs
    assert native.tree()[CLAIM_NAME] == composed.tree()[CLAIM_NAME]
    for done in (native, composed):
        assert done.resources[CLAIM_NAME].inputs_from["metadata"] == []


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_changing_the_mode_keeps_resources_in_the_namespace_of_the_job(mode: str) -> None:
    """The Output `namespace` depends on no resource, so a user's own claim there is also kept."""

    def program() -> None:
        made = new_job("train", job(managed_by=mode))
        kubernetes.core.v1.ConfigMap("own", metadata={"namespace": made.namespace})

    assert run(program).resources["ConfigMap own"].inputs_from["metadata"] == []


@pytest.mark.parametrize(
    ("options", "is_kept"), [({}, False), ({"claims": "delete"}, False), ({"claims": "keep"}, True)]
)
def test_a_claim_is_retained_on_request(options: Wire, *, is_kept: bool) -> None:
    """The option works as in composed mode."""
    assert bool(run_and_read(new_claim(**options)).resources[CLAIM_NAME].retain_on_delete) == is_kept


def test_editing_a_claim_does_not_replace_the_job() -> None:
    """Only the claim is updated; the Job refers to it by name."""

    def of(path: str, storage: str) -> Any:
        claim = {**CLAIM, "resources": {"requests": {"storage": storage}}}
        return trigger(job(volumes=[{"mountPath": path, "volumeClaim": claim}]))

    assert of("/data", "1Gi") == of("/data", "2Gi")
    assert of("/data", "1Gi") != of("/other", "1Gi")


def test_the_resource_name_can_differ_from_the_job_name() -> None:
    """Children are named after the resource, and the Job keeps its own name."""
    done = run_and_read(job(name="nightly"))

    assert done.resources[JOB].inputs["metadata"]["name"] == "nightly"


HEAD = [task("head", containers=[container("head")]), task("worker", 2, containers=[container("worker")])]
PLUGINS: dict[str, Wire] = {
    "ssh": {"plugins": [SshPlugin(), SvcPlugin()]},
    "svc": {"plugins": [SvcPlugin()], "namespace": "ml"},
    "pytorch": {"plugins": [PytorchPlugin(port=29500)]},
    "mpi": {"plugins": [MpiPlugin()]},
    "ray": {"plugins": [RayPlugin(dashboard_port=8266)], "tasks": HEAD, "namespace": "ml"},
    "tensorflow": {"plugins": [TensorflowPlugin(chief="master")]},
    "several": {"plugins": [PytorchPlugin(), SshPlugin(), TensorflowPlugin(), MpiPlugin()]},
    "none": {},
}
RESTARTS = [{"event": "PodFailed", "action": "RestartTask"}]
NOT_COMPARED = ("public_key", "private_key", "pod_group_name")


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("plugins", PLUGINS)
def test_outputs_of_components_equal_those_of_composed_mode(plugins: str, *, preview: bool) -> None:
    """Names, hosts and addresses are the same; only keys are missing, because Volcano generates them."""

    def outputs(mode: str) -> dict[str, Wire]:
        done = run_and_read({**job(**PLUGINS[plugins]), "managed_by": mode}, preview=preview)
        return {
            name: {key: value for key, value in made.items() if key not in NOT_COMPARED}
            for name, made in done.outputs.items()
        }

    assert outputs("volcano") == outputs("pulumi")


@pytest.mark.parametrize("plugins", ["ssh", "mpi", "several"])
def test_keys_generated_by_volcano_are_not_outputs(plugins: str) -> None:
    """They exist only in the cluster, and no Stash keeps a pair."""
    done = run_and_read(
        job(**PLUGINS[plugins]), lambda made: {"private": made.ssh.private_key, "public": made.ssh.public_key}
    )

    assert done.outputs == {}
    assert sorted(done.names("Stash")) == ["train-created", "train-managed-by"]


def test_objects_has_the_job_instead_of_pods() -> None:
    """Pod names are known without Pods, and the name of the PodGroup contains the uid of the Job."""
    done = run_and_read(
        job(plugins=[SvcPlugin()]),
        lambda made: {
            "objects": [item.urn for item in made.objects],
            "of_svc": len(made.svc.objects),
            "pods": len(made.pods),
            "of_worker": len(made.tasks["worker"].pods),
            "pod_names": made.pod_names,
            "pod_group_name": made.pod_group_name,
        },
        cluster={JOB: {"metadata": {"uid": "0123-4567"}}},
    )

    read = dict(done.outputs)
    (urn,) = read.pop("objects")
    assert urn.endswith("$kubernetes:batch.volcano.sh/v1alpha1:Job::train")
    assert read == {
        "of_svc": 0,
        "pods": 0,
        "of_worker": 0,
        "pod_names": ["train-master-0", "train-worker-0", "train-worker-1"],
        "pod_group_name": "train-0123-4567",
    }


def test_the_pod_group_name_is_unknown_in_a_preview() -> None:
    """The uid of the Job does not exist yet, and none is invented."""
    done = run_and_read(job(), lambda made: {"pod_group_name": made.pod_group_name}, preview=True)

    assert done.outputs["pod_group_name"] is UNKNOWN
    assert done.unknown() == {"VolcanoJob train has: pod_group_name"}


# Inputs of the Job.

IDENTITY = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
WHOLE: Wire = {
    **IDENTITY,
    "metadata": {
        "name": "train",
        "namespace": "ml",
        "labels": {"team": "a"},
        "annotations": {"volcano.sh/preemptable": "true"},
    },
    "spec": {
        "minAvailable": 1,
        "minSuccess": 1,
        "maxRetry": 5,
        "queue": "research",
        "priorityClassName": "high",
        "ttlSecondsAfterFinished": 60,
        "runningEstimate": "1h",
        "networkTopology": {"mode": "hard", "highestTierAllowed": 2},
        "plugins": {"pytorch": ["--port=29500"], "svc": ["--publish-not-ready-addresses=true"], "env": []},
        "policies": [
            {"event": "PodEvicted", "action": "RestartJob", "timeout": "1h"},
            {"exitCode": 3, "action": "AbortJob"},
        ],
        "volumes": [
            {"mountPath": "/data", "volumeClaim": CLAIM},
            {"mountPath": "/models", "volumeClaimName": "models"},
        ],
        "tasks": [
            {**task("master"), "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}], "maxRetry": 1},
            {
                **task("worker", 4, containers=[container(resources={"limits": {"cpu": "2"}})]),
                "minAvailable": 2,
                "dependsOn": {"name": ["master"], "iteration": "any"},
                "topologyPolicy": "best-effort",
                "partitionPolicy": {
                    "totalPartitions": 2,
                    "partitionSize": 2,
                    "minPartitions": 1,
                    "networkTopology": {"mode": "soft"},
                },
            },
        ],
    },
}
SAME: dict[str, Wire] = {
    "one task": {**IDENTITY, "metadata": {"name": "train"}, "spec": {"tasks": [task()]}},
    "every field": WHOLE,
}
FORMS: dict[str, Callable[[Wire], Any]] = {
    "a document": lambda document: {**document, "managed_by": "volcano"},
    "the fields": lambda document: {**flatten(document), "managed_by": "volcano"},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("document", SAME)
def test_the_job_equals_the_rendered_job_with_defaults(document: str, form: str) -> None:
    """Defaults that Volcano's webhook sets are included, so that an update does not remove them."""
    found = inputs(FORMS[form](SAME[document]))

    assert found == render(SAME[document], managed_by="volcano").native_job.to_manifest()
    assert "minAvailable" in found["spec"]
    assert all("minAvailable" in one_task for one_task in found["spec"]["tasks"])


def test_from_yaml_passes_options_to_the_constructor() -> None:
    """`from_yaml` accepts the same options as the constructor."""
    text = job_file.dump([WHOLE])

    def program() -> None:
        VolcanoJob.from_yaml("train", text, managed_by="volcano", run="2")

    assert run(program).leaves() == run_and_read({**WHOLE, "managed_by": "volcano", "run": "2"}).leaves()


@pytest.mark.parametrize(
    "field",
    ["policies", "maxRetry", "ttlSecondsAfterFinished", "minSuccess", "networkTopology", "queue"],
)
def test_a_job_field_is_passed_to_volcano_unchanged(field: str) -> None:
    """Composed mode ignores these fields, but Volcano's controllers support them."""
    found = inputs(FORMS["a document"](WHOLE))

    assert found["spec"][field] == WHOLE["spec"][field]


@pytest.mark.parametrize("field", ["dependsOn", "partitionPolicy", "topologyPolicy", "minAvailable", "template"])
def test_a_task_field_is_passed_to_volcano_unchanged(field: str) -> None:
    """Task order, partitions and topology are examples."""
    found = inputs(FORMS["a document"](WHOLE))

    assert found["spec"]["tasks"][1][field] == WHOLE["spec"]["tasks"][1][field]


@pytest.mark.parametrize(
    ("own", "config", "expected"),
    [
        ({}, {}, "default"),
        ({}, {"volcano-jobs:namespace": "of-the-stack"}, "of-the-stack"),
        ({"namespace": "own"}, {"volcano-jobs:namespace": "of-the-stack"}, "own"),
    ],
    ids=["neither", "the stack's", "both"],
)
def test_the_namespace_defaults_to_that_of_the_stack(own: Wire, config: dict[str, str], expected: str) -> None:
    """The Job always has a namespace, so the default of the provider is not used."""
    done = run_and_read(job(**own), config=config)

    assert done.resources[JOB].inputs["metadata"]["namespace"] == expected
    assert done.resources["VolcanoJob train"].outputs["namespace"] == expected


# The replacement trigger.


def trigger(arguments: Wire) -> Any:
    """Return the replacement trigger of the Job."""
    found = run_and_read(arguments).resources[JOB].replacement_trigger
    assert re.fullmatch(r"[0-9a-f]{32}", reveal(found))
    return found


def gang(master: Wire | None = None, worker: Wire | None = None, **fields: Any) -> Wire:
    """Return a PyTorch job that Volcano manages, with other tasks or fields."""
    tasks = [{**task("master"), **(master or {})}, {**task("worker", 2), **(worker or {})}]
    return job(**{"tasks": tasks, "plugins": [PytorchPlugin(), TensorflowPlugin()], **fields})


IN_PLACE: dict[str, Wire] = {
    "the size of the gang": gang(min_available=2),
    "the priority class": gang(priority_class_name="high"),
    "more replicas": gang(worker={"replicas": 3}),
    "fewer replicas": gang(worker={"replicas": 1}),
    "the least of a task": gang(worker={"minAvailable": 1}),
    "a label": gang(labels={"team": "a"}),
    "an annotation": gang(annotations={"note": "a"}),
    "what is waited for": gang(wait_for="running"),
    "how long is waited": gang(wait_for="running", wait_timeout="5m"),
    "the order of the plugins": gang(plugins=[TensorflowPlugin(), PytorchPlugin()]),
    "the plugins as Volcano's arguments": gang(plugins={"tensorflow": [], "pytorch": []}),
    "a default that is given": gang(scheduler_name="volcano", max_retry=3),
    "what is not enacted": gang(unsupported="ignore"),
}
REPLACING: dict[str, Wire] = {
    "an image": gang(worker=task("worker", 2, containers=[container(image="example.org/image:2")])),
    "a label of a template": gang(
        worker={"template": {**task()["template"], "metadata": {"labels": {"team": "a"}}}},
    ),
    "the queue": gang(queue="research"),
    "an argument of a plugin": gang(plugins=[PytorchPlugin(port=29500), TensorflowPlugin()]),
    "a plugin more": gang(plugins={"pytorch": [], "tensorflow": [], "env": []}),
    "a task more": gang(tasks=[task("master"), task("worker", 2), task("watch")]),
    "a task less": gang(tasks=[task("master")], plugins=[PytorchPlugin()]),
    "the order of the tasks": gang(tasks=[task("worker", 2), task("master")]),
    "a policy": gang(policies=[{"event": "PodEvicted", "action": "RestartJob"}]),
    "a policy of a task": gang(worker={"policies": [{"event": "PodEvicted", "action": "RestartJob"}]}),
    "the retries": gang(max_retry=5),
    "the time to live": gang(ttl_seconds_after_finished=60),
    "a volume": gang(volumes=[{"mountPath": "/data", "volumeClaimName": "data"}]),
    "the run": gang(run="2"),
    "the keys' rotation": gang(key_rotation="2"),
}


@functools.cache
def unedited() -> Any:
    """Return the trigger of the job before any edit."""
    return trigger(gang())


@pytest.mark.parametrize("edit", IN_PLACE)
def test_edits_that_volcano_allows_keep_the_trigger(edit: str) -> None:
    """The Job is then updated in place, or not at all."""
    assert trigger(IN_PLACE[edit]) == unedited()


@pytest.mark.parametrize("edit", REPLACING)
def test_other_edits_change_the_trigger(edit: str) -> None:
    """Volcano's webhook would reject the update, or the user requests a new Job."""
    assert trigger(REPLACING[edit]) != unedited()


def test_each_edit_has_a_different_trigger() -> None:
    """A trigger that two edits share would hide one of them."""
    found = [trigger(edited) for edited in REPLACING.values()]

    assert len(set(found)) == len(found)


def test_changing_a_given_key_changes_the_trigger() -> None:
    """The trigger of a Job that contains a key is also a secret."""
    found = [trigger(gang(plugins=[ssh_plugin(pair), SvcPlugin()])) for pair in (PAIR, PAIR, OTHER_PAIR)]

    assert all(isinstance(item, SecretValue) for item in found)
    assert found[0] == found[1]
    assert found[0] != found[2]


# Keys.

GIVEN: dict[str, Callable[[], Any]] = {
    "the typed plugin": lambda: [ssh_plugin(), SvcPlugin()],
    "the typed plugin with an Output": lambda: [
        SshPlugin(ssh_private_key=computed(PRIVATE), ssh_public_key=PUBLIC),
        SvcPlugin(),
    ],
    "one argument": lambda: {"ssh": [f"--ssh-private-key={PRIVATE}", f"--ssh-public-key={PUBLIC}"], "svc": []},
    "two arguments": lambda: {"ssh": ["--ssh-private-key", PRIVATE, f"--ssh-public-key={PUBLIC}"], "svc": []},
    "an argument that is an Output": lambda: {
        "ssh": ["--ssh-private-key", computed(PRIVATE), f"--ssh-public-key={PUBLIC}"],
        "svc": [],
    },
}


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("given", GIVEN)
def test_a_given_key_is_a_secret_in_the_job(given: str, *, preview: bool) -> None:
    """Every registered value that contains it is marked as a secret, and no warning is logged."""
    done = run(
        lambda: {"private": new_job("train", job(plugins=GIVEN[given]())).ssh.private_key},
        preview=preview,
    )

    is_known = not (preview and "Output" in given)
    marked = {f"{JOB}: spec.plugins.ssh[1]", f"{JOB}: (trigger)", "SshPlugin train-ssh has: private_key"}
    assert done.secret() == (marked if is_known or not LOSES_MARKS else set())
    assert done.warnings == []
    assert BYTES not in repr([leaf for leaf in done.leaves().values() if not isinstance(leaf, SecretValue)])
    arguments = done.resources[JOB].inputs["spec"]["plugins"]["ssh"]
    unknown = UNKNOWN if LOSES_MARKS else SecretValue(UNKNOWN)
    private = SecretValue(PRIVATE) if is_known else unknown
    assert arguments == ["--ssh-private-key", private, f"--ssh-public-key={PUBLIC}"]
    assert done.outputs["private"] == private


def test_warnings_and_errors_show_no_given_key() -> None:
    """The job has a key, a warning and an error."""
    plugins = {"ssh": [f"--ssh-private-key={PRIVATE}", f"--ssh-public-key={PUBLIC}"]}
    done = run_and_read(job(plugins=plugins))
    error, _ = failed(lambda: {"name": new_job("train", job(plugins=plugins, restart="pod")).name})

    (warning,) = done.warnings
    assert warning.startswith("spec.plugins.ssh: ")
    assert warning.endswith(" [VJ110]")
    assert BYTES not in warning
    assert BYTES not in repr(error)


def test_a_pair_generated_by_volcano_causes_a_warning(snapshot: SnapshotAssertion) -> None:
    """Volcano generates a new pair on each restart of a part of the job; the warning has the fix."""
    texts = [
        [text for text in run_and_read(job(**PLUGINS[plugins], policies=RESTARTS)).warnings if "VJ117" in text]
        for plugins in ("ssh", "mpi")
    ]

    assert texts[0] == texts[1]
    assert texts[0] == snapshot


# Waiting.


WRITTEN, WAITS = "pulumi.com/volcano-digest", "pulumi.com/waitFor"
ENDS = "@ == 'Completed' || @ == 'Failed' || @ == 'Aborted' || @ == 'Terminated'"


@pytest.mark.parametrize(
    ("wait_for", "phases"), [("running", f"@ == 'Running' || {ENDS}"), ("succeeded", ENDS)], ids=lambda value: value[:9]
)
def test_an_update_waits_for_a_phase_or_the_end(wait_for: str, phases: str) -> None:
    """The user's own annotations are kept."""
    found = inputs(job(wait_for=wait_for, annotations={"note": "a"}))

    annotations = found["metadata"]["annotations"]
    written = annotations[WRITTEN]
    assert annotations.keys() == {"note", WRITTEN, WAITS}
    # The first one keeps a phase that was reached before the update from ending the wait.
    assert json.loads(annotations[WAITS]) == [
        f"jsonpath={{.metadata.annotations['{WRITTEN}']}}={written}",
        f"jsonpath={{.status.state[?{phases}]}}",
    ]


@pytest.mark.parametrize("options", [{}, {"wait_for": "created"}], ids=["by default", "if asked"])
def test_without_wait_for_the_job_has_no_wait_annotation(options: Wire) -> None:
    """The user's own annotations are kept."""
    assert "annotations" not in inputs(job(**options))["metadata"]


@pytest.mark.parametrize("wait_for", ["running", "succeeded"])
@pytest.mark.parametrize(("options", "expected"), [({}, "1h"), ({"wait_timeout": "1h30m"}, "1h30m")])
def test_wait_timeout_applies_to_create_and_update(wait_for: str, options: Wire, expected: str) -> None:
    """It defaults to one hour; delete keeps the timeout of the provider."""
    timeouts = run_and_read(job(wait_for=wait_for, **options)).resources[JOB].request.customTimeouts

    assert (timeouts.create, timeouts.update, timeouts.delete) == (expected, expected, "")


COUNTS = {"worker": {"phase": {"Succeeded": 1, "Failed": 1}}, "master": {"phase": {"Running": 1}}, "watch": {}}


@pytest.mark.parametrize("phase", ["Failed", "Terminated", "Aborted"])
@pytest.mark.parametrize(
    ("status", "why"),
    [({}, ""), ({"taskStatusCount": COUNTS}, " (master: 1 Running; worker: 1 Failed, 1 Succeeded)")],
    ids=["no counts", "counts"],
)
def test_a_failed_job_fails_the_update(phase: str, status: Wire, why: str, snapshot: SnapshotAssertion) -> None:
    """The message has the phases of the Pods by task and no traceback; the Job stays."""
    failures = [
        failed(
            lambda wait_for=wait_for: {"name": new_job("train", job(wait_for=wait_for)).name},
            cluster={JOB: {"status": {"state": {"phase": phase}, **status}}},
        )
        for wait_for in ("running", "succeeded")
    ]

    for error, result in failures:
        assert isinstance(error, pulumi.RunError)
        assert str(error).startswith(f"job train: {phase}{why}: ")
        assert JOB in result.resources
    assert str(failures[0].error) == str(failures[1].error)
    assert str(failures[0].error) == snapshot


@pytest.mark.parametrize("wait_for", ["running", "succeeded"])
@pytest.mark.parametrize("status", [{"state": {"phase": "Completed"}}, {"state": {"phase": "Running"}}, {}])
def test_a_completed_job_does_not_fail_the_update(wait_for: str, status: Wire) -> None:
    """A Job without a status does not fail either."""
    assert JOB in run_and_read(job(wait_for=wait_for), cluster={JOB: {"status": status}}).resources


def test_without_wait_for_a_failed_job_does_not_fail_the_update() -> None:
    """The phase is not read."""
    assert JOB in run_and_read(job(), cluster={JOB: {"status": {"state": {"phase": "Failed"}}}}).resources


# Rejected options.


def rejected(arguments: Wire) -> Failure:
    """Return the failure of a program whose only job is rejected; no resource has been registered by then."""
    failure = failed(lambda: {"name": new_job("train", arguments).name})
    assert isinstance(failure.error, pulumi.InputPropertiesError)
    assert isinstance(failure.error, pulumi.RunError)
    assert failure.result.resources == {}
    return failure


REJECTED: dict[str, tuple[Wire, str, str]] = {
    "a composed job waits for an end": (job(managed_by="pulumi", wait_for="succeeded"), "wait_for", "Forbidden"),
    "an unknown phase": (job(wait_for="completed"), "wait_for", "NotSupported"),
    "restart": (job(restart="pod"), "restart", "Forbidden"),
    "on_scale": (job(on_scale="keep"), "on_scale", "Forbidden"),
    "a timeout without a wait": (job(wait_timeout="5m"), "wait_timeout", "Forbidden"),
    "a timeout that is not a duration": (job(wait_for="running", wait_timeout="soon"), "wait_timeout", "Invalid"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_an_option_that_the_mode_does_not_support_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """The message has the path, the reason and the fix."""
    arguments, path, error_type = REJECTED[name]

    failure = rejected(arguments)

    assert typed(failure.problems) == [(path, error_type)]
    assert str(failure.error) == snapshot


def test_composed_mode_rejects_wait_for() -> None:
    """Pulumi manages the Pods by default."""
    error = rejected({"tasks": [task()], "wait_for": "running"}).error

    assert str(error) == str(rejected(REJECTED["a composed job waits for an end"][0]).error)


def test_an_explicit_default_of_restart_is_rejected() -> None:
    """An explicit value has no effect in native mode either."""
    assert str(rejected(job(restart="gang")).error) == str(rejected(job(restart="pod")).error)


SEVERAL: dict[str, tuple[Wire, list[tuple[str, str]]]] = {
    "an unknown mode": (job(managed_by="kubectl", wait_for="running"), [("managed_by", "NotSupported")]),
    "options that are not strings": (
        job(managed_by=True, wait_for=["running"], wait_timeout=60),
        [("managed_by", "TypeInvalid"), ("wait_for", "TypeInvalid"), ("wait_timeout", "TypeInvalid")],
    ),
    "a plugin of the user": (job(plugins=[TokenPlugin(), SvcPlugin()]), [("spec.plugins.token", "Forbidden")]),
    "options and a field of the job": (
        job(on_scale="restart", restart="gang", queue=3),
        [("on_scale", "Forbidden"), ("restart", "Forbidden"), ("spec.queue", "TypeInvalid")],
    ),
    "two options and a field of the job": (
        {"tasks": [task()], "wait_for": "running", "wait_timeout": "soon", "queue": 3},
        [("spec.queue", "TypeInvalid"), ("wait_for", "Forbidden"), ("wait_timeout", "Invalid")],
    ),
}


@pytest.mark.parametrize(("arguments", "expected"), SEVERAL.values(), ids=SEVERAL)
def test_an_error_has_all_problems(arguments: Wire, expected: list[tuple[str, str]]) -> None:
    """A wrong option hides no problem of another option or of the job."""
    assert sorted(typed(rejected(arguments).problems)) == expected


@pytest.mark.parametrize(
    "timeout", ["", "0s", "0h0m", "soon", "1", "1.5h", "1h 30m", "30m1h", "-1h", "1d", "1H", "h", "1h\n"]
)
def test_a_timeout_that_is_not_a_duration_is_rejected(timeout: str) -> None:
    """Hours, minutes and seconds are in this order, each at most once."""
    (problem,) = rejected(job(wait_for="running", wait_timeout=timeout)).problems

    assert (problem.path, problem.type, problem.value) == ("wait_timeout", "Invalid", json.dumps(timeout))


@pytest.mark.parametrize("timeout", ["90s", "30m", "1h30m", "1h30m15s", "2h"])
def test_a_valid_timeout_is_passed_unchanged(timeout: str) -> None:
    """The provider parses it."""
    done = run_and_read(job(wait_for="running", wait_timeout=timeout))

    assert done.resources[JOB].request.customTimeouts.create == timeout


POLICIES = [Policy(event="PodEvicted", action="RestartJob")]


@pytest.mark.parametrize("unsupported", ["warn", "error", "ignore", None])
def test_fields_that_volcano_supports_cause_no_warning(unsupported: str | None) -> None:
    """Policies, order, retries and the time to live are examples."""
    options = {"unsupported": unsupported} if unsupported else {}
    tasks = [{**task("master"), "policies": POLICIES}, {**task("worker"), "dependsOn": {"name": ["master"]}}]

    fields = {"policies": POLICIES, "ttl_seconds_after_finished": 60, "min_success": 1, "min_available": 1}
    done = run_and_read(job(tasks=tasks, **fields, **options))

    assert done.warnings == []


def test_two_jobs_of_one_name_are_rejected_across_the_modes() -> None:
    """Their Pods would have the same names."""

    def program() -> None:
        new_job("first", job(name="train"))
        new_job("second", {**job(name="train"), "managed_by": "pulumi"})

    failure = failed(program)

    assert set(typed(failure.problems)) == {("metadata.name", "Duplicate")}
    (problem,) = (problem for problem in failure.problems if "Pod train-worker-0" in problem.reason)
    assert all(name in problem.reason for name in ("first", "second"))
    assert failure.result.names("VolcanoJob") == ["first"]


# Queues with extend clusters.

FORCE = "pulumi.com/patchForce"
CLUSTERS = {"extend_clusters": [{"name": "other"}]}


@pytest.mark.parametrize("by", ["Output", "name"])
@pytest.mark.parametrize(("queue", "expected"), [(CLUSTERS, {FORCE: "true"}), ({}, {})], ids=["extended", "plain"])
def test_a_job_in_a_queue_with_extend_clusters_is_applied_with_force(by: str, queue: Wire, expected: Wire) -> None:
    """Volcano's controller updates such Jobs with a PUT and then owns some of their fields."""

    def program() -> None:
        made = VolcanoQueue("research", queue)
        new_job("train", job(queue=made.name if by == "Output" else "research"))

    assert run(program).resources[JOB].inputs["metadata"].get("annotations", {}) == expected


def test_an_explicit_override_setting_is_kept() -> None:
    """A user may prefer to see the conflict."""

    def program() -> None:
        new_job("train", job(queue=VolcanoQueue("research", CLUSTERS).name, annotations={FORCE: "false"}))

    assert run(program).resources[JOB].inputs["metadata"]["annotations"] == {FORCE: "false"}


def test_a_queue_of_an_earlier_program_does_not_affect_a_job() -> None:
    """Test programs run one after the other in one process."""
    run(lambda: VolcanoQueue("research", CLUSTERS) and None)

    assert "annotations" not in inputs(job(queue="research"))["metadata"]


# Outputs.

IMAGE = "spec.tasks[1].template.spec.containers[0].image"
OUTPUTS: dict[str, tuple[Callable[[Any], Wire], set[str]]] = {
    "image": (
        lambda value: job(tasks=[task("master"), task("worker", 2, containers=[container(image=value)])]),
        {f"{JOB}: {IMAGE}", f"{JOB}: (trigger)"},
    ),
    "queue": (lambda value: job(queue=value), {f"{JOB}: spec.queue", f"{JOB}: (trigger)"}),
    "priority class": (lambda value: job(priority_class_name=value), {f"{JOB}: spec.priorityClassName"}),
    "label": (lambda value: job(labels={"team": value}), {f"{JOB}: metadata.labels.team"}),
    "annotation": (
        lambda value: job(annotations={"note": value}, wait_for="running"),
        {f"{JOB}: metadata.annotations.{key}" for key in ("note", WRITTEN, WAITS)},
    ),
    "namespace": (
        lambda value: job(namespace=value),
        {f"{JOB}: metadata.namespace", "Stash train-managed-by: input", "VolcanoJob train has: namespace"},
    ),
}
POD_GROUP = "VolcanoJob train has: pod_group_name"


@pytest.mark.parametrize("where", OUTPUTS)
def test_a_known_output_registers_the_same_job_as_its_value(where: str) -> None:
    """The trigger is also the same."""
    make, _ = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(computed("value"))).name})

    assert done.leaves() == run_and_read(make("value")).leaves()


@pytest.mark.parametrize("where", OUTPUTS)
def test_only_the_unknown_value_is_unknown_in_a_preview(where: str) -> None:
    """The trigger is unknown only if the value is part of it."""
    make, places = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(computed("value"))).name}, preview=True)

    assert done.unknown() == places | {POD_GROUP}


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("where", OUTPUTS)
def test_only_the_secret_value_is_marked_as_secret(where: str, *, preview: bool) -> None:
    """The trigger is a secret if the value is part of it."""
    make, places = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(pulumi.Output.secret("value"))).name}, preview=preview)

    # The PodGroup's name is computed of the Job's metadata, which are a secret as a whole.
    assert done.secret() - {POD_GROUP} == places
