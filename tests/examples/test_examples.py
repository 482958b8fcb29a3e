"""Each folder of examples/ runs on the real engine without a cluster, and creates the objects of its document."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import stack as stacks
import yaml

from pulumi_volcano_jobs import Rendered, load_jobs, render
from tests.engine.conftest import Project, Run
from tests.programs import EXAMPLES

ROOT = Path(__file__).parents[2]
"""Python examples; tests/languages has the other ones."""
DOCUMENTS = ROOT / "tests" / "documents" / "jobs"
OF_ANOTHER_NAME = {"pytorch": "pytorch-guide"}

Manifest = dict[str, Any]
Name = tuple[str, str]


@dataclass(frozen=True)
class Example:
    """Results of an example after two updates."""

    folder: Path
    first: Run
    second: Run
    outputs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the example, which is that of a plugin."""
        return self.folder.name

    @property
    def readme(self) -> str:
        """Text of the README in one line."""
        return " ".join((self.folder / "README.md").read_text("utf-8").split())

    def written(self) -> dict[Name, Manifest]:
        """Return the manifests that the provider wrote."""
        paths = (self.folder / "rendered").rglob("*.yaml")
        return by_name(yaml.safe_load(path.read_text("utf-8")) for path in paths)

    def described(self) -> Rendered:
        """Return the rendered job of the documents."""
        (job,) = load_jobs(DOCUMENTS / f"{OF_ANOTHER_NAME.get(self.name, self.name)}.yaml")
        return render(job)


def by_name(manifests: Iterator[Manifest]) -> dict[Name, Manifest]:
    """Return manifests by kind and name."""
    return {(item["kind"], item["metadata"]["name"]): item for item in manifests}


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.name)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    """Provide a copy of an example after two updates."""
    before = os.environ["PATH"]
    stacks.put_engine_on_path()
    copy = tmp_path_factory.mktemp("examples") / request.param.name
    shutil.copytree(request.param, copy, ignore=shutil.ignore_patterns("rendered", "__pycache__"))
    project = Project(copy)
    first, second = project.up(), project.up()
    yield Example(copy, first, second, project.outputs())
    os.environ["PATH"] = before


pytestmark = pytest.mark.engine


def test_each_plugin_of_the_documents_has_an_example() -> None:
    """The list of documents decides."""
    assert {path.name for path in EXAMPLES} >= {"ssh", "svc", "env", "pytorch", "tensorflow", "mpi", "ray"}


def test_a_second_up_changes_nothing(example: Example) -> None:
    """All resources of the first update stay the same."""
    created = sum(example.first.changes.values())

    assert example.first.changes == {"create": created}
    assert example.second.changes == {"same": created}


def test_an_example_creates_the_objects_of_its_document(example: Example) -> None:
    """Keys and annotations of the provider are ignored."""
    described = example.described()
    expected = by_name(iter([*described.objects, *described.pods]))

    written = example.written()

    assert {name: comparable(own(item)) for name, item in written.items()} == {
        name: comparable(item) for name, item in expected.items()
    }


def own(manifest: Manifest) -> Manifest:
    """Return a manifest without the annotations that configure Pulumi's provider."""
    metadata = dict(manifest["metadata"])
    for kind in ("annotations", "labels"):
        kept = {key: value for key, value in metadata.pop(kind, {}).items() if not key.startswith("pulumi.com/")}
        metadata |= {kind: kept} if kept else {}
    return manifest | {"metadata": metadata}


def comparable(manifest: Manifest) -> Manifest:
    """Return a manifest with placeholders for ssh keys, and with quantities as text like in the provider."""
    if manifest["kind"] == "Secret":
        hidden = {key: bool(value) if key != "config" else value for key, value in manifest["data"].items()}
        return manifest | {"data": hidden}
    if manifest["kind"] == "Pod":
        containers = [
            item | {"resources": {"limits": {key: str(value) for key, value in item["resources"]["limits"].items()}}}
            if "resources" in item
            else item
            for item in manifest["spec"]["containers"]
        ]
        return manifest | {"spec": manifest["spec"] | {"containers": containers}}
    return manifest


def test_the_output_folder_is_private_to_the_user(example: Example) -> None:
    """It contains private keys as plain text."""
    assert (example.folder / "rendered").stat().st_mode & 0o077 == 0


def test_the_outputs_of_an_example_are_known(example: Example) -> None:
    """No exported value is empty."""
    empty = [name for name, value in example.outputs.items() if not value]

    assert example.outputs
    assert empty == []


def test_the_readme_has_the_commands_to_run_the_example(example: Example) -> None:
    """It shows both ways to run it, and the configuration is declared."""
    settings = yaml.safe_load((example.folder / "Pulumi.yaml").read_text("utf-8"))

    assert "`pulumi up`" in example.readme
    assert "`pulumi config set cluster true`" in example.readme
    assert settings["config"]["cluster"]["default"] is False
    assert settings["name"] == f"volcano-jobs-example-{example.name}"


def test_the_commands_of_the_readme_use_existing_names(example: Example) -> None:
    """They use outputs, Pods, Services and container variables of the job."""
    commands = re.findall(r"`((?:pulumi|kubectl) [^`]+)`", example.readme)

    unknown = [command for command in commands if not is_possible(command, example)]

    assert commands
    assert unknown == []


def is_possible(command: str, example: Example) -> bool:
    """Return whether a command uses only outputs and objects of the example."""
    match command.split():
        case ["pulumi", "up" | "refresh"] | ["pulumi", "config", "set", "cluster", "true"]:
            possible = True
        case ["pulumi", "stack", "output", name]:
            possible = name in example.outputs
        case ["kubectl", "exec", pod, "--", "printenv", variable]:
            possible = any(entry["name"] == variable for entry in container_of(example, pod)["env"])
        case ["kubectl", "exec", pod, "--", "cat", path]:
            possible = any(path.startswith(mount["mountPath"]) for mount in container_of(example, pod)["volumeMounts"])
        case ["kubectl", "logs", "-f", pod]:
            possible = ("Pod", pod) in example.written()
        case ["kubectl", "port-forward", target, port]:
            service = example.written()["Service", target.removeprefix("service/")]
            possible = int(port) in {entry["port"] for entry in service["spec"]["ports"]}
        case _:
            possible = False
    return possible


def container_of(example: Example, pod: str) -> Manifest:
    """Return the first container of a Pod."""
    container: Manifest = example.written()["Pod", pod]["spec"]["containers"][0]
    return container
