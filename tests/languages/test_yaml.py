"""The Pulumi YAML example runs unchanged on the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.yamlproject import TOOLS, CommandLine
from tests.languages.checks import check_manifests, copy_example

pytestmark = pytest.mark.engine


def test_the_program_runs_on_the_real_engine(tmp_path: Path) -> None:
    """It creates the same objects as the Python job."""
    folder = copy_example("yaml", tmp_path)

    check_manifests(CommandLine(folder, [*TOOLS, "pulumi-language-yaml"]))
