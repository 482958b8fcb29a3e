"""The programs in README.md and CONTRIBUTING.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def programs() -> dict[str, str]:
    """Give each Python program in the pages, by page and number."""
    found = {}
    for page in ("README.md", "CONTRIBUTING.md"):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        found |= {f"{page.partition('.')[0].lower()}_{number}": text for number, text in enumerate(blocks)}
    return found
