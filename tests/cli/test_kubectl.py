"""`status` and `logs` read the cluster through kubectl, here one that answers from recorded objects."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.cli import logs as logs_command
from pulumi_volcano_jobs.cli import status as status_command
from tests.cli.conftest import Answer, Kubectl, Shell
from tests.cli.states import NAMESPACE, SECRET_VALUE, STATES, Recorded, pytorch
from tests.conftest import Wire

READING = {"get", "logs"}


SAME = ("running", "done", "not-enough-gpus", "queue-full", "claim-pending", "pods-are-gone", "stored-job-failed")


class TestStatus:
    """`status` of a cluster."""

    @pytest.mark.parametrize("name", SAME)
    def test_a_cluster_has_the_same_status_as_its_recorded_objects(
        self, shell: Shell, kubectl: Kubectl, name: str
    ) -> None:
        """The command reads all objects that the reasons need."""
        kubectl.has(STATES[name]())
        job = "train"

        live = shell("status", job, "--format", "json")

        recorded = json.dumps({"kind": "List", "items": STATES[name]()}).encode()
        expected = shell("status", "--from", "-", "--format", "json", stdin=recorded)
        assert (live.code, json.loads(live.out)) == (expected.code, json.loads(expected.out))

    def test_only_get_and_logs_are_called(self, shell: Shell, kubectl: Kubectl, snapshot: SnapshotAssertion) -> None:
        """Pods are selected by label, in pages; other objects by name or by field."""
        kubectl.has(STATES["not-enough-gpus"]())

        shell("status", "train", "-n", NAMESPACE, "--context", "prod", "--kubeconfig", "config")

        calls = sorted(kubectl.calls())
        assert {call.split()[0] for call in calls} <= READING
        assert all("--context=prod --kubeconfig=config" in call for call in calls)
        assert all("secrets" not in call for call in calls)
        assert calls == snapshot

    def test_the_last_lines_of_the_first_failure_are_shown(self, shell: Shell, kubectl: Kubectl) -> None:
        """They come from its log, without the values of secret variables."""
        lines = ["step 1", "step 2", f"key {SECRET_VALUE}", "NCCL error: remote process exited"]
        kubectl.has(STATES["a-rank-failed-first"](), {"train-worker-2/main": lines})

        reason = json.loads(shell("status", "train", "--format", "json").out)["reasons"][0]

        assert reason["lines"] == ["step 1", "step 2", "key <private>", "NCCL error: remote process exited"]
        assert "NCCL_DEBUG=INFO" in reason["fix"]

    def test_the_message_of_an_init_container_is_shown(self, shell: Shell, kubectl: Kubectl) -> None:
        """One Pod of the task represents the others."""
        line = "wait-for-master: so far the name train-master-0.train does not resolve"
        kubectl.has(STATES["waits-for-the-master"](), {"train-worker-0/wait-for-master": [line]})

        reasons = json.loads(shell("status", "train", "--format", "json").out)["reasons"]

        (reason,) = (reason for reason in reasons if reason["code"] == "init")
        assert reason["lines"] == [line]
        assert reason["names"] == ["train-worker-0", "train-worker-1", "train-worker-2"]

    def test_objects_that_may_not_be_read_are_notes(self, shell: Shell, kubectl: Kubectl) -> None:
        """The status has less detail, and its exit code is the same."""
        message = 'Error from server (Forbidden): nodes is forbidden: User "dev" cannot list resource "nodes"'
        kubectl.has(STATES["not-enough-gpus"](), nodes=message)

        answer = shell("status", "train")

        assert (answer.code, answer.err) == (3, f"volcano-jobs: kubectl get nodes: {message}\n")
        assert "Insufficient nvidia.com/gpu: each Pod requests 8, and 4 Pods request 32" in " ".join(answer.out.split())

    def test_pods_that_may_not_be_read_are_an_error(self, shell: Shell, kubectl: Kubectl) -> None:
        """The messages of kubectl's own library are left out."""
        message = "The connection to the server 127.0.0.1:6443 was refused"
        kubectl.has([], pods=message)

        assert shell("status", "train") == Answer(2, "", f"volcano-jobs: kubectl get pods: {message}\n")

    def test_a_job_that_does_not_exist_is_an_error(self, shell: Shell, kubectl: Kubectl) -> None:
        """Without a namespace, kubectl uses that of its context."""
        kubectl.has(STATES["running"]())

        answer = shell("status", "other")

        where = "the namespace of the current context"
        assert answer == Answer(
            2, "", f"volcano-jobs: job other: not found in {where}: check the name and the namespace\n"
        )

    def test_a_file_selects_the_job(self, shell: Shell, kubectl: Kubectl) -> None:
        """Its namespace is that of the file."""
        kubectl.has(STATES["running"]())

        assert shell("status", shell.write("train.yaml", pytorch())).code == 4
        assert all(f"--namespace={NAMESPACE}" in call for call in kubectl.calls())

    def test_kubectl_is_needed(self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The message has the alternative."""
        monkeypatch.setenv("PATH", str(tmp_path))
        message = "kubectl: command not found: install kubectl, or read recorded objects with --from FILE"

        assert shell("status", "train") == Answer(2, "", f"volcano-jobs: {message}\n")
        assert shell("logs", "train") == Answer(2, "", f"volcano-jobs: {message}\n")

    def test_watch_prints_each_change_until_the_end(
        self, shell: Shell, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A failure of kubectl in between is a note."""
        steps: list[tuple[list[Wire], dict[str, str]]] = [
            (STATES["running"](), {}),
            ([], {"pods": "timeout"}),
            (STATES["done"](), {}),
        ]

        def sleep(_seconds: float) -> None:
            objects, denied = steps.pop(0)
            kubectl.has(objects, **denied)

        monkeypatch.setattr(status_command.time, "sleep", sleep)
        kubectl.has(STATES["running"]())

        answer = shell("status", "train", "--watch")

        assert (answer.code, steps) == (0, [])
        assert re.findall(r"^Job train .*: (\w+)", answer.out, re.MULTILINE) == ["running", "done"]
        assert answer.err == "volcano-jobs: kubectl get pods: timeout\n"


class TestLogs:
    """`logs` of a cluster."""

    def test_lines_have_their_rank(self, shell: Shell, kubectl: Kubectl) -> None:
        """Pods are printed in the order of tasks and indexes."""
        lines = {f"train-{rank}/main": [f"hello from {rank}", "bye"] for rank in ("master-0", "worker-0", "worker-1")}
        kubectl.has(STATES["running"](), lines | {"train-worker-2/main": []})

        answer = shell.good("logs", "train", "--tail", "1")

        assert answer.out == "[master-0] bye\n[worker-0] bye\n[worker-1] bye\n"

    def test_the_first_failure_is_printed_first(self, shell: Shell, kubectl: Kubectl) -> None:
        """The other ranks follow in order."""
        ranks = ("master-0", "worker-0", "worker-1", "worker-2")
        kubectl.has(STATES["out-of-memory"](), {f"train-{rank}/main": ["x"] for rank in ranks})

        out = shell.good("logs", "train").out

        assert re.findall(r"\[(.*?)\]", out) == ["worker-1", "master-0", "worker-0", "worker-2"]

    def test_one_task_can_be_selected(self, shell: Shell, kubectl: Kubectl) -> None:
        """A misspelled task is an error with a suggestion."""
        kubectl.has(STATES["running"](), {"train-master-0/main": ["x"]})

        assert shell.good("logs", "train", "--task", "master").out == "[master-0] x\n"
        answer = shell("logs", "train", "--task", "mastre")
        assert (answer.code, answer.err) == (
            2,
            "volcano-jobs: --task mastre: the job has no Pods of this task: did you mean master?\n",
        )

    def test_a_waiting_init_container_is_printed(self, shell: Shell, kubectl: Kubectl) -> None:
        """Pods without a log are listed in a note."""
        lines = {f"train-worker-{index}/wait-for-master": ["waiting"] for index in range(3)}
        kubectl.has(STATES["waits-for-the-master"](), lines)

        answer = shell("logs", "train")

        assert answer.out == "".join(f"[worker-{index} wait-for-master] waiting\n" for index in range(3))
        assert answer.err == "volcano-jobs: no log yet: master-0 (ContainerCreating)\n"

    def test_a_job_without_pods_has_no_logs(self, shell: Shell, kubectl: Kubectl) -> None:
        """The message names the command that shows why."""
        kubectl.has([])

        answer = shell("logs", "train")

        message = "volcano-jobs: job train: it has no Pods: volcano-jobs status train shows the reasons\n"
        assert (answer.code, answer.err) == (2, message)

    def test_follow_waits_for_pods_to_start_and_end(
        self, shell: Shell, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each container is followed once."""
        monkeypatch.setattr(logs_command, "_INTERVAL", 0)
        lines = {f"train-{rank}/main": [rank] for rank in ("master-0", "worker-0", "worker-1", "worker-2")}
        recorded = Recorded(pytorch())
        recorded.run("master-0")
        states = [recorded.objects, STATES["running"](), STATES["done"]()]
        read = logs_command._read

        def next_read(*arguments: object) -> object:
            kubectl.has(states.pop(0), lines)
            return read(*arguments)  # type: ignore[arg-type]  # they are passed on

        monkeypatch.setattr(logs_command, "_read", next_read)

        answer = shell.good("logs", "train", "-f")

        assert sorted(answer.out.splitlines()) == [
            "[master-0] master-0",
            "[worker-0] worker-0",
            "[worker-1] worker-1",
            "[worker-2] worker-2",
        ]
        assert states == []

    def test_too_many_streams_are_not_followed(
        self, shell: Shell, kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each stream is a process and a connection to the API server."""
        monkeypatch.setattr(logs_command, "_MOST_STREAMS", 3)
        kubectl.has(STATES["running"]())

        answer = shell("logs", "train", "-f")

        message = "volcano-jobs: cannot follow 4 containers, at most 3: set --task, or remove -f\n"
        assert (answer.code, answer.err) == (2, message)

    def test_prefixes_have_colors_in_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`NO_COLOR` turns them off."""
        monkeypatch.delenv("NO_COLOR", raising=False)
        source = logs_command.LogSource("train-master-0", "main", "master-0", 0)
        monkeypatch.setattr(logs_command.sys, "stdout", _Terminal())

        assert logs_command._prefixed(["x"], source, logs_command._colors([source])) == "\x1b[36m[master-0]\x1b[0m x\n"
        monkeypatch.setenv("NO_COLOR", "1")
        assert logs_command._prefixed(["x"], source, logs_command._colors([source])) == "[master-0] x\n"


class _Terminal:
    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return True
