"""Projects run by the command line, in any language, and in Pulumi YAML with one VolcanoJob."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import build
import stack as stacks
import yaml
from plugins import PROVIDER

from tests.deadlines import DEADLINE
from tests.engine.conftest import Wire, outputs_of, saved_resources, short, steps

TOOLS = ("pulumi",)


def output_of(run: subprocess.CompletedProcess[str]) -> str:
    """Check that a command has succeeded, and return its output."""
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@functools.cache
def _plugins(provider: str) -> Path:
    """Return a folder of plugins with the Kubernetes provider in it, where users have it.

    The engine keeps the schema of an installed plugin. A provider on PATH writes it again in each command, which takes
    a third of the time. The folder has the version that Pulumi's SDK asks for.
    """
    folder = Path(tempfile.mkdtemp(prefix="volcano-jobs-plugins-"))
    atexit.register(shutil.rmtree, folder)
    installed = folder / f"resource-kubernetes-v{metadata.version('pulumi_kubernetes')}"
    installed.mkdir()
    (installed / PROVIDER).symlink_to(provider)
    return folder


class CommandLine:
    """A Pulumi project run by the command line; its state is in its folder."""

    def __init__(self, folder: Path, tools: Sequence[str] = TOOLS) -> None:
        """Use the project in a folder; `tools` are added to its PATH, in addition to the component provider."""
        self.folder = folder
        self.said = ""
        """All output of the command line."""
        built = build.ensure([PROVIDER, *tools], lambda _: None)
        path = [*map(str, built), str(Path(sys.executable).parent), *os.environ["PATH"].split(os.pathsep)]
        provider = shutil.which(PROVIDER, path=os.pathsep.join(path))
        assert provider
        # The folder of the built provider has no other program. Another folder stays, and its provider is used.
        alone = str(build.TOOLS[PROVIDER].built.parent)
        for name in ("state", "home"):
            (folder / name).mkdir()
        (folder / "home" / "plugins").symlink_to(_plugins(provider))
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(part for part in path if part != alone),
            "PULUMI_BACKEND_URL": (folder / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "for this test",
            # For the event log, which Pulumi's Automation API also reads.
            "PULUMI_DEBUG_COMMANDS": "1",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_SKIP_UPDATE_CHECK": "1",
        }

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder of the project."""
        run = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        self.said += run.stdout + run.stderr
        return run

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return self.execute("pulumi", *arguments, "--non-interactive", "--color=never")

    def done(self, *arguments: str) -> str:
        """Run the command line, check that it succeeds, and return its output."""
        return output_of(self.pulumi(*arguments))

    def without_cluster(self, **config: str) -> None:
        """Create the stack with a provider that writes manifests to a folder, and with encrypted configuration."""
        self.done("stack", "init", "dev")
        rendered = str(self.folder / "rendered")
        stacks.write_config(
            self.folder / "Pulumi.dev.yaml",
            {"kubernetes:renderYamlToDirectory": rendered, "kubernetes:kubeconfig": ""},
        )
        for key, value in config.items():
            self.done("config", "set", "--secret", key, value)

    def steps(self) -> dict[str, str]:
        """Run a preview, and return the operation on each changed resource by type and name."""
        return steps((step["urn"], step["op"]) for step in self._events("preview"))

    def up(self) -> dict[str, str]:
        """Run an update, and return the operation on each changed resource by type and name."""
        return steps((step["urn"], step["op"]) for step in self._events("up", "--yes", "--skip-preview"))

    def planned(self) -> dict[str, Wire]:
        """Run a preview, and return the planned inputs of each resource by type and name."""
        return {short(step["urn"]): step["new"]["inputs"] for step in self._events("preview") if step.get("new")}

    def _events(self, *command: str) -> Iterator[Wire]:
        # `preview --json` of this CLI version fails when the program has a secret.
        log = self.folder / "events.json"
        log.unlink(missing_ok=True)
        self.done(*command, "--event-log", str(log))
        for line in log.read_text("utf-8").splitlines():
            step = json.loads(line).get("resourcePreEvent", {}).get("metadata")
            if step:
                yield step

    def outputs(self) -> Wire:
        """Return the outputs of the stack."""
        return outputs_of(saved_resources(self.folder / "state", self.folder))

    def manifests(self) -> dict[tuple[str, str], Wire]:
        """Read the files that the provider wrote, by kind and name."""
        written = [yaml.safe_load(path.read_text("utf-8")) for path in (self.folder / "rendered").rglob("*.yaml")]
        return {(item["kind"], item["metadata"]["name"]): item for item in written}

    def state(self) -> str:
        """Return the whole state as text."""
        return "".join(path.read_text("utf-8") for path in (self.folder / "state").rglob("*.json*") if path.is_file())


class YamlProject(CommandLine):
    """A Pulumi YAML project with one VolcanoJob and other resources."""

    def __init__(self, folder: Path) -> None:
        """Create the project in a folder."""
        super().__init__(folder, [*TOOLS, "pulumi-language-yaml"])

    def write(self, job: Wire, **others: Wire) -> None:
        """Write the program; `others` are other sections of it, such as resources."""
        files = {"renderYamlToDirectory": str(self.folder / "rendered"), "kubeconfig": ""}
        resources = {
            "files": {"type": "pulumi:providers:kubernetes", "properties": files},
            "train": {
                "type": "volcano-jobs:index:VolcanoJob",
                "properties": job,
                "options": {"providers": ["${files}"]},
            },
            **others.pop("resources", {}),
        }
        outputs = {"pods": "${train.podNames}", "hosts": "${train.hosts}", "group": "${train.podGroupName}"}
        program = {"name": "tests", "runtime": "yaml", "resources": resources, "outputs": outputs, **others}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(program), "utf-8")
