"""Defaults that the jobs of a stack share: from the program, and from the stack's configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobDefaults, VolcanoJob, VolcanoQueue
from pulumi_volcano_jobs.testing import UNKNOWN, Failure, Result, computed, failed, run
from tests.component.programs import new_job
from tests.conftest import Wire, container, task, typed

GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
SPOT = {"key": "spot", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 30}
SHARED: Wire = {
    "namespace": "research",
    "queue": "batch",
    "priority_class_name": "high",
    "image_registry": "ghcr.io/team",
    "image_pull_secrets": ["pull"],
    "labels": {"team": "ml"},
    "node_selector": {"pool": "gpu"},
    "tolerations": [GPU],
}
CONFIG = {
    "volcano-jobs:namespace": "research",
    "volcano-jobs:queue": "batch",
    "volcano-jobs:priorityClassName": "high",
    "volcano-jobs:imageRegistry": "ghcr.io/team",
    "volcano-jobs:imagePullSecrets": '["pull"]',
    "volcano-jobs:labels": '{"team": "ml"}',
    "volcano-jobs:nodeSelector": '{"pool": "gpu"}',
    "volcano-jobs:tolerations": json.dumps([GPU]),
}
MODES = ("pulumi", "volcano")


def one(
    arguments: Mapping[str, Any],
    config: Mapping[str, str] | None = None,
    shared: Any = None,
    *,
    preview: bool = False,
) -> Result:
    """Result a program with one job; `shared` is called for the defaults."""

    def program() -> None:
        given = {"job_defaults": shared() if callable(shared) else shared} if shared is not None else {}
        new_job("train", {**arguments, **given})

    return run(program, config=config or {}, preview=preview)


def worker(**pod_spec: Any) -> Wire:
    """Give a task whose image names no registry."""
    return task("worker", containers=[container(image="train:1")], **pod_spec)


def template(done: Result) -> Wire:
    """Give labels and spec of what the job's worker is made of, in either mode."""
    manifests = done.manifests()
    if "Pod train-worker-0" in manifests:
        pod = manifests["Pod train-worker-0"]
        return {"labels": pod["metadata"]["labels"], "spec": pod["spec"]}
    made = manifests["Job train"]["spec"]["tasks"][0]["template"]
    return {"labels": made.get("metadata", {}).get("labels"), "spec": made["spec"]}


def head(done: Result) -> Wire:
    """Give the object that stands for the whole job."""
    manifests = done.manifests()
    found: Wire = manifests.get("PodGroup train") or manifests["Job train"]
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", ["program", "configuration"])
def test_a_job_that_says_nothing_gets_all_defaults(where: str, mode: str) -> None:
    """As if they were its own arguments."""
    job = {"tasks": [worker()], "managed_by": mode}
    done = one(job, CONFIG) if where == "configuration" else one(job, shared=SHARED)

    assert head(done)["metadata"]["namespace"] == "research"
    assert head(done)["metadata"]["labels"] == {"team": "ml"}
    assert (head(done)["spec"]["queue"], head(done)["spec"]["priorityClassName"]) == ("batch", "high")
    made = template(done)
    assert made["labels"]["team"] == "ml"
    assert made["spec"]["containers"][0]["image"] == "ghcr.io/team/train:1"
    assert made["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert made["spec"]["nodeSelector"] == {"pool": "gpu"}
    assert made["spec"]["tolerations"] == [GPU]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", ["program", "configuration"])
def test_a_jobs_own_arguments_count(where: str, mode: str) -> None:
    """A text wins; of mappings each key; of lists the own entries stand first, and none is there twice."""
    own = worker(
        nodeSelector={"pool": "cpu", "zone": "a"}, tolerations=[SPOT, GPU], imagePullSecrets=[{"name": "other"}]
    )
    own["template"]["metadata"] = {"labels": {"team": "own"}}
    job = {
        "tasks": [own],
        "managed_by": mode,
        "namespace": "own",
        "queue": "own",
        "priority_class_name": "own",
        "labels": {"team": "own", "more": "yes"},
        "image_registry": "quay.io",
    }
    done = one(job, CONFIG) if where == "configuration" else one(job, shared=SHARED)

    assert head(done)["metadata"]["namespace"] == "own"
    assert head(done)["metadata"]["labels"] == {"team": "own", "more": "yes"}
    assert (head(done)["spec"]["queue"], head(done)["spec"]["priorityClassName"]) == ("own", "own")
    made = template(done)
    assert made["labels"]["team"] == "own"
    assert made["spec"]["containers"][0]["image"] == "quay.io/train:1"
    assert made["spec"]["imagePullSecrets"] == [{"name": "other"}, {"name": "pull"}]
    assert made["spec"]["nodeSelector"] == {"pool": "cpu", "zone": "a"}
    assert made["spec"]["tolerations"] == [SPOT, GPU]


def test_the_programs_defaults_count_before_the_stacks() -> None:
    """By the same rules as between a job and its defaults."""
    shared = {"queue": "own", "labels": {"cost": "1"}, "node_selector": {"pool": "cpu"}, "tolerations": [SPOT]}
    done = one({"tasks": [worker()]}, CONFIG, shared)

    assert head(done)["spec"]["queue"] == "own"
    assert head(done)["metadata"]["labels"] == {"team": "ml", "cost": "1"}
    assert template(done)["spec"]["nodeSelector"] == {"pool": "cpu"}
    assert template(done)["spec"]["tolerations"] == [SPOT, GPU]


def test_an_empty_registry_of_a_jobs_own_switches_it_off() -> None:
    """Its images stay what they are."""
    done = one({"tasks": [worker()], "image_registry": ""}, CONFIG)

    assert template(done)["spec"]["containers"][0]["image"] == "train:1"


def test_an_empty_text_is_no_default_but_for_the_registry() -> None:
    """The stack's count then; without a registry nothing is put before images."""
    shared = {"namespace": "", "queue": "", "image_registry": ""}
    done = one({"tasks": [worker()]}, CONFIG, shared)

    assert head(done)["metadata"]["namespace"] == "research"
    assert head(done)["spec"]["queue"] == "batch"
    assert template(done)["spec"]["containers"][0]["image"] == "train:1"


@pytest.mark.parametrize("where", ["program", "configuration"])
def test_options_may_be_defaults_too(where: str) -> None:
    """The recommended options, who makes the Pods, and the version of the cluster."""
    values = {"defaults": "recommended", "managedBy": "volcano", "kubernetesVersion": "1.31", "volcanoVersion": "1.14"}
    shared = {
        "defaults": "recommended",
        "managed_by": "volcano",
        "kubernetes_version": "1.31",
        "volcano_version": "1.14",
    }
    job = {"tasks": [task("master"), worker()], "plugins": {"pytorch": []}}
    if where == "configuration":
        done = one(job, {f"volcano-jobs:{name}": value for name, value in values.items()})
    else:
        done = one(job, shared=shared)

    (made,) = done.names("Job")
    arguments = done.manifests()[f"Job {made}"]["spec"]["plugins"]["pytorch"]
    assert "--wait-master-enabled=true" in arguments


def test_a_shared_version_of_volcano_is_that_of_all_jobs() -> None:
    """Unless a job sets its own."""
    config = {"volcano-jobs:managedBy": "volcano", "volcano-jobs:volcanoVersion": "1.14"}
    job = {"tasks": [worker()], "plugins": {"svc": [], "ssh": ["--ssh-port=23"]}}

    failure = failed(lambda: new_job("train", job), config=config)

    assert [problem.path for problem in failure.problems] == ["spec.plugins.ssh[0]"]
    assert one({**job, "volcano_version": "1.15"}, config).names("Job") == ["train"]


def test_an_option_of_the_jobs_own_counts() -> None:
    """It is composed although the stack says otherwise."""
    done = one({"tasks": [worker()], "managed_by": "pulumi"}, {"volcano-jobs:managedBy": "volcano"})

    assert done.names("Pod") == ["train-worker-0"]


COMPOSED_ONLY: list[Wire] = [
    {"restart": "pod"},
    {"on_scale": "keep"},
    {"restart": "gang", "on_scale": "restart"},
    {"unsupported": "error"},
]


@pytest.mark.parametrize("options", COMPOSED_ONLY, ids=str)
@pytest.mark.parametrize("where", ["program", "configuration"])
def test_a_shared_mode_ignores_options_of_the_other_mode_with_a_warning(where: str, options: Wire) -> None:
    """The job becomes a Volcano Job, the same as without the option."""
    config = {"volcano-jobs:managedBy": "volcano"} if where == "configuration" else None
    shared = {"managed_by": "volcano"} if where == "program" else None
    plain = one({"tasks": [worker()]}, config, shared)

    done = one({"tasks": [worker()], **options}, config, shared)

    assert done.manifests() == plain.manifests()
    assert sorted(text.partition(":")[0] for text in done.warnings) == sorted(options.keys() - {"unsupported"})
    assert all('managed_by="pulumi"' in text and text.endswith(" [VJ122]") for text in done.warnings)
    assert one({"tasks": [worker()], **options, "ignore_warnings": ["VJ122"]}, config, shared).warnings == []


def test_with_a_shared_mode_volcanos_plugins_take_precedence_over_the_template(snapshot: SnapshotAssertion) -> None:
    """The conflict that `on_conflict="user"` decides is no error, and the warning names it."""
    own = container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])
    job = {"plugins": {"env": []}, "tasks": [task(containers=[own])], "on_conflict": "user"}

    done = one(job, {"volcano-jobs:managedBy": "volcano"})

    assert done.names("Job") == ["train"]
    assert [(text.partition(":")[0], text[-7:]) for text in done.warnings] == [("on_conflict", "[VJ122]")]
    assert done.warnings == snapshot


def test_options_of_the_other_mode_are_errors_if_the_job_sets_its_mode() -> None:
    """A shared default does not change that."""
    job = {"tasks": [worker()], "managed_by": "volcano", "restart": "pod"}

    failure = failed(lambda: new_job("train", job), config={"volcano-jobs:managedBy": "volcano"})

    assert typed(failure.problems) == [("restart", "Forbidden")]


@pytest.mark.parametrize("source", ["text", "file"])
def test_a_job_of_a_file_gets_them_too(source: str, tmp_path: Path) -> None:
    """In its metadata, its spec and its templates."""
    document = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"tasks": [worker()]},
    }
    text = json.dumps(document) + "\n"
    path = tmp_path / "job.yaml"
    path.write_text(text, "utf-8")

    def program() -> None:
        VolcanoJob.from_yaml("train", text if source == "text" else path, job_defaults=JobDefaults(queue="own"))

    done = run(program, config=CONFIG)

    assert head(done)["metadata"]["labels"] == {"team": "ml"}
    assert head(done)["spec"]["queue"] == "own"
    assert head(done)["metadata"]["namespace"] == "research"
    assert template(done)["spec"]["nodeSelector"] == {"pool": "gpu"}


@pytest.mark.parametrize("mode", MODES)
def test_a_default_that_says_what_the_job_said_changes_no_digest(mode: str) -> None:
    """Nothing is restarted by moving values from the jobs to the stack."""
    own = task(
        "worker",
        containers=[container(image="ghcr.io/team/train:1")],
        nodeSelector={"pool": "gpu"},
        tolerations=[GPU],
        imagePullSecrets=[{"name": "pull"}],
    )
    own["template"]["metadata"] = {"labels": {"team": "ml"}}
    fields = {"queue": "batch", "priority_class_name": "high", "namespace": "research", "labels": {"team": "ml"}}
    said = one({"tasks": [own], "managed_by": mode, **fields})
    moved = one({"tasks": [worker()], "managed_by": mode}, CONFIG)
    both = one({"tasks": [own], "managed_by": mode, **fields}, CONFIG, SHARED)

    def content(done: Result) -> Wire:
        return {name: (item.inputs, item.replacement_trigger) for name, item in done.resources.items()}

    assert content(moved) == content(said)
    assert content(both) == content(said)


@pytest.mark.parametrize("mode", MODES)
def test_outputs_stay_the_only_unknowns(mode: str) -> None:
    """Of the queue, the registry and single values; what is known beside them stays known."""

    def shared() -> JobDefaults:
        return JobDefaults(
            namespace=computed("research"),
            queue=computed("batch"),
            image_registry=computed("ghcr.io/team"),
            node_selector={"pool": computed("gpu"), "zone": "a"},
            tolerations=[{"key": computed("spot"), "operator": "Exists"}],
        )

    job = {"tasks": [worker(tolerations=[GPU])], "managed_by": mode}
    preview, up = (one(job, shared=shared, preview=is_preview) for is_preview in (True, False))

    spec = template(preview)["spec"]
    assert spec["nodeSelector"] == {"pool": UNKNOWN, "zone": "a"}
    assert spec["tolerations"] == [GPU, {"key": UNKNOWN, "operator": "Exists"}]
    assert spec["containers"][0]["image"] is UNKNOWN
    assert head(preview)["spec"]["queue"] is UNKNOWN
    assert head(preview)["metadata"]["namespace"] is UNKNOWN
    assert template(up)["spec"]["containers"][0]["image"] == "ghcr.io/team/train:1"
    assert head(up)["spec"]["queue"] == "batch"
    assert head(up)["metadata"]["namespace"] == "research"


def test_whole_values_of_a_task_may_be_outputs() -> None:
    """They are united with the defaults once they are known."""

    def program() -> None:
        own = worker(nodeSelector=computed({"zone": "a"}), tolerations=computed([SPOT, GPU]))
        new_job("train", {"tasks": [own], "job_defaults": SHARED})

    done = run(program)

    assert template(done)["spec"]["nodeSelector"] == {"pool": "gpu", "zone": "a"}
    assert template(done)["spec"]["tolerations"] == [SPOT, GPU]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("as_list", [False, True], ids=["name", "list"])
def test_names_of_pull_secrets_may_be_outputs(mode: str, as_list: bool) -> None:  # noqa: FBT001
    """A program usually creates the Secret itself."""

    def shared() -> dict[str, Any]:
        return {"image_pull_secrets": computed(["pull"]) if as_list else [computed("pull")]}

    own = worker(imagePullSecrets=[{"name": "own"}])
    done = one({"tasks": [own], "managed_by": mode}, shared=shared)

    assert template(done)["spec"]["imagePullSecrets"] == [{"name": "own"}, {"name": "pull"}]


def test_an_output_that_is_not_the_name_of_a_pull_secret_is_rejected() -> None:
    """The path is that of the default."""
    failure = failed(
        lambda: new_job("train", {"tasks": [worker()], "job_defaults": {"image_pull_secrets": [computed(3)]}}) and None
    )

    assert typed(failure.problems) == [("job_defaults.image_pull_secrets[0]", "TypeInvalid")]


def test_the_name_of_a_queue_carries_its_order_to_all_jobs() -> None:
    """Each waits for it."""

    def program() -> None:
        shared = JobDefaults(queue=VolcanoQueue("research").name)
        for name in ("one", "other"):
            new_job(name, {"tasks": [task()], "job_defaults": shared})

    done = run(program)

    for name in ("one", "other"):
        group = done.resources[f"PodGroup {name}"]
        assert group.inputs["spec"]["queue"] == "research"
        assert [urn for urn in group.request.dependencies if urn.endswith("Queue::research")]


def test_two_jobs_do_not_change_what_they_share() -> None:
    """The defaults stay as they were given."""
    before = json.dumps(SHARED)

    def program() -> None:
        for name in ("one", "other"):
            new_job(name, {"tasks": [worker(tolerations=[SPOT])], "job_defaults": SHARED})

    done = run(program)

    assert json.dumps(SHARED) == before
    assert done.manifests()["Pod other-worker-0"]["spec"]["tolerations"] == [SPOT, GPU]


def rejected(config: Mapping[str, str] | None = None, **arguments: Any) -> Failure:
    """Return the failure of a program whose only job is rejected; no resource has been registered by then."""

    def program() -> None:
        pulumi.runtime.set_all_config(dict(config or {}))
        new_job("train", {"tasks": [worker()], **arguments})

    failure = failed(program)
    assert isinstance(failure.error, pulumi.RunError)
    assert failure.result.resources == {}
    return failure


def shown(failure: Failure) -> list[tuple[str, str, str]]:
    """Return path, type and value of each problem."""
    return [(problem.path, problem.type, problem.value) for problem in failure.problems]


UNKNOWN_DEFAULTS = {
    "a list": ([], "job_defaults", "TypeInvalid"),
    "a misspelt name": ({"quueue": "a"}, "job_defaults.quueue", "Forbidden"),
    "a number for a name": ({1: "a"}, "job_defaults.1", "Forbidden"),
    "an unknown set of defaults": ({"defaults": "best"}, "job_defaults.defaults", "NotSupported"),
    "an unknown mode": ({"managed_by": "kubectl"}, "job_defaults.managed_by", "NotSupported"),
    # Python raises an error of its own for the text of such a number.
    "a number of thousands of digits": ({"managed_by": 10**5000}, "job_defaults.managed_by", "NotSupported"),
}


@pytest.mark.parametrize("name", UNKNOWN_DEFAULTS)
def test_unknown_defaults_of_a_program_are_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """There is one problem with the path in job_defaults."""
    given, path, error_type = UNKNOWN_DEFAULTS[name]

    failure = rejected(job_defaults=given)

    assert typed(failure.problems) == [(path, error_type)]
    assert str(failure.error) == snapshot


@pytest.mark.parametrize(
    ("given", "path", "error_type", "value"),
    [
        ({"volcano_version": "1.5"}, "volcano_version", "NotSupported", '"1.5"'),
        ({"queue": 3}, "queue", "TypeInvalid", ""),
        ({"queue": "A"}, "queue", "Invalid", '"A"'),
        ({"priority_class_name": "A"}, "priority_class_name", "Invalid", '"A"'),
        ({"namespace": "a.b"}, "namespace", "Invalid", '"a.b"'),
        ({"image_registry": "https://ghcr.io"}, "image_registry", "Invalid", '"https://ghcr.io"'),
        ({"labels": []}, "labels", "TypeInvalid", ""),
        ({"labels": {"a": "b c"}}, "labels.a", "Invalid", '"b c"'),
        ({"node_selector": {"a": 1}}, "node_selector.a", "TypeInvalid", ""),
        ({"tolerations": {}}, "tolerations", "TypeInvalid", ""),
        ({"tolerations": [GPU, {"key": "a", "operater": "Exists"}]}, "tolerations[1].operater", "Forbidden", ""),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
            "tolerations[0].value",
            "Invalid",
            '"b"',
        ),
        ({"image_pull_secrets": [3]}, "image_pull_secrets[0]", "TypeInvalid", ""),
        ({"image_pull_secrets": "pull"}, "image_pull_secrets", "TypeInvalid", ""),
    ],
    ids=str,
)
def test_a_wrong_default_of_a_program_is_one_problem(given: Wire, path: str, error_type: str, value: str) -> None:
    """The path is that in job_defaults, and not that in each task."""
    failure = rejected(job_defaults=given)

    assert shown(failure) == [(f"job_defaults.{path}", error_type, value)]
    assert str(failure.error).splitlines()[1:] == [f"  {failure.problems[0]}"]


def test_an_output_for_a_plain_default_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The mode must be known."""

    def program() -> None:
        new_job("train", {"tasks": [worker()], "job_defaults": {"managed_by": computed("volcano")}})

    failure = failed(program)

    assert typed(failure.problems) == [("job_defaults.managed_by", "TypeInvalid")]
    assert str(failure.error) == snapshot
    assert failure.result.names("VolcanoJob") == []


UNKNOWN_IN_STACK = {
    "a misspelt name": ({"volcano-jobs:nodeSelecter": "{}"}, "volcano-jobs:nodeSelecter", "Forbidden"),
    "text for a list": ({"volcano-jobs:tolerations": "gpu"}, "volcano-jobs:tolerations", "TypeInvalid"),
}


@pytest.mark.parametrize("name", UNKNOWN_IN_STACK)
def test_a_key_of_the_stack_that_is_not_a_default_is_rejected(name: str, snapshot: SnapshotAssertion) -> None:
    """The path is the key."""
    config, path, error_type = UNKNOWN_IN_STACK[name]

    failure = rejected(config)

    assert typed(failure.problems) == [(path, error_type)]
    assert str(failure.error) == snapshot


@pytest.mark.parametrize(
    ("config", "path", "value"),
    [
        ({"volcano-jobs:tolerations": '[{"key": "a b"}]'}, "volcano-jobs:tolerations[0].key", '"a b"'),
        ({"volcano-jobs:namespace": "A"}, "volcano-jobs:namespace", '"A"'),
    ],
    ids=str,
)
def test_a_wrong_default_of_the_stack_is_one_problem(config: dict[str, str], path: str, value: str) -> None:
    """The path begins with the key."""
    assert shown(rejected(config)) == [(path, "Invalid", value)]


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        ({"tasks": 3}, ["spec.tasks"]),
        ({"tasks": [3]}, ["spec.tasks[0]"]),
        ({"tasks": [{"template": 3}]}, ["spec.tasks[0].template"]),
        ({"tasks": [{"template": {"spec": 3}}]}, ["spec.tasks[0].template.spec"]),
        (
            {"tasks": [worker(nodeSelector=3, tolerations=3)]},
            ["spec.tasks[0].template.spec.nodeSelector", "spec.tasks[0].template.spec.tolerations"],
        ),
        ({"metadata": 3, "spec": {"tasks": [worker()]}}, ["metadata"]),
        ({"metadata": {"name": "train"}, "spec": 3}, ["spec"]),
        ({"labels": 3}, ["metadata.labels"]),
    ],
    ids=str,
)
def test_defaults_hide_no_problem_of_the_job(fields: Wire, places: list[str]) -> None:
    """They are set only where the job has a mapping for them."""
    if "spec" in fields:
        failure = failed(lambda: new_job("train", {**fields, "job_defaults": SHARED}) and None)
    else:
        failure = rejected(CONFIG, **fields)

    paths = [problem.path for problem in failure.problems]
    assert [path for path in paths if not path.endswith("containers")] == places


def test_a_mistake_in_what_jobs_share_has_no_line_in_a_jobs_file(tmp_path: Path) -> None:
    """It is not in there."""
    identity = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    document = {**identity, "metadata": {"name": "train"}, "spec": {"tasks": [worker()], "quue": "a"}}
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(document) + "\n", "utf-8")

    def program() -> None:
        pulumi.runtime.set_all_config({"volcano-jobs:que": "a"})
        VolcanoJob.from_yaml("train", path, job_defaults=JobDefaults(queue="A"))

    error, _ = failed(program)

    places = [line.strip().partition(": ")[0] for line in str(error).splitlines()[1:]]
    assert places[:2] == ["volcano-jobs:que", "job_defaults.queue"]
    assert places[2].startswith(f"{path}:1:")
    assert len(places) == 3


def test_an_error_has_all_problems() -> None:
    """The problems are those of the configuration, of the program's defaults and of the job."""
    failure = rejected({"volcano-jobs:que": "a"}, job_defaults={"queue": "A"}, min_available="1")

    assert typed(failure.problems) == [
        ("volcano-jobs:que", "Forbidden"),
        ("job_defaults.queue", "Invalid"),
        ("spec.minAvailable", "TypeInvalid"),
    ]


def test_a_secret_default_of_the_stack_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The objects would show it; the message does not have the value."""

    def program() -> None:
        pulumi.runtime.set_all_config({"volcano-jobs:queue": "hidden"}, ["volcano-jobs:queue"])
        new_job("train", {"tasks": [worker()]})

    failure = failed(program)

    assert typed(failure.problems) == [("volcano-jobs:queue", "Forbidden")]
    assert str(failure.error) == snapshot
    assert "hidden" not in str(failure.error)


def test_pulumis_own_keys_are_left_alone() -> None:
    """It has some for every package."""
    config = {"volcano-jobs:version": "1.0.0", "volcano-jobs:pluginDownloadURL": "https://example.org"}

    assert one({"tasks": [worker()]}, config).names("Pod")


def test_a_project_of_this_name_has_keys_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no mistakes."""
    monkeypatch.setattr(pulumi, "get_project", lambda: "volcano-jobs")

    done = one({"tasks": [worker()]}, {"volcano-jobs:cluster": "true", "volcano-jobs:queue": "batch"})

    assert head(done)["spec"]["queue"] == "batch"


def test_what_is_configured_empty_is_not_configured() -> None:
    """The namespace is the default one then."""
    done = one({"tasks": [worker()]}, {"volcano-jobs:namespace": "", "volcano-jobs:labels": ""})

    assert head(done)["metadata"]["namespace"] == "default"
