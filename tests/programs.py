"""Examples that are Pulumi programs in Python."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
# A policy pack has a __main__.py and no project; programs in other languages have the reverse.
EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/__main__.py") if path.with_name("Pulumi.yaml").exists())
