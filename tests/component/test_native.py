"""The native mode: what a job registers that is handed over to Volcano's controllers."""

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
from pulumi_volcano_jobs.testing import UNKNOWN, Failure, Result, SecretValue, computed, failed, reveal, run
from tests.component.programs import LOSES_MARKS, new_job
from tests.component.test_tree import TokenPlugin
from tests.conftest import BYTES, CLAIM, OTHER_PAIR, PAIR, Wire, container, ssh_plugin, task, typed

JOB, CLAIM_NAME = "Job train", "PersistentVolumeClaim train-pvc-data"
PRIVATE, PUBLIC = PAIR.private, PAIR.public


def job(**fields: Any) -> Wire:
    """Give a job of a master and two workers that Volcano manages."""
    return {"managed_by": "volcano", "tasks": [task("master"), task("worker", 2)], **fields}


def one(arguments: Any, read: Callable[[Any], Wire] | None = None, **options: Any) -> Result:
    """Run a program with one job, and read values from it."""

    def program() -> Wire:
        made = new_job("train", arguments)
        return read(made) if read else {}

    return run(program, **options)


def inputs(arguments: Any, **options: Any) -> Wire:
    """Give what the Job is registered with."""
    return one(arguments, **options).resources[JOB].inputs


# The tree and the outputs.


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
def test_the_job_and_its_new_claims_are_all_that_is_made_in_the_cluster(*, preview: bool) -> None:
    """Plugins and tasks are components without objects: Volcano creates Pods, Services, Secret and PodGroup."""
    done = one(
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


def test_the_job_has_the_type_that_pulumi_s_kubernetes_provider_knows() -> None:
    """Of its name the old Job goes first, and nothing of it is ignored."""
    made = one(job()).resources[JOB]

    assert (made.type, made.is_component) == ("kubernetes:batch.volcano.sh/v1alpha1:Job", False)
    assert made.delete_before_replace
    assert made.ignore_changes == []
    assert made.replace_on_changes == []
    assert not made.retain_on_delete


def test_the_job_has_the_provider_of_all_other_kubernetes_objects() -> None:
    """The component's own, if it has one, else the default one of the same version."""

    def program() -> None:
        provider = kubernetes.Provider("mine", render_yaml_to_directory="rendered", kubeconfig="")
        new_job("train", job(), pulumi.ResourceOptions(provider=provider))

    composed = one(job(managed_by="pulumi")).resources["PodGroup train"].request

    assert one(job()).resources[JOB].request.version == composed.version
    assert str(run(program).resources[JOB].provider) == "kubernetes mine"


def test_another_mode_replaces_what_the_job_depends_on() -> None:
    """The engine deletes the Job before it makes the Pods of the other mode."""
    done = one(job())
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
    done = one(new_claim())

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
    """No resource that another mode replaces is an input of it, so that a change of modes keeps it and its data."""
    native, composed = one(new_claim()), one(new_claim(managed_by="pulumi"))

    assert native.resources[CLAIM_NAME].inputs == composed.resources[CLAIM_NAME].inputs
    assert native.tree()[CLAIM_NAME] == composed.tree()[CLAIM_NAME]
    for done in (native, composed):
        assert done.resources[CLAIM_NAME].inputs_from["metadata"] == []


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
def test_another_mode_replaces_no_resource_in_the_job_s_namespace(mode: str) -> None:
    """The Output `namespace` of a job depends on no resource, so that a user's own claim there is kept as well."""

    def program() -> None:
        made = new_job("train", job(managed_by=mode))
        kubernetes.core.v1.ConfigMap("own", metadata={"namespace": made.namespace})

    assert run(program).resources["ConfigMap own"].inputs_from["metadata"] == []


@pytest.mark.parametrize(
    ("options", "is_kept"), [({}, False), ({"claims": "delete"}, False), ({"claims": "keep"}, True)]
)
def test_a_claim_outlives_the_job_if_asked(options: Wire, *, is_kept: bool) -> None:
    """As in the composed mode."""
    assert bool(one(new_claim(**options)).resources[CLAIM_NAME].retain_on_delete) == is_kept


def test_an_edit_of_a_claim_makes_no_other_job() -> None:
    """The claim itself is updated; its path is a field of the Job."""

    def of(path: str, storage: str) -> Any:
        claim = {**CLAIM, "resources": {"requests": {"storage": storage}}}
        return trigger(job(volumes=[{"mountPath": path, "volumeClaim": claim}]))

    assert of("/data", "1Gi") == of("/data", "2Gi")
    assert of("/data", "1Gi") != of("/other", "1Gi")


def test_a_resource_may_have_another_name_than_its_job() -> None:
    """The resource is called after the one in the stack, and the Job after its own name."""
    done = one(job(name="nightly"))

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
NOT_COMPARED = ("public_key", "private_key", "pod_group_name")


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("plugins", PLUGINS)
def test_components_and_their_outputs_are_those_of_the_composed_mode(plugins: str, *, preview: bool) -> None:
    """Names, hosts, addresses, and what the Service and the Secret are called, are the same; keys are Volcano's."""

    def outputs(mode: str) -> dict[str, Wire]:
        done = one({**job(**PLUGINS[plugins]), "managed_by": mode}, preview=preview)
        return {
            name: {key: value for key, value in made.items() if key not in NOT_COMPARED}
            for name, made in done.outputs.items()
        }

    assert outputs("volcano") == outputs("pulumi")


@pytest.mark.parametrize("plugins", ["ssh", "mpi", "several"])
def test_keys_that_volcano_makes_are_none(plugins: str) -> None:
    """They are in the cluster alone; no Stash keeps a pair."""
    done = one(job(**PLUGINS[plugins]), lambda made: {"private": made.ssh.private_key, "public": made.ssh.public_key})

    assert done.outputs == {}
    assert sorted(done.names("Stash")) == ["train-created", "train-managed-by"]


def test_a_program_reads_the_job_and_no_pods() -> None:
    """`objects` is the Job; the Pods' names are known all the same, and the PodGroup's has the Job's uid."""
    done = one(
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


def test_the_pod_group_is_not_known_in_a_preview() -> None:
    """There is no uid yet, and nothing is made up for it."""
    done = one(job(), lambda made: {"pod_group_name": made.pod_group_name}, preview=True)

    assert done.outputs["pod_group_name"] is UNKNOWN
    assert done.unknown() == {"VolcanoJob train has: pod_group_name"}


# What the Job is registered with.

WHOLE: Wire = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {
        "name": "train",
        "namespace": "ml",
        "labels": {"team": "a"},
        "annotations": {"volcano.sh/preemptable": "true"},
    },
    "spec": {
        "minAvailable": 3,
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
    "one task": {"metadata": {"name": "train"}, "spec": {"tasks": [task()]}},
    "every field": WHOLE,
}
FORMS: dict[str, Callable[[Wire], Any]] = {
    "a document": lambda document: {**document, "managed_by": "volcano"},
    "a document as it was read": lambda document: with_mode(job_file.read(job_file.dump([document]))[0]),
}


def with_mode(document: job_file.Document) -> job_file.Document:
    """Add the mode to a file's document."""
    document.data["managed_by"] = "volcano"
    return document


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("document", SAME)
def test_the_job_is_the_rendered_one_with_its_defaults(document: str, form: str) -> None:
    """What Volcano's webhook would fill in is there, so that a later update does not take it away."""
    found = inputs(FORMS[form](SAME[document]))

    assert found == render(SAME[document], managed_by="volcano").native_job.to_manifest()
    assert "minAvailable" in found["spec"]
    assert all("minAvailable" in one_task for one_task in found["spec"]["tasks"])


def test_yaml_text_is_handed_over_with_the_options_beside_it() -> None:
    """`from_yaml` is the constructor with a file."""
    text = job_file.dump([WHOLE])

    def program() -> None:
        VolcanoJob.from_yaml("train", text, {"managed_by": "volcano", "run": "2"})

    assert run(program).leaves() == one({**WHOLE, "managed_by": "volcano", "run": "2"}).leaves()


@pytest.mark.parametrize(
    "field",
    ["policies", "maxRetry", "ttlSecondsAfterFinished", "minSuccess", "networkTopology", "queue"],
)
def test_a_field_of_the_job_goes_to_volcano_whole(field: str) -> None:
    """Volcano enacts what nobody does on Pods that Pulumi manages."""
    found = inputs(FORMS["a document"](WHOLE))

    assert found["spec"][field] == WHOLE["spec"][field]


@pytest.mark.parametrize("field", ["dependsOn", "partitionPolicy", "topologyPolicy", "minAvailable", "template"])
def test_a_field_of_a_task_goes_to_volcano_whole(field: str) -> None:
    """Order, partitions and topology of a task are as they were given."""
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
def test_the_namespace_is_the_job_s_or_else_the_stack_s(own: Wire, config: dict[str, str], expected: str) -> None:
    """As in the composed mode; nothing is left to the provider's own default."""
    done = one(job(**own), config=config)

    assert done.resources[JOB].inputs["metadata"]["namespace"] == expected
    assert done.resources["VolcanoJob train"].outputs["namespace"] == expected


# What makes another Job.


def trigger(arguments: Wire) -> Any:
    """Give the Job's replacement trigger."""
    found = one(arguments).resources[JOB].replacement_trigger
    assert re.fullmatch(r"[0-9a-f]{32}", reveal(found))
    return found


def gang(master: Wire | None = None, worker: Wire | None = None, **fields: Any) -> Wire:
    """Give a PyTorch job that Volcano manages, with other tasks or fields."""
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
    """Give the trigger of the job before all edits."""
    return trigger(gang())


@pytest.mark.parametrize("edit", IN_PLACE)
def test_what_volcano_lets_change_makes_no_other_job(edit: str) -> None:
    """The trigger stays, so the Job is updated in place, or not at all."""
    assert trigger(IN_PLACE[edit]) == unedited()


@pytest.mark.parametrize("edit", REPLACING)
def test_all_else_makes_another_job(edit: str) -> None:
    """Volcano's webhook would refuse it as an update, or the user asks for another Job."""
    assert trigger(REPLACING[edit]) != unedited()


def test_each_edit_has_a_trigger_of_its_own() -> None:
    """No two edits look alike."""
    found = [trigger(edited) for edited in REPLACING.values()]

    assert len(set(found)) == len(found)


def test_another_given_key_makes_another_job() -> None:
    """The trigger of a Job with a key in it is a secret too."""
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
    """It is nowhere in the registrations but under a mark, and no warning is due."""
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


def test_a_given_key_is_in_no_warning_and_no_error() -> None:
    """What is said about the job keeps it to itself."""
    plugins = {"ssh": [f"--ssh-private-key={PRIVATE}", f"--ssh-public-key={PUBLIC}"]}
    done = one(job(plugins=plugins))
    error, _ = failed(lambda: {"name": new_job("train", job(plugins=plugins, restart="pod")).name})

    (warning,) = done.warnings
    assert warning.startswith("spec.plugins.ssh: ")
    assert warning.endswith(" [VJ110]")
    assert BYTES not in warning
    assert BYTES not in repr(error)


def test_a_pair_of_volcano_is_a_warning(snapshot: SnapshotAssertion) -> None:
    """Volcano creates another pair when it restarts anything, and the warning has the fix."""
    texts = [[text for text in one(job(**PLUGINS[plugins])).warnings if "VJ117" in text] for plugins in ("ssh", "mpi")]

    assert texts[0] == texts[1]
    assert texts[0] == snapshot


# Waiting.


WRITTEN, WAITS = "pulumi.com/volcano-digest", "pulumi.com/waitFor"
ENDS = "@ == 'Completed' || @ == 'Failed' || @ == 'Aborted' || @ == 'Terminated'"


@pytest.mark.parametrize(
    ("wait_for", "phases"), [("running", f"@ == 'Running' || {ENDS}"), ("succeeded", ENDS)], ids=lambda value: value[:9]
)
def test_an_update_waits_for_a_phase_or_the_end(wait_for: str, phases: str) -> None:
    """The annotation stands beside the user's own ones."""
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
def test_an_update_waits_for_nothing(options: Wire) -> None:
    """There is no annotation of ours."""
    assert "annotations" not in inputs(job(**options))["metadata"]


@pytest.mark.parametrize("wait_for", ["running", "succeeded"])
@pytest.mark.parametrize(("options", "expected"), [({}, "1h"), ({"wait_timeout": "1h30m"}, "1h30m")])
def test_creating_and_updating_have_the_timeout(wait_for: str, options: Wire, expected: str) -> None:
    """An hour, unless another is given; deleting has the provider's own."""
    timeouts = one(job(wait_for=wait_for, **options)).resources[JOB].request.customTimeouts

    assert (timeouts.create, timeouts.update, timeouts.delete) == (expected, expected, "")


COUNTS = {"worker": {"phase": {"Succeeded": 1, "Failed": 1}}, "master": {"phase": {"Running": 1}}, "watch": {}}


@pytest.mark.parametrize("phase", ["Failed", "Terminated", "Aborted"])
@pytest.mark.parametrize(
    ("status", "why"),
    [({}, ""), ({"taskStatusCount": COUNTS}, " (master: 1 Running; worker: 1 Failed, 1 Succeeded)")],
    ids=["no counts", "counts"],
)
def test_a_bad_end_fails_the_update(phase: str, status: Wire, why: str, snapshot: SnapshotAssertion) -> None:
    """The message has the phases of the Pods by task, without a traceback; the Job stays."""
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
def test_a_good_end_fails_nothing(wait_for: str, status: Wire) -> None:
    """Nor does a status that is not there yet."""
    assert JOB in one(job(wait_for=wait_for), cluster={JOB: {"status": status}}).resources


def test_a_bad_end_of_a_job_that_is_not_waited_for_fails_nothing() -> None:
    """Who does not wait is not told."""
    assert JOB in one(job(), cluster={JOB: {"status": {"state": {"phase": "Failed"}}}}).resources


# What is refused, and what is not.


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


def test_a_composed_job_that_waits_is_rejected_by_default() -> None:
    """Pulumi is the default manager of Pods."""
    error = rejected({"tasks": [task()], "wait_for": "running"}).error

    assert str(error) == str(rejected(REJECTED["a composed job waits for an end"][0]).error)


def test_a_restart_that_is_the_default_is_rejected() -> None:
    """Setting it has no effect either."""
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
def test_a_duration_is_taken(timeout: str) -> None:
    """As it is."""
    done = one(job(wait_for="running", wait_timeout=timeout))

    assert done.resources[JOB].request.customTimeouts.create == timeout


POLICIES = [Policy(event="PodEvicted", action="RestartJob")]


@pytest.mark.parametrize("unsupported", ["warn", "error", "ignore", None])
def test_volcano_enacts_policies_so_nothing_is_said_of_them(unsupported: str | None) -> None:
    """Policies, order, retries and the time to live are left undone by nobody."""
    options = {"unsupported": unsupported} if unsupported else {}
    tasks = [{**task("master"), "policies": POLICIES}, {**task("worker"), "dependsOn": {"name": ["master"]}}]

    done = one(job(policies=POLICIES, ttl_seconds_after_finished=60, min_success=1, tasks=tasks, **options))

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
def test_a_job_in_a_queue_with_extend_clusters_overrides_the_controller(by: str, queue: Wire, expected: Wire) -> None:
    """Volcano's controller updates such Jobs with a PUT and owns fields of them; the webhook accepts a forced apply."""

    def program() -> None:
        made = VolcanoQueue("research", queue)
        new_job("train", job(queue=made.name if by == "Output" else "research"))

    assert run(program).resources[JOB].inputs["metadata"].get("annotations", {}) == expected


def test_a_job_s_own_choice_of_override_stays() -> None:
    """A user may want to see the conflict."""

    def program() -> None:
        new_job("train", job(queue=VolcanoQueue("research", CLUSTERS).name, annotations={FORCE: "false"}))

    assert run(program).resources[JOB].inputs["metadata"]["annotations"] == {FORCE: "false"}


def test_a_queue_of_another_program_extends_no_job() -> None:
    """Programs run one after another in a process of tests."""
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
def test_an_output_is_registered_as_the_value_that_it_has(where: str) -> None:
    """Once it is known, nothing differs from the plain value, the trigger included."""
    make, _ = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(computed("value"))).name})

    assert done.leaves() == one(make("value")).leaves()


@pytest.mark.parametrize("where", OUTPUTS)
def test_what_is_unknown_in_a_preview_is_the_only_unknown(where: str) -> None:
    """A trigger is unknown only with a value in it that makes another Job."""
    make, places = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(computed("value"))).name}, preview=True)

    assert done.unknown() == places | {POD_GROUP}


@pytest.mark.parametrize("preview", [False, True], ids=["up", "preview"])
@pytest.mark.parametrize("where", OUTPUTS)
def test_a_secret_stays_one_and_nothing_else_becomes_one(where: str, *, preview: bool) -> None:
    """The trigger of a secret image is a secret."""
    make, places = OUTPUTS[where]

    done = run(lambda: {"name": new_job("train", make(pulumi.Output.secret("value"))).name}, preview=preview)

    # The PodGroup's name is computed of the Job's metadata, which are a secret as a whole.
    assert done.secret() - {POD_GROUP} == places
