"""examples/policy, and files of the examples that Pulumi reads."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "policy"
IGNORED = (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_pack_runs_in_its_own_virtual_environment() -> None:
    """`pulumi install` creates it; without this option the host uses a Python without pulumi."""
    runtime = yaml.safe_load((POLICY / "PulumiPolicy.yaml").read_text("utf-8"))["runtime"]

    assert runtime == {"name": "python", "options": {"toolchain": "pip", "virtualenv": ".venv"}}
    assert (POLICY / "requirements.txt").read_text("utf-8") == "pulumi-volcano-jobs[policy]\n"
    assert "pulumi install --cwd policy" in (POLICY / "README.md").read_text("utf-8")
    assert ".venv" in IGNORED


def test_generated_sdks_are_not_committed() -> None:
    """The READMEs have the command that generates them."""
    assert "sdks/" in IGNORED
    for language in ("go", "typescript"):
        readme = (ROOT / "examples" / language / "README.md").read_text("utf-8")
        assert "`sdks/` is not in this repository" in readme
