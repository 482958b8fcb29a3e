"""`volcano-jobs render`: what is printed, and what is written to a folder."""

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
# Of every kind of object one, and two Pods that differ.
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
    """Give kind and name of each manifest."""
    return [(document["kind"], document["metadata"]["name"]) for document in documents]  # type: ignore[index]


class TestPrinted:
    """Manifests on standard output."""

    def test_a_whole_job_is_printed_byte_for_byte_as_reviewed(self, shell: Shell) -> None:
        """The golden file was read by eye, line by line; whoever changes it does that again."""
        assert shell.without_keys(str(JOB)).out == WHOLE.read_text("utf-8")

    def test_objects_come_by_kind_and_name_and_pods_last(self, shell: Shell) -> None:
        """The order is the canonical one, and the same as the library's."""
        rendered = render(yaml.safe_load(JOB.read_text("utf-8")))

        documents = shell.without_keys(str(JOB)).documents()

        assert identities(documents) == CANONICAL
        assert identities(documents) == identities([*rendered.objects, *rendered.pods])

    def test_a_second_run_prints_the_same_bytes(self, shell: Shell) -> None:
        """Nothing in the output depends on when or how often it is made."""
        assert shell.without_keys(str(JOB)).out == shell.without_keys(str(JOB)).out

    def test_json_is_one_list_of_the_same_manifests(self, shell: Shell) -> None:
        """The format changes the writing and nothing else."""
        printed = json.loads(shell.without_keys("--format", "json", str(JOB)).out)

        assert printed == {
            "apiVersion": "v1",
            "kind": "List",
            "items": shell.without_keys(str(JOB)).documents(),
        }

    def test_a_dash_is_standard_input(self, shell: Shell) -> None:
        """A job that is piped in gives what its file gives."""
        assert shell.without_keys("-", stdin=JOB.read_bytes()).out == WHOLE.read_text("utf-8")

    def test_files_and_documents_keep_their_order(self, shell: Shell) -> None:
        """Several files, one of them with several documents, come out one job after the other."""
        first = shell.write("first.yaml", job(name="zebra"), job(name="lion"))
        second = shell.write("second.yaml", job(name="ape"))

        documents = shell.good("render", first, second).documents()

        assert identities(documents) == [
            pair
            for name in ("zebra", "lion", "ape")
            for pair in (("PodGroup", pod_group(name)), ("Pod", f"{name}-worker-0"))
        ]

    def test_text_beyond_ascii_is_printed_as_it_is(self, shell: Shell) -> None:
        """Characters are neither escaped nor lost."""
        document = job()
        document["metadata"]["annotations"] = {"example.org/note": "训练 é"}

        answer = shell.good("render", shell.write("job.yaml", document))

        assert "example.org/note: 训练 é\n" in answer.out

    def test_nothing_is_printed_if_one_of_the_jobs_is_bad(self, shell: Shell) -> None:
        """Half of what was asked for would be worse than nothing."""
        good, bad = (
            shell.write("good.yaml", job()),
            shell.write("bad.yaml", job(task(replicas=0), name="b", queue="root")),
        )

        answer = shell("render", good, bad)

        assert (answer.code, answer.out) == (1, "")
        assert len(answer.lines) == 1
        assert answer.err.startswith("bad.yaml:")


class TestManagedByVolcano:
    """The Job itself, for clusters with Volcano's controllers."""

    @pytest.mark.parametrize(
        "case", ["mpi-depends-on", "multi-all", "plain-labels", "plain-partition", "pytorch-full-args"]
    )
    def test_the_job_is_written_as_volcano_stores_it(self, shell: Shell, case: str) -> None:
        """All defaults are there: Volcano's webhooks add nothing, and so refuse no later update."""
        expected = json.loads((GOLDEN / "expected" / f"{case}.json").read_text("utf-8"))["job"]
        del expected["metadata"]["uid"]
        files = ["--cluster", str(GOLDEN / "cluster.yaml"), str(GOLDEN / "cases" / f"{case}.yaml")]

        answer = shell("render", "--managed-by", "volcano", "--lenient", *files)

        assert (answer.code, answer.documents()) == (0, [expected])

    def test_a_new_claim_is_a_document_and_the_job_names_it(self, shell: Shell) -> None:
        """Volcano's controller would write the name of a claim that it creates into the Job, and own its fields."""
        files = ["--cluster", str(GOLDEN / "cluster.yaml"), str(GOLDEN / "cases" / "volume-mixed.yaml")]
        expected = json.loads((GOLDEN / "expected" / "volume-mixed.json").read_text("utf-8"))["job"]

        claim, made = shell.good("render", "--managed-by", "volcano", "--lenient", *files).documents()

        (new,) = (volume for volume in expected["spec"]["volumes"] if "volumeClaim" in volume)
        assert identities([claim]) == [("PersistentVolumeClaim", "volume-mixed-pvc-out")]
        assert claim["spec"] == new.pop("volumeClaim")
        new["volumeClaimName"] = "volume-mixed-pvc-out"
        del expected["metadata"]["uid"]
        assert made == expected

    def test_two_jobs_are_two_documents(self, shell: Shell) -> None:
        """There is one Job for each job, and no Pod."""
        file = shell.write("jobs.yaml", job(name="one"), job(name="two"))

        documents = shell.good("render", "--managed-by", "volcano", file).documents()

        assert identities(documents) == [("Job", "one"), ("Job", "two")]


class TestNamespace:
    """`--namespace`, as kubectl has it."""

    def test_it_is_for_jobs_that_name_none(self, shell: Shell) -> None:
        """A job's own namespace stays."""
        own = job(name="own")
        own["metadata"]["namespace"] = "mine"
        file = shell.write("jobs.yaml", job(name="any"), own)

        documents = shell.good("render", "--namespace", "team-a", file).documents()

        assert [document["metadata"]["namespace"] for document in documents] == ["team-a"] * 2 + ["mine"] * 2
        assert documents[1]["metadata"]["labels"]["volcano.sh/job-namespace"] == "team-a"

    def test_without_it_the_namespace_is_written_out(self, shell: Shell) -> None:
        """What kubectl's current context says does not matter."""
        documents = shell.good("render", shell.write("job.yaml", job())).documents()

        assert {document["metadata"]["namespace"] for document in documents} == {"default"}

    def test_it_counts_for_the_job_that_volcano_manages(self, shell: Shell) -> None:
        """The Job gets it too."""
        file = shell.write("job.yaml", job())

        (document,) = shell.good("render", "--managed-by", "volcano", "--namespace", "team-a", file).documents()

        assert document["metadata"]["namespace"] == "team-a"


class TestLenient:
    """`--lenient`: what Volcano does with mistakes."""

    def test_a_mistake_is_refused_or_done_as_volcano_does(self, shell: Shell) -> None:
        """An unknown argument is a problem, or dropped with all behind it."""
        file = shell.write("job.yaml", job(plugins={"svc": ["--no-such=1", "--publish-not-ready-addresses=true"]}))

        strict, lenient = shell("render", file), shell.good("render", "--lenient", file)

        assert (strict.code, strict.out) == (1, "")
        assert "spec.plugins.svc[0]" in strict.err
        (service,) = [document for document in lenient.documents() if document["kind"] == "Service"]
        assert "publishNotReadyAddresses" not in service["spec"]

    def test_what_volcano_refuses_is_refused_all_the_same(self, shell: Shell) -> None:
        """Leniency is Volcano's, and its webhook takes no job into the root queue."""
        answer = shell("render", "--lenient", shell.write("job.yaml", job(queue="root")))

        assert (answer.code, answer.out) == (1, "")
        assert "spec.queue" in answer.err


class TestFolder:
    """`-o DIR`: a file for each manifest."""

    def test_each_manifest_has_a_file_that_holds_it_alone(self, shell: Shell) -> None:
        """The files together are what is printed."""
        printed = shell.without_keys(str(JOB)).documents()

        answer = shell.good("render", str(JOB), "-o", "out/below")

        assert answer.out == ""
        files = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (shell.folder / "out/below").iterdir()}
        assert files == {
            f"team-a.{kind.lower()}.{name}.yaml": doc for (kind, name), doc in zip(CANONICAL, printed, strict=True)
        }

    def test_json_files_are_lists_of_one(self, shell: Shell) -> None:
        """Each can be applied by itself."""
        shell.good("render", shell.write("job.yaml", job()), "-o", "out", "--format", "json")

        files = {path.name: json.loads(path.read_text("utf-8")) for path in (shell.folder / "out").iterdir()}
        assert files.keys() == {f"default.podgroup.{pod_group('train')}.json", "default.pod.train-worker-0.json"}
        assert [item["kind"] for item in files["default.pod.train-worker-0.json"]["items"]] == ["Pod"]

    def test_the_folder_and_secrets_are_their_owner_s_alone(self, shell: Shell) -> None:
        """Nobody else can read a key, not even for the moment in which it is written."""
        shell.good("render", str(JOB), "-o", "out", "--show-keys")

        modes = {path.name: path.stat().st_mode & 0o777 for path in (shell.folder / "out").iterdir()}
        assert (shell.folder / "out").stat().st_mode & 0o777 == 0o700
        assert modes["team-a.secret.train-ssh.yaml"] == 0o600
        assert modes["team-a.pod.train-worker-0.yaml"] & 0o444 == 0o444

    def test_a_secret_that_others_could_read_is_closed_before_it_is_written(self, shell: Shell) -> None:
        """The mode of a file that is there already does not stay."""
        (shell.folder / "out").mkdir(mode=0o755)
        secret = shell.folder / "out" / "team-a.secret.train-ssh.yaml"
        secret.touch(mode=0o644)

        shell.good("render", str(JOB), "-o", "out", "--show-keys")

        assert secret.stat().st_mode & 0o777 == 0o600
        assert "id_rsa:" in secret.read_text("utf-8")

    def test_a_second_run_writes_over_the_first(self, shell: Shell) -> None:
        """A shorter manifest leaves nothing of a longer one, and files of others stay."""
        many = [{"name": f"NUMBER_{number}", "value": "1"} for number in range(50)]
        long = task(containers=[{"name": "main", "image": "example.org/image:1", "env": many}])
        shell.good("render", shell.write("long.yaml", job(long)), "-o", "out")
        (shell.folder / "out" / "README").write_text("mine")

        shell.good("render", shell.write("short.yaml", job(task())), "-o", "out")

        assert (shell.folder / "out" / "README").read_text() == "mine"
        text = (shell.folder / "out" / "default.pod.train-worker-0.yaml").read_text("utf-8")
        assert list(yaml.safe_load_all(text)) == shell.good("render", "short.yaml").documents()[1:]

    def test_no_name_leads_out_of_the_folder(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """A plugin may call its objects what it wants: a name that looks like a path stays a part of a file's name."""

        class Climbing(Plugin):
            name = "climbing"

            def on_job_add(self, ctx: JobContext) -> list[Manifest]:
                """Return an object of a name that Kubernetes would refuse."""
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


class TestTwins:
    """Two jobs that make the same object: the last would overwrite the first."""

    COLLIDING = (job(task("a-worker"), name="train"), job(task("worker"), name="train-a"))

    def test_they_are_rejected_with_the_name_of_the_object(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The message names the object and both jobs. Its line is that of the second job's name."""
        file = shell.write("jobs.yaml", *self.COLLIDING)
        line = (shell.folder / file).read_text("utf-8").splitlines().index("  name: train-a") + 1

        (answer,) = {shell(command, file) for command in ("render", "validate")}

        (problem,) = shell.problems(file)
        assert (*typed([problem]), problem.line, problem.column) == (("metadata.name", "Duplicate"), line, 3)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err == snapshot

    def test_one_line_is_for_all_objects_of_two_jobs(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The duplicate of a job is one problem, not one for each Pod."""
        first, second = shell.write("a.yaml", job(task(replicas=3))), shell.write("b.yaml", job(task(replicas=3)))

        answer = shell("render", first, second)

        assert answer.code == 1
        assert answer.err == snapshot

    def test_nothing_is_written_to_a_folder_then(self, shell: Shell) -> None:
        """The folder is not even made."""
        file = shell.write("jobs.yaml", *self.COLLIDING)

        assert shell("render", file, "-o", "out").code == 1
        assert not (shell.folder / "out").exists()

    def test_namespaces_keep_them_apart(self, shell: Shell) -> None:
        """The same name in two namespaces is two objects."""
        other = job()
        other["metadata"]["namespace"] = "team-a"

        documents = shell.good("render", shell.write("jobs.yaml", job(), other)).documents()

        assert [document["metadata"]["namespace"] for document in documents] == ["default"] * 2 + ["team-a"] * 2

    def test_pods_of_one_name_are_volcano_s_to_refuse(self, shell: Shell) -> None:
        """Rendered as Jobs, the two have no object in common."""
        file = shell.write("jobs.yaml", *self.COLLIDING)

        documents = shell.good("render", "--managed-by", "volcano", file).documents()

        assert identities(documents) == [("Job", "train"), ("Job", "train-a")]

    def test_files_that_are_validated_together_may_be_alternatives(self, shell: Shell) -> None:
        """A job for the test cluster and one for production have the same name."""
        first, second = shell.write("test.yaml", job()), shell.write("production.yaml", job())

        shell.good("validate", first, second)
