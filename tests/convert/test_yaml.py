"""Pulumi YAML programs from job files: they create the same jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pulumi_volcano_jobs import KeyPair, Plugin, VolcanoJob, flag, render
from pulumi_volcano_jobs.component import provider
from pulumi_volcano_jobs.convert import Program, render_normalized, to_yaml
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import registry
from pulumi_volcano_jobs.testing import run
from tests.conftest import PAIR, Wire, container, job, task
from tests.convert.cases import ACCEPTED, CLUSTER, DOCUMENTS, MENDED, expected, written

PUBLIC = PAIR.public.strip()
WITH_MOCKS = ["guide-env", "guide-mpi", "guide-ray", "guide-tensorflow", "volume-mixed"]
Secrets = Mapping[str, str]


def resources(program: Program) -> dict[str, Wire]:
    """Return the properties of each resource as Pulumi's YAML host passes them to the provider."""
    (document,) = job_file.read(program.text)
    secrets = {secret.key: secret.value for secret in program.secrets}
    assert document.data["runtime"] == "yaml"
    assert document.data.get("config", {}) == {key: {"type": "string", "secret": True} for key in secrets}
    assert {item["type"] for item in document.data["resources"].values()} == {"volcano-jobs:index:VolcanoJob"}
    return {name: as_read(item["properties"], secrets) for name, item in document.data["resources"].items()}


def as_read(tree: Any, secrets: Secrets) -> Any:
    """Read texts and keys as Pulumi YAML does (ast/interpolation.go), and numbers as they cross the wire."""
    if isinstance(tree, dict):
        return {as_read(key, secrets): as_read(value, secrets) for key, value in tree.items()}
    if isinstance(tree, list):
        return [as_read(item, secrets) for item in tree]
    if isinstance(tree, str):
        return re.sub(
            r"\$\$|\$\{([^}]*)\}", lambda found: "$" if found[0] == "$$" else secrets[found[1]], tree, flags=re.DOTALL
        )
    return float(tree) if isinstance(tree, int) and not isinstance(tree, bool) else tree


def convert(*documents: Wire) -> Program:
    """Return the program of some documents."""
    found = [job_file.read(job_file.dump_as_ordered(document))[0] for document in documents]
    return to_yaml([render_normalized(document)[1] for document in found])


@pytest.mark.parametrize("name", [*ACCEPTED, *MENDED])
def test_a_program_renders_the_same_bytes_as_the_file(name: str) -> None:
    """All accepted cases, the guides, and cases whose mistakes Volcano ignores."""
    program = to_yaml([(ACCEPTED | MENDED)[name]])

    ((resource, properties),) = resources(program).items()

    assert written(render({"name": resource, **properties}, cluster=CLUSTER)) == expected(name)


@pytest.mark.parametrize("name", WITH_MOCKS)
def test_the_provider_registers_the_same_resources_as_from_yaml(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs, parents and digests are compared."""
    monkeypatch.setattr("pulumi_volcano_jobs.plugins.ssh_keys.generate", lambda _kind: KeyPair("private", "public"))
    ((resource, properties),) = resources(to_yaml([ACCEPTED[name]])).items()
    inputs: Any = properties

    made = run(lambda: {"name": provider.VolcanoJob(resource, inputs).name})

    text = job_file.dump([DOCUMENTS[name].data])
    from_yaml = run(lambda: {"name": VolcanoJob.from_yaml(resource, text).name})
    assert made.tree() == from_yaml.tree()
    # The order depends on which Outputs are known first.
    registered, expected = (
        {name: (item.inputs, item.replacement_trigger) for name, item in done.resources.items()}
        for done in (made, from_yaml)
    )
    assert registered == expected


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("${HOME}", "$${HOME}"),
        ("$HOME $(NAME) 5$", "$HOME $(NAME) 5$"),
        ("echo $$", "echo $$$$"),
        ("$$${a} $${b}", "$$$$$${a} $$$${b}"),
        ("${", "$${"),
    ],
)
def test_dollar_signs_are_escaped(text: str, escaped: str) -> None:
    """Pulumi YAML interpolates ${...} in all texts, and reads two dollar signs as one."""
    program = convert(job(task(containers=[container(args=[text])], nodeSelector={"a": "b"})))

    (document,) = job_file.read(program.text)
    template = document.data["resources"]["train"]["properties"]["tasks"][0]["template"]
    assert template["spec"]["containers"][0]["args"] == [escaped]
    assert as_read(escaped, {}) == text


def test_a_program_has_names_secrets_arguments_and_tasks_in_order() -> None:
    """Plugin arguments with default values are omitted, and tasks are last."""
    document = job(
        task("master", containers=[container(command=["sh", "-c", "echo ${HOME}\nexec train\n"])]),
        queue="research",
        plugins={
            "pytorch": ["--port=29500", "--master=master"],
            "ssh": [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PUBLIC}"],
        },
        policies=[{"event": "PodFailed", "action": "RestartJob"}],
    )
    document["metadata"]["namespace"] = "ml"

    program = convert(document)

    assert program.text == (
        "name: train\n"
        "runtime: yaml\n"
        "config:\n"
        "  train-ssh-private-key:\n"
        "    type: string\n"
        "    secret: true\n"
        "resources:\n"
        "  train:\n"
        "    type: volcano-jobs:index:VolcanoJob\n"
        "    properties:\n"
        "      namespace: ml\n"
        "      policies:\n"
        "      - event: PodFailed\n"
        "        action: RestartJob\n"
        "      plugins:\n"
        "        pytorch:\n"
        "        - --port=29500\n"
        "        ssh:\n"
        "        - --ssh-private-key\n"
        "        - ${train-ssh-private-key}\n"
        f"        - --ssh-public-key={PUBLIC}\n"
        "      queue: research\n"
        "      tasks:\n"
        "      - name: master\n"
        "        replicas: 1\n"
        "        template:\n"
        "          spec:\n"
        "            containers:\n"
        "            - name: main\n"
        "              image: example.org/image:1\n"
        "              command:\n"
        "              - sh\n"
        "              - -c\n"
        "              - |\n"
        "                echo $${HOME}\n"
        "                exec train\n"
        "            restartPolicy: Never\n"
    )


def test_several_jobs_are_resources_of_one_project() -> None:
    """Jobs with the same name have the namespace in the resource name, and secret names are unique."""
    keys: Wire = {"plugins": {"svc": [], "ssh": [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PUBLIC}"]}}
    documents = [job(name="a", **keys), job(name="a-ssh-private-key"), job(name="b"), job(name="b")]
    documents[2]["metadata"]["namespace"] = "other"

    program = convert(*documents)

    assert program.text.startswith("name: volcano-jobs\n")
    assert list(resources(program)) == ["a", "a-ssh-private-key", "b-other", "b-default"]
    assert [properties.get("name") for properties in resources(program).values()] == [None, None, "b", "b"]
    assert [secret.key for secret in program.secrets] == ["a-ssh-private-key-2"]


class TokenPlugin(Plugin):
    """A plugin with a secret, for jobs of any name."""

    name = "token"
    token: str = flag("token", default="", secret=True)


def test_a_configuration_key_has_no_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulumi would read it as a path into an object."""
    monkeypatch.setitem(registry._plugins, "token", TokenPlugin)

    program = convert(job(name="a.b", plugins={"token": ["--token=T0P"]}))

    assert [secret.key for secret in program.secrets] == ["a-b-token"]
    assert "- ${a-b-token}\n" in program.text
