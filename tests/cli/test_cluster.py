"""`--cluster FILE`: what only a cluster knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs.core import bounds
from tests.cli.conftest import Shell
from tests.conftest import container, job, task

CLUSTER = Path(__file__).parents[1] / "golden" / "cluster.yaml"
KUBECTL = "it must be what kubectl get ... -o yaml prints"


def claimed(name: str, namespace: str = "default") -> dict[str, Any]:
    """Give a job that mounts an existing claim."""
    document = job(volumes=[{"mountPath": "/data", "volumeClaimName": name}])
    document["metadata"]["namespace"] = namespace
    return document


def prioritised(low: str, high: str) -> dict[str, Any]:
    """Give a gang of one of two Pods; which one counts depends on the priority classes."""

    def of(name: str, cpu: str, priority: str) -> dict[str, Any]:
        containers = [container(resources={"requests": {"cpu": cpu}})]
        return {**task(name, containers=containers, priorityClassName=priority), "minAvailable": 0}

    return job(of("first", "1", low), of("second", "2", high), minAvailable=1)


def cpu(shell: Shell, file: str, *options: str) -> str:
    """Give the CPUs that the job's PodGroup asks for."""
    (group,) = [item for item in shell.good("render", file, *options).documents() if item["kind"] == "PodGroup"]
    found: str = group["spec"]["minResources"]["cpu"]
    return found


class TestFacts:
    """A file that is what kubectl prints."""

    @pytest.mark.parametrize("command", ["validate", "render"])
    @pytest.mark.parametrize(
        ("document", "path", "reason"),
        [
            (job(queue="nowhere"), "spec.queue", "the cluster has no queue of this name"),
            (job(queue="closed-queue"), "spec.queue", "Closed, not Open"),
            (job(queue="parent-queue"), "spec.queue", "jobs go into leaf queues"),
            (claimed("no-claim"), "spec.volumes[0].volumeClaimName", "has no claim of this name"),
            (claimed("my-claim", "team-a"), "spec.volumes[0].volumeClaimName", "the namespace team-a has no claim"),
        ],
        ids=["no such queue", "closed queue", "parent queue", "no such claim", "claim of another namespace"],
    )
    def test_what_the_cluster_lacks_is_a_problem(
        self, shell: Shell, command: str, document: dict[str, Any], path: str, reason: str
    ) -> None:
        """It is one, with its line, and only if the file is given."""
        file = shell.write("job.yaml", document)
        key = path.rpartition(".")[2]
        row, line = next(
            (row, line) for row, line in enumerate((shell.folder / file).read_text().splitlines(), 1) if key in line
        )

        answer = shell(command, file, "--cluster", str(CLUSTER))

        assert answer.code == 1
        assert len(answer.lines) == 1
        assert answer.err.startswith(f"job.yaml:{row}:{line.index(key) + 1}: {path}: ")
        assert reason in answer.err
        shell.good(command, file)

    @pytest.mark.parametrize("document", [job(queue="research"), claimed("my-claim")], ids=["queue", "claim"])
    def test_what_the_cluster_has_is_none(self, shell: Shell, document: dict[str, Any]) -> None:
        """An open queue and a claim that is there pass."""
        shell.good("validate", shell.write("job.yaml", document), "--cluster", str(CLUSTER))

    def test_priorities_decide_which_pods_a_gang_needs_first(self, shell: Shell) -> None:
        """Without a cluster all classes count the same, and the first task comes first."""
        file = shell.write("job.yaml", prioritised("low-priority", "high-priority"))

        assert cpu(shell, file) == "1"
        assert cpu(shell, file, "--cluster", str(CLUSTER)) == "2"

    def test_documents_count_like_the_items_of_a_list(self, shell: Shell) -> None:
        """What several kubectl commands printed can stand in one file, or come from standard input."""
        items = yaml.safe_load(CLUSTER.read_text("utf-8"))["items"]
        file = shell.write("job.yaml", prioritised("low-priority", "high-priority"))

        assert cpu(shell, file, "--cluster", shell.write("cluster.yaml", *items)) == "2"
        assert shell.good("validate", file, "--cluster", "-", stdin=CLUSTER.read_bytes()).out == ""


class TestBadFile:
    """A file that is something else: exit code 2, since no job is to blame."""

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"a: [1", f"volcano-jobs: cluster.yaml is no YAML; {KUBECTL}"),
            (b"a: !!int x", f"volcano-jobs: cluster.yaml is no YAML; {KUBECTL}"),
            (b"a: !!python/name:os.system x", "cluster.yaml: items[0].kind: "),
            (b"a: \0", f"volcano-jobs: cluster.yaml is no YAML; {KUBECTL}"),
            (b"", f"volcano-jobs: cluster.yaml is empty; {KUBECTL}"),
            (b"---\n# nothing\n", f"volcano-jobs: cluster.yaml is empty; {KUBECTL}"),
            (b"\xff\xfe\x00", "volcano-jobs: cannot read cluster.yaml: it is not UTF-8 text"),
            (b"kind: Pod\n", "cluster.yaml: items[0].kind: "),
            (
                b"kind: List\nitems: [{kind: Queue, metadata: {name: a}}, {kind: Job}]\n",
                "cluster.yaml: items[1].kind: ",
            ),
        ],
        ids=[
            "YAML that ends too soon",
            "a value that does not fit its tag",
            "a tag of Python's",
            "a control character",
            "an empty file",
            "a comment",
            "no text",
            "another object",
            "another object in a list",
        ],
    )
    def test_is_told_in_one_line(self, shell: Shell, content: bytes, message: str) -> None:
        """The line names the file, and nothing is printed."""
        shell.write("cluster.yaml", content)

        answer = shell("render", shell.write("job.yaml", job()), "--cluster", "cluster.yaml")

        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert answer.err.startswith(message)

    def test_that_is_too_large_is_told_with_the_way_out(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is YAML, of a large cluster."""
        monkeypatch.setattr(bounds, "MOST_VALUES", 20)
        shell.write("cluster.yaml", {"kind": "List", "items": [claimed("data", f"team-{index}") for index in range(9)]})

        answer = shell("validate", shell.write("job.yaml", "a: 1"), "--cluster", "cluster.yaml")

        assert answer.code == 2
        assert answer.err == (
            "volcano-jobs: cluster.yaml has more than 20 keys and values; leave out what the jobs do not need:"
            " kubectl get -n NAMESPACE in the place of -A\n"
        )

    @pytest.mark.parametrize(
        "content",
        [
            "[1]",
            "text",
            "{kind: List, items: 7}",
            "{kind: List, items: {a: 1}}",
            "{kind: List, items: [7]}",
            "{kind: Queue}",
            "{kind: Queue, metadata: {}}",
            "{kind: Queue, metadata: {name: [a]}}",
            "{kind: Queue, metadata: {name: default}, status: Open}",
            "{kind: Queue, metadata: {name: default}, spec: 7}",
            "{kind: PersistentVolumeClaim, metadata: {name: a, namespace: [b]}}",
            "{kind: PriorityClass, metadata: {name: low}, value: text}",
        ],
    )
    def test_of_the_wrong_shape_is_told_in_one_line(self, shell: Shell, content: str) -> None:
        """It is YAML, and of the right kind perhaps, and still nothing that kubectl would print."""
        shell.write("cluster.yaml", content)

        answer = shell("render", shell.write("job.yaml", prioritised("low", "low")), "--cluster", "cluster.yaml")

        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert answer.err.startswith("cluster.yaml: ")

    @pytest.mark.parametrize(
        ("name", "reason"), [("nowhere.yaml", "No such file or directory"), (".", "Is a directory")]
    )
    def test_that_cannot_be_read_is_named(self, shell: Shell, name: str, reason: str) -> None:
        """The system's own words say why."""
        answer = shell("validate", shell.write("job.yaml", job()), "--cluster", name)

        assert (answer.code, answer.err) == (2, f"volcano-jobs: cannot read {name}: {reason}\n")

    def test_that_is_standard_input_leaves_none_for_a_job(self, shell: Shell) -> None:
        """It would be read as an empty file."""
        answer = shell("validate", "--cluster", "-", "-", stdin=b"kind: List\nitems: []\n")

        message = "volcano-jobs: - is given as --cluster and as FILE: standard input can be read once\n"
        assert (answer.code, answer.err) == (2, message)
