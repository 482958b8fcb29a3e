"""`volcano-jobs status`: the state of a job from recorded objects, and the reasons why it waits or failed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.status.reasons.observation import CODES
from tests.cli.conftest import Answer, Shell
from tests.cli.states import NAMESPACE, SECRET_VALUE, STATES, mpi, pytorch
from tests.conftest import Wire

EXPECTED: dict[str, tuple[int, list[str]]] = {
    "running": (4, []),
    "quickstart": (4, []),
    "done": (0, []),
    "not-enough-gpus": (3, ["insufficient"]),
    "no-node-is-large-enough": (3, ["insufficient"]),
    "taints-and-selectors": (3, ["taint"]),
    "label-of-no-node": (3, ["node-selector"]),
    "queue-closed": (3, ["queue"]),
    "queue-missing": (3, ["queue"]),
    "queue-full": (3, ["capability"]),
    "queue-too-small": (3, ["capability"]),
    "image-not-found": (3, ["image"]),
    "image-without-credentials": (3, ["image"]),
    "pull-secret-missing": (3, ["image"]),
    "secret-missing": (3, ["configuration"]),
    "config-map-missing": (3, ["volume"]),
    "claim-pending": (3, ["claim"]),
    "claim-missing": (3, ["claim"]),
    "waits-for-the-master": (3, ["init"]),
    "out-of-memory": (1, ["failed", "failed"]),
    "a-rank-failed-first": (1, ["failed", "failed"]),
    "crash-loop": (3, ["restarting"]),
    "always-restarted": (3, ["restarting"]),
    "workers-of-mpi-are-idle": (0, ["idle"]),
    "evicted": (1, ["failed"]),
    "pods-are-gone": (3, ["pods-gone"]),
    "no-pod-group": (3, ["no-pod-group"]),
    "unknown-scheduler": (3, ["scheduler"]),
    "too-few-pods": (3, ["too-few-pods"]),
    "policy-denies-all": (4, ["network-policy", "network-policy"]),
    "clients-are-kept-out": (4, ["clients"]),
    "host-lists-are-older": (4, ["host-lists"]),
    "node-not-ready": (4, ["node"]),
    "stored-job-failed": (1, ["failed", "failed"]),
    "stored-job-aborted": (1, ["suspended"]),
    "stored-job-with-an-error": (3, ["controller"]),
    "controllers-do-not-run": (3, ["controller"]),
    "depends-on": (4, ["depends-on"]),
    "quota-exceeded": (3, ["quota"]),
    "gang-waits": (3, ["gang"]),
    "gang-is-not-admitted": (3, ["insufficient"]),
    "cluster-is-overused": (3, ["insufficient"]),
    "gpus-behind-a-taint": (3, ["taint"]),
    "selector-of-a-gang-that-is-not-admitted": (3, ["node-selector"]),
    "just-created": (3, ["gang"]),
    "scheduling-gate": (3, ["unschedulable"]),
    "sandbox-fails": (3, ["starting"]),
    "pod-does-not-end": (3, ["terminating"]),
    "probe-fails": (4, ["not-ready"]),
    "many-pods": (3, ["configuration"]),
}
"""The exit code of each state, and the codes of its reasons."""


def as_list(objects: list[Wire]) -> bytes:
    """Return objects as kubectl prints them."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


def status(shell: Shell, name: str, *arguments: str) -> Answer:
    """Run the command on a state."""
    answer = shell("status", "--from", "-", *arguments, stdin=as_list(STATES[name]()))
    assert answer.err == ""
    return answer


def as_json(shell: Shell, name: str) -> dict[str, Any]:
    """Return the JSON of a state."""
    parsed: dict[str, Any] = json.loads(status(shell, name, "--format", "json").out)
    return parsed


def test_each_state_is_expected() -> None:
    """A new state has an exit code and reasons."""
    assert sorted(EXPECTED) == sorted(STATES)


@pytest.mark.parametrize("name", STATES)
def test_a_state_has_an_exit_code_and_reasons(shell: Shell, name: str) -> None:
    """The reasons are sorted by how likely they are the cause."""
    code, reasons = EXPECTED[name]

    found = status(shell, name, "--format", "json")

    assert (found.code, [reason["code"] for reason in json.loads(found.out)["reasons"]]) == (code, reasons)


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_shown_as_text(
    shell: Shell, name: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reason names the object that shows it, and the fix."""
    monkeypatch.setenv("COLUMNS", "100")

    assert status(shell, name).out == snapshot


def test_values_of_variables_are_not_shown(shell: Shell) -> None:
    """A traceback that contains the key of a service is redacted, in text and in JSON."""
    recorded = as_list(STATES["a-rank-failed-first"]()).decode()
    assert recorded.count(SECRET_VALUE) == 5

    shown = status(shell, "a-rank-failed-first").out + status(shell, "a-rank-failed-first", "--format", "json").out

    assert SECRET_VALUE not in shown
    assert shown.count("login(key='<private>')") == 2


def test_the_rank_that_failed_first_is_the_first_reason(shell: Shell) -> None:
    """Its last lines are part of the reason."""
    first, later = as_json(shell, "a-rank-failed-first")["reasons"]

    assert first["names"] == ["train-worker-2"]
    assert first["lines"][-1] == "ModuleNotFoundError: No module named 'wandb'"
    assert later["names"] == ["train-master-0", "train-worker-0", "train-worker-1"]


def test_json_has_each_pod(shell: Shell) -> None:
    """Text combines Pods of large jobs."""
    found = as_json(shell, "many-pods")

    assert [(task["name"], task["replicas"], len(task["pods"])) for task in found["tasks"]] == [
        ("master", 1, 1),
        ("worker", 200, 200),
    ]
    assert found["tasks"][1]["pods"][117] == {
        "name": "train-worker-117",
        "index": 117,
        "status": "CreateContainerConfigError",
        "node": "gpu-118",
        "restarts": 0,
        "created": "2026-11-29T09:00:00Z",
    }
    assert (found["job"], found["namespace"], found["managedBy"]) == ("train", NAMESPACE, "pulumi")
    assert found["state"] == "waiting"


class TestFrom:
    """`--from` reads what kubectl has printed."""

    def test_several_documents_are_read(self, shell: Shell) -> None:
        """The output of several commands can be appended to one file. Other objects are ignored."""
        objects = STATES["queue-closed"]()
        batch_job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": NAMESPACE}}
        pods = [item for item in objects if item["kind"] == "Pod"]
        for pod in pods:
            del pod["kind"], pod["apiVersion"]
        others = [item for item in objects if item not in pods]
        documents = [{"kind": "PodList", "apiVersion": "v1", "items": pods}, *others, batch_job]
        text = "\n".join(json.dumps(document, indent=4) for document in documents)

        answer = shell("status", "--from", shell.write("state.json", text), "--format", "json")

        assert (answer.code, answer.err) == (3, "")
        assert [reason["code"] for reason in json.loads(answer.out)["reasons"]] == ["queue"]

    def test_yaml_is_read(self, shell: Shell) -> None:
        """`kubectl get -o yaml` also prints a List."""
        file = shell.write("state.yaml", yaml.safe_load(as_list(STATES["done"]())))

        assert shell.good("status", "--from", file).out == status(shell, "done").out

    def test_a_job_is_selected_by_name_or_file(self, shell: Shell) -> None:
        """A file with several jobs needs a name."""
        objects = [*STATES["done"](), *STATES["crash-loop"]()]
        file = shell.write("state.json", as_list(objects))
        jobs = shell.write("jobs.yaml", pytorch(), mpi())

        assert shell("status", "train", "--from", file).code == 0
        assert shell("status", "solve", "--from", file).code == 3
        assert shell("status", "--from", file) == Answer(
            2, "", "volcano-jobs: set the name of a job: the file has solve, train\n"
        )
        both = shell("status", jobs, "--from", file)
        assert (both.code, both.out.count("\nReason\n")) == (3, 1)
        assert shell("status", "other", "--from", file).code == 2

    def test_a_file_of_the_job_has_the_replicas(self, shell: Shell) -> None:
        """Pods that were never created are missing."""
        file = shell.write("state.json", as_list(STATES["running"]()))
        document = pytorch(workers=5)

        answer = shell("status", shell.write("job.yaml", document), "--from", file, "--format", "json")

        (reason,) = json.loads(answer.out)["reasons"]
        assert (reason["code"], reason["names"]) == ("pods-gone", ["train-worker-3", "train-worker-4"])

    @pytest.mark.parametrize("text", ["", "{", "[1, 2]", "- 1", "a: b: c", '{"items": []}', "\0"])
    def test_other_files_are_rejected(self, shell: Shell, text: str, snapshot: SnapshotAssertion) -> None:
        """The message has the command that records the objects."""
        answer = shell("status", "train", "--from", shell.write("state.json", text))

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot


class TestUsage:
    """Wrong usage has the exit code 2."""

    def test_a_job_is_needed(self, shell: Shell) -> None:
        """Without recorded objects, there is no list of jobs."""
        assert shell("status") == Answer(2, "", "volcano-jobs: set the name of a job, or a file with a job\n")

    def test_watch_needs_a_cluster(self, shell: Shell) -> None:
        """Recorded objects do not change."""
        assert shell("status", "train", "--watch", "--from", "-").code == 2

    def test_standard_input_is_read_once(self, shell: Shell) -> None:
        """A job and recorded objects cannot both come from it."""
        assert "standard input can be read only once" in shell("status", "-", "--from", "-").err

    @pytest.mark.parametrize("name", ["-n", "Train", "--x", "a b", "tr\nain"])
    def test_a_name_is_checked(self, shell: Shell, name: str) -> None:
        """It is passed to kubectl."""
        answer = shell("status", "--", name)

        assert (answer.code, answer.out) == (2, "")

    def test_the_namespaces_of_file_and_option_must_agree(self, shell: Shell) -> None:
        """Kubectl also rejects two namespaces."""
        file = shell.write("job.yaml", pytorch())

        answer = shell("status", file, "-n", "other")

        assert answer.code == 2
        assert "the namespace of the job train in the file is research" in answer.err

    def test_a_file_needs_a_job(self, shell: Shell) -> None:
        """A file with a problem is reported with its line."""
        assert shell("status", shell.write("a.yaml", {"kind": "ConfigMap", "apiVersion": "v1"})).code == 2
        assert shell("status", shell.write("b.yaml", "a: [")).err.startswith("b.yaml:2:1: Invalid value")


def test_each_code_of_a_reason_has_a_state() -> None:
    """Codes are documented in docs/status.md."""
    shown = {code for _, codes in EXPECTED.values() for code in codes}

    assert set(CODES) == shown
