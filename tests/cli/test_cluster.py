"""`--cluster FILE`: what only a cluster knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core import bounds
from tests.cli.conftest import Shell
from tests.cli.jobs import CLUSTER as CLUSTER_FACTS
from tests.conftest import container, job, problems, task, typed

CLUSTER = Path(__file__).parents[1] / "golden" / "cluster.yaml"


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
        ("document", "path", "error_type"),
        [
            (job(queue="nowhere"), "spec.queue", "NotFound"),
            (job(queue="closed-queue"), "spec.queue", "Forbidden"),
            (job(queue="parent-queue"), "spec.queue", "Forbidden"),
            (claimed("no-claim"), "spec.volumes[0].volumeClaimName", "NotFound"),
            (claimed("my-claim", "team-a"), "spec.volumes[0].volumeClaimName", "NotFound"),
        ],
        ids=["no such queue", "closed queue", "parent queue", "no such claim", "claim of another namespace"],
    )
    def test_a_missing_object_of_the_cluster_is_a_problem(
        self, shell: Shell, command: str, document: dict[str, Any], path: str, error_type: str
    ) -> None:
        """The problem is that of the library, with its line, and is reported only with `--cluster`."""
        file = shell.write("job.yaml", document)
        key = path.rpartition(".")[2]
        row, line = next(
            (row, line) for row, line in enumerate((shell.folder / file).read_text().splitlines(), 1) if key in line
        )

        answer = shell(command, file, "--cluster", str(CLUSTER))

        (problem,) = problems(document, cluster=CLUSTER_FACTS)
        assert typed([problem]) == [(path, error_type)]
        assert answer.code == 1
        assert answer.lines == [f"job.yaml:{row}:{line.index(key) + 1}: {problem}"]
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

    UNREADABLE: ClassVar[dict[str, tuple[bytes, ...]]] = {
        "not YAML": (b"a: [1", b"a: !!int x", b"a: \0"),
        "empty": (b"", b"---\n# nothing\n"),
        "not text": (b"\xff\xfe\x00",),
    }

    @pytest.mark.parametrize("name", UNREADABLE)
    def test_a_file_that_is_not_yaml_is_reported_on_one_line(
        self, shell: Shell, name: str, snapshot: SnapshotAssertion
    ) -> None:
        """The message is the same for each content, and nothing is printed."""
        file = shell.write("job.yaml", job())

        (answer,) = {
            shell("render", file, "--cluster", shell.write("cluster.yaml", content))
            for content in self.UNREADABLE[name]
        }

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot

    @pytest.mark.parametrize(
        ("content", "path"),
        [
            (b"a: !!python/name:os.system x", "items[0].kind"),
            (b"kind: Pod\n", "items[0].kind"),
            (b"kind: List\nitems: [{kind: Queue, metadata: {name: a}}, {kind: Job}]\n", "items[1].kind"),
        ],
        ids=["a tag of Python's", "another object", "another object in a list"],
    )
    def test_an_object_of_another_kind_is_reported_on_one_line(self, shell: Shell, content: bytes, path: str) -> None:
        """The line names the file and the field, and nothing is printed."""
        shell.write("cluster.yaml", content)

        answer = shell("render", shell.write("job.yaml", job()), "--cluster", "cluster.yaml")

        assert (answer.code, answer.out) == (2, "")
        assert answer.places == [f"cluster.yaml: {path}"]

    def test_a_file_that_is_too_large_is_reported_with_a_fix(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
    ) -> None:
        """The file is the YAML of a large cluster."""
        monkeypatch.setattr(bounds, "MOST_VALUES", 20)
        shell.write("cluster.yaml", {"kind": "List", "items": [claimed("data", f"team-{index}") for index in range(9)]})

        answer = shell("validate", shell.write("job.yaml", "a: 1"), "--cluster", "cluster.yaml")

        assert answer.code == 2
        assert answer.err == snapshot

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
    def test_an_unreadable_file_is_reported_as_a_job_file_is(self, shell: Shell, name: str, reason: str) -> None:
        """The reason is that of the operating system."""
        answer = shell("validate", shell.write("job.yaml", job()), "--cluster", name)

        assert answer == shell("validate", name)
        assert answer.code == 2
        assert answer.err.endswith(f" {name}: {reason}\n")

    def test_standard_input_is_read_for_one_of_cluster_and_job(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The second reader would read an empty file."""
        answer = shell("validate", "--cluster", "-", "-", stdin=b"kind: List\nitems: []\n")

        assert answer.code == 2
        assert answer.err == snapshot
