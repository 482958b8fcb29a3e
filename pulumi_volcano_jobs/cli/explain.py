"""`volcano-jobs explain`: what a job becomes and who made what of it, for people."""

from __future__ import annotations

import difflib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.files import (
    RenderedDocument,
    errors_only,
    exit_with_usage_error,
    for_each,
    reject_duplicates_per_file,
    report,
    write_out,
)
from pulumi_volcano_jobs.core.text import escaped, without_keys
from pulumi_volcano_jobs.explain.tables import Explanation, Section, explain, explain_pod, pods
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.options import ManagedBy

EXAMPLES = """\b
Examples:
  volcano-jobs explain train.yaml
  volcano-jobs explain train.yaml --pod train-worker-1
  volcano-jobs explain train.yaml --managed-by volcano
  kubectl get vcjob train -o yaml | volcano-jobs explain - | less

The tables are as wide as the terminal; COLUMNS=140 sets another width."""
_COLUMNS = re.compile(r"0*([1-9][0-9]*)")
_NARROWEST, _BROADEST = 40, 1000
_SPACE = 2
_MOST_NAMES = 5
# Where a line is broken: between words, else in a list, else at a joint of a name, else anywhere.
_JOINTS = [
    re.compile(joint) for joint in (r"(?=\s)|\s", r"[,;](?=\S)", r"(?<=[\w}])[.:/=](?=\w)", r"(?<=\w)-(?=[\w{<])")
]
_SHORTEST = 3
_WIDEST = 2


def explain_command(
    files: arguments.Files,
    *,
    pod: Annotated[
        str | None, typer.Option("--pod", metavar="NAME", help="One Pod in full: everything in it, and who set it.")
    ] = None,
    managed_by: Annotated[
        ManagedBy,
        typer.Option("--managed-by", help="Who makes the Pods: pulumi, or volcano's controllers out of one Job."),
    ] = "pulumi",
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
) -> None:
    """Tell who sets what in a job, as tables.

    The Pods and hosts of each task, the plugin behind each object, variable, mount and port, and what an update or
    Volcano's controllers do.
    """
    checks = Checks.read(
        files,
        lenient=lenient,
        on_conflict=on_conflict,
        defaults=defaults,
        plugin_settings=plugin_settings,
        ignore=ignore,
        kubernetes_version=kubernetes_version,
        volcano_version=volcano_version,
        cluster=cluster,
    )
    native = managed_by == "volcano"
    reject_choice(checks, managed_by)

    def make(document: job_file.Document) -> Rendered:
        return render(document.data, **checks.settings(managed_by), redact=True, earlier=document.problems)

    documents = for_each(files, make, errors_only(report))
    reject_duplicates_per_file(documents, managed_by, report)
    explanations = (
        [explain(item.rendered, native=native) for item in documents]
        if pod is None
        else _pods(documents, pod, native=native)
    )
    write_out(format_tables(explanations))


def _pods(documents: Sequence[RenderedDocument], name: str, *, native: bool) -> list[Explanation]:
    """Explain the Pods of a name; there may be one in each file."""
    known = [(item.rendered, pods(item.rendered)) for item in documents]
    explanations = [explain_pod(rendered, *places[name], native=native) for rendered, places in known if name in places]
    if not explanations:
        exit_with_usage_error(
            f"no job here has the Pod {name}: {_similar_names(name, [pod for _, places in known for pod in places])}"
        )
    return explanations


def _similar_names(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    names = [*known[:_MOST_NAMES], *(["…"] if len(known) > _MOST_NAMES else [])]
    return f"its Pods are {', '.join(names)}" if names else "it has none"


def format_tables(explanations: Iterable[Explanation]) -> str:
    """Write tables as wide as the terminal (`COLUMNS`, else 80); plain text where there is no terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    # None lets rich look at FORCE_COLOR.
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
    # Without colours the spaces that fill up a line mean nothing.
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _width() -> dict[str, Any]:
    """Return the options of rich for the width in COLUMNS: rich prints nothing for 0, and pads lines to any other."""
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
        # A name that repeats is told once.
        table.add_row(_Cell("" if first == previous else first, "cyan"), *(_Cell(cell) for cell in others))
        previous = first
    return table


class _Cell:
    """Text that cannot steer the terminal, broken at the joints of names where there are any."""

    def __init__(self, text: str, style: str = "") -> None:
        """Take any text."""
        self._text = escaped(without_keys(text))
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Ask for the whole text; any width will do."""
        return Measurement(1, cell_len(self._text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the lines."""
        for line in _lines(self._text, options.max_width):
            yield Text(line, self._style, no_wrap=True)


def _lines(text: str, width: int) -> Iterator[str]:
    """Break text into lines of a width; a wide character needs two columns."""
    width, start = max(width, _WIDEST), 0
    while len(text) - start > width or cell_len(text[start:]) > width:
        # A copy of the rest for each line would be quadratic.
        window = text[start : start + width + 1]
        end = _end(window, len(chop_cells(window[:width], width)[0]))
        yield window[:end].rstrip()
        start += end
        while text[start : start + 1].isspace():
            start += 1
    yield text[start:]


def _end(text: str, longest: int) -> int:
    """Find where a line may end best, if that leaves it not too short."""
    for joint in _JOINTS:
        ends = [match.end() for match in joint.finditer(text, 0, longest + 1) if match.end() <= longest]
        if ends and ends[-1] > longest // _SHORTEST:
            return ends[-1]
    return longest
