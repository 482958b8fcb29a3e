"""Format tables for a terminal, a pipe or a file."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pulumi_volcano_jobs.core.sections import Explanation, Section
from pulumi_volcano_jobs.core.text import escaped, without_keys

_COLUMNS = re.compile(r"0*([1-9][0-9]*)")
_NARROWEST, _BROADEST = 40, 1000
_SPACE = 2
# Where a line may break, by preference: between words, in a list, at a separator in a name. Otherwise anywhere.
_JOINTS = [
    re.compile(joint) for joint in (r"(?=\s)|\s", r"[,;](?=\S)", r"(?<=[\w}])[.:/=](?=\w)", r"(?<=\w)-(?=[\w{<])")
]
_SHORTEST = 3
_WIDEST = 2


def format_tables(explanations: Iterable[Explanation]) -> str:
    """Return tables as wide as the terminal or `COLUMNS` (default 80). Without a terminal, the text has no colors."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    # With None, rich reads FORCE_COLOR.
    console = Console(file=io.StringIO(), force_terminal=is_terminal or None, legacy_windows=False, **_width())
    with console.capture() as capture:
        for position, explanation in enumerate(explanations):
            if position:
                console.print()
            console.print(_Cell(explanation.title, "bold"))
            for section in explanation.sections:
                console.print()
                console.print(_Cell(section.title, "bold cyan"))
                console.print(Padding(_table(section), (0, 0, 0, _SPACE)))
    # rich pads lines with spaces.
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _width() -> dict[str, Any]:
    """Return the width in COLUMNS as options of rich.

    The width is bounded: rich prints nothing for 0, and pads lines to any other width.
    """
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    match = _COLUMNS.fullmatch(os.environ.get("COLUMNS", ""))
    if not match:
        return {"_environ": environment}
    width = _BROADEST if len(match[1]) > len(str(_BROADEST)) else int(match[1])
    return {"_environ": environment, "width": min(max(width, _NARROWEST), _BROADEST)}


def _table(section: Section) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for column in section.columns:
        table.add_column(column)
    previous = ""
    for first, *others in section.rows:
        # A repeated name is shown once.
        table.add_row(_Cell("" if first == previous else first, "cyan"), *(_Cell(cell) for cell in others))
        previous = first
    return table


class _Cell:
    """Text without control characters, with lines that break at separators in names if possible."""

    def __init__(self, text: str, style: str = "") -> None:
        """Escape the text."""
        self._text = escaped(without_keys(text))
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width of the whole text as the maximum; every width is possible."""
        return Measurement(1, cell_len(self._text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for line in _lines(self._text, options.max_width):
            yield Text(line, self._style, no_wrap=True)


def _lines(text: str, width: int) -> Iterator[str]:
    """Break text into lines of a width. A wide character has two columns."""
    width, start = max(width, _WIDEST), 0
    while len(text) - start > width or cell_len(text[start:]) > width:
        # Copying the rest of the text for each line would take quadratic time.
        window = text[start : start + width + 1]
        end = _end(window, len(chop_cells(window[:width], width)[0]))
        yield window[:end].rstrip()
        start += end
        while text[start : start + 1].isspace():
            start += 1
    yield text[start:]


def _end(text: str, longest: int) -> int:
    """Return the best end of a line that does not make the line too short."""
    for joint in _JOINTS:
        ends = [match.end() for match in joint.finditer(text, 0, longest + 1) if match.end() <= longest]
        if ends and ends[-1] > longest // _SHORTEST:
            return ends[-1]
    return longest
