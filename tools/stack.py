"""Run a project of this repository on the real Pulumi engine, with its state in a folder.

The program runs in this process through Pulumi's Automation API, because no registry has the CLI's Python host.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import yaml
from pulumi import automation

sys.path.insert(0, str(Path(__file__).parent))

import build  # a sibling, wherever this file is loaded from

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
    stack = automation.create_or_select_stack(
        stack_name=name,
        project_name=settings["name"],
        program=program,
        opts=automation.LocalWorkspaceOptions(
            work_dir=str(workspace),
            pulumi_home=str(state / "home"),
            env_vars={
                "PULUMI_BACKEND_URL": (state / "state").as_uri(),
                "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
                "PULUMI_SKIP_UPDATE_CHECK": "1",
                "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "1",
            },
        ),
    )
    for key, value in (config or {}).items():
        stack.set_config(key, automation.ConfigValue(value))
    return stack


@contextmanager
def alone(stack: automation.Stack) -> Iterator[None]:
    """Skip the outputs and the history that the Automation API reads after each operation.

    Reading them takes as long as the operation.
    """
    with mock.patch.multiple(stack, outputs=dict, info=lambda *_: stack):
        yield
