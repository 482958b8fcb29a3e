"""Python programs from job files: they create the same jobs, and read like handwritten ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import KeyPair, Plugin, VolcanoJob, flag
from pulumi_volcano_jobs.convert import render_normalized, to_python
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import registry
from pulumi_volcano_jobs.testing import Result, run
from tests.conftest import BYTES, PAIR, Wire, container, job, task
from tests.convert.cases import ACCEPTED, DOCUMENTS, MENDED, evaluated, expected, program_files, rendered

# Volcano accepts these after it ignores the mistakes; it rejects the other cases, and so must a program.
SOUND_AS_VOLCANO_READS_THEM = {
    "env-args",
    "hcclrank-bad-flag",
    "pytorch-port-space",
    "pytorch-wait-two-words",
    "ray-kebab-flag",
    "ssh-double-dash",
    "ssh-empty-argument",
    "ssh-help",
    "ssh-missing-value",
    "ssh-no-dashes",
    "ssh-spaces-argument",
    "ssh-triple-dash",
    "ssh-unknown-flag-first",
    "svc-no-dashes",
    "svc-publish-two-words",
    "svc-unknown-flag",
    "svc-unknown-flag-last",
}
# Volcano does not check the action of a policy with an exit code; type checkers report one that does not exist.
REFUSED_BY_TYPES = {"plain-policy-exit-any-action"}
PUBLIC = PAIR.public.strip()
WITH_MOCKS = ["guide-env", "guide-mpi", "guide-ray", "guide-tensorflow", "volume-mixed"]


def convert(*documents: Wire) -> str:
    """Return the program of some documents."""
    return to_python([render_normalized(document)[1] for document in map(read, documents)]).text


def read(document: Wire) -> job_file.Document:
    """Read a document from YAML."""
    (found,) = job_file.read(job_file.dump_as_ordered(document))
    return found


@pytest.mark.parametrize("name", [*ACCEPTED, *MENDED])
def test_a_program_renders_the_same_bytes_as_the_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All accepted cases, the guides, and cases whose mistakes Volcano ignores."""
    program = to_python([(ACCEPTED | MENDED)[name]])

    ((resource, args),) = evaluated(program, monkeypatch)

    assert rendered(resource, args) == expected(name)


def test_lenient_mode_omits_mistakes_that_volcano_ignores() -> None:
    """No other case needs lenient mode."""
    assert {name for name in MENDED if not name.startswith("real-")} == SOUND_AS_VOLCANO_READS_THEM


@pytest.mark.parametrize("name", WITH_MOCKS)
def test_a_program_registers_the_same_resources_as_from_yaml(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs, parents and digests are compared, as registered by Pulumi's SDK."""
    monkeypatch.setattr("pulumi_volcano_jobs.plugins.ssh_keys.generate", lambda _kind: KeyPair("private", "public"))
    program = to_python([ACCEPTED[name]])
    text = job_file.dump([DOCUMENTS[name].data])
    resource = ACCEPTED[name].name
    secrets = {secret.key: secret.value for secret in program.secrets}

    made = run(lambda: exec(program.text, {}), secrets=secrets)  # noqa: S102  # it is ours

    from_yaml = run(lambda: {"job": VolcanoJob.from_yaml(resource, text).name})
    assert made.tree() == from_yaml.tree()
    assert _registered(made) == _registered(from_yaml)


def _registered(done: Result) -> dict[str, tuple[Any, Any]]:
    """Return inputs and digest of each resource, sorted because asyncio decides the order."""
    return {key: (item.inputs, item.replacement_trigger) for key, item in done.resources.items()}


def test_a_given_key_is_not_in_the_program() -> None:
    """It is absent as text and in escaped form; the public key stays."""
    given = job(plugins={"svc": [], "ssh": [f"--ssh-private-key={PAIR.private}", "--ssh-public-key", PUBLIC]})
    _, meaning = render_normalized(read(given))

    program = to_python([meaning])

    assert [(secret.key, secret.value) for secret in program.secrets] == [("train-ssh-private-key", PAIR.private)]
    assert "BEGIN" not in program.text
    assert BYTES not in program.text
    assert BYTES not in repr(program)
    assert program.text.partition("\n\n")[2].startswith(
        "import pulumi\n"
        "from pulumi_volcano_jobs import SshPlugin, SvcPlugin, VolcanoJob\n\n"
        "config = pulumi.Config()\n\n"
    )
    assert 'ssh_private_key=config.require_secret("train-ssh-private-key")' in program.text
    assert PUBLIC[:40] in program.text


def test_a_program_begins_with_a_docstring(snapshot: SnapshotAssertion) -> None:
    """It has the name of the job, or the number of jobs."""
    programs = [convert(job()), convert(job(name="a"), job(name="b"))]

    assert [program.partition("\n\n")[0] for program in programs] == snapshot


def test_equal_templates_are_written_once() -> None:
    """The variable has a type annotation."""
    different = task("ps", containers=[container(image="example.org/other:1")])

    text = convert(job(task("a"), task("b"), different), job(task("c"), name="other"))

    assert text.count('pod: PodTemplateSpecDict = {\n    "spec": {') == 1
    assert text.count('"template": pod') == 3
    assert text.count('"example.org/image:1"') == 1
    assert text.count('"template": {') == 1


def test_templates_that_differ_in_int_and_float_stay_separate() -> None:
    """In YAML 1 and 1.0 are different values, but Python compares them as equal."""
    whole, fraction = task("a", terminationGracePeriodSeconds=1), task("b", terminationGracePeriodSeconds=1.0)

    text = convert(job(whole, fraction))

    assert '"template": pod' not in text
    assert '"terminationGracePeriodSeconds": 1,' in text
    assert '"terminationGracePeriodSeconds": 1.0,' in text


SCRIPT = 'echo "$$"\nif ! cmp a \\\n  b; then\n\texit 1\nfi\n'
LONG = "x" * 70 + " " + "it's " + "y" * 70


def test_scripts_are_multiline_constants() -> None:
    """They are named after their tasks, equal ones share a constant, and short ones stay inline."""
    shell = [container(command=["sh", "-c", SCRIPT])]

    text = convert(job(task("side-car", containers=shell), task("b", 2, containers=shell, hostNetwork=True)))

    assert 'SIDE_CAR_SCRIPT = """\\\necho "$$"\nif ! cmp a \\\\\n  b; then\n\\texit 1\nfi\n"""\n' in text
    assert text.count('"command": ["sh", "-c", SIDE_CAR_SCRIPT]') == 2


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (LONG, f'WORKER_NOTE = (\n    "{"x" * 70} it\'s "\n    "{"y" * 70}"\n)\n'),
        ("a \nb\nc", 'WORKER_NOTE = "a \\nb\\nc"\n'),
        ('a\nb\n"""', 'WORKER_NOTE = \'a\\nb\\n"""\'\n'),
        ("a\nb\nc\x00", 'WORKER_NOTE = "a\\nb\\nc\\x00"\n'),
        ("é" * 200, f'WORKER_NOTE = (\n    "{"é" * 114}"\n    "{"é" * 86}"\n)\n'),
        (f"a\n{LONG}\nb", f'WORKER_NOTE = (\n    "a\\n"\n    "{"x" * 70} it\'s "\n    "{"y" * 70}\\n"\n    "b"\n)\n'),
    ],
    ids=["long", "blanks at an end", "triple quotes", "a control character", "no blank", "a script with a long line"],
)
def test_long_texts_are_split(text: str, written: str) -> None:
    """They are split at line breaks, between words, or anywhere; triple quotes must hide no character."""
    variables = [{"name": "NOTE", "value": text}]

    program = convert(job(task(containers=[container(env=variables)])))

    assert written in program
    assert '{"name": "NOTE", "value": WORKER_NOTE}' in program


def test_equal_names_and_invalid_identifiers_get_unique_variables() -> None:
    """Each job has its own resource, variable and secret."""
    keys: Wire = {"plugins": {"svc": [], "ssh": [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PUBLIC}"]}}
    documents = [job(**keys), job(**keys), job(name="a-job"), job(name="class"), job(name="7"), job(name="train-other")]
    documents[1]["metadata"]["namespace"] = "other"
    meanings = [render_normalized(read(document))[1] for document in documents]

    program = to_python(meanings)

    assert [line.split(" = VolcanoJob")[0] for line in program.text.splitlines() if " = VolcanoJob" in line] == [
        "train_default_job",
        "train_other_job",
        "a_job",
        "class_job",
        "job_7_job",
        "train_other_2_job",
    ]
    assert [secret.key for secret in program.secrets] == [
        "train-default-ssh-private-key",
        "train-other-ssh-private-key",
    ]
    assert program.text.count('    name="train",') == 2
    assert 'name="train-other",' in program.text
    assert program.text.startswith('"""6 ')


def test_variables_of_the_same_name_are_numbered() -> None:
    """A dot and a dash are the same in Python."""
    text = convert(job(name="a-b"), job(name="a.b", plugins={}))

    assert '\na_b_job = VolcanoJob("a-b", ' in text
    assert '\na_b_job_2 = VolcanoJob("a.b", ' in text


def test_the_longest_name_fits() -> None:
    """A Pod name has at most 63 characters."""
    name = "a" * (63 - len("-b-0"))

    text = convert(job(task("b"), name=name))

    assert text.partition("\n")[0] == convert(job(task("b"))).partition("\n")[0].replace(" train,", f" {name},")
    assert max(map(len, text.splitlines())) <= 120


def test_nulls_and_server_fields_are_omitted() -> None:
    """A job that was read from a cluster has a uid and a status, and some tools write nulls."""
    document = job()
    document["metadata"] |= {"uid": "0-1", "resourceVersion": "7"}
    document["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": None, "labels": {"a": "b"}}
    document["status"] = {"state": {"phase": "Running"}}
    document["spec"]["tasks"][0]["template"]["spec"]["nodeSelector"] = None

    text = convert(document)

    assert '"metadata": {"labels": {"a": "b"}}' in text
    assert "None" not in text
    assert "Running" not in text
    assert "0-1" not in text


class BeaconPlugin(Plugin):
    """A plugin of another package."""

    name = "beacon"
    audience: str = flag("audience", default="training")
    token: str = flag("token", default="", secret=True)


def test_a_plugin_of_another_package_is_imported_from_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its secrets are also not in the program."""
    monkeypatch.setitem(registry._plugins, "beacon", BeaconPlugin)
    document = read(job(plugins={"beacon": ["--audience=ci", "--token=T0P"]}))

    program = to_python([render_normalized(document)[1]])

    assert f"from {__name__} import BeaconPlugin\n" in program.text
    assert '[BeaconPlugin(audience="ci", token=config.require_secret("train-token"))]' in program.text
    assert [(secret.key, secret.value) for secret in program.secrets] == [("train-token", "T0P")]


def test_many_imports_are_wrapped() -> None:
    """A line has at most 120 characters."""
    plugins: Wire = {name: [] for name in ("env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow")}
    roles = [
        task("master"),
        task("worker", containers=[container("worker")]),
        task("head", containers=[container("head")]),
    ]

    text = convert(job(*roles, plugins=plugins, networkTopology={"mode": "hard"}))

    assert "from pulumi_volcano_jobs import (\n    EnvPlugin,\n    HcclrankPlugin,\n" in text
    assert "    VolcanoJob,\n)\n" in text


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with all programs, and one with all jobs that can be in one program."""
    folder = tmp_path_factory.mktemp("programs")
    accepted, mended = (
        {name: found for name, found in jobs.items() if name not in REFUSED_BY_TYPES} for jobs in (ACCEPTED, MENDED)
    )
    single = {name: [found] for name, found in (accepted | mended).items()}
    program_files(folder, single | {"all-in-one": [*accepted.values()]})
    return folder


def check(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a tool on a folder without any configuration."""
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        [sys.executable, "-m", *command, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--diff"],
        ["ruff", "check", "--isolated", "--no-cache", "--line-length=120", "--select=E,F,I,UP,W"],
        ["mypy", "--strict", "--config-file="],
    ],
    ids=["ruff format", "ruff check", "mypy"],
)
def test_programs_pass_ruff_and_mypy(programs: Path, command: list[str]) -> None:
    """They are formatted, imports are sorted, and no line is too long."""
    done = check(programs, *command)

    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_accepts_the_programs(programs: Path) -> None:
    """Strict mode reports no error and no warning."""
    (programs / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', "utf-8")

    done = check(programs, "pyright", "--outputjson", f"--pythonpath={sys.executable}")

    said: dict[str, Any] = json.loads(done.stdout)
    assert said["summary"]["filesAnalyzed"] > len(ACCEPTED)
    assert said["generalDiagnostics"] == []
