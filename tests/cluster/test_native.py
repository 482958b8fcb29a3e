"""Native mode: updates of the Job under the rules of Volcano's webhook, and changes of the mode."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cluster import Cluster

from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.cluster.conftest import VOLUMES, Changes, Manifest, Space, Stack, changes, content, failed, of_job, task
from tests.cluster.edits import ISSUE, PreviewError
from tests.engine.conftest import Steps

RULES = "volcano-updates"
# contract.md section 5, UPDATE. Without it an invalid update would pass, because the CRD allows any.
OTHER_FIELDS_STAY = (
    "[object.spec, oldObject.spec].all(one, one.all(key, key in ['minAvailable', 'priorityClassName', 'tasks'] || "
    "(key in object.spec && key in oldObject.spec && object.spec[key] == oldObject.spec[key])))"
)
OTHER_FIELDS_OF_TASKS_STAY = (
    "oldObject.spec.tasks.all(old, object.spec.tasks.exists(new, [old, new].all(one, one.all(key, "
    "key in ['replicas', 'minAvailable'] || (key in old && key in new && old[key] == new[key])))))"
)
TASKS_FIT = "object.spec.tasks.all(task, 'minAvailable' in task && task.minAvailable <= task.replicas)"
JOB_FITS = (
    "'minAvailable' in object.spec && object.spec.minAvailable <= object.spec.tasks.map(task, task.replicas).sum()"
)
VALIDATIONS = (
    ("object.spec.tasks.size() == oldObject.spec.tasks.size()", "tasks may not be added or removed"),
    (OTHER_FIELDS_STAY, "only minAvailable, priorityClassName and tasks may change"),
    (OTHER_FIELDS_OF_TASKS_STAY, "of a task only replicas and minAvailable may change"),
    (TASKS_FIT, "a task's minAvailable must not be above its replicas"),
    (JOB_FITS, "minAvailable must not be above the sum of the replicas"),
)
POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": RULES},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["batch.volcano.sh"],
                    "apiVersions": ["v1alpha1"],
                    "operations": ["UPDATE"],
                    "resources": ["jobs"],
                }
            ]
        },
        "validations": [{"expression": expression, "message": message} for expression, message in VALIDATIONS],
    },
}
BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": RULES},
    "spec": {"policyName": RULES, "validationActions": ["Deny"]},
}


def job(**fields: Any) -> Manifest:
    """Return a job with one master and two workers."""
    tasks = [task("master"), task("worker", 2)]
    return {"tasks": tasks, "plugins": {"pytorch": []}, "managed_by": "volcano", **fields}


@pytest.fixture(scope="module", autouse=True)
def rules(cluster: Cluster, new_space: Callable[..., Space]) -> None:
    """Enforce the webhook's rules for updates of Jobs."""
    cluster.apply([POLICY, BINDING])
    space = new_space()
    cluster.wait(lambda: refusal(space, lambda spec: spec.update(queue="other")), "the rules to hold")


def refusal(space: Space, edit: Callable[[Manifest], Any]) -> str:
    """Update a Job in place, as a program without this library might, and return the error of the API server."""
    plain = {key: value for key, value in job(name="probe").items() if key != "managed_by"}
    manifest = render(plain, namespace=space.name).job.to_manifest()
    space.cluster.apply([manifest])
    edit(manifest["spec"])
    try:
        space.cluster.apply([manifest])
    except urllib.error.HTTPError as error:
        return error.read().decode()
    space.cluster.delete("Job", "probe", space.name)
    return ""


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda spec: spec["tasks"].pop(), "tasks may not be added or removed"),
        (lambda spec: spec.update(maxRetry=5), "only minAvailable, priorityClassName and tasks may change"),
        (lambda spec: spec["tasks"][0].update(maxRetry=5), "of a task only replicas and minAvailable may change"),
        (lambda spec: spec["tasks"][1].pop("minAvailable"), "a task's minAvailable must not be above its replicas"),
        (lambda spec: spec.pop("minAvailable"), "minAvailable must not be above the sum of the replicas"),
        (lambda spec: spec.update(minAvailable=1), ""),
        (lambda spec: spec["tasks"][1].update(replicas=3), ""),
    ],
    ids=["a task less", "maxRetry", "a task's maxRetry", "partial task", "partial job", "minAvailable", "replicas"],
)
def test_the_webhook_rules_reject_an_invalid_update(space: Space, edit: Callable[[Manifest], Any], said: str) -> None:
    """Otherwise the tests below would prove nothing."""
    found = refusal(space, edit)

    assert said in found
    assert bool(found) == bool(said)


def worker_of(job: Manifest) -> Manifest:
    """Return the task of the workers."""
    found: Manifest = job["tasks"][1]
    return found


def image_of(job: Manifest, image: str) -> None:
    """Set another image for the workers."""
    worker_of(job)["template"]["spec"]["containers"][0]["image"] = image


RUN = "the token run"
IN_PLACE: dict[str, Callable[[Manifest], Any]] = {
    "minAvailable": lambda job: job.update(min_available=2),
    "replicas, up": lambda job: worker_of(job).update(replicas=4),
    "a task's minAvailable": lambda job: worker_of(job).update(minAvailable=1),
    "replicas, down": lambda job: worker_of(job).update(replicas=1),
    "priorityClassName": lambda job: job.update(priority_class_name="high"),
    "a label": lambda job: job.update(labels={"team": "a"}),
    "an annotation": lambda job: job.update(annotations={"note": "a"}),
}
REPLACING: dict[str, Callable[[Manifest], Any]] = {
    "the image of a task": lambda job: image_of(job, "example.org/image:2"),
    "the image of a task, and its replicas": lambda job: (
        image_of(job, "example.org/image:3"),
        worker_of(job).update(replicas=3),
    ),
    "the queue": lambda job: job.update(queue="research"),
    "an argument of a plugin": lambda job: job["plugins"].update(pytorch=["--port=23457"]),
    "a policy": lambda job: job.update(policies=[{"event": "PodFailed", "action": "RestartJob"}]),
    "a task added": lambda job: job["tasks"].append(task("extra")),
    "a task removed": lambda job: job["tasks"].pop(),
    RUN: lambda job: job.update(run="2"),
}
EDITS = IN_PLACE | REPLACING
NAMES = {edit: f"job-{number:02}" for number, edit in enumerate(EDITS)}
"""The name of the job that has an edit."""
# Since January 2026 the provider asks for a dry run of the update, and the rules reject it. One edit represents
# all edits with such a preview: if it passes, remove the mark from all of them.
FAILS = "the image of a task"
PREVIEWED = [*IN_PLACE, RUN]


@dataclass
class Seen:
    """Steps of a preview and an update, and the resulting Job."""

    preview: list[tuple[str, str]] | str
    """Its steps, or the error of a failed preview."""
    up: list[tuple[str, str]] | str
    changes: Changes
    stored: Manifest
    rendered: Manifest


def steps_of(found: list[tuple[str, str]] | str, name: str) -> list[tuple[str, str]] | str:
    """Return the steps of one job, or the error of a failed preview."""
    if isinstance(found, str):
        return found
    return [(op, urn) for op, urn in found if f"{urn.split('::')[-1]}-".startswith(f"{name}-")]


@pytest.fixture(scope="module")
def seen(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory, rules: None) -> dict[str, Seen]:
    """Create a job for each edit, preview some edits, and apply all of them in one update."""
    space = new_space()
    stack = Stack(tmp_path_factory.mktemp("native"), space)
    stack.skip_checkpoints()
    jobs = {edit: job() for edit in EDITS}

    def write(*edits: str) -> None:
        for edit in edits:
            EDITS[edit](jobs[edit])
        stack.jobs(**{NAMES[edit]: args for edit, args in jobs.items()})

    write()
    stack.up()
    before = space.seen()
    write(*PREVIEWED)
    preview = stack.preview().urns
    write(FAILS)
    failing = stack.previewed()
    write(*(edit for edit in EDITS if edit not in {*PREVIEWED, FAILS}))
    up, after = stack.up().urns, space.seen()
    differences, found = changes(before, after), {}
    for edit, name in NAMES.items():
        plain = {key: value for key, value in jobs[edit].items() if key not in {"managed_by", "run"}}
        found[edit] = Seen(
            steps_of(failing if edit == FAILS else preview, name),
            steps_of(up, name),
            of_job(differences, name),
            content(after[f"Job {name}"]),
            render({"name": name, **plain}, namespace=space.name).job.to_manifest(),
        )
    return found


@pytest.mark.parametrize("edit", IN_PLACE)
def test_edits_that_volcano_allows_are_updates_in_place(seen: dict[str, Seen], edit: str) -> None:
    """The Job is the same object, and the webhook rules accept the update."""
    assert seen[edit].changes == {"Job": "updated"}


@pytest.mark.parametrize("edit", REPLACING)
def test_other_edits_replace_the_job(seen: dict[str, Seen], edit: str) -> None:
    """The old Job is deleted before the new one is created, and no other object exists."""
    assert seen[edit].changes == {"Job": "replaced"}


@pytest.mark.parametrize(
    "edit",
    [
        *PREVIEWED,
        pytest.param(FAILS, marks=pytest.mark.xfail(reason=ISSUE, raises=PreviewError, strict=True)),
    ],
)
def test_a_preview_shows_the_steps_of_the_update(seen: dict[str, Seen], edit: str) -> None:
    """The steps are compared one by one."""
    preview = seen[edit].preview
    if isinstance(preview, str) and f"ValidatingAdmissionPolicy '{RULES}'" in preview:
        raise PreviewError
    assert preview == seen[edit].up


@pytest.mark.parametrize("edit", EDITS)
def test_the_stored_job_equals_the_rendered_job(seen: dict[str, Seen], edit: str) -> None:
    """Defaults are included, also after an update in place."""
    assert seen[edit].stored["spec"] == seen[edit].rendered["spec"]


def set_phase(space: Space, phase: str, job: str = "train", **status: Any) -> None:
    """Act as Volcano's controller: set the phase and other status fields of a Job when it exists."""

    def set_status_once() -> bool:
        space.cluster.set_status("Job", job, space.name, state={"phase": phase}, **status)
        return True

    space.cluster.wait(set_status_once, "the Job")


def await_another_job(space: Space, old: str = "") -> None:
    """Wait until a Job with another uid exists."""
    space.cluster.wait(lambda: uid(space) not in {"", old}, "the Job to be created")


def uid(space: Space) -> str:
    """Return the uid of the Job, or an empty string if there is none."""
    found: str = space.cluster.get("Job", "train", space.name).get("metadata", {}).get("uid", "")
    return found


PHASES = ("Pending", "Running", "Completed")


@pytest.fixture(scope="module")
def unchanged(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Steps], Changes]:
    """Update a job in each phase, before and after a refresh, and return the steps and the changes of objects."""
    stack = Stack(tmp_path_factory.mktemp("phases"), new_space())
    before = stack.make(**{phase.lower(): job() for phase in PHASES})
    for phase in PHASES:
        set_phase(stack.space, phase, phase.lower())
    first = stack.up().steps
    stack.refresh()
    return [first, stack.up().steps], changes(before, stack.space.seen())


@pytest.mark.parametrize("phase", PHASES)
def test_a_second_up_and_a_refresh_change_nothing(unchanged: tuple[list[Steps], Changes], phase: str) -> None:
    """The phase of the Job does not matter."""
    steps, found = unchanged

    assert [name for done in steps for name in done if name.endswith(phase.lower())] == []
    assert of_job(found, phase.lower()) == {}


WAITS = {"one": ("running", "Running"), "two": ("running", "Completed"), "three": ("succeeded", "Completed")}
"""Jobs with the phase that an update waits for, and the phase that ends the wait."""


@pytest.fixture(scope="module")
def waited(new_space: Callable[..., Space], tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], Changes]:
    """Set the phase of each job in turn; return the jobs that were awaited until then, and the changes by an edit."""
    stack, found = Stack(tmp_path_factory.mktemp("waits"), new_space()), set()
    space, jobs = stack.space, {name: job(wait_for=wait_for) for name, (wait_for, _) in WAITS.items()}
    stack.jobs(**jobs)
    run = stack.begin()
    for name in WAITS:
        set_phase(space, "Pending", name)
    for name, (_, phase) in WAITS.items():
        if f"Job {name}" in stack.pending():
            found.add(name)
        set_phase(space, phase, name)
        space.cluster.wait(lambda name=name: f"Job {name}" not in stack.pending(), "the wait to end")
        set_phase(space, "Completed", name)
    run.wait()
    before = space.seen()
    return found, changes(
        before, stack.make(**{name: {**args, "labels": {"team": "a"}} for name, args in jobs.items()})
    )


@pytest.mark.parametrize("name", WAITS, ids=["-".join(phases) for phases in WAITS.values()])
def test_an_update_waits_for_a_phase(waited: tuple[set[str], Changes], name: str) -> None:
    """A label edit afterwards does not wait again."""
    awaited, found = waited

    assert name in awaited
    assert of_job(found, name) == {"Job": "updated"}


@pytest.mark.parametrize("phase", ["Failed", "Terminated"])
def test_a_failed_job_fails_each_update_with_the_phases_of_pods(
    stack: Stack, capfd: pytest.CaptureFixture[str], phase: str
) -> None:
    """The error has the fix; a new run token runs the job again."""
    args = job(wait_for="succeeded")
    stack.jobs(train=args)
    run = stack.begin()
    await_another_job(stack.space)
    set_phase(stack.space, phase, taskStatusCount={"worker": {"phase": {"Failed": 1, "Succeeded": 1}}})

    for update in (run.wait, stack.up):
        output = failed(update)
        assert f"job train: {phase} (worker: 1 Failed, 1 Succeeded): " in output
        assert f"kubectl describe vcjob train -n {stack.space.name}" in output
        assert "Traceback" not in output + "".join(capfd.readouterr())
    old = uid(stack.space)
    stack.jobs(train={**args, "run": "2"})
    run = stack.begin()
    await_another_job(stack.space, old)
    set_phase(stack.space, "Completed")
    run.wait()


def resume(stack: Stack) -> str:
    """Return the command that resumes the Job, which is in the error and in the warning about an aborted one."""
    return f"vcctl job resume -N train -n {stack.space.name}"


def abort_and_resume(stack: Stack, args: Manifest) -> None:
    """Abort a Job while its first update waits for it, check that the update fails with the fix, and resume the Job."""
    stack.jobs(train=args)
    run = stack.begin()
    await_another_job(stack.space)
    set_phase(stack.space, "Aborted")
    output = failed(run.wait)
    assert "job train: Aborted: " in output
    assert resume(stack) in output
    set_phase(stack.space, "Running")


def test_a_job_that_is_aborted_and_resumed_fails_no_later_update(stack: Stack) -> None:
    """The update that reads the phase fails; a later one warns until a refresh, and never replaces the Job."""
    abort_and_resume(stack, job(wait_for="running"))
    made = uid(stack.space)

    later = stack.up()
    stack.refresh()
    refreshed = stack.up()

    assert "job train: Aborted" in later.stdout
    assert resume(stack) in later.stdout
    assert "pulumi up --refresh" in later.stdout
    assert "job train: Aborted" not in refreshed.stdout
    assert later.steps == refreshed.steps == {}
    assert uid(stack.space) == made


def test_an_edit_reads_the_phase_of_a_resumed_job(stack: Stack) -> None:
    """No refresh is needed."""
    args = job(wait_for="running")
    abort_and_resume(stack, args)

    stack.jobs(train={**args, "labels": {"team": "a"}})
    run = stack.up()

    assert run.steps == {"Job train": "update"}
    assert "job train: Aborted" not in run.stdout
    set_phase(stack.space, "Aborted")
    stack.jobs(train={**args, "labels": {"team": "b"}})
    output = failed(stack.up)
    assert "job train: Aborted: " in output
    assert resume(stack) in output


def test_a_wait_times_out_and_continues_in_the_next_update(stack: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    """The update fails, and the Job is kept."""
    stack.jobs(train=job(wait_for="running", wait_timeout="3s"))

    output = failed(stack.up)

    assert "timed out waiting for the condition" in output
    assert "Traceback" not in output + "".join(capfd.readouterr())
    made = uid(stack.space)
    set_phase(stack.space, "Running")
    stack.up()
    assert uid(stack.space) == made
    assert stack.up().steps == {}


CLAIM = "PersistentVolumeClaim train-pvc-data"


def act_as_controller(space: Space) -> None:
    """Act as Volcano's job controller for a new Job: write claim names into it, and create its objects.

    The Pods have the names of Pulumi's Pods, and another spec.
    """
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{space.name}/jobs/train"
    stored = space.cluster.request("GET", path)
    for volume in stored["spec"].get("volumes", ()):
        volume.setdefault("volumeClaimName", "train-pvc-0123456789ab")
    space.cluster.request("PUT", f"{path}?fieldManager=vc-controller-manager", stored)
    document = {key: value for key, value in job(volumes=VOLUMES).items() if key != "managed_by"}
    rendered = render({"name": "train", **document}, namespace=space.name)
    owner = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "name": "train",
        "uid": stored["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    objects = [item for item in rendered.objects if item["kind"] not in {"PodGroup", "PersistentVolumeClaim"}]
    pods = [{**pod, "spec": {**pod["spec"], "terminationGracePeriodSeconds": 0}} for pod in rendered.pods]
    for item in (*objects, *pods):
        item["metadata"] = {**item["metadata"], "ownerReferences": [owner]}
    space.cluster.apply([*objects, *pods])


def test_a_job_with_a_new_claim_can_be_updated(stack: Stack) -> None:
    """Volcano's controller has nothing to write into the Job, so later updates do not conflict."""
    args = job(volumes=VOLUMES)
    before = stack.make(train=args)
    assert before.keys() == {"Job train", CLAIM}
    act_as_controller(stack.space)

    for edit in (
        lambda: worker_of(args).update(replicas=3),
        lambda: args.update(labels={"team": "a"}),
        lambda: stack.refresh() or args.update(labels={"team": "b"}),
    ):
        edit()
        stack.jobs(train=args)
        assert stack.preview().steps == stack.up().steps == {"Job train": "update"}
    after = stack.space.seen()
    assert {name: change for name, change in changes(before, after).items() if name in before} == {
        "Job train": "updated"
    }


def test_a_claim_is_replaced_after_the_job_whose_pods_mount_it(stack: Stack) -> None:
    """Kubernetes keeps a deleted claim as long as a Pod that runs mounts it; Volcano deletes its Pods with the Job."""
    before = stack.make(train=job(volumes=VOLUMES))
    act_as_controller(stack.space)
    stack.space.run()

    claim = {**VOLUMES[0]["volumeClaim"], "accessModes": ["ReadWriteMany"]}
    after = stack.make(train=job(volumes=[{"mountPath": "/data", "volumeClaim": claim}]))

    assert changes(before, after) == {CLAIM: "replaced", "Job train": "replaced"}
    assert stack.up().steps == {}


def test_a_claim_is_retained_on_request(stack: Stack) -> None:
    """By default it is deleted with the job; another run keeps it."""
    args = job(volumes=VOLUMES)
    first = stack.make(train=args)
    again = stack.make(train={**args, "run": "2"})
    assert changes(first, again) == {"Job train": "replaced"}
    stack.destroy()
    assert stack.space.seen() == {}

    made = stack.make(train={**args, "claims": "keep"})
    stack.destroy()
    assert changes(made, stack.space.seen()) == {"Job train": "deleted"}


def test_fields_of_another_manager_are_overridden_only_on_request(stack: Stack) -> None:
    """Volcano's controller updates each Job in a queue with extend clusters; the error has the fix."""
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/{stack.space.name}/jobs/train"
    stack.make(train=job())
    stored = stack.space.cluster.request("GET", path)
    worker_of(stored["spec"]).update(replicas=3)
    stack.space.cluster.request("PUT", f"{path}?fieldManager=vc-controller-manager", stored)

    stack.jobs(train=job(labels={"team": "a"}))
    output = failed(stack.up)
    assert 'conflict with "vc-controller-manager"' in output
    assert 'set annotations={"pulumi.com/patchForce": "true"} on the job to override them' in output

    stack.jobs(train=job(labels={"team": "a"}, annotations={"pulumi.com/patchForce": "true"}))
    stack.up()
    assert worker_of(stack.space.seen()["Job train"]["spec"])["replicas"] == 2


def test_a_job_changes_modes_in_one_update(stack: Stack) -> None:
    """All objects of the old mode except claims are deleted before new ones are created; previews succeed."""
    composed = job(managed_by="pulumi", volumes=VOLUMES)
    as_pods = stack.make(train=composed)
    stack.jobs(train=job(volumes=VOLUMES))
    preview, up = stack.preview(), stack.up()
    as_job = stack.space.seen()
    act_as_controller(stack.space)
    assert "Pod train-master-0" in stack.space.seen()
    stack.jobs(train=composed)
    preview_back, up_back = stack.preview(), stack.up()
    back = stack.space.seen()

    assert (preview.urns, preview_back.urns) == (up.urns, up_back.urns)
    assert as_job.keys() == {"Job train", CLAIM}
    assert back.keys() == as_pods.keys()
    assert changes(as_pods, back) == dict.fromkeys(as_pods.keys() - {CLAIM}, "replaced")
    assert stack.up().steps == {}
    steps = [event.resource_pre_event.metadata for event in up.events if event.resource_pre_event]
    order = [(step.op.value, step.type) for step in steps]
    deleted = max(index for index, (op, kind) in enumerate(order) if op == "delete-replaced" and "kubernetes" in kind)
    assert deleted < order.index(("create", "kubernetes:batch.volcano.sh/v1alpha1:Job"))
    stack.destroy()
    assert stack.space.seen() == {}


def test_the_preview_of_a_new_job_is_a_dry_run(stack: Stack) -> None:
    """The API server validates and defaults it; only a change of modes previews with an unknown namespace."""
    stack.jobs(train=job(managed_by="pulumi"))

    events = [event.res_outputs_event.metadata for event in stack.preview().events if event.res_outputs_event]

    pods = [step.new.outputs for step in events if step.new and step.type == "kubernetes:core/v1:Pod"]
    assert [pod["spec"]["dnsPolicy"] for pod in pods] == ["ClusterFirst"] * 3


def test_a_job_deleted_by_volcano_runs_again_only_after_a_refresh(stack: Stack) -> None:
    """A time to live deletes it; `up` alone does not notice."""
    before = stack.make(train=job(ttl_seconds_after_finished=60))
    stack.space.cluster.delete("Job", "train", stack.space.name)
    stack.space.cluster.wait(lambda: not uid(stack.space), "the Job to be gone")

    assert stack.up().steps == {}
    assert uid(stack.space) == ""
    stack.refresh()
    assert stack.up().steps == {"Job train": "create"}
    assert changes(before, stack.space.seen()) == {"Job train": "replaced"}


def test_given_keys_are_in_the_job_and_encrypted_in_the_state(stack: Stack) -> None:
    """Volcano reads them from arguments, so anyone who can read the Job can read them."""
    pair = ssh_keys.generate()
    arguments = [f"--ssh-private-key={pair.private}", f"--ssh-public-key={pair.public}"]
    stack.jobs(train=job(plugins={"ssh": arguments, "svc": []}))

    shown = stack.preview().text + stack.up().text
    stored = stack.space.cluster.get("Job", "train", stack.space.name)["spec"]["plugins"]["ssh"]

    secret = pair.private.splitlines()[1]
    assert pair.private in stored
    assert secret not in shown
    states = [path.read_text("utf-8") for path in stack.state.rglob("dev.json*")]
    assert any("ciphertext" in state for state in states)
    assert not any(secret in state for state in states)
    assert stack.up().steps == {}
