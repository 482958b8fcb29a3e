"""Arguments that no job can be made of: one clear error with all problems, and nothing registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from pulumi_volcano_jobs import (
    EnvPlugin,
    MpiPlugin,
    PytorchPlugin,
    SshPlugin,
    SvcPlugin,
    Task,
    VolcanoJob,
    load_jobs,
    presets,
)
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.testing import computed, failed
from tests.component.programs import new_job
from tests.conftest import Wire, container, task

Make = Callable[[Any], Wire]


def refusal(arguments: Wire | Callable[[], Wire], *, preview: bool = True) -> pulumi.InputPropertiesError:
    """Run a program whose one job is refused; nothing has been registered by then."""

    def program() -> None:
        new_job("train", arguments() if callable(arguments) else arguments)

    error, done = failed(program, preview=preview)
    assert isinstance(error, pulumi.InputPropertiesError)
    assert done.resources == {}
    return error


def places(error: pulumi.InputPropertiesError) -> list[str]:
    """Give the paths of an error's problems."""
    return [problem["property_path"] for problem in error.errors or ()]


def in_spec(**fields: Any) -> Wire:
    """Give a job with fields in the Pod spec of its one task."""
    return {"tasks": [task(**fields)]}


def in_container(**fields: Any) -> Wire:
    """Give a job with fields in its one container."""
    return in_spec(containers=[{**container(), **fields}])


def in_task(**fields: Any) -> Wire:
    """Give a job with fields in its one task."""
    return {"tasks": [{**task(), **fields}]}


def in_job(**fields: Any) -> Wire:
    """Give a job with fields of its own."""
    return {"tasks": [task()], **fields}


SPEC = "spec.tasks[0].template.spec"
STRUCTURE: dict[str, tuple[Make, Any, str, str]] = {
    "the job's name": (lambda value: in_job(name=value), "a", "metadata.name", "what they are called"),
    "all labels": (lambda value: in_job(labels=value), {"a": "b"}, "metadata.labels", "which objects there are"),
    "the scheduler": (lambda value: in_job(scheduler_name=value), "a", "spec.schedulerName", "sees a gang"),
    "the size of the gang": (lambda value: in_job(min_available=value), 1, "spec.minAvailable", "size of the gang"),
    "all tasks": (lambda value: {"tasks": value}, [task()], "spec.tasks", "which objects there are"),
    "a task": (lambda value: {"tasks": [value]}, task(), "spec.tasks[0]", "which objects there are"),
    "a task's name": (lambda value: in_task(name=value), "a", "spec.tasks[0].name", "what they are called"),
    "the replicas": (lambda value: in_task(replicas=value), 2, "spec.tasks[0].replicas", "how many Pods there are"),
    "an event": (
        lambda value: in_job(policies=[{"event": value, "action": "AbortJob"}]),
        "*",
        "spec.policies[0].event",
        "",
    ),
    "a claim's name": (
        lambda value: in_job(volumes=[{"mountPath": "/a", "volumeClaimName": value}]),
        "data",
        "spec.volumes[0].volumeClaimName",
        "which volumes the Pods have",
    ),
    "the path of a claim": (
        lambda value: in_job(volumes=[{"mountPath": value, "volumeClaimName": "data"}]),
        "/a",
        "spec.volumes[0].mountPath",
        "",
    ),
    "all plugins": (lambda value: in_job(plugins=value), {"svc": []}, "spec.plugins", "which objects there are"),
    "a plugin's arguments": (
        lambda value: in_job(plugins={"svc": value}),
        [],
        "spec.plugins.svc",
        "which objects there are",
    ),
    "a plugin's setting": (
        lambda value: in_job(plugins=[SshPlugin(ssh_port=value), SvcPlugin()]),
        22,
        "spec.plugins.ssh.ssh_port",
        "only keys may be Outputs",
    ),
    "a template": (
        lambda value: in_task(template=value),
        task()["template"],
        "spec.tasks[0].template",
        "objects there are",
    ),
    "a Pod spec": (lambda value: in_task(template={"spec": value}), task()["template"]["spec"], SPEC, "plugins add"),
    "a template's metadata": (
        lambda value: in_task(template={**task()["template"], "metadata": value}),
        {"labels": {"a": "b"}},
        "spec.tasks[0].template.metadata",
        "plugins add",
    ),
    "a template's labels": (
        lambda value: in_task(template={**task()["template"], "metadata": {"labels": value}}),
        {"a": "b"},
        "spec.tasks[0].template.metadata.labels",
        "labels are added",
    ),
    "all containers": (lambda value: in_spec(containers=value), [container()], f"{SPEC}.containers", "plugins add"),
    "all volumes": (lambda value: in_spec(volumes=value), [{"name": "a"}], f"{SPEC}.volumes", "volumes are added"),
    "a volume's name": (
        lambda value: in_spec(volumes=[{"name": value}]),
        "a",
        f"{SPEC}.volumes[0].name",
        "written once",
    ),
    "the hostname": (lambda value: in_spec(hostname=value), "a", f"{SPEC}.hostname", "addresses"),
    "the subdomain": (lambda value: in_spec(subdomain=value), "a", f"{SPEC}.subdomain", "addresses"),
    "the host's network": (lambda value: in_spec(hostNetwork=value), True, f"{SPEC}.hostNetwork", "DNS policy"),
    "a container's name": (lambda value: in_container(name=value), "a", f"{SPEC}.containers[0].name", "by name"),
    "all variables": (
        lambda value: in_container(env=value),
        [{"name": "A"}],
        f"{SPEC}.containers[0].env",
        "each name once",
    ),
    "a variable's name": (
        lambda value: in_container(env=[{"name": value}]),
        "A",
        f"{SPEC}.containers[0].env[0].name",
        "written once",
    ),
    "all ports": (
        lambda value: in_container(ports=value),
        [{"containerPort": 80}],
        f"{SPEC}.containers[0].ports",
        "each number once",
    ),
    "a port": (
        lambda value: in_container(ports=[{"containerPort": value}]),
        80,
        f"{SPEC}.containers[0].ports[0].containerPort",
        "written once",
    ),
    "a port's name": (
        lambda value: in_container(ports=[{"containerPort": 80, "name": value}]),
        "http",
        f"{SPEC}.containers[0].ports[0].name",
        "by name",
    ),
    "all mounts": (
        lambda value: in_container(volumeMounts=value),
        [{"name": "a", "mountPath": "/a"}],
        f"{SPEC}.containers[0].volumeMounts",
        "each path once",
    ),
    "the path of a mount": (
        lambda value: {
            "tasks": [
                task(
                    containers=[{**container(), "volumeMounts": [{"name": "a", "mountPath": value}]}],
                    volumes=[{"name": "a", "emptyDir": {}}],
                ),
            ],
        },
        "/a",
        f"{SPEC}.containers[0].volumeMounts[0].mountPath",
        "mounted once",
    ),
}


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "up"])
@pytest.mark.parametrize("where", STRUCTURE)
def test_an_output_in_the_structure_is_one_problem_that_says_where_why_and_what_to_do(
    where: str, *, preview: bool
) -> None:
    """Path, reason and remedy are in the message, whether or not the value is known by then."""
    make, value, path, why = STRUCTURE[where]

    error = refusal(lambda: make(computed(value)), preview=preview)

    assert places(error) == [path]
    assert f"{path}: this must be a plain value, not an Output" in str(error)
    assert why in str(error)
    if "plugins.ssh" not in path:
        assert "pulumi.Config" in str(error)
        assert "StackReference.get_output_details" in str(error)


@pytest.mark.parametrize("option", sorted(JobOptions.__annotations__.keys() - {"image_registry"}))
def test_an_output_as_an_option_of_pulumis_own_is_refused(option: str) -> None:
    """What an update replaces must be known when the program runs."""
    error = refusal(lambda: in_job(**{option: computed("gang")}))

    assert places(error) == [option]
    assert str(error).count("\n") == 1


def test_all_problems_come_at_once() -> None:
    """Wrong types, unknown fields, plugins' settings, structure and options are told together."""
    worker = task("worker", nodeName=3)
    worker["template"]["spec"]["containers"][0] |= {"imagePullPolicy": "Always", "iamge": "a", "env": [{"value": "a"}]}

    error = refusal(
        lambda: {
            "tasks": [worker, Task(name="other", replicas=1, template={"spec": {"containers": []}})],
            "plugins": [PytorchPlugin(port=0), MpiPlugin(master="nobody")],
            "min_available": "one",
            "queue": "UPPER",
            "restart": "all",
            "quue": "a",
        },
    )

    first, *lines = str(error).splitlines()
    assert first == "the VolcanoJob train has 8 problems:"
    assert [line.strip().partition(": ")[0] for line in lines] == places(error)
    assert sorted(places(error)) == [
        "restart",
        "spec.minAvailable",
        "spec.queue",
        "spec.quue",
        f"{SPEC}.containers[0].env[0].name",
        f"{SPEC}.containers[0].iamge",
        f"{SPEC}.nodeName",
        "spec.tasks[1].template.spec.containers",
    ]


def test_problems_of_plugins_and_of_the_whole_come_at_once() -> None:
    """With nothing malformed, what the plugins and Volcano's webhook refuse is told together."""
    error = refusal(
        in_job(
            plugins=[PytorchPlugin(port=0), MpiPlugin(worker="nobody")],
            min_available=5,
            policies=[{"event": "PodEvicted", "action": "Restart"}],
        ),
    )

    assert sorted(places(error)) == [
        "spec.minAvailable",
        "spec.plugins.mpi.master",
        "spec.plugins.mpi.worker",
        "spec.plugins.pytorch.master",
        "spec.plugins.pytorch.port",
        "spec.policies[0].action",
    ]


def test_pulumi_shows_the_message_alone() -> None:
    """A RunError ends a program without a traceback; the first line names the resource."""
    error = refusal(in_job(scheduler_name=3))

    assert isinstance(error, pulumi.RunError)
    assert str(error) == (
        "the VolcanoJob train has a problem:\n  spec.schedulerName: this must be a string (given: 3): put it in quotes"
    )


def test_other_jobs_are_made_until_the_wrong_one() -> None:
    """Only the resource with the mistake is missing; its right neighbour was registered before."""

    def program() -> None:
        new_job("right", in_job())
        VolcanoJob("wrong", {"tasks": []})

    error, done = failed(program)

    assert "the VolcanoJob wrong has a problem" in str(error)
    assert done.names("VolcanoJob") == ["right"]


YAML = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  minAvailable: 9
  plugins:
    pytorch: ["--prot=1"]
  tasks:
    - name: master
      replicas: 1
      template:
        spec:
          containers:
            - name: main
              image: example.org/image:1
              imagepullpolicy: Always
"""


def from_yaml(source: str | Path, options: Any = None) -> str:
    """Give the message for YAML that no job can be made of."""

    def program() -> None:
        VolcanoJob.from_yaml("train", source, options)

    error, done = failed(program)
    assert isinstance(error, pulumi.RunError)
    assert done.resources == {}
    return str(error)


def test_problems_of_a_file_carry_its_name_and_lines(tmp_path: Path) -> None:
    """Each problem begins with file, line and column, so that a terminal links to it."""
    file = tmp_path / "job.yaml"
    file.write_text(YAML, "utf-8")

    lines = from_yaml(file).splitlines()

    assert lines[0] == "the VolcanoJob train has 3 problems:"
    assert [line.split(": ")[0:2] for line in lines[1:]] == [
        [f"  {file}:6:3", "spec.minAvailable"],
        [f"  {file}:8:15", "spec.plugins.pytorch[0]"],
        [f"  {file}:17:15", f"{SPEC}.containers[0].imagepullpolicy"],
    ]


def test_the_name_of_a_file_may_be_a_str(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A str without a line break is a file's name, and it stands in the message as it was given."""
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(YAML, "utf-8")

    assert "\n  job.yaml:6:3: spec.minAvailable: " in from_yaml("job.yaml")


def test_problems_of_a_text_carry_their_lines() -> None:
    """Text has no name, only lines."""
    assert "\n  line 6:3: spec.minAvailable: " in from_yaml(YAML)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [\n", "line 2:1: this is no YAML"),
        ("---\n---\n", "there is no document in it"),
        (f"{YAML}---\n{YAML}", "there are 2 documents in it"),
        ("- a\n- b\n", "a document must be a mapping"),
        (YAML.replace("kind: Job", "kind: CronJob"), "line 2:1: kind: this is no Volcano Job"),
        (
            YAML.replace("spec:\n  min", "spec:\n  minAvailable: 8\n  min"),
            "line 7:3: spec.minAvailable: this stands twice",
        ),
    ],
    ids=["no YAML", "empty", "two documents", "a list", "another kind", "a key twice"],
)
def test_text_that_is_no_job_is_refused(text: str, said: str) -> None:
    """What YAML itself refuses is told in the same way."""
    assert said in from_yaml(text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message says which file, and why it cannot be read."""
    assert from_yaml(tmp_path / "absent.yaml") == (
        "the VolcanoJob train has a problem:\n"
        f"  {tmp_path}/absent.yaml: the file cannot be read: No such file or directory"
    )


def test_a_wrong_option_beside_a_file_is_refused() -> None:
    """The option is named as it was given."""
    right = (
        YAML.replace("  minAvailable: 9\n", "")
        .replace("--prot", "--port")
        .replace("imagepullpolicy", "imagePullPolicy")
    )

    assert from_yaml(right, {"restart": "all"}).splitlines()[1:] == [
        "  line 1:1: restart: this must be one of gang, pod (given: 'all')",
    ]


@pytest.mark.parametrize("names", [("restartPolicy", "restart_policy"), ("restart_policy", "restartPolicy")])
def test_a_field_in_both_spellings_is_refused(names: tuple[str, str]) -> None:
    """Whichever comes last: else one would count in silence."""
    first, last = names
    spec = {first: "Never", "containers": [{"name": "main", "image": "train:1"}], last: "OnFailure"}

    assert str(refusal({"tasks": [{"name": "worker", "replicas": 1, "template": {"spec": spec}}]})) == (
        "the VolcanoJob train has a problem:\n  spec.tasks[0].template.spec.restart_policy: unknown field; Volcano"
        " drops it: did you mean restartPolicy?"
    )


def test_a_plugin_twice_is_refused() -> None:
    """The list names the plugin."""
    assert str(refusal(in_job(plugins=[EnvPlugin(), EnvPlugin()]))) == (
        "the VolcanoJob train has a problem:\n  spec.plugins: the plugin env is listed twice: keep one of them"
    )


BEFORE_THE_JOB: dict[str, tuple[Callable[[], object], str]] = {
    "a task": (
        lambda: Task(name="worker", replicas=-1),
        "Task[worker].replicas: this must be at least 0 (given: -1): give a larger number",
    ),
    "a preset": (
        lambda: presets.shm("8 Gi"),
        "presets.shm.size: this must be a quantity above 0, such as 8Gi (given: '8 Gi')",
    ),
    "a file": (
        lambda: load_jobs("kind: Pod\n"),
        "kind: this is no Volcano Job: its kind is Pod: give a Job of batch.volcano.sh/v1alpha1",
    ),
}


@pytest.mark.parametrize(("make", "message"), BEFORE_THE_JOB.values(), ids=BEFORE_THE_JOB)
def test_what_is_wrong_before_there_is_a_job_ends_the_program_without_a_traceback(
    make: Callable[[], object], message: str
) -> None:
    """Pulumi shows a RunError as its message alone."""
    error, _ = failed(lambda: make() and None)

    assert isinstance(error, pulumi.RunError)
    assert str(error) == message
