"""Run a project of this repository on the real Pulumi engine, with its state in a folder.

The program runs in this process through Pulumi's Automation API, because no registry has the CLI's Python host.
"""

from __future__ import annotations

import functools
import os
import runpy
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import yaml
from pulumi import automation
from pulumi.runtime import _grpc_settings

sys.path.insert(0, str(Path(__file__).parent))

import build  # a sibling, wherever this file is loaded from

# The engine of each command listens on a free port. gRPC shares the connections of a process by address, so that an
# engine on the port of an earlier one seems to be unreachable.
_grpc_settings._GRPC_CHANNEL_OPTIONS.append(("grpc.use_local_subchannel_pool", 1))  # noqa: SLF001  # no public name

PASSPHRASE = "only for the demo and the tests"  # noqa: S105  # for temporary state only


def say(message: str) -> None:
    """Print a progress message."""
    print(message, file=sys.stderr, flush=True)


def put_engine_on_path() -> None:
    """Add `pulumi` and the Kubernetes provider to PATH. Build them if they are missing."""
    folders = build.ensure(["pulumi", "pulumi-resource-kubernetes"], say)
    os.environ["PATH"] = os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def open_stack(project: Path, state: Path, name: str, config: Mapping[str, str] | None = None) -> automation.Stack:
    """Create or select a stack of a project, with its state in the folder `state`. Projects may share the folder."""
    settings = yaml.safe_load((project / "Pulumi.yaml").read_text("utf-8"))
    main = project / settings.get("main", ".") / "__main__.py"
    workspace = state / "workspaces" / settings["name"]

    def program() -> None:
        runpy.run_path(str(main), run_name="__main__")

    for folder in (workspace, state / "home", state / "state"):
        folder.mkdir(parents=True, exist_ok=True)
    # Each command of the engine takes as long as a small update, so there is none here for a stack that exists. Its
    # settings and its configuration are in one file.
    file = workspace / f"Pulumi.{name}.yaml"
    is_there = file.exists() and state_file(state / "state", settings["name"], name).exists()
    if config:
        write_config(file, config)
    options = automation.LocalWorkspaceOptions(
        work_dir=str(workspace),
        pulumi_home=str(state / "home"),
        env_vars={
            "PULUMI_BACKEND_URL": (state / "state").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "1",
        },
        pulumi_command=_command(os.environ["PATH"]),
    )
    if not is_there:
        return automation.create_or_select_stack(name, settings["name"], program, opts=options)
    # The Automation API names the stack in each command, so it need not be the selected one.
    with mock.patch.object(automation.LocalWorkspace, "select_stack"):
        return automation.select_stack(name, settings["name"], program, opts=options)


def state_file(backend: Path, project: str, name: str) -> Path:
    """Return the file in which the engine keeps the state of a stack."""
    return backend / ".pulumi" / "stacks" / project / f"{name}.json"


def write_config(file: Path, values: Mapping[str, str]) -> None:
    """Add plain configuration to the settings of a stack, which need not exist."""
    settings = yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}
    config = {**settings.get("config", {}), **values}
    file.write_text(yaml.safe_dump({**settings, "config": config}), "utf-8")


@functools.cache
def _command(path: str) -> automation.PulumiCommand:  # noqa: ARG001  # `pulumi` is another one on another PATH
    """Return the `pulumi` on PATH, whose version is read once."""
    return automation.PulumiCommand(skip_version_check=True)


@contextmanager
def alone(stack: automation.Stack) -> Iterator[None]:
    """Skip the outputs and the history that the Automation API reads after each operation.

    Reading them takes as long as the operation.
    """
    with mock.patch.multiple(stack, outputs=dict, info=lambda *_: stack):
        yield
