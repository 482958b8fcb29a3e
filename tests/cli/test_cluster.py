"""`--cluster FILE`: checks that need objects of the cluster."""

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
    """Return a job that mounts an existing claim."""
    document = job(volumes=[{"mountPath": "/data", "volumeClaimName": name}])
    document["metadata"]["namespace"] = namespace
    return document


def prioritised(low: str, high: str) -> dict[str, Any]:
    """Return a gang whose minAvailable is one of two Pods; the priority classes decide which."""

    def of(name: str, cpu: str, priority: str) -> dict[str, Any]:
        containers = [container(resources={"requests": {"cpu": cpu}})]
        return {**task(name, containers=containers, priorityClassName=priority), "minAvailable": 0}

    return job(of("first", "1", low), of("second", "2", high), minAvailable=1)


def cpu(shell: Shell, file: str, *options: str) -> str:
    """Return the CPU request of the job's PodGroup."""
    (group,) = [item for item in shell.good("render", file, *options).documents() if item["kind"] == "PodGroup"]
    found: str = group["spec"]["minResources"]["cpu"]
    return found


class TestFacts:
    """Files that kubectl prints."""

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
        """The message is that of the library, with a line, and is reported only with `--cluster`."""
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
    def test_an_existing_object_of_the_cluster_is_accepted(self, shell: Shell, document: dict[str, Any]) -> None:
        """The cluster has an open queue and the claim."""
        shell.good("validate", shell.write("job.yaml", document), "--cluster", str(CLUSTER))

    def test_priority_classes_decide_which_pods_count_for_min_resources(self, shell: Shell) -> None:
        """Without a cluster all classes are equal, and the first task is used."""
        file = shell.write("job.yaml", prioritised("low-priority", "high-priority"))

        assert cpu(shell, file) == "1"
        assert cpu(shell, file, "--cluster", str(CLUSTER)) == "2"

    def test_cluster_documents_are_read_like_list_items(self, shell: Shell) -> None:
        """The output of several kubectl commands can be in one file or come from standard input."""
        items = yaml.safe_load(CLUSTER.read_text("utf-8"))["items"]
        file = shell.write("job.yaml", prioritised("low-priority", "high-priority"))

        assert cpu(shell, file, "--cluster", shell.write("cluster.yaml", *items)) == "2"
        shell.good("validate", file, "--cluster", "-", stdin=CLUSTER.read_bytes())


class TestBadFile:
    """Other files: exit code 2, because the job is not the cause."""

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
    def test_a_file_of_the_wrong_shape_is_reported_on_one_line(self, shell: Shell, content: str) -> None:
        """The YAML is valid, but kubectl would not print it."""
        shell.write("cluster.yaml", content)

        answer = shell("render", shell.write("job.yaml", prioritised("low", "low")), "--cluster", "cluster.yaml")

        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert answer.err.startswith("cluster.yaml: ")

    @pytest.mark.parametrize(
        ("name", "reason"), [("nowhere.yaml", "No such file or directory"), (".", "Is a directory")]
    )
    def test_an_unreadable_file_is_reported_like_a_job_file(self, shell: Shell, name: str, reason: str) -> None:
        """The reason is that of the operating system."""
        answer = shell("validate", shell.write("job.yaml", job()), "--cluster", name)

        assert answer.code == 2
        assert answer.err == f"volcano-jobs: cannot read {name}: {reason}\n"

    def test_standard_input_is_read_for_one_of_cluster_and_job(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The second reader would read an empty file."""
        answer = shell("validate", "--cluster", "-", "-", stdin=b"kind: List\nitems: []\n")

        assert answer.code == 2
        assert answer.err == snapshot
