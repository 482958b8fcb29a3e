"""Volcano's own files, which are not part of this repository. Only tests that compare with them are skipped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "shared"
CASES = FOLDER / "golden"
"""Manifests of Volcano's repository, and what Volcano makes of them."""
DEFINITIONS = FOLDER / "volcano"
"""Volcano's resource definitions."""
MISSING = f"compares with Volcano's own files, which are not in {FOLDER}"

compares_with_cases = pytest.mark.skipif(not CASES.is_dir(), reason=MISSING)
compares_with_definitions = pytest.mark.skipif(not DEFINITIONS.is_dir(), reason=MISSING)

HAS_DEFINITIONS = DEFINITIONS.is_dir() and os.environ.get("VOLCANO_DEFINITIONS") != "generated"
"""Whether test clusters have Volcano's own definitions, and not the generated ones."""


def definitions() -> list[dict[str, Any]]:
    """Return Volcano's own resource definitions."""
    return [
        document
        for path in sorted(DEFINITIONS.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text("utf-8"))
        if document
    ]
