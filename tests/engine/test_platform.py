"""examples/platform on the real engine: one stack uses the queues of another one, under the policy of the platform."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import stack as stacks
import yaml
from pulumi import automation

from pulumi_volcano_jobs.spec.naming import pod_group
from tests.engine.conftest import ROOT, Project
from tests.engine.test_policies import Pack, Verdict
from tests.policy.harness import are_about

pytestmark = pytest.mark.engine


class Program(Project):
    """A program of the platform with its `dev` stack; all programs share one backend."""

    def __init__(self, folder: Path, state: Path) -> None:
        """Use the program in the folder."""
        self.folder = self.main = folder
        self.state = state
        config = yaml.safe_load((folder / "Pulumi.dev.yaml").read_text("utf-8"))["config"]
        with pytest.MonkeyPatch.context() as patched:
            # The working directory of the provider is that of the program, as with Pulumi's Python host.
            patched.chdir(folder)
            self.stack = stacks.open_stack(folder, state, "dev", config)

    def replace(self, old: str, new: str) -> None:
        """Edit the program."""
        text = (self.folder / "__main__.py").read_text("utf-8")
        assert text.count(old) == 1
        self.write("__main__.py", text.replace(old, new))


class Platform:
    """A copy of the repository, as a user clones it."""

    def __init__(self, folder: Path) -> None:
        """Copy the repository."""
        ignored = shutil.ignore_patterns("rendered", "__pycache__", ".*")
        shutil.copytree(ROOT / "examples" / "platform", folder, ignore=ignored)
        self.queues = Program(folder / "queues", folder / ".state")
        self.training = Program(folder / "training", folder / ".state")
        self.pack = Pack(folder / "pack", example="platform/policy")
        self.verdicts: list[Verdict] = []


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    """Add the package of the platform to the import path for programs and policy packs, as `pip install` does."""
    package = ROOT / "examples" / "platform"
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(package)
        patched.setenv("PYTHONPATH", f"{ROOT}:{package}")
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "platform_jobs"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """Provide a platform after `up` of the queues and then of the jobs."""
    made = Platform(tmp_path_factory.mktemp("clone") / "platform")
    made.verdicts = [made.pack.check(program, up=True) for program in (made.queues, made.training)]
    return made


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """Provide a platform after `up` of the queues, without jobs."""
    made = Platform(tmp_path_factory.mktemp("before") / "platform")
    made.queues.up()
    return made


@pytest.fixture
def training(before: Platform) -> Iterator[Program]:
    """Provide the training program, for previews of edits."""
    text = (before.training.folder / "__main__.py").read_text("utf-8")
    yield before.training
    before.training.write("__main__.py", text)


def test_both_stacks_comply_with_the_policy(platform: Platform) -> None:
    """No violation is reported, and all resources are created."""
    assert [(verdict.violations, verdict.error) for verdict in platform.verdicts] == [([], "")] * 2
    assert sorted(platform.queues.manifests()) == ["Queue team-language", "Queue team-vision"]
    assert "Pod llm-worker-1" in platform.training.manifests()


def test_jobs_are_in_the_queues_of_the_other_stack(platform: Platform) -> None:
    """Each stack has its own configuration."""
    queues, jobs = platform.queues.manifests(), platform.training.manifests()

    assert queues["Queue team-vision"]["spec"]["capability"] == {"nvidia.com/gpu": "16"}
    assert jobs[f"PodGroup {pod_group('llm')}"]["spec"]["queue"] == "team-language"
    pod = jobs["Pod llm-worker-1"]
    assert pod["spec"]["containers"][0]["image"] == "registry.example.com/training/llm:dev"
    assert pod["spec"]["nodeSelector"] == {"pool": "gpu"}
    labels = {"team": "language", "cost-centre": "4712", "stage": "dev", "volcano.sh/queue-name": "team-language"}
    assert labels.items() <= pod["metadata"]["labels"].items()


def test_a_second_up_reads_the_other_stack_and_changes_nothing(platform: Platform) -> None:
    """All resources stay the same."""
    assert platform.queues.up().steps == {}
    assert platform.training.up().steps == {"StackReference organization/platform-queues/dev": "read"}


def test_the_outputs_of_the_component_are_those_of_the_job(platform: Platform) -> None:
    """Other programs can read them by a stack reference."""
    outputs = platform.training.outputs()

    assert outputs == {
        "queues": {"llm": "team-language", "resnet": "team-vision"},
        "pods": ["llm-master-0", "llm-worker-0", "llm-worker-1"],
        "master_address": "llm-master-0.llm",
    }


# Pulumi does not await some coroutines of a failed Output.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_jobs_without_the_queues_fail_with_the_missing_stack(tmp_path: Path) -> None:
    """The error has no traceback."""
    with pytest.raises(automation.errors.CommandError) as caught:
        Platform(tmp_path / "platform").training.preview()

    # Both jobs fail, and the engine reports either of them.
    assert re.search(
        r"the stack organization/platform-queues/dev has no queue of the team (vision|language) \(it has none\): enter"
        r" the team in platform_jobs/teams\.py, and run `pulumi up` in queues/",
        str(caught.value),
    )
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("right", "wrong", "rule", "place", "values"),
    [
        (
            'queues.of("vision")',
            'queues.of("language")',
            "platform-team",
            "job resnet, task master",
            ["vision", "team-vision", "Queues().of('vision')"],
        ),
        (
            'f"resnet:{tag}"',
            'f"quay.io/resnet:{tag}"',
            "volcano-job-images",
            "job resnet, task master, container train: image",
            ['"quay.io/resnet:dev"', "registry.example.com/training"],
        ),
    ],
    ids=["the queue of another team", "another registry"],
)
def test_the_policy_rejects_a_job_that_bypasses_the_component(
    before: Platform, training: Program, right: str, wrong: str, rule: str, place: str, values: list[str]
) -> None:
    """The preview knows the queue of the other stack."""
    training.replace(right, wrong)

    verdict = before.pack.check(training)

    assert verdict.error
    ((level, name, _, message),) = verdict.violations
    assert (level, name) == ("mandatory", rule)
    assert are_about([message], place)
    assert all(value in message for value in values)


def test_the_policy_rejects_an_edit_of_a_running_job(tmp_path: Path) -> None:
    """The new image is of another registry; the engine shows it for the task and not for the Pods."""
    platform = Platform(tmp_path / "platform")
    platform.queues.up()
    platform.training.up()
    platform.training.replace('f"resnet:{tag}"', 'f"quay.io/resnet:{tag}"')

    verdict = platform.pack.check(platform.training, up=True)

    assert verdict.error
    assert [(name, where) for _, name, where, _ in verdict.violations] == [("volcano-job-images", "Task resnet-master")]
    pod = platform.training.manifests()["Pod resnet-master-0"]
    assert pod["spec"]["containers"][0]["image"] == "registry.example.com/training/resnet:dev"


def test_the_policy_rejects_a_job_without_a_team(before: Platform, training: Program) -> None:
    """The program uses VolcanoJob without the platform's component."""
    training.write(
        "__main__.py",
        """
from pulumi_volcano_jobs import VolcanoJob

container = {"name": "train", "image": "train:1", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
VolcanoJob("own", {"tasks": [{"name": "worker", "replicas": 1, "template": pod}]})
""",
    )

    verdict = before.pack.check(training)

    assert verdict.rules == ["platform-team", "volcano-job-queues"]
    (team,), (queue,) = verdict.messages["platform-team"], verdict.messages["volcano-job-queues"]
    assert team == (
        "job own, task worker: the label team must be one of language, vision: make the job with"
        " platform_jobs.TrainingJob"
    )
    assert are_about([queue], "job own: spec.queue")
    assert all(name in queue for name in ('"default"', "team-language", "team-vision"))


def test_errors_of_the_platform_have_no_traceback(training: Program) -> None:
    """The message is that of the platform, with the name of the job."""
    training.replace("nodes=3", "nodes=30")

    with pytest.raises(automation.errors.CommandError) as caught:
        training.preview()

    message = "llm.nodes: Invalid value: 30: the job needs 240 GPUs, but the queue of language has 32: use fewer nodes"
    assert message in str(caught.value)
