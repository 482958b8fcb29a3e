"""Job files that failed in a real cluster, and their behavior now."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, MAX_LABEL
from tests.commands import run_command

REPORTS = Path(__file__).parent / "reports"
POD = "spec.tasks[0].template.spec"
MAIN = f"{POD}.containers[0]"
Expected = dict[str, list[tuple[str, str]]]
COMPOSED: Expected = {
    "duration": [("spec.policies[0].timeout", "Invalid"), ("spec.runningEstimate", "Invalid")],
    "timeout-1d": [("spec.policies[0].timeout", "Invalid")],
}
CLAIMS = [f"spec.volumes[{index}].volumeClaim" for index in range(3)]
BY_API_SERVER: Expected = {
    "queue-64": [("spec.queue", "TooLong")],
    "wait-image-empty": [("spec.plugins.pytorch[1]", "Invalid")],
    "priority": [(f"{POD}.priority", "Forbidden")],
    "claim-rwx": [
        (f"{CLAIMS[0]}.accessModes[0]", "NotSupported"),
        (f"{CLAIMS[0]}.resources.requests.storage", "Invalid"),
        (f"{CLAIMS[0]}.storageClassName", "Invalid"),
    ],
    "claim-unchecked": [
        (f"{CLAIMS[0]}.accessModes", "Required"),
        (f"{CLAIMS[0]}.resources.requests.storage", "Required"),
        (f"{CLAIMS[1]}.accessModes[0]", "NotSupported"),
        (f"{CLAIMS[1]}.resources.requests.storage", "Invalid"),
        (f"{CLAIMS[2]}.storageClassName", "Invalid"),
        (f"{CLAIMS[2]}.volumeMode", "NotSupported"),
    ],
}
PORTS = f"{MAIN}.ports"
BOTH_MODES: Expected = {
    "many-replicas-mpi": [("spec.tasks[1].replicas", "TooMany")],
    "twice-and-incomplete": [(PORTS, "Duplicate"), (f"{PORTS}[0].containerPort", "Required")],
}
OLD_VOLCANO: Expected = {
    "volcano-version": [("spec.plugins.svc[0]", "Forbidden")],
    "mpi-master-only": [("spec.plugins.mpi", "Required")],
}
OLD_RELEASES = {"volcano-version": "1.15", "mpi-master-only": "1.14"}
OF_NAMES = ("volume-name-too-long", "dotted-name-volume")
NATIVE: Expected = COMPOSED | {
    "dotted-name-volume": [("metadata.name", "Invalid")],
    "webhook-stricter": [
        (f"{MAIN}.envFrom[0].prefix", "Invalid"),
        (f"{MAIN}.env[0].name", "Invalid"),
        (f"{MAIN}.lifecycle.stopSignal", "Forbidden"),
        (f"{MAIN}.restartPolicy", "Forbidden"),
        (f"{POD}.tolerations[0].operator", "NotSupported"),
    ],
    "env-twice-native": [(f"{MAIN}.env[1]", "Duplicate")],
}
WARNED: Expected = {
    "scheduler-name": [("spec.schedulerName", "VJ131")],
    "dependson-gang": [("spec.tasks[1].dependsOn", "VJ132")],
    "zero-is-default": [("spec.maxRetry", "VJ133"), ("spec.minAvailable", "VJ133")],
    "torchrun-alone": [("spec.plugins.pytorch", "VJ120")],
    "ray-command-replaced": [(f"{MAIN}.command", "VJ145")],
    "unknown-vc-variable": [
        (f"{MAIN}.command[1]", "VJ142"),
        (f"{MAIN}.command[2]", "VJ142"),
        (f"{POD}.containers[1].command[2]", "VJ144"),
        (f"{POD}.containers[2].command[2]", "VJ142"),
        (f"{POD}.containers[2].command[2]", "VJ142"),
        (f"{POD}.containers[2].command[2]", "VJ143"),
    ],
    "hostnetwork-noise": [],
}
MISPLACED: dict[str, dict[str, str]] = {
    "field-at-template-level": {
        "spec.tasks[0].template.restartPolicy": f"{POD}.restartPolicy",
        "spec.tasks[0].template.terminationGracePeriodSeconds": f"{POD}.terminationGracePeriodSeconds",
    },
    "field-at-top-level": {"labels": "metadata.labels", "queue": "spec.queue"},
}


def run(command: str, report: str, *options: str) -> tuple[int, str, list[str]]:
    """Run a command for a report, and return its exit code, its output and its problems, sorted by path."""
    path = str(REPORTS / f"{report}.yaml")
    done = run_command(command, path, *options)
    problems = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith(path)]
    problems += [line.split(": ", 1)[1] for line in done.stderr.splitlines() if line.startswith(path)]
    return done.exit_code, done.stdout, sorted(problem.removeprefix("error: ") for problem in problems)


def typed(report: str, *options: str) -> list[tuple[str, str]]:
    """Return the path of each problem of a report with its type, or with its code if it is a warning."""
    _, text, _ = run("validate", report, "--format", "json", *options)
    return sorted((problem["path"], problem["code"] or problem["type"]) for problem in json.loads(text))


@pytest.mark.parametrize("report", NATIVE)
def test_a_report_is_rejected_in_native_mode(report: str, snapshot: SnapshotAssertion) -> None:
    """Each field that Volcano's CRD or webhook rejects has its error, in all commands."""
    code, _, problems = run("validate", report, "--managed-by", "volcano")
    render_code, _, of_render = run("render", report, "--managed-by", "volcano")

    assert code == render_code == 1
    assert typed(report, "--managed-by", "volcano") == sorted(NATIVE[report])
    assert of_render == problems
    assert problems == snapshot


@pytest.mark.parametrize("report", COMPOSED)
def test_a_wrong_duration_is_rejected_in_composed_mode(report: str) -> None:
    """The Job cannot be decoded at all."""
    code, _, problems = run("validate", report)

    assert code == 1
    assert typed(report) == COMPOSED[report]
    assert problems == run("validate", report, "--managed-by", "volcano")[2]


@pytest.mark.parametrize("report", BY_API_SERVER)
def test_a_report_that_only_the_api_server_rejects_is_rejected_in_both_modes(
    report: str, snapshot: SnapshotAssertion
) -> None:
    """Volcano accepts the Job, and the Pods or claims cannot be created."""
    code, _, problems = run("validate", report)
    native_code, _, native_problems = run("validate", report, "--managed-by", "volcano")

    assert code == native_code == 1
    assert typed(report) == typed(report, "--managed-by", "volcano") == BY_API_SERVER[report]
    assert native_problems == problems
    assert problems == snapshot


@pytest.mark.parametrize("mode", ["pulumi", "volcano"])
@pytest.mark.parametrize("report", BOTH_MODES)
def test_a_report_is_rejected_in_both_modes(report: str, mode: str) -> None:
    """All problems are reported at once, with bounded work."""
    assert run("validate", report, "--managed-by", mode)[0] == 1
    assert typed(report, "--managed-by", mode) == BOTH_MODES[report]


@pytest.mark.parametrize("report", OLD_VOLCANO)
def test_a_report_is_rejected_for_an_old_release_of_volcano(report: str) -> None:
    """It is valid for newer releases, and without Volcano's controllers."""
    native = ("--managed-by", "volcano", "--volcano-version")

    assert typed(report, *native, OLD_RELEASES[report]) == OLD_VOLCANO[report]
    assert typed(report, *native, "1.16") == typed(report) == []


def test_resources_of_a_pod_include_its_huge_pages() -> None:
    """Volcano's controller counts them for each Pod."""
    _, text, _ = run("render", "podlevel-hugepages")

    (group,) = (item for item in yaml.safe_load_all(text) if item["kind"] == "PodGroup")
    amounts = group["spec"]["minResources"]
    assert amounts["hugepages-2Mi"] == amounts["requests.hugepages-2Mi"] == "2Gi"


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


def test_a_repeated_pull_secret_has_a_warning() -> None:
    """Server-side apply rejects it."""
    code, _, problems = run("validate", "pull-secrets-twice")

    assert code == 0
    (problem,) = problems
    assert problem.startswith(f"warning: {POD}.imagePullSecrets[1]: ")
    assert typed("pull-secrets-twice") == [(f"{POD}.imagePullSecrets[1]", "VJ116")]


def test_on_conflict_decides_about_a_replaced_command() -> None:
    """A choice needs no warning. The command of the Pod is then the one that the help names."""
    by_plugin = run("render", "ray-command-replaced", "--on-conflict", "plugin")
    by_user = run("render", "ray-command-replaced", "--on-conflict", "user")

    assert not any("VJ145" in problem for problem in (*by_plugin[2], *by_user[2]))
    assert [_command_of_head(text) for _, text, _ in (by_plugin, by_user)] == ["ray start --head", "serve model"]


def _command_of_head(text: str) -> str:
    pods = [item for item in yaml.safe_load_all(text) if item["kind"] == "Pod"]
    command: str = pods[0]["spec"]["containers"][0]["command"][2]
    return command.partition(" --block")[0]


def test_an_amount_with_a_fraction_is_written_as_text() -> None:
    """The CRD rejects the number 0.5."""
    code, text, _ = run("render", "quantity-float", "--managed-by", "volcano")

    (native_job,) = yaml.safe_load_all(text)
    container = native_job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    assert (code, container["resources"]) == (0, {"requests": {"cpu": "500m"}})


@pytest.mark.parametrize("command", ["validate", "render", "explain", "convert"])
def test_lenient_mode_reports_a_dropped_field_and_its_effect(command: str, snapshot: SnapshotAssertion) -> None:
    """The field is a level too high, so Volcano drops it, and the Pods restart forever."""
    code, _, found = run(command, "lenient-silent", "--lenient")

    assert code == 0
    assert found == snapshot
    assert typed("lenient-silent", "--lenient") == [
        ("spec.tasks[0].template.restartPolicy", "VJ130"),
        (POD, "VJ101"),
    ]
    assert typed("lenient-silent") == [("spec.tasks[0].template.restartPolicy", "Forbidden"), (POD, "VJ101")]


def test_an_ignored_code_turns_off_the_warnings_of_lenient_mode() -> None:
    """Users who want the result of Volcano can say so."""
    assert run("validate", "lenient-silent", "--lenient", "--ignore", "VJ130,VJ101") == (
        0,
        "no problems in 1 file\n",
        [],
    )


@pytest.mark.parametrize("report", WARNED)
def test_a_job_that_volcano_accepts_and_misunderstands_has_a_warning(report: str, snapshot: SnapshotAssertion) -> None:
    """The last report is a sound job, which has none."""
    code, _, found = run("validate", report)

    assert code == 0
    assert typed(report) == typed(report, "--lenient") == WARNED[report]
    assert found == snapshot


def test_a_gang_that_never_starts_is_an_error_in_native_mode(snapshot: SnapshotAssertion) -> None:
    """Composed mode ignores dependsOn, and the gang starts."""
    code, _, found = run("validate", "dependson-gang", "--managed-by", "volcano")

    assert code == 1
    assert typed("dependson-gang", "--managed-by", "volcano") == [("spec.tasks[1].dependsOn", "Invalid")]
    assert found == snapshot


@pytest.mark.parametrize("report", MISPLACED)
def test_the_fix_of_a_field_at_the_wrong_level_is_its_place(report: str) -> None:
    """Volcano drops the field."""
    code, _, found = run("validate", report)

    assert code == 1
    errors = [problem for problem in found if not problem.startswith("warning: ")]
    places = {problem.partition(": ")[0]: problem.rpartition("move it to ")[2] for problem in errors}
    assert places == MISPLACED[report]
