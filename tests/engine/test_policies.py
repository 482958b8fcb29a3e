"""The policy pack of examples/policy, run by the real engine on jobs of both modes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
import stack as stacks
from pulumi import automation
from pulumi.automation import EngineEvent

from pulumi_volcano_jobs import JobError
from pulumi_volcano_jobs.plugins import ssh_keys
from pulumi_volcano_jobs.policy import allowed_registries
from tests.engine.conftest import PROGRAM, ROOT, Project, Wire, short
from tests.engine.test_pulumi_yaml import JOB, YamlProject
from tests.policy.harness import are_about

pytestmark = pytest.mark.engine
PAGE = (ROOT / "docs" / "policies.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PACK, OTHER_PACK, BREAKS_ALL = (text for language, text in BLOCKS if language == "python")
SAID = re.findall(r"^### (\S+)$.*?^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
IMAGE = "job train, task worker, container train: image"
RULES = [
    "volcano-job-gang",
    "volcano-job-host-network",
    "volcano-job-images",
    "volcano-job-keys",
    "volcano-job-network-policy",
    "volcano-job-queues",
    "volcano-job-requests",
]
JOBS = """
from pulumi_volcano_jobs import SshPlugin, SvcPlugin

amounts = {"requests": {"cpu": "1", "memory": "1Gi"}}

def job(name, mode, *, image="ghcr.io/my-team/train:1", resources=amounts, replicas=2, spec={}, **fields):
    container = {"name": "train", "image": image, "resources": resources}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container], **spec}}
    task = {"name": "worker", "replicas": replicas, "template": pod}
    given = {"queue": "research", "tasks": [task], "plugins": {"svc": [], "env": []}}
    return VolcanoJob(name, {**given, "managed_by": mode, **fields}, opts)

"""
BROKEN = """
broken = {
    "image": "busybox:1", "resources": {}, "queue": "default", "min_available": 1, "spec": {"hostNetwork": True},
    "plugins": {"svc": ["--disable-network-policy=true"]},
}
job("train", "pulumi", **broken)
job("vcjob", "volcano", **broken)
"""
GOOD = """
job("train", "pulumi", plugins={"ssh": [], "svc": []})
job("vcjob", "volcano", plugins={"ssh": [], "svc": []})
"""
KEYS = """
from pulumi_volcano_jobs.plugins import ssh_keys as keys

pair = keys.generate("ed25519")
def ssh(key):
    return [SshPlugin(ssh_private_key=key, ssh_public_key=pair.public), SvcPlugin()]

# Three ways that are open, and one that is not.
job("text", "pulumi", plugins=ssh(pair.private))
job("output", "pulumi", plugins=ssh(pulumi.Output.from_input(pair.private)))
job("vcjob", "volcano", plugins=ssh(pulumi.Output.secret(pair.private)))
job("secret", "pulumi", plugins=ssh(pulumi.Output.secret(pair.private)))
job("variable", "pulumi", spec={"initContainers": [
    {"name": "copy", "image": "ghcr.io/my-team/copy", "env": [{"name": "KEY", "value": pair.private}]}]})
"""
LATER = """
other = kubernetes.core.v1.ConfigMap("other", opts=opts)
job("train", "pulumi", image=other.id.apply(lambda _: "quay.io/train:1"))
"""
RAW = """
kubernetes.core.v1.Pod("other", opts=opts, spec={
    "hostNetwork": True, "containers": [{"name": "other", "image": "busybox:1"}]})
kubernetes.apiextensions.CustomResource(
    "raw", "batch.volcano.sh/v1alpha1", "Job", opts=opts, metadata={"name": "raw"},
    spec={"minAvailable": 1, "tasks": [{"name": "worker", "replicas": 3, "template": {"spec": {"containers": [
        {"name": "train", "image": "ghcr.io/my-team/train:1", "resources": amounts}]}}}]},
)
"""


@dataclass
class Verdict:
    """Policy results of a preview or an update."""

    events: list[EngineEvent] = field(default_factory=list)
    error: str = ""

    @property
    def text(self) -> str:
        """All output of the engine."""
        return self.error + "".join(repr(event.policy_event and event.policy_event.__dict__) for event in self.events)

    @property
    def messages(self) -> dict[str, set[str]]:
        """Messages of each rule, for any resource."""
        return {rule: {message for _, name, _, message in self.violations if name == rule} for rule in self.rules}

    @property
    def rules(self) -> list[str]:
        """Rules that have a message."""
        return sorted({name for _, name, _, _ in self.violations})

    @property
    def violations(self) -> list[tuple[str, str, str, str]]:
        """Level, rule, resource and message of each violation, without the description of the rule."""
        policies = [event.policy_event for event in self.events if event.policy_event]
        return sorted(
            (item.enforcement_level, item.policy_name, short(item.resource_urn), _message(item.message))
            for item in policies
        )


def _message(text: str) -> str:
    return text.strip().splitlines()[-1]


class HasStack(Protocol):
    """A project with a stack."""

    @property
    def stack(self) -> automation.Stack:
        """The stack."""


class Pack:
    """A copy of an example pack with a script that starts it, because no registry has Pulumi's Python host."""

    def __init__(self, folder: Path, program: str = "", example: str = "policy") -> None:
        """Copy the pack, with another program if one is passed."""
        shutil.copytree(ROOT / "examples" / example, folder)
        if program:
            (folder / "__main__.py").write_text(program, "utf-8")
        self.starter = folder / "run"
        self.starter.write_text(f'#!/bin/sh\nexec {sys.executable} -u -m pulumi.policy "$1" {folder}\n', "utf-8")
        self.starter.chmod(0o700)
        self.config = folder / "config.json"

    def check(self, project: HasStack, *, up: bool = False, config: object = None) -> Verdict:
        """Run a preview or an update under the pack."""
        verdict = Verdict()
        configs: Sequence[str] | None = None
        if config is not None:
            self.config.write_text(json.dumps(config), "utf-8")
            configs = [str(self.config)]
        run = project.stack.up if up else project.stack.preview
        try:
            with stacks.alone(project.stack):
                run(
                    on_event=verdict.events.append,
                    color="never",
                    policy_packs=[str(self.starter)],
                    policy_pack_configs=configs,
                )
        except automation.errors.CommandError as error:
            verdict.error = str(error)
        return verdict


@pytest.fixture(scope="module", autouse=True)
def code() -> Iterator[None]:
    """Add the code of this repository to the import path of packs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    """Provide the pack of the example."""
    return Pack(tmp_path_factory.mktemp("policy") / "pack")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide a project for updates."""
    return Project(tmp_path / "project", "pass\n")


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a project for previews only, without resources."""
    folder = tmp_path_factory.mktemp("previewed")
    return Project(folder, "pass\n", {"kubernetes:renderYamlToDirectory": str(folder / "rendered")})


def program(project: Project, text: str) -> None:
    """Set the program of the project."""
    project.write("__main__.py", PROGRAM + JOBS + text)


def kinds(project: Project) -> set[str]:
    """Return the types of the resources in the state."""
    return {resource["type"].rpartition(":")[2] for resource in project.resources()}


def test_each_rule_holds_in_both_modes(pack: Pack, project: Project) -> None:
    """A preview reports each task and job once, and an update creates no object."""
    program(project, BROKEN)

    verdict = pack.check(project)

    assert verdict.error
    assert {level for level, *_ in verdict.violations} == {"mandatory"}
    whole = {"volcano-job-gang", "volcano-job-network-policy", "volcano-job-queues"}
    assert sorted((name, where) for _, name, where, _ in verdict.violations) == sorted(
        (name, where)
        for name in RULES
        if name != "volcano-job-keys"
        for where in ("Job vcjob", "PodGroup train" if name in whole else "Task train-worker")
    )
    assert pack.check(project, up=True).error
    assert kinds(project).isdisjoint({"Pod", "PodGroup", "Job"})


def test_compliant_jobs_pass(pack: Pack, project: Project) -> None:
    """Both modes are covered, with a pair generated by Pulumi or by Volcano."""
    program(project, GOOD)

    preview, update = pack.check(project), pack.check(project, up=True)

    assert (preview.violations, preview.error) == ([], "")
    assert (update.violations, update.error) == ([], "")
    assert {"Pod", "PodGroup", "Job"} <= kinds(project)


def test_plain_keys_are_violations_without_the_key(pack: Pack, previewed: Project) -> None:
    """They are in the program, in a plain Output, in a Job and in a variable; a secret key passes."""
    program(previewed, KEYS)

    verdict = pack.check(previewed)

    places = {
        "Job vcjob": "job vcjob: ssh: --ssh-private-key",
        "SshPlugin output-ssh": "job output: ssh_private_key",
        "SshPlugin text-ssh": "job text: ssh_private_key",
        "Task variable-worker": "job variable, task worker: initContainers[0].env[0].value",
    }
    assert [where for _, _, where, _ in verdict.violations] == list(places)
    assert are_about([message for *_, message in verdict.violations], *places.values())
    assert verdict.rules == ["volcano-job-keys"]
    assert "PRIVATE KEY" not in verdict.text


def test_an_edit_of_a_running_job_is_checked(pack: Pack, project: Project) -> None:
    """The engine shows the old Pod specs, so violations are reported for the task; nothing is replaced."""
    program(project, 'job("train", "pulumi")')
    project.up()
    program(project, 'job("train", "pulumi", image="quay.io/train:2")')

    preview, update = pack.check(project), pack.check(project, up=True)

    for verdict in (preview, update):
        assert verdict.error
        ((*violations, message),) = verdict.violations
        assert violations == ["mandatory", "volcano-job-images", "Task train-worker"]
        assert are_about([message], IMAGE)
        assert '"quay.io/train:2"' in message
        assert all(registry in message for registry in ("ghcr.io/my-team", "registry.example.com"))
    assert project.manifests()["Pod train-worker-0"]["spec"]["containers"][0]["image"] == "ghcr.io/my-team/train:1"
    # Without the pack the edit is valid.
    assert project.preview().steps == {
        "Task train-worker": "update",
        "Pod train-worker-0": "replace",
        "Pod train-worker-1": "replace",
    }


def test_values_unknown_in_a_preview_are_checked_by_the_update(pack: Pack, project: Project) -> None:
    """The preview lists skipped checks as advice; the update does not create the Pod."""
    program(project, LATER)
    advice = next(text for language, text in BLOCKS if language == "text").splitlines()

    preview, update = pack.check(project), pack.check(project, up=True)

    assert not preview.error
    assert {(level, message) for level, _, _, message in preview.violations} == {("advisory", text) for text in advice}
    assert update.error
    assert update.rules == ["volcano-job-images"]
    (message,) = update.messages["volcano-job-images"]
    assert are_about([message], IMAGE)
    assert '"quay.io/train:1"' in message
    assert "VolcanoJob" in kinds(project)
    assert "Pod" not in kinds(project)


def test_jobs_without_the_component_are_checked(pack: Pack, previewed: Project) -> None:
    """Volcano's defaults apply; Pods outside of jobs are ignored."""
    program(previewed, RAW)

    verdict = pack.check(previewed)

    assert verdict.rules == ["volcano-job-gang", "volcano-job-queues"]
    (gang,), (queue,) = verdict.messages["volcano-job-gang"], verdict.messages["volcano-job-queues"]
    assert are_about([gang, queue], "job raw: spec.minAvailable", "job raw: spec.queue")
    assert set(re.findall(r"\d+", gang)) == {"3", "1"}
    assert all(name in queue for name in ('"default"', "prod", "research"))


def test_an_invalid_configuration_is_rejected(pack: Pack, previewed: Project) -> None:
    """The engine lists the errors and runs no policy."""
    bad = {
        "volcano-job-queues": {"queues": []},
        "volcano-job-gang": {"share": 3},
        "volcano-job-images": {"registries": ["https://ghcr.io"]},
        "volcano-job-requests": {"initContainers": "yes"},
    }

    error = pack.check(previewed, config=bad).error

    messages = re.findall(r"error: validating policy config: volcano-jobs 0.1.0  (.*)", error)
    assert {text.partition(" '")[0] for text in messages} == {
        "volcano-job-gang: share: Must be less than or equal to 1",
        "volcano-job-images: registries.0: Does not match pattern",
        "volcano-job-queues: queues: Array must have at least 1 items",
        "volcano-job-requests: initContainers: Invalid type. Expected: boolean, given: string",
    }


def test_lists_can_come_from_the_configuration_only(previewed: Project, tmp_path: Path) -> None:
    """Without the file such a pack does not start; a pack without lists has no such rules."""
    program(previewed, BROKEN)
    lists = {"volcano-job-queues": {"queues": ["default"]}, "volcano-job-images": {"registries": ["docker.io"]}}
    empty = Pack(tmp_path / "empty", "from pulumi_volcano_jobs import policy\n\npolicy.pack()\n")
    none = Pack(
        tmp_path / "none", "from pulumi_volcano_jobs import policy\n\npolicy.pack(queues=None, registries=None)\n"
    )

    without = empty.check(previewed).error

    assert "volcano-job-queues: queues is required" in without
    assert "volcano-job-images: registries is required" in without
    # The list contains the queue of the job and the registry of its image, so neither rule finds a violation.
    expected = [rule for rule in RULES if rule not in {"volcano-job-queues", "volcano-job-images", "volcano-job-keys"}]
    assert empty.check(previewed, config=lists).rules == expected
    assert none.check(previewed).rules == expected


def test_a_pack_with_a_wrong_list_does_not_start(previewed: Project, tmp_path: Path) -> None:
    """The error is one line without a traceback."""
    started = Pack(tmp_path / "pack", 'from pulumi_volcano_jobs import policy\n\npolicy.pack(registries=["busybox"])\n')

    error = started.check(previewed).error

    with pytest.raises(JobError) as caught:
        allowed_registries(["busybox"])
    assert any(line.endswith(f": {caught.value}") and "volcano-jobs" in line for line in error.splitlines())
    assert "Traceback" not in error


@pytest.fixture(scope="module")
def other_language(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Preview a program in Pulumi YAML under the pack: two jobs, of which `train` has a secret key."""
    pair = ssh_keys.generate("ed25519")
    project = YamlProject(tmp_path_factory.mktemp("yaml"))

    def job(private: object) -> Wire:
        ssh = ["--ssh-private-key", private, f"--ssh-public-key={pair.public}"]
        # Pulumi YAML has no aliases, so the jobs share no value.
        return {**deepcopy(JOB), "plugins": {**deepcopy(JOB["plugins"]), "ssh": ssh}}

    plain = {"type": "volcano-jobs:index:VolcanoJob", "properties": job(pair.private)}
    others = {"plain": {**plain, "options": {"providers": ["${files}"]}}}
    project.write(job({"fn::secret": pair.private}), resources=others)
    project.pulumi("stack", "init", "dev")

    done = project.pulumi("preview", "--policy-pack", str(pack.starter))

    return done.stdout + done.stderr


@pytest.mark.parametrize("job", ["train", "plain"])
def test_programs_in_other_languages_are_checked(other_language: str, job: str) -> None:
    """The component provider creates the same tree and knows which keys are secrets."""
    assert f"volcano-job-requests  (volcano-jobs:index:Task: {job}-worker)" in other_language
    assert (f"job {job}: ssh_private_key: " in other_language) is (job == "plain")
    assert "PRIVATE KEY" not in other_language


class TestPage:
    """docs/policies.md: all commands and programs of the page run."""

    @pytest.fixture
    def broken(self, previewed: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
        """Provide the page's program that violates all rules, with the files that it reads."""
        pair = ssh_keys.generate("ed25519")
        previewed.write("id_ed25519", pair.private)
        previewed.write("id_ed25519.pub", pair.public)
        previewed.write("__main__.py", BREAKS_ALL)
        monkeypatch.delenv("KUBECONFIG", raising=False)
        monkeypatch.chdir(previewed.folder)
        return previewed

    def test_the_program_of_the_page_is_that_of_the_example(self) -> None:
        """The page quotes the file."""
        assert (ROOT / "examples" / "policy" / "__main__.py").read_text("utf-8") == PACK

    def test_the_page_shows_the_messages_of_each_rule(self, pack: Pack, broken: Project) -> None:
        """Each message occurs once."""
        verdict = pack.check(broken)

        assert verdict.messages == {rule: set(text.splitlines()) for rule, text in SAID}
        assert verdict.rules == RULES
        assert "PRIVATE KEY" not in verdict.text

    def test_the_page_shows_the_configuration_of_the_example(self, pack: Pack, broken: Project) -> None:
        """Levels and settings are those of the file."""
        config = json.loads(next(text for language, text in BLOCKS if language == "json"))

        verdict = pack.check(broken, config=config)

        assert {(name, level) for level, name, _, _ in verdict.violations} == {
            (name, "mandatory" if name == "volcano-job-queues" else "advisory")
            for name in RULES
            if name != "volcano-job-host-network"
        }
        queues, requests, gangs = (verdict.messages[f"volcano-job-{name}"] for name in ("queues", "requests", "gang"))
        assert all(name in text for text in queues for name in ("nightly", "prod", "research"))
        assert all(re.findall("cpu|memory|nvidia.com/gpu", text) == ["cpu", "nvidia.com/gpu"] for text in requests)
        assert all("2" in re.findall(r"\d+", text) for text in gangs)

    def test_the_other_pack_of_the_page_has_the_named_rules(self, broken: Project, tmp_path: Path) -> None:
        """Their levels are those of the page."""
        verdict = Pack(tmp_path / "other", OTHER_PACK).check(broken)

        assert {(name, level) for level, name, _, _ in verdict.violations} == {
            ("volcano-job-gang", "advisory"),
            ("volcano-job-network-policy", "mandatory"),
            ("volcano-job-queues", "mandatory"),
        }

    def test_the_commands_of_the_page_have_existing_flags(self) -> None:
        """Starting the pack needs Pulumi's Python host, which no registry has, so only the flags are checked."""
        shown = "".join(text for language, text in BLOCKS if language == "sh")
        for command, flags in re.findall(r"^pulumi (\w+) (.*)$", shown, re.MULTILINE):
            told = subprocess.run(["pulumi", command, "--help"], capture_output=True, text=True, check=True).stdout
            assert all(f"{flag} " in told for flag in re.findall(r"--[\w-]+", flags))
        assert shown.count("pulumi ") == 2
