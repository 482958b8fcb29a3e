"""Files that failed when the library was tried with a real cluster, and how they behave now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from pulumi_volcano_jobs import cli
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, MAX_LABEL

REPORTS = Path(__file__).parent / "reports"
POD = "spec.tasks[0].template.spec"
UNIT = 'Invalid value: "1d": unknown unit "d" in duration "1d": write "24h"'
COMPOSED: dict[str, list[str]] = {
    "duration": [f"spec.policies[0].timeout: {UNIT}", f"spec.runningEstimate: {UNIT}"],
    "timeout-1d": [f"spec.policies[0].timeout: {UNIT}"],
}
OF_CLAIM = "spec.volumes[{}].volumeClaim"
BY_API_SERVER: dict[str, list[str]] = {
    "queue-64": ["spec.queue: Too long: may not be more than 63 bytes: the queue becomes a label value of each Pod "],
    "wait-image-empty": ['spec.plugins.pytorch[1]: --wait-master-image: Invalid value: " x": must not contain '],
    "priority": [f"{POD}.priority: Forbidden: "],
    "claim-rwx": [
        f'{OF_CLAIM.format(0)}.accessModes[0]: Unsupported value: "RWX": supported values: ',
        f'{OF_CLAIM.format(0)}.resources.requests.storage: Invalid value: "x": quantities must match',
        f'{OF_CLAIM.format(0)}.storageClassName: Invalid value: "A_b": ',
    ],
    "claim-unchecked": [
        f"{OF_CLAIM.format(0)}.accessModes: Required value: at least 1 access mode is required: ",
        f"{OF_CLAIM.format(0)}.resources.requests.storage: Required value: ",
        f'{OF_CLAIM.format(1)}.accessModes[0]: Unsupported value: "ReadWriteAll": supported values: ',
        f'{OF_CLAIM.format(1)}.resources.requests.storage: Invalid value: "-1Gi": must be greater than zero: ',
        f'{OF_CLAIM.format(2)}.storageClassName: Invalid value: "My_Class": ',
        f'{OF_CLAIM.format(2)}.volumeMode: Unsupported value: "FileSystem": supported values: "Block", "Filesystem": ',
    ],
}
OF_NAMES = ("volume-name-too-long", "dotted-name-volume")
NATIVE: dict[str, list[str]] = COMPOSED | {
    "dotted-name-volume": [
        'metadata.name: Invalid value: "llama3.1": must be a lowercase RFC 1123 label of at most 50 characters, without'
    ],
    "webhook-stricter": [
        f"{POD}.containers[0].envFrom[0].prefix: Invalid value: ",
        f"{POD}.containers[0].env[0].name: Invalid value: ",
        f"{POD}.containers[0].lifecycle.stopSignal: Forbidden: ",
        f"{POD}.containers[0].restartPolicy: Forbidden: ",
        f'{POD}.tolerations[0].operator: Unsupported value: "Lt": ',
    ],
    "env-twice-native": [f'{POD}.containers[0].env[1]: Duplicate value: {{"name":"A"}}: '],
}


def run(command: str, report: str, *options: str) -> tuple[int, str, list[str]]:
    """Run a command for a report, and return its exit code, its output and its problems, sorted by path."""
    path = str(REPORTS / f"{report}.yaml")
    done = CliRunner().invoke(cli.app, [command, path, *options], prog_name="volcano-jobs")
    problems = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(path)]
    problems += [line.split(": ", 1)[1] for line in done.stderr.splitlines() if line.startswith(path)]
    return done.exit_code, done.stdout, sorted(problem.removeprefix("error: ") for problem in problems)


@pytest.mark.parametrize("command", ["validate", "render"])
@pytest.mark.parametrize("report", NATIVE)
def test_a_report_is_rejected_in_native_mode(report: str, command: str) -> None:
    """Each field that Volcano's CRD or webhook rejects has its error."""
    code, _, problems = run(command, report, "--managed-by", "volcano")

    assert code == 1
    assert len(problems) == len(NATIVE[report])
    assert [
        (text, start) for text, start in zip(problems, NATIVE[report], strict=True) if not text.startswith(start)
    ] == []


@pytest.mark.parametrize("report", COMPOSED)
def test_a_wrong_duration_is_rejected_in_composed_mode(report: str) -> None:
    """The Job cannot be decoded at all."""
    code, _, problems = run("validate", report)

    assert (code, problems) == (1, COMPOSED[report])


@pytest.mark.parametrize("managed_by", ["pulumi", "volcano"])
@pytest.mark.parametrize("report", BY_API_SERVER)
def test_what_the_api_server_rejects_is_found_in_both_modes(report: str, managed_by: str) -> None:
    """Volcano accepts the Job, and the Pods or claims cannot be made."""
    code, _, problems = run("validate", report, "--managed-by", managed_by)

    assert code == 1
    assert len(problems) == len(BY_API_SERVER[report])
    assert all(map(str.startswith, problems, BY_API_SERVER[report]))


@pytest.mark.parametrize("report", OF_NAMES)
def test_volumes_of_a_composed_job_have_valid_names(report: str) -> None:
    """A job's name that a volume cannot begin with is left out."""
    code, text, _ = run("render", report)

    (pod,) = (item for item in yaml.safe_load_all(text) if item["kind"] == "Pod")
    (volume,) = pod["spec"]["volumes"]
    (mount,) = pod["spec"]["containers"][0]["volumeMounts"]
    assert code == 0
    assert volume["name"] == mount["name"]
    assert len(volume["name"]) <= MAX_LABEL
    assert re.fullmatch(DNS_LABEL, volume["name"])


def test_a_repeated_pull_secret_is_warned_of() -> None:
    """Server-side apply rejects it."""
    code, _, problems = run("validate", "pull-secrets-twice")

    assert code == 0
    (problem,) = problems
    assert problem == (
        f'warning: {POD}.imagePullSecrets[1]: Duplicate value: {{"name":"a"}}: server-side apply rejects duplicates:'
        f" remove one (the first is {POD}.imagePullSecrets[0]) [VJ116]"
    )


def test_an_amount_with_a_fraction_is_written_as_text() -> None:
    """The CRD rejects the number 0.5."""
    code, text, _ = run("render", "quantity-float", "--managed-by", "volcano")

    (native_job,) = yaml.safe_load_all(text)
    container = native_job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    assert (code, container["resources"]) == (0, {"requests": {"cpu": "500m"}})
