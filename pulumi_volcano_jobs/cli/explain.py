"""`volcano-jobs explain`: print the source of each field of a job as tables."""

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
from pulumi_volcano_jobs.cli.documents import RenderedJob, process
from pulumi_volcano_jobs.cli.findings import to_stderr
from pulumi_volcano_jobs.cli.output import exit_with_usage_error, write_out
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

The tables are as wide as the terminal. COLUMNS=140 sets another width."""
_COLUMNS = re.compile(r"0*([1-9][0-9]*)")
_NARROWEST, _BROADEST = 40, 1000
_SPACE = 2
_MOST_NAMES = 5
# Where a line may break, by preference: between words, in a list, at a separator in a name. Otherwise anywhere.
_JOINTS = [
    re.compile(joint) for joint in (r"(?=\s)|\s", r"[,;](?=\S)", r"(?<=[\w}])[.:/=](?=\w)", r"(?<=\w)-(?=[\w{<])")
]
_SHORTEST = 3
_WIDEST = 2


def explain_command(
    files: arguments.Files,
    *,
    pod: Annotated[
        str | None,
        typer.Option("--pod", metavar="NAME", help="Explain one Pod: all its fields, and the source of each."),
    ] = None,
    managed_by: Annotated[
        ManagedBy,
        typer.Option("--managed-by", help="Whether Pulumi or Volcano's controllers create the Pods."),
    ] = "pulumi",
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Show the source of each field of a job.

    The tables list the Pods and host names of each task, the plugins, the objects that they create, and the PodGroup.
    They list the variables, mounts and ports that are injected into Pods. They also show the effect of scaling, and the
    fields that only Volcano's controllers apply.
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
        quiet=quiet,
    )
    native = managed_by == "volcano"
    reject_choice(checks, managed_by)

    def make(document: job_file.Document, options: Checks) -> Rendered:
        return render(document.data, **options.settings(managed_by), redact=True, earlier=document.problems)

    batch = process(files, make, checks, checks.unless_quiet(to_stderr), managed_by, duplicates="file")
    batch.note_skipped(checks, (), "only Jobs are explained")
    jobs = batch.require_jobs()
    explanations = (
        [explain(item.rendered, native=native) for item in jobs] if pod is None else _pods(jobs, pod, native=native)
    )
    write_out(format_tables(explanations))


def _pods(jobs: Sequence[RenderedJob], name: str, *, native: bool) -> list[Explanation]:
    """Explain the Pods with a name. Each file may have one."""
    known = [(item.rendered, pods(item.rendered)) for item in jobs]
    explanations = [explain_pod(rendered, *places[name], native=native) for rendered, places in known if name in places]
    if not explanations:
        exit_with_usage_error(
            f"no job has the Pod {name}: {_similar_names(name, [pod for _, places in known for pod in places])}"
        )
    return explanations


def _similar_names(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    names = [*known[:_MOST_NAMES], *(["…"] if len(known) > _MOST_NAMES else [])]
    return f"the Pods are {', '.join(names)}" if names else "the jobs have no Pods"


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
