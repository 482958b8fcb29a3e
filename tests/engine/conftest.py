"""Projects in temporary folders, run by the real engine and Kubernetes provider, without a cluster."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import stack as stacks
import yaml
from pulumi import automation
from pulumi.automation import EngineEvent

ROOT = Path(__file__).parents[2]
Steps = dict[str, str]
Wire = dict[str, Any]

# The beginning of each program: the provider writes YAML into the folder `rendered`.
PROGRAM = """
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from pulumi_volcano_jobs import VolcanoJob

HERE = Path(__file__).parent
rendered = HERE / "rendered"
rendered.mkdir(mode=0o700, exist_ok=True)
provider = kubernetes.Provider("files", render_yaml_to_directory=str(rendered), kubeconfig="")
opts = pulumi.ResourceOptions(provider=provider)
config = pulumi.Config()
"""


@pytest.fixture(scope="session", autouse=True)
def engine() -> Iterator[None]:
    """Add the engine and the provider to PATH; a missing one is an error, so that no test is skipped."""
    before = os.environ["PATH"]
    stacks.put_engine_on_path()
    yield
    os.environ["PATH"] = before


@dataclass
class Run:
    """The result of a preview, an update or a destroy."""

    events: list[EngineEvent] = field(default_factory=list)
    stdout: str = ""

    @property
    def changes(self) -> Mapping[str, int]:
        """Number of resources for each operation, from the summary of the engine."""
        (summary,) = (event.summary_event for event in self.events if event.summary_event)
        return summary.resource_changes

    @property
    def steps(self) -> Steps:
        """Operation on each changed resource."""
        return steps((urn, op) for op, urn in self.urns)

    @property
    def urns(self) -> list[tuple[str, str]]:
        """Operation and URN of each step, sorted."""
        found = [event.resource_pre_event.metadata for event in self.events if event.resource_pre_event]
        return sorted((metadata.op.value, metadata.urn) for metadata in found)

    @property
    def order(self) -> list[str]:
        """Resources in the order in which the engine finished them, by short name."""
        return [short(event.res_outputs_event.metadata.urn) for event in self.events if event.res_outputs_event]

    @property
    def text(self) -> str:
        """All output of the engine, as text and as JSON events."""
        return self.stdout + "".join(repr(event.__dict__) for event in self.events)


def steps(found: Iterable[tuple[str, str]]) -> Steps:
    """Return the operation on each changed resource by short name; a replacement is one step."""
    ops: dict[str, set[str]] = defaultdict(set)
    for urn, op in found:
        ops[short(urn)].add(op)
    return {
        name: "replace" if "replace" in done else "+".join(sorted(done))
        for name, done in ops.items()
        if done != {"same"}
    }


def short(urn: str) -> str:
    """Return the last word of the type and the name of a URN: `Pod train-worker-0`."""
    kind, name = urn.split("::")[-2:]
    return f"{kind.rpartition(':')[2]} {name}"


def saved_resources(backend: Path, project: Path) -> list[Wire]:
    """Return the resources in the state of the stack `dev`, from its file: a command of the engine takes longer."""
    name = yaml.safe_load((project / "Pulumi.yaml").read_text("utf-8"))["name"]
    state = json.loads(stacks.state_file(backend, name, "dev").read_text("utf-8"))
    resources: list[Wire] = state["checkpoint"]["latest"].get("resources") or []
    return resources


def outputs_of(resources: Iterable[Wire]) -> Wire:
    """Return the outputs of the stack, with secrets encrypted."""
    (outputs,) = (item.get("outputs", {}) for item in resources if item["type"] == "pulumi:pulumi:Stack")
    return dict(outputs)


class Project:
    """A Pulumi project with one stack, with all files in one folder."""

    def __init__(self, folder: Path, program: str = "", config: Mapping[str, str] | None = None) -> None:
        """Use the project in the folder, or create one with the program."""
        self.folder = folder
        if program:
            folder.mkdir(parents=True, exist_ok=True)
            self.write("Pulumi.yaml", "name: tests\nruntime: python\n")
            self.write("__main__.py", PROGRAM + program)
        settings = yaml.safe_load((folder / "Pulumi.yaml").read_text("utf-8"))
        self.main = folder / settings.get("main", ".")
        self.state = folder / ".state"
        if not self.state.exists():
            shutil.copytree(_new_state(settings["name"]), self.state)
        self.stack: automation.Stack = stacks.open_stack(folder, self.state, "dev", config)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        (self.folder / name).write_text(text, "utf-8")
        return self.folder / name

    def configure(self, **values: str) -> None:
        """Change the stack's configuration."""
        project = self.stack.workspace.project_settings().name
        file = Path(self.stack.workspace.work_dir) / f"Pulumi.{self.stack.name}.yaml"
        stacks.write_config(file, {key if ":" in key else f"{project}:{key}": value for key, value in values.items()})

    def preview(self, **options: Any) -> Run:
        """Run a preview."""
        return self._run(self.stack.preview, **options)

    def up(self, **options: Any) -> Run:
        """Run an update."""
        with stacks.alone(self.stack):
            return self._run(self.stack.up, **options)

    def refresh(self) -> Run:
        """Run a refresh."""
        with stacks.alone(self.stack):
            return self._run(self.stack.refresh)

    def destroy(self) -> Run:
        """Delete all resources."""
        with stacks.alone(self.stack):
            return self._run(self.stack.destroy)

    def _run(self, operation: Callable[..., Any], **options: Any) -> Run:
        run = Run()
        run.stdout = operation(on_event=run.events.append, color="never", **options).stdout
        return run

    def resources(self) -> list[Wire]:
        """Return the resources in the state of the stack."""
        return saved_resources(self.state / "state", self.folder)

    def outputs(self) -> Wire:
        """Return the outputs of the stack that are not secrets."""
        return outputs_of(self.resources())

    def dependencies(self, name: str) -> list[str]:
        """Return the dependencies of a resource in the state, by short name."""
        (resource,) = (item for item in self.resources() if short(item["urn"]) == name)
        return sorted(map(short, resource.get("dependencies") or ()))

    def manifests(self) -> dict[str, Any]:
        """Read the files that the provider wrote, by kind and name."""
        found = [yaml.safe_load(path.read_text("utf-8")) for path in self.files()]
        return {f"{item['kind']} {item['metadata']['name']}": item for item in found}

    def files(self) -> list[Path]:
        """Return the files that the provider wrote."""
        return sorted(path for path in (self.main / "rendered").rglob("*") if path.is_file())


@functools.cache
def _new_state(project: str) -> Path:
    """Return the state of a new stack of a project with this name.

    The engine creates it once: the tests have 160 stacks, and a new one takes half as long as an update.
    """
    folder = Path(tempfile.mkdtemp(prefix="volcano-jobs-stack-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "Pulumi.yaml").write_text(f"name: {project}\nruntime: python\n", "utf-8")
    state = folder / ".state"
    stacks.open_stack(folder, state, "dev")
    return state


def copy_example(name: str, folder: Path) -> Project:
    """Copy the project of an example to a folder."""
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copytree(ROOT / "examples" / name, folder / "examples" / name, ignore=shutil.ignore_patterns("rendered"))
    return Project(folder)
