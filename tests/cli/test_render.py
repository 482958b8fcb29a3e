"""`volcano-jobs render`: printed and written manifests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, Plugin, render
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, config_map
from pulumi_volcano_jobs.plugins import Registry, registry
from pulumi_volcano_jobs.spec.naming import pod_group
from tests.cli.conftest import Shell
from tests.conftest import job, task, typed

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
# At least one object of each kind, and two Pods that differ.
WHOLE = HERE / "golden" / "whole.yaml"
JOB = HERE / "golden" / "job.yaml"
CANONICAL = [
    ("ConfigMap", "train-svc"),
    ("NetworkPolicy", "train"),
    ("PersistentVolumeClaim", "train-pvc-data"),
    ("PodGroup", pod_group("train")),
    ("Secret", "train-ssh"),
    ("Service", "train"),
    ("Pod", "train-worker-0"),
    ("Pod", "train-worker-1"),
]


def identities(documents: list[dict[str, object]]) -> list[tuple[object, object]]:
    """Return kind and name of each manifest."""
    return [(document["kind"], document["metadata"]["name"]) for document in documents]  # type: ignore[index]


class TestPrinted:
    """Manifests on standard output."""

    def test_a_whole_job_equals_the_reviewed_golden_file(self, shell: Shell) -> None:
        """Review each changed line of the golden file."""
        assert shell.without_keys(str(JOB)).out == WHOLE.read_text("utf-8")

    def test_objects_are_sorted_by_kind_and_name_with_pods_last(self, shell: Shell) -> None:
        """The library uses the same order."""
        rendered = render(yaml.safe_load(JOB.read_text("utf-8")))

        documents = shell.without_keys(str(JOB)).documents()

        assert identities(documents) == CANONICAL
        assert identities(documents) == identities([*rendered.objects, *rendered.pods])

    def test_a_second_run_prints_the_same_bytes(self, shell: Shell) -> None:
        """The output does not depend on the time or on earlier runs."""
        assert shell.without_keys(str(JOB)).out == shell.without_keys(str(JOB)).out

    def test_json_is_one_list_of_the_same_manifests(self, shell: Shell) -> None:
        """Only the format differs."""
        printed = json.loads(shell.without_keys("--format", "json", str(JOB)).out)

        assert printed == {
            "apiVersion": "v1",
            "kind": "List",
            "items": shell.without_keys(str(JOB)).documents(),
        }

    def test_a_dash_is_standard_input(self, shell: Shell) -> None:
        """The output equals that of the file."""
        assert shell.without_keys("-", stdin=JOB.read_bytes()).out == WHOLE.read_text("utf-8")

    def test_files_and_documents_keep_their_order(self, shell: Shell) -> None:
        """One of the files has several documents."""
        first = shell.write("first.yaml", job(name="zebra"), job(name="lion"))
        second = shell.write("second.yaml", job(name="ape"))

        documents = shell.good("render", first, second).documents()

        assert identities(documents) == [
            pair
            for name in ("zebra", "lion", "ape")
            for pair in (("PodGroup", pod_group(name)), ("Pod", f"{name}-worker-0"))
        ]

    def test_non_ascii_text_is_printed_unescaped(self, shell: Shell) -> None:
        """No character is lost."""
        document = job()
        document["metadata"]["annotations"] = {"example.org/note": "训练 é"}

        answer = shell.good("render", shell.write("job.yaml", document))

        assert "example.org/note: 训练 é\n" in answer.out

    def test_nothing_is_printed_if_one_job_is_rejected(self, shell: Shell) -> None:
        """Incomplete output might be applied."""
        good, bad = (
            shell.write("good.yaml", job()),
            shell.write("bad.yaml", job(name="b", queue="root")),
        )

        answer = shell("render", good, bad)

        assert (answer.code, answer.out) == (1, "")
        assert len(answer.lines) == 1
        assert answer.err.startswith("bad.yaml:")


class TestManagedByVolcano:
    """The native Job, for clusters with Volcano's controllers."""

    @pytest.mark.parametrize(
        "case", ["mpi-depends-on", "multi-all", "plain-labels", "plain-partition", "pytorch-full-args"]
    )
    def test_the_native_job_has_all_defaults(self, shell: Shell, case: str) -> None:
        """Volcano's webhooks then add nothing, and do not reject a later update."""
        expected = json.loads((GOLDEN / "expected" / f"{case}.json").read_text("utf-8"))["job"]
        del expected["metadata"]["uid"]
        files = ["--cluster", str(GOLDEN / "cluster.yaml"), str(GOLDEN / "cases" / f"{case}.yaml")]

        answer = shell("render", "--managed-by", "volcano", "--lenient", *files)

        assert (answer.code, answer.documents()) == (0, [expected])

    def test_a_new_claim_is_a_document_that_the_job_refers_to(self, shell: Shell) -> None:
        """Otherwise Volcano's controller would write the claim name into the Job and own its fields."""
        files = ["--cluster", str(GOLDEN / "cluster.yaml"), str(GOLDEN / "cases" / "volume-mixed.yaml")]
        expected = json.loads((GOLDEN / "expected" / "volume-mixed.json").read_text("utf-8"))["job"]

        claim, made = shell.warned("render", "--managed-by", "volcano", "--lenient", *files).documents()

        (new,) = (volume for volume in expected["spec"]["volumes"] if "volumeClaim" in volume)
        assert identities([claim]) == [("PersistentVolumeClaim", "volume-mixed-pvc-out")]
        assert claim["spec"] == new.pop("volumeClaim")
        new["volumeClaimName"] = "volume-mixed-pvc-out"
        del expected["metadata"]["uid"]
        assert made == expected

    def test_two_jobs_are_two_documents(self, shell: Shell) -> None:
        """No Pod is printed."""
        file = shell.write("jobs.yaml", job(name="one"), job(name="two"))

        documents = shell.good("render", "--managed-by", "volcano", file).documents()

        assert identities(documents) == [("Job", "one"), ("Job", "two")]


class TestNamespace:
    """The option `--namespace`, which works as in kubectl."""

    def test_namespace_applies_to_jobs_without_a_namespace(self, shell: Shell) -> None:
        """Other jobs keep their namespace."""
        own = job(name="own")
        own["metadata"]["namespace"] = "mine"
        file = shell.write("jobs.yaml", job(name="any"), own)

        documents = shell.good("render", "--namespace", "team-a", file).documents()

        assert [document["metadata"]["namespace"] for document in documents] == ["team-a"] * 2 + ["mine"] * 2
        assert documents[1]["metadata"]["labels"]["volcano.sh/job-namespace"] == "team-a"

    def test_the_default_namespace_is_written_out(self, shell: Shell) -> None:
        """The current context of kubectl does not change it."""
        documents = shell.good("render", shell.write("job.yaml", job())).documents()

        assert {document["metadata"]["namespace"] for document in documents} == {"default"}

    def test_namespace_applies_to_the_native_job(self, shell: Shell) -> None:
        """The Job has the namespace of the option."""
        file = shell.write("job.yaml", job())

        (document,) = shell.good("render", "--managed-by", "volcano", "--namespace", "team-a", file).documents()

        assert document["metadata"]["namespace"] == "team-a"


class TestLenient:
    """The option `--lenient`: mistakes are handled as by Volcano."""

    def test_lenient_ignores_an_unknown_argument(self, shell: Shell) -> None:
        """Volcano drops an unknown argument and all later ones; without the option it is a problem."""
        file = shell.write("job.yaml", job(plugins={"svc": ["--no-such=1", "--publish-not-ready-addresses=true"]}))

        strict, lenient = shell("render", file), shell.warned("render", "--lenient", file)

        assert (strict.code, strict.out) == (1, "")
        assert "spec.plugins.svc[0]" in strict.err
        (service,) = [document for document in lenient.documents() if document["kind"] == "Service"]
        assert "publishNotReadyAddresses" not in service["spec"]

    def test_lenient_rejects_a_job_that_volcano_rejects(self, shell: Shell) -> None:
        """Volcano's webhook rejects jobs in the root queue."""
        answer = shell("render", "--lenient", shell.write("job.yaml", job(queue="root")))

        assert (answer.code, answer.out) == (1, "")
        assert "spec.queue" in answer.err


class TestFolder:
    """The option `-o DIR`: one file for each manifest."""

    def test_each_manifest_has_its_own_file(self, shell: Shell) -> None:
        """The files together have the printed content."""
        printed = shell.without_keys(str(JOB)).documents()

        answer = shell.good("render", str(JOB), "-o", "out/below")

        assert answer.out == ""
        files = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (shell.folder / "out/below").iterdir()}
        assert files == {
            f"team-a.{kind.lower()}.{name}.yaml": doc for (kind, name), doc in zip(CANONICAL, printed, strict=True)
        }

    def test_json_files_are_lists_with_one_item(self, shell: Shell) -> None:
        """Each file can be applied alone."""
        shell.good("render", shell.write("job.yaml", job()), "-o", "out", "--format", "json")

        files = {path.name: json.loads(path.read_text("utf-8")) for path in (shell.folder / "out").iterdir()}
        assert files.keys() == {f"default.podgroup.{pod_group('train')}.json", "default.pod.train-worker-0.json"}
        assert [item["kind"] for item in files["default.pod.train-worker-0.json"]["items"]] == ["Pod"]

    def test_the_folder_and_secrets_are_private_to_the_owner(self, shell: Shell) -> None:
        """A Secret is never readable by other users, not even while it is written."""
        shell.good("render", str(JOB), "-o", "out", "--show-keys")

        modes = {path.name: path.stat().st_mode & 0o777 for path in (shell.folder / "out").iterdir()}
        assert (shell.folder / "out").stat().st_mode & 0o777 == 0o700
        assert modes["team-a.secret.train-ssh.yaml"] == 0o600
        assert modes["team-a.pod.train-worker-0.yaml"] & 0o444 == 0o444

    def test_an_existing_secret_file_becomes_private_before_it_is_written(self, shell: Shell) -> None:
        """The mode of an existing file is not kept."""
        (shell.folder / "out").mkdir(mode=0o755)
        secret = shell.folder / "out" / "team-a.secret.train-ssh.yaml"
        secret.touch(mode=0o644)

        shell.good("render", str(JOB), "-o", "out", "--show-keys")

        assert secret.stat().st_mode & 0o777 == 0o600
        assert "id_rsa:" in secret.read_text("utf-8")

    def test_a_second_run_overwrites_the_first(self, shell: Shell) -> None:
        """No text of a longer manifest remains, and unrelated files are kept."""
        many = [{"name": f"NUMBER_{number}", "value": "1"} for number in range(50)]
        long = task(containers=[{"name": "main", "image": "example.org/image:1", "env": many}])
        shell.good("render", shell.write("long.yaml", job(long)), "-o", "out")
        (shell.folder / "out" / "README").write_text("mine")

        shell.good("render", shell.write("short.yaml", job(task())), "-o", "out")

        assert (shell.folder / "out" / "README").read_text() == "mine"
        text = (shell.folder / "out" / "default.pod.train-worker-0.yaml").read_text("utf-8")
        assert list(yaml.safe_load_all(text)) == shell.good("render", "short.yaml").documents()[1:]

    def test_object_names_cannot_escape_the_folder(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """A plugin can choose any name, so path separators are part of the file name."""

        class Climbing(Plugin):
            name = "climbing"

            def on_job_add(self, ctx: JobContext) -> list[Manifest]:
                """Return an object with a name that Kubernetes would reject."""
                return [config_map("/../../above", ctx.namespace, {})]

        known = Registry()
        known.register(Climbing)
        monkeypatch.setattr(registry, "_plugins", known._plugins)
        (shell.folder / "deep").mkdir()

        shell.good("render", shell.write("deep/job.yaml", job(plugins={"climbing": []})), "-o", "deep/out")

        assert {path.name for path in shell.folder.iterdir()} == {"deep"}
        assert {path.name for path in (shell.folder / "deep").iterdir()} == {"job.yaml", "out"}
        assert "default.configmap.%2F..%2F..%2Fabove.yaml" in {
            path.name for path in (shell.folder / "deep" / "out").iterdir()
        }

    @pytest.mark.parametrize("target", ["job.yaml", "job.yaml/out", ""], ids=["a file", "below a file", "nothing"])
    def test_a_path_that_is_not_a_folder_is_rejected(
        self, shell: Shell, target: str, snapshot: SnapshotAssertion
    ) -> None:
        """The message names the path, and no file is changed."""
        file = shell.write("job.yaml", job())
        before = (shell.folder / file).read_text("utf-8")

        answer = shell("render", file, "-o", target)

        assert answer.code == 2
        assert answer.err == snapshot
        assert [path.name for path in shell.folder.iterdir()] == [file]
        assert (shell.folder / file).read_text("utf-8") == before


class TestDuplicates:
    """Two jobs that create the same object, where the last would overwrite the first."""

    COLLIDING = (job(task("a-worker"), name="train"), job(task("worker"), name="train-a"))

    def test_duplicate_objects_are_rejected_with_their_name(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The message names the object and both jobs. Its line is that of the second job's name."""
        file = shell.write("jobs.yaml", *self.COLLIDING)
        line = (shell.folder / file).read_text("utf-8").splitlines().index("  name: train-a") + 1

        answer = shell("render", file)

        (problem,) = shell.problems(file)
        assert answer.reported == shell("validate", file).reported
        assert (*typed([problem]), problem.line, problem.column) == (("metadata.name", "Duplicate"), line, 3)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err == snapshot

    def test_duplicate_jobs_are_one_problem(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The problem is not repeated for each Pod."""
        first, second = shell.write("a.yaml", job(task(replicas=3))), shell.write("b.yaml", job(task(replicas=3)))

        answer = shell("render", first, second)

        assert answer.code == 1
        assert answer.err == snapshot

    def test_duplicates_write_nothing_to_the_folder(self, shell: Shell) -> None:
        """The folder is not created either."""
        file = shell.write("jobs.yaml", *self.COLLIDING)

        assert shell("render", file, "-o", "out").code == 1
        assert not (shell.folder / "out").exists()

    def test_objects_in_different_namespaces_are_not_duplicates(self, shell: Shell) -> None:
        """Names are unique only within a namespace."""
        other = job()
        other["metadata"]["namespace"] = "team-a"

        documents = shell.good("render", shell.write("jobs.yaml", job(), other)).documents()

        assert [document["metadata"]["namespace"] for document in documents] == ["default"] * 2 + ["team-a"] * 2

    def test_native_jobs_with_equal_pod_names_are_rendered(self, shell: Shell) -> None:
        """The two Jobs differ in name; Volcano creates the Pods."""
        file = shell.write("jobs.yaml", *self.COLLIDING)

        documents = shell.good("render", "--managed-by", "volcano", file).documents()

        assert identities(documents) == [("Job", "train"), ("Job", "train-a")]

    def test_validate_accepts_files_with_the_same_job(self, shell: Shell) -> None:
        """The files can be for a test cluster and for production."""
        first, second = shell.write("test.yaml", job()), shell.write("production.yaml", job())

        shell.good("validate", first, second)
