"""`volcano-jobs convert`: prints or writes a program, and the commands to run before it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import Shell
from tests.conftest import BYTES, PAIR, Wire, job, task

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "pytorch" / "job.yaml")
DOCS = (ROOT / "docs" / "convert.md").read_text("utf-8")
KEY = PAIR.private
PYTHON = """\
from pulumi_volcano_jobs import VolcanoJob

job = VolcanoJob(
    "train",
    tasks=[
"""


def with_key(name: str = "train") -> Wire:
    """Return a job with its own ssh key."""
    plugins = {"svc": [], "ssh": [f"--ssh-private-key={KEY}", f"--ssh-public-key={PAIR.public.strip()}"]}
    return job(name=name, plugins=plugins)


class TestPrograms:
    """Programs on standard output and in files."""

    @pytest.mark.parametrize("language", ["python", "yaml"])
    def test_the_docs_show_the_converted_program(self, shell: Shell, language: str) -> None:
        """The page converts the job of the pytorch example."""
        (shown,) = re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)

        assert shell("convert", "--language", language, EXAMPLE).out == shown

    def test_python_is_the_default(self, shell: Shell) -> None:
        """Standard output is also the default."""
        answer = shell.good("convert", shell.write("job.yaml", job()))

        assert PYTHON in answer.out
        assert answer.out == shell.good("convert", "--language=python", "-o", "-", "job.yaml").out

    @pytest.mark.parametrize(
        ("language", "file"), [("python", "__main__.py"), ("yaml", "Pulumi.yaml")], ids=["python", "yaml"]
    )
    def test_the_written_file_equals_the_printed_program(self, shell: Shell, language: str, file: str) -> None:
        """The file is UTF-8 in every locale."""
        document = job()
        document["metadata"]["annotations"] = {"example.org/note": "训练 é"}

        answer = shell.good("convert", "--language", language, shell.write("job.yaml", document), "-o", file)

        assert answer.out == ""
        printed = shell.good("convert", "--language", language, "job.yaml").out
        assert (shell.folder / file).read_bytes() == printed.encode()
        assert "训练 é" in printed

    def test_all_documents_of_all_files_are_one_program(self, shell: Shell) -> None:
        """One of the files is standard input."""
        shell.write("two.yaml", job(name="a"), job(name="b"))

        answer = shell("convert", "two.yaml", "-", stdin=b"# c\n" + Path(EXAMPLE).read_bytes())

        assert re.findall(r"^(\w+) = VolcanoJob\(", answer.out, re.MULTILINE) == ["a_job", "b_job", "pytorch_job"]


class TestSecrets:
    """Keys in the converted file."""

    def test_the_commands_that_set_the_secrets_are_printed(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """There is a command for each secret, with names quoted for the shell. The secrets are not printed."""
        shell.write("my job.yaml", with_key(), with_key("other"))

        answer, in_yaml = (shell("convert", "--language", language, "my job.yaml") for language in ("python", "yaml"))

        assert (answer.code, in_yaml.code) == (0, 0)
        assert answer.err == in_yaml.err == snapshot
        assert BYTES not in answer.out + answer.err + in_yaml.out
        assert "train-ssh-private-key" in answer.out
        assert "train-ssh-private-key" in in_yaml.out

    def test_the_command_for_a_job_of_standard_input_reads_a_file(
        self, shell: Shell, snapshot: SnapshotAssertion
    ) -> None:
        """Standard input cannot be read again. The command keeps `--lenient`."""
        shell.write("job.yaml", with_key())
        text = (shell.folder / "job.yaml").read_bytes()

        answer = shell("convert", "--lenient", "-", stdin=text)

        assert answer.err == snapshot

    def test_a_secret_is_printed_on_request(self, shell: Shell) -> None:
        """It ends with a line break, which `pulumi config set` removes; no program is printed."""
        file = shell.write("job.yaml", with_key())

        assert shell.good("convert", "--show-secret", "train-ssh-private-key", file).out == f"{KEY}\n"

    @pytest.mark.parametrize("document", [with_key(), job()], ids=["another", "none"])
    def test_an_unknown_secret_is_bad_usage(self, shell: Shell, document: Wire, snapshot: SnapshotAssertion) -> None:
        """The message lists the secrets of the program."""
        answer = shell("convert", "--show-secret", "nope", shell.write("job.yaml", document))

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot


BAD: Wire = {
    "another kind": "kind: Pod\nmetadata: {name: a}\nspec: {}\n",
    "no YAML": "metadata:\n  name: {{ .Release.Name }}\n",
    "an unknown flag": job(plugins={"svc": ["--no-such-flag"]}),
    "an unknown field": job(quue="research"),
}


class TestProblems:
    """Files that cannot be converted."""

    @pytest.mark.parametrize("language", ["python", "yaml"])
    @pytest.mark.parametrize("content", BAD.values(), ids=BAD)
    def test_problems_are_reported_as_by_validate(self, shell: Shell, content: Wire | str, language: str) -> None:
        """Nothing is printed or written."""
        file = shell.write("job.yaml", content)
        validated = shell("validate", file)

        answer = shell("convert", "--language", language, file, "-o", "program")

        assert answer.reported == validated.reported
        assert (answer.code, answer.out) == (1, "")
        assert not (shell.folder / "program").exists()

    def test_jobs_that_create_the_same_objects_are_rejected(self, shell: Shell) -> None:
        """A stack with both would fail. The message is that of `render`."""
        files = shell.write("a.yaml", job()), shell.write("b.yaml", job())

        answer = shell("convert", *files)

        assert (answer.code, answer.out) == (1, "")
        assert answer.places == ["b.yaml:4:3: metadata.name"]
        assert answer == shell("render", *files)

    def test_lenient_omits_mistakes_and_warns_of_each(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """Volcano drops the flags after an unknown one, and unknown fields."""
        document = job(quue="research", plugins={"svc": ["--no-such", "--publish-not-ready-addresses"], "env": []})
        document["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["imagee"] = "busybox"

        answer = shell("convert", "--lenient", shell.write("job.yaml", document))

        assert answer.code == 0
        assert "plugins=[EnvPlugin(), SvcPlugin()],\n" in answer.out
        assert "quue" not in answer.out
        assert "imagee" not in answer.out
        assert answer.err == snapshot

    def test_lenient_does_not_change_a_valid_job(self, shell: Shell) -> None:
        """Defaults are not written out."""
        assert shell("convert", "--lenient", EXAMPLE) == shell("convert", EXAMPLE)

    def test_lenient_rejects_a_job_that_volcano_rejects(self, shell: Shell) -> None:
        """Its program would be rejected. The path is that of the value that Volcano reads."""
        file = shell.write("job.yaml", job(task("master"), plugins={"pytorch": ["--port=29,500"]}))

        answer = shell("convert", "--lenient", file)

        assert (answer.code, answer.out) == (1, "")
        (line,) = answer.lines
        (place,) = answer.places
        assert place.partition(": ")[2] == "spec.plugins.pytorch.port"
        assert re.search(r"\b0\b", line.removeprefix(place))


class TestUsage:
    """Invalid combinations of arguments."""

    ARGUMENTS: ClassVar[dict[str, list[str]]] = {
        "over the job": ["-o", "job.yaml"],
        "over the job by another path": ["-o", "./job.yaml"],
        "empty": ["-o", ""],
        "no folder": ["-o", "nowhere/main.py"],
        "a folder": ["-o", "."],
        "a secret": ["--show-secret=a", "-o", "b"],
        "no file": ["nowhere.yaml"],
    }

    @pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
    def test_bad_usage_is_reported_on_one_line(
        self, shell: Shell, arguments: list[str], snapshot: SnapshotAssertion
    ) -> None:
        """The exit code is 2, and the job file is unchanged."""
        file = shell.write("job.yaml", job())
        before = (shell.folder / file).read_bytes()

        answer = shell("convert", file, *arguments)

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot
        assert (shell.folder / file).read_bytes() == before

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], "Missing argument 'FILE'."),
            (["--language", "ruby", "job.yaml"], "'ruby' is not one of 'python', 'yaml'."),
        ],
        ids=["no file", "another language"],
    )
    def test_bad_usage(self, shell: Shell, arguments: list[str], words: str) -> None:
        """The message has the mistake and the command for help."""
        answer = shell("convert", *arguments)

        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err
        assert "volcano-jobs convert --help" in answer.err

    def test_the_examples_of_the_help_run(self, shell: Shell) -> None:
        """Each example is on its own line."""
        out = shell.good("convert", "--help").out
        for file in ("job.yaml", "train.yaml", "evaluate.yaml"):
            shell.write(file, with_key() if file == "job.yaml" else job(name=file.removesuffix(".yaml")))

        examples = re.findall(r"^    volcano-jobs (convert [^>|\n]*)", out, re.MULTILINE)

        assert len(examples) == 4
        assert [shell(*example.split()).code for example in examples] == [0, 0, 0, 0]
        assert "pulumi config set --secret train-ssh-private-key" in out


class TestOptions:
    """Options of the component in the converted program."""

    OPTIONS = ("--on-conflict", "user", "--ignore", "VJ105,VJ103", "--kubernetes-version", "1.33")
    OPTIONS += ("--volcano-version", "1.15.1")

    def test_options_are_arguments_in_python(self, shell: Shell) -> None:
        """They precede the arguments of the job."""
        out = shell.good("convert", *self.OPTIONS, EXAMPLE).out

        assert (
            '    on_conflict="user",\n'
            '    ignore_warnings=["VJ103", "VJ105"],\n'
            '    kubernetes_version="1.33",\n'
            '    volcano_version="1.15.1",\n'
        ) in out

    def test_options_are_properties_in_yaml(self, shell: Shell) -> None:
        """The provider has the same names."""
        (program,) = shell.good(
            "convert", "--language", "yaml", *self.OPTIONS[2:], "--managed-by", "volcano", EXAMPLE
        ).documents()
        properties = program["resources"]["pytorch-job"]["properties"]
        assert {
            key: properties[key] for key in ("managedBy", "ignoreWarnings", "kubernetesVersion", "volcanoVersion")
        } == {
            "managedBy": "volcano",
            "ignoreWarnings": ["VJ103", "VJ105"],
            "kubernetesVersion": "1.33",
            "volcanoVersion": "1.15.1",
        }

    def test_plugin_options_are_written_once(self, shell: Shell) -> None:
        """The plugins are those of the file."""
        chosen = ("--defaults", "recommended", "--set", "pytorch.nproc_per_node=2")

        out = shell("convert", *chosen, EXAMPLE).out

        assert 'defaults="recommended",' in out
        assert 'plugin_options={"pytorch": {"nproc_per_node": 2}},' in out
        assert out.count("nproc_per_node") == 1
        assert "torchrun" not in out

    def test_the_command_for_a_secret_repeats_on_conflict(self, shell: Shell) -> None:
        """Without it the command would fail with the conflict."""
        file = shell.write("job.yaml", with_key())

        line = shell("convert", "--on-conflict", "plugin", file).lines[1]

        assert "convert --show-secret train-ssh-private-key --on-conflict plugin job.yaml | pulumi" in line
