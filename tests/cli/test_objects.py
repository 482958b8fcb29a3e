"""Files with more than a Job: what `kubectl apply -f` accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core import bounds
from tests import upstream
from tests.cli.conftest import Shell
from tests.conftest import CLAIM, container, job, task, typed
from tests.golden.cases import REAL, read

REPORT = Path(__file__).parent / "reports" / "configmap-and-job.yaml"
COMMANDS = ("validate", "render", "explain", "graph", "convert")


def an_object(kind: str, name: str, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    """Build an object that is not a Job."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def a_queue(name: str, **spec: Any) -> dict[str, Any]:
    """Build a Volcano Queue."""
    return an_object("Queue", name, "scheduling.volcano.sh/v1beta1", spec=spec)


NEIGHBORS = [
    an_object("ConfigMap", "settings", data={"train.ini": "lr=1"}),
    an_object("Secret", "credentials", stringData={"password": "hunter2"}),
    an_object("PersistentVolumeClaim", "data", spec=CLAIM),
    an_object("Service", "web", spec={"ports": [{"port": 80}], "selector": {"app": "web"}}),
    an_object("PriorityClass", "high", "scheduling.k8s.io/v1", value=1000),
    a_queue("research", weight=2),
]
LABELS = ["ConfigMap settings", "Secret credentials", "PersistentVolumeClaim data", "Service web", "PriorityClass high"]


def kinds(documents: list[dict[str, Any]]) -> list[str]:
    """Return the kind of each document."""
    return [item["kind"] for item in documents]


class TestNeighbors:
    """Objects that are not Jobs."""

    def test_render_prints_other_objects_in_their_place(self, shell: Shell) -> None:
        """They get the namespace of the job's objects, which `kubectl apply` would read from the context."""
        file = shell.write("all.yaml", *NEIGHBORS[:3], job(), *NEIGHBORS[3:])

        documents = shell.good("render", file).documents()

        assert kinds(documents) == [*kinds(NEIGHBORS[:3]), "PodGroup", "Pod", *kinds(NEIGHBORS[3:])]
        namespaces = {item["kind"]: item["metadata"].get("namespace") for item in documents}
        assert [kind for kind, namespace in namespaces.items() if namespace is None] == ["PriorityClass", "Queue"]
        assert set(namespaces.values()) == {"default", None}
        assert documents[0]["data"] == NEIGHBORS[0]["data"]
        in_team = shell.good("render", file, "--namespace", "team-a").documents()
        assert {item["metadata"].get("namespace") for item in in_team} == {"team-a", None}

    def test_render_writes_a_file_for_each_object(self, shell: Shell) -> None:
        """Only the owner can read a Secret."""
        shell.good("render", shell.write("all.yaml", *NEIGHBORS, job()), "-o", "out")

        names = sorted(path.name for path in (shell.folder / "out").iterdir())
        assert "default.configmap.settings.yaml" in names
        assert len(names) == len(NEIGHBORS) + 2
        assert (shell.folder / "out" / "default.secret.credentials.yaml").stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("command", ["validate", "explain", "graph"])
    def test_a_command_notes_once_what_it_skips(self, shell: Shell, command: str, snapshot: SnapshotAssertion) -> None:
        """The note is on standard error; the Job is processed."""
        file = shell.write("all.yaml", *NEIGHBORS, job())

        answer = shell(command, file)

        assert answer.code == 0
        assert answer.out == shell.good(command, shell.write("job.yaml", job())).out
        assert answer.err == snapshot
        assert "hunter2" not in answer.err

    def test_the_items_of_lists_are_processed_like_documents(self, shell: Shell) -> None:
        """A List can contain a List."""
        inner = {"apiVersion": "v1", "kind": "List", "items": NEIGHBORS[2:]}
        listed = {"apiVersion": "v1", "kind": "List", "items": [*NEIGHBORS[:2], inner, job()]}

        rendered = shell.good("render", shell.write("list.yaml", listed)).out

        assert rendered == shell.good("render", shell.write("all.yaml", *NEIGHBORS, job())).out

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_accepts_the_report(self, shell: Shell, command: str) -> None:
        """The file has a ConfigMap and a Job that mounts it."""
        answer = shell(command, str(REPORT))

        assert answer.code == 0
        assert len(answer.err.splitlines()) == (1 if command in {"validate", "explain", "graph"} else 0)
        assert ("ConfigMap" in answer.out) == (command not in {"validate", "explain"})

    def test_server_fields_of_stored_objects_are_dropped(self, shell: Shell) -> None:
        """`kubectl get -o yaml` prints them, and applying them to another cluster fails."""
        stored = an_object("ConfigMap", "settings", data={"a": "b"}, status={"phase": "Bound"})
        stored["metadata"] |= {"uid": "4711", "resourceVersion": "3", "creationTimestamp": "2026-01-01T00:00:00Z"}

        (config_map, *_) = shell.good("render", shell.write("all.yaml", stored, job())).documents()

        assert config_map == an_object("ConfigMap", "settings", data={"a": "b"}) | {
            "metadata": {"name": "settings", "namespace": "default"}
        }

    def test_an_object_without_a_name_is_a_problem(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """`kubectl apply` rejects a generated name."""
        generated = an_object("ConfigMap", "") | {"metadata": {"generateName": "settings-"}}
        nameless = an_object("ConfigMap", "") | {"metadata": None}

        answer = shell("validate", shell.write("all.yaml", generated, nameless, job()))

        assert answer.code == 1
        assert [place.partition(": ")[2] for place in answer.places] == ["metadata.name", "metadata"]
        assert answer.lines == snapshot

    def test_a_malformed_secret_or_config_map_is_a_problem_without_its_value(self, shell: Shell) -> None:
        """The values of `data` and `stringData` are texts."""
        secrets = [
            an_object("Secret", "a", data=["hunter2"]),
            an_object("Secret", "b", stringData={"pin": 4711, "password": "hunter2"}),
            an_object("ConfigMap", "c", data={"lr": 4711}),
        ]

        problems = shell.problems(shell.write("all.yaml", *secrets, job()))

        assert typed(problems) == [
            ("data", "TypeInvalid"),
            ("stringData.pin", "TypeInvalid"),
            ("data.lr", "TypeInvalid"),
        ]
        assert not any(value in str(problem) for problem in problems for value in ("hunter2", "4711"))

    def test_two_objects_of_one_name_are_a_problem(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The last would overwrite the first. A ConfigMap can also collide with one of the job's plugins."""
        other = NEIGHBORS[0] | {"data": {"train.ini": "lr=2"}}
        of_svc = an_object("ConfigMap", "train-svc")
        file = shell.write("all.yaml", NEIGHBORS[0], other, of_svc, job(plugins={"svc": []}))

        answer = shell("validate", file)

        assert typed(shell.problems(file)) == [("metadata.name", "Duplicate")] * 2
        assert answer.lines == snapshot

    def test_files_can_repeat_the_same_object(self, shell: Shell) -> None:
        """Each file of a team begins with its Namespace. It is rendered once."""
        namespace = an_object("Namespace", "ml")
        files = [shell.write(f"{name}.yaml", namespace, job(name=name)) for name in ("a", "b")]

        assert kinds(shell.good("render", *files).documents()).count("Namespace") == 1
        assert shell("convert", *files).out.count('"kind": "Namespace"') == 1

    def test_a_kubernetes_job_and_a_volcano_job_can_share_a_name(self, shell: Shell) -> None:
        """They have the same kind in different groups."""
        template = {"spec": {"restartPolicy": "Never", "containers": [container()]}}
        cleanup = an_object("Job", "train", "batch/v1", spec={"template": template})

        file = shell.write("all.yaml", cleanup, job())

        printed = shell.good("render", "--managed-by", "volcano", file).documents()
        shell.good("render", "--managed-by", "volcano", file, "-o", "out")

        assert [item["apiVersion"] for item in printed] == ["batch/v1", "batch.volcano.sh/v1alpha1"]
        assert sorted(path.name for path in (shell.folder / "out").iterdir()) == [
            "default.job.batch.train.yaml",
            "default.job.batch.volcano.sh.train.yaml",
        ]

    @pytest.mark.parametrize("command", ["explain", "graph"])
    def test_a_file_without_a_job_cannot_be_shown(
        self, shell: Shell, command: str, snapshot: SnapshotAssertion
    ) -> None:
        """The exit code is that of a wrong file."""
        answer = shell(command, shell.write("all.yaml", *NEIGHBORS[:1]))

        assert (answer.code, answer.out) == (2, "")
        assert answer.lines == snapshot

    def test_a_file_without_a_job_is_validated(self, shell: Shell) -> None:
        """A tool that passes each changed file to `validate` also passes ConfigMaps. The last line names the reason."""
        answer = shell("validate", shell.write("all.yaml", *NEIGHBORS[:1]))

        assert (answer.code, answer.out) == (0, "no Jobs or Queues in 1 file\n")


class TestQueues:
    """Queues are validated."""

    def test_the_problems_of_a_queue_have_their_lines(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """Every command reports them."""
        spec = {"weight": -1, "wait": 1, "state": "Open", "capability": {"cpu": "many"}, "deserved": {"gpu": 1}}
        file = shell.write("all.yaml", a_queue("Research", **spec), job())

        answers = [shell(command, file).reported for command in COMMANDS]

        assert answers == [answers[0]] * len(COMMANDS)
        assert typed(shell.problems(file)) == [
            ("metadata.name", "Invalid"),
            ("spec.capability.cpu", "Invalid"),
            ("spec.deserved.gpu", "NotSupported"),
            ("spec.state", "Forbidden"),
            ("spec.wait", "Forbidden"),
            ("spec.weight", "Invalid"),
        ]
        assert answers[0] == snapshot

    @pytest.mark.parametrize(
        ("document", "path", "error_type"),
        [
            (a_queue("a") | {"apiVersion": "scheduling.volcano.sh/v1"}, "apiVersion", "NotSupported"),
            (a_queue("a") | {"kind": "queue"}, "kind", "NotSupported"),
            (a_queue("a") | {"metadata": []}, "metadata", "TypeInvalid"),
            (a_queue("a") | {"spec": "weight=1"}, "spec", "TypeInvalid"),
            (a_queue("a") | {"metadata": {}}, "metadata.name", "Required"),
            (a_queue("a") | {"weight": 1}, "weight", "Forbidden"),
            (a_queue("a", weight="1"), "spec.weight", "TypeInvalid"),
        ],
    )
    def test_a_malformed_queue_is_one_problem(
        self, shell: Shell, document: dict[str, Any], path: str, error_type: str
    ) -> None:
        """It has the path of the field."""
        assert typed(shell.problems(shell.write("queue.yaml", document))) == [(path, error_type)]

    def test_lenient_accepts_what_volcano_accepts(self, shell: Shell) -> None:
        """The API server drops unknown fields, which a warning says."""
        file = shell.write("queue.yaml", a_queue("research", wait=1))

        assert shell("validate", file).code == 1
        lenient = shell("validate", "--lenient", file)
        assert lenient.code == 0
        assert "warning: spec.wait: Forbidden: unknown field" in lenient.out
        assert "[VJ130]" in lenient.out

    def test_the_default_queue_can_be_changed_but_not_created(self, shell: Shell) -> None:
        """Volcano creates it, so it is not in the program, with a warning."""
        file = shell.write("queue.yaml", a_queue("default", weight=2), job())

        shell.good("validate", file)
        shell.good("render", file)
        answer = shell("convert", file)
        assert (answer.code, "VolcanoQueue" in answer.out) == (0, False)
        assert answer.places == ["queue.yaml:4:3: warning: metadata.name"]
        assert shell("convert", shell.write("alone.yaml", a_queue("default", weight=2))).code == 2

    def test_a_stored_queue_is_valid(self, shell: Shell) -> None:
        """`kubectl get queue -o yaml` prints its status."""
        stored = a_queue("research", weight=1, parent="root") | {"status": {"state": "Open"}}
        stored["metadata"] |= {"uid": "4711", "generation": 1}

        assert shell.good("validate", shell.write("queue.yaml", stored)).out == "no problems in 1 file\n"


class TestDefinedObjects:
    """References to objects of the files."""

    POD = "spec.tasks[0].template.spec"

    def test_a_reference_to_a_missing_sibling_is_a_warning(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The ConfigMap of the file has nearly this name."""
        volumes = [{"name": "settings", "configMap": {"name": "setings"}}]
        file = shell.write("all.yaml", *NEIGHBORS, job(task(volumes=volumes)))

        answer = shell("validate", file)

        assert answer.code == 0
        assert typed(shell.problems(file)) == [(f"{self.POD}.volumes[0].configMap.name", "VJ150")]
        assert answer.lines == snapshot
        assert shell("validate", file, "--ignore", "VJ150").lines == []

    def test_another_file_of_the_command_can_define_the_object(self, shell: Shell) -> None:
        """A folder often has a file for each kind."""
        volumes = [{"name": "other", "configMap": {"name": "other"}}]
        file = shell.write("all.yaml", *NEIGHBORS, job(task(volumes=volumes)))
        other = shell.write("other.yaml", an_object("ConfigMap", "other"))

        assert typed(shell.problems(file)) == [(f"{self.POD}.volumes[0].configMap.name", "VJ150")]
        assert shell.problems(file, other) == []

    def test_objects_of_the_file_are_facts_of_the_cluster(self, shell: Shell) -> None:
        """A queue and a claim that the file creates need not exist, and a PriorityClass has its value."""
        volumes = [{"mountPath": "/data", "volumeClaimName": "data"}]
        file = shell.write("all.yaml", *NEIGHBORS, job(queue="research", volumes=volumes))
        cluster = shell.write("cluster.yaml", {"kind": "List", "items": []})

        assert shell.problems(file, "--cluster", cluster) == []
        alone = shell.write("job.yaml", job(queue="research", volumes=volumes))
        assert typed(shell.problems(alone, "--cluster", cluster)) == [
            ("spec.queue", "NotFound"),
            ("spec.volumes[0].volumeClaimName", "NotFound"),
        ]

    def test_a_priority_class_of_the_file_has_its_value(self, shell: Shell) -> None:
        """The minResources have the Pod of the task with the highest priority."""
        tasks = [
            task(name, priorityClassName=priority, containers=[container(resources={"requests": {"cpu": cpu}})])
            for name, cpu, priority in (("a", 1, "low"), ("b", 2, "high"))
        ]
        low = an_object("PriorityClass", "low", "scheduling.k8s.io/v1", value=1)
        file = shell.write("all.yaml", NEIGHBORS[4], low, job(*tasks, minAvailable=1))

        (pod_group,) = (item for item in shell.good("render", file).documents() if item["kind"] == "PodGroup")

        assert pod_group["spec"]["minResources"]["cpu"] == "2"


class TestNestedJobs:
    """Objects from which Volcano creates Jobs."""

    KINDS = (
        ("CronJob", "batch.volcano.sh/v1alpha1"),
        ("JobFlow", "flow.volcano.sh/v1alpha1"),
        ("JobTemplate", "flow.volcano.sh/v1alpha1"),
        ("HyperJob", "training.volcano.sh/v1alpha1"),
    )

    @pytest.mark.parametrize(("kind", "api_version"), KINDS)
    def test_jobs_in_another_object_are_not_checked(
        self, shell: Shell, kind: str, api_version: str, snapshot: SnapshotAssertion
    ) -> None:
        """A warning says how to check them, and the object is rendered as it is."""
        file = shell.write("all.yaml", an_object(kind, "nightly", api_version, spec={"replicatedJobs": []}), job())

        answer = shell("validate", file)

        assert answer.code == 0
        assert typed(shell.problems(file)) == [("kind", "VJ152")]
        assert answer.lines == snapshot
        assert kinds(shell("render", file).documents()) == [kind, "PodGroup", "Pod"]

    def test_a_generated_name_of_a_job_is_a_problem(self, shell: Shell) -> None:
        """The Pods are named after the job."""
        document = job() | {"metadata": {"generateName": "train-"}}

        assert typed(shell.problems(shell.write("job.yaml", document))) == [("metadata.generateName", "Required")]


class TestFolders:
    """Folders are read recursively."""

    def fill(self, shell: Shell) -> None:
        """Write files for kubectl and for other programs."""
        (shell.folder / "jobs" / "team" / ".hidden").mkdir(parents=True)
        shell.write("jobs/b.yaml", job(name="b"))
        shell.write("jobs/team/a.yml", job(name="a"))
        shell.write("jobs/team/c.json", json.dumps(job(name="c")))
        shell.write("jobs/team/values.yaml", "image: busybox\n")
        shell.write("jobs/team/kustomization.yaml", an_object("Kustomization", "a", "kustomize.config.k8s.io/v1beta1"))
        shell.write("jobs/empty.yaml", "# nothing\n")
        shell.write("jobs/notes.txt", "no YAML: [")
        shell.write("jobs/team/.hidden/d.yaml", "no YAML: [")

    def test_the_yaml_and_json_files_in_a_folder_are_read(self, shell: Shell) -> None:
        """Hidden files, and files for Helm and Kustomize, are left out."""
        self.fill(shell)

        answer = shell.good("validate", "jobs")

        assert answer.out == "no problems in 6 files\n"
        pods = [item for item in shell.good("render", "jobs").documents() if item["kind"] == "Pod"]
        assert [item["metadata"]["name"] for item in pods] == ["b-worker-0", "a-worker-0", "c-worker-0"]

    def test_findings_name_the_file_in_the_folder(self, shell: Shell) -> None:
        """An editor opens it by its path."""
        self.fill(shell)
        shell.write("jobs/team/a.yml", job(quue="research"))

        assert shell("validate", "./jobs").places == ["jobs/team/a.yml:6:3: spec.quue"]

    def test_a_job_without_its_kind_in_a_folder_is_checked(self, shell: Shell) -> None:
        """It is not a file for another program."""
        self.fill(shell)
        mistaken = job(quue="research")
        shell.write("jobs/team/a.yml", {key: mistaken[key] for key in ("metadata", "spec")})

        assert ("spec.quue", "Forbidden") in typed(shell.problems("jobs"))

    def test_a_broken_file_in_a_folder_is_a_problem(self, shell: Shell) -> None:
        """It may have been a job."""
        self.fill(shell)
        shell.write("jobs/broken.yaml", "a: [1")

        answer = shell("validate", "jobs")

        assert (answer.code, answer.places) == (1, ["jobs/broken.yaml:2:1"])

    def test_a_file_that_is_too_large_in_a_folder_is_a_problem(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is the only one of the file, whose jobs are not checked."""
        self.fill(shell)
        shell.write("jobs/large.yaml", job(quue="research"), *(job(name=f"job-{index}") for index in range(9)))
        monkeypatch.setattr(bounds, "MOST_VALUES", 200)

        (problem,) = shell.problems("jobs")

        assert typed([problem]) == [("", "TooMany")]

    @pytest.mark.parametrize("command", ["render", "explain", "graph", "convert"])
    def test_a_folder_without_objects_is_bad_usage(self, shell: Shell, command: str) -> None:
        """There is nothing to write or to show."""
        (shell.folder / "jobs").mkdir()
        shell.write("jobs/values.yaml", "image: busybox\n")

        assert (shell(command, "jobs").code, shell(command, "jobs").out) == (2, "")

    def test_a_folder_without_files_is_bad_usage(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The message lists the endings of the files that are read."""
        (shell.folder / "jobs").mkdir()

        answer = shell("validate", "jobs")

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot

    def test_a_file_that_is_also_in_a_folder_is_bad_usage(self, shell: Shell) -> None:
        """Its jobs would be created twice."""
        self.fill(shell)

        assert shell("validate", "jobs", "jobs/b.yaml").code == 2


class TestSummary:
    """The last line of `validate`."""

    @pytest.mark.parametrize(
        ("documents", "summary"),
        [
            ([job(), job(name="b")], "no problems in 2 files"),
            ([job(quue="a")], "1 error in 1 file"),
            ([job(quue="a"), job(wueue="a", retries=1)], "3 errors in 2 files"),
            ([job(task(restartPolicy=None))], "1 warning in 1 file"),
            (
                [job(task(restartPolicy=None), quue="a"), job(task(restartPolicy=None))],
                "1 error, 2 warnings in 2 files",
            ),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_the_last_line_has_the_numbers_of_findings(
        self, shell: Shell, documents: list[dict[str, Any]], summary: str
    ) -> None:
        """A clean run reports that there are no problems."""
        files = [shell.write(f"{index}.yaml", document) for index, document in enumerate(documents)]

        answer = shell("validate", *files)

        assert (answer.out.splitlines()[-1], answer.err) == (summary, "")
        assert answer.code == ("error" in summary)

    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("option", ["-q", "--quiet"])
    def test_quiet_prints_no_findings_and_no_notes(self, shell: Shell, command: str, option: str) -> None:
        """The exit code still shows errors, and the product of the command is printed."""
        valid = shell.write("all.yaml", *NEIGHBORS, job(task(restartPolicy=None), plugins={"ssh": [], "svc": []}))
        invalid = shell.write("invalid.yaml", job(quue="a"))

        quiet = shell.good(command, valid, option)
        assert quiet.out == ("" if command == "validate" else shell(command, valid).out)
        failed = shell(command, invalid, option)
        assert (failed.code, failed.out, failed.err) == (1, "", "")

    def test_failures_of_the_command_itself_go_to_standard_error(self, shell: Shell) -> None:
        """Also with `--quiet`."""
        answer = shell("validate", "nowhere.yaml", "-q")

        assert (answer.code, answer.out) == (2, "")
        assert answer.err


@upstream.compares_with_cases
@pytest.mark.parametrize("path", REAL or [upstream.CASES], ids=lambda path: path.stem)
def test_real_files_are_accepted_with_their_neighbors(shell: Shell, path: Path) -> None:
    """Objects in front of a Job change neither its findings nor its manifests."""
    document = read(path)
    neighbors = [*NEIGHBORS, a_queue(document["spec"].get("queue", "default"))]
    alone, together = shell.write("alone.yaml", document), shell.write("all.yaml", *neighbors, document)

    reports = [shell.problems(file) for file in (alone, together)]
    codes = [
        {
            (command, *options): shell(command, file, *options).code
            for command in COMMANDS
            for options in ([], ["--lenient"])
        }
        for file in (alone, together)
    ]

    assert typed(reports[0]) == [pair for pair in typed(reports[1]) if pair[1] != "VJ150"]
    assert codes[0] == codes[1]
    for command in ("explain", "graph"):
        assert shell(command, together, "--lenient").out == shell(command, alone, "--lenient").out
    rendered = shell("render", together, "--lenient")
    if rendered.code == 0:
        assert rendered.documents()[len(neighbors) :] == shell("render", alone, "--lenient").documents()
