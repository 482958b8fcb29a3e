"""The example in Pulumi YAML goes up on the real engine as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.yamlproject import TOOLS, CommandLine
from tests.languages.checks import check_what_it_makes, copy_example

pytestmark = pytest.mark.engine


def test_it_runs_on_the_real_engine(tmp_path: Path) -> None:
    """It makes what the same job in Python makes."""
    folder = copy_example("yaml", tmp_path)

    check_what_it_makes(CommandLine(folder, [*TOOLS, "pulumi-language-yaml"]))
