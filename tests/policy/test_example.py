"""examples/policy and what else Pulumi reads of the examples."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "policy"
IGNORED = (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_pack_runs_in_its_own_virtual_environment() -> None:
    """`pulumi install` makes it; without the option the host starts a Python that has no pulumi."""
    runtime = yaml.safe_load((POLICY / "PulumiPolicy.yaml").read_text("utf-8"))["runtime"]

    assert runtime == {"name": "python", "options": {"toolchain": "pip", "virtualenv": ".venv"}}
    assert (POLICY / "requirements.txt").read_text("utf-8") == "pulumi-volcano-jobs[policy]\n"
    assert "pulumi install --cwd policy" in (POLICY / "README.md").read_text("utf-8")
    assert ".venv" in IGNORED


def test_generated_sdks_are_not_committed_as_the_readmes_say() -> None:
    """A clone generates them again."""
    assert "sdks/" in IGNORED
    for language in ("go", "typescript"):
        readme = (ROOT / "examples" / language / "README.md").read_text("utf-8")
        assert "`sdks/` is not in this repository" in readme
