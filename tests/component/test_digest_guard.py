"""Restart digests of the examples: an upgrade of this library must not restart Pods without a release note.

After an intended change of a digest, add it to CHANGELOG.md and update the stored digests with
`UPDATE_DIGESTS=1 pytest tests/component/test_digest_guard.py`.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from pulumi_volcano_jobs.testing import run
from tests.component.programs import digests
from tests.programs import EXAMPLES

ROOT = Path(__file__).parents[2]
COMMITTED = Path(__file__).with_name("digests.json")


def _digests(example: str, folder: Path) -> dict[str, str]:
    copied = folder / example
    shutil.copytree(ROOT / "examples" / example, copied, ignore=shutil.ignore_patterns("rendered"))

    return digests(run(copied))


@pytest.mark.parametrize("example", [path.name for path in EXAMPLES])
def test_the_restart_digests_of_the_examples_are_unchanged(example: str, tmp_path: Path) -> None:
    """The digest of each Pod of each example equals the committed one."""
    committed = json.loads(COMMITTED.read_text("utf-8")) if COMMITTED.exists() else {}
    found = _digests(example, tmp_path)
    if os.environ.get("UPDATE_DIGESTS"):
        committed[example] = found
        COMMITTED.write_text(json.dumps(committed, indent=1, sort_keys=True) + "\n", "utf-8")

    assert found
    assert found == committed[example]
