"""Print tables, and run measurements in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table with columns that fit their cells."""
    texts = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(columns))]
    print(f"\n{title}")
    for row in texts:
        print(
            "  ".join(
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        )
    sys.stdout.flush()


def _text(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def apart(module: str, *arguments: object, timeout: float = 300) -> dict[str, Any]:
    """Run a module in a separate process, and return the JSON object that it prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
