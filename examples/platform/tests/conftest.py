"""Our programs, run without an engine, with the configuration of their stacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_volcano_jobs.testing import Result, run

ROOT = Path(__file__).parents[1]


def up(program: str, stack: str, **surroundings: Any) -> Result:
    """Run a program with what stands in its `Pulumi.<stack>.yaml`."""
    config = yaml.safe_load((ROOT / program / f"Pulumi.{stack}.yaml").read_text("utf-8"))["config"]
    return run(ROOT / program, project=f"platform-{program}", stack=stack, config=config, **surroundings)


@pytest.fixture(params=["dev", "prod"])
def stack(request: pytest.FixtureRequest) -> str:
    """Provide each of our stacks."""
    return str(request.param)


@pytest.fixture
def queues(stack: str) -> Result:
    """Provide what the queues' program makes."""
    return up("queues", stack)


@pytest.fixture
def training(stack: str, queues: Result) -> Result:
    """Provide what the training program makes, with the outputs of the queues' program."""
    return up("training", stack, stacks={f"organization/platform-queues/{stack}": queues.outputs})
