"""Run a project of this repository on the real Pulumi engine, with state in a folder and no language host.

The program runs in this process, through Pulumi's Automation API: the CLI's own Python host is in no registry.
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

PASSPHRASE = "only for the demo and the tests"  # noqa: S105  # the state lies in a folder of theirs


def say(message: str) -> None:
    """Print progress."""
    print(message, file=sys.stderr, flush=True)


def put_engine_on_path() -> None:
    """Make `pulumi` and the Kubernetes provider available, building them if they are not there."""
    folders = build.ensure(["pulumi", "pulumi-resource-kubernetes"], say)
    os.environ["PATH"] = os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def open_stack(project: Path, state: Path, name: str, config: Mapping[str, str] | None = None) -> automation.Stack:
    """Create or select a stack of the project in a folder, with its state below `state`, which projects may share."""
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
    """Run operations and nothing after them: the Automation API asks for outputs and history, which takes as long."""
    with mock.patch.multiple(stack, outputs=dict, info=lambda *_: stack):
        yield
