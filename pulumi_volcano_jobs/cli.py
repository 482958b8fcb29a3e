"""The command line, `volcano-jobs`: render and validate job files without Pulumi and without a cluster."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import quote

import typer
import yaml

from pulumi_volcano_jobs import jobfile, keys
from pulumi_volcano_jobs.cluster import ClusterFacts
from pulumi_volcano_jobs.errors import JobError, Problem, in_order
from pulumi_volcano_jobs.manifest import Manifest
from pulumi_volcano_jobs.plugins import SshPlugin
from pulumi_volcano_jobs.render import Rendered, render
from pulumi_volcano_jobs.report import Finding, as_json, as_sarif

# libyaml's is some ten times faster; a Python built without it has the other.
_YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PROBLEMS, USAGE = 1, 2
STDIN = "-"
Report = Callable[[str, Iterable[Problem]], None]
"""Tells the problems of a file."""

app = typer.Typer(
    name="volcano-jobs",
    help="Volcano jobs as the Kubernetes objects that they become: no cluster and no Pulumi engine needed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Style(enum.Enum):
    """How manifests are written."""

    YAML = "yaml"
    JSON = "json"


class ReportStyle(enum.Enum):
    """How problems are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


class Manager(enum.Enum):
    """Who makes the Pods."""

    PULUMI = "pulumi"
    VOLCANO = "volcano"


@dataclass(frozen=True)
class Made:
    """A job as it was rendered, and the document that it comes from."""

    file: str
    document: jobfile.Document
    rendered: Rendered

    def manifests(self, managed_by: Manager) -> list[Manifest]:
        """Give the job's manifests in canonical order."""
        if managed_by is Manager.VOLCANO:
            return [self.rendered.job.to_manifest()]
        return [*self.rendered.objects, *self.rendered.pods]


Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Volcano Job files; - is standard input.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Do what Volcano does with mistakes, instead of reporting them.")
]
Cluster = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help="What `kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml` prints; "
        "without it nothing is assumed about the cluster.",
    ),
]


@app.command(name="render")
def render_command(
    files: Files,
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="-|DIR", help="Standard output, or a folder.")
    ] = STDIN,
    style: Annotated[Style, typer.Option("--format", help="YAML documents, or one JSON List.")] = Style.YAML,
    managed_by: Annotated[
        Manager,
        typer.Option("--managed-by", help="pulumi: Pods and what they need; volcano: the Job with its defaults."),
    ] = Manager.PULUMI,
    namespace: Annotated[str, typer.Option(help="The namespace of jobs that name none.")] = "",
    lenient: Lenient = False,
    show_keys: Annotated[
        bool, typer.Option("--show-keys", help="Show ssh keys; new ones where none is given.")
    ] = False,
    cluster: Cluster = None,
) -> None:
    """Print the manifests of Volcano jobs."""
    if not output:
        _give_up("-o needs a folder, or - for standard output")
    facts = _cluster(cluster)

    def make(document: jobfile.Document) -> Rendered:
        settings: dict[str, Any] = {
            "strict": not lenient,
            "cluster": facts,
            "namespace": namespace or "default",
            "earlier": document.problems,
        }
        rendered = render(document.data, redact=not show_keys, **settings)
        if show_keys and any(plugin.name == SshPlugin.name for plugin in rendered.plugins):
            return render(document.data, keys=keys.generate(), **settings)
        return rendered

    made = _for_each(files, make, _report)
    _refuse_twins(made, managed_by, _report)
    manifests = [manifest for item in made for manifest in item.manifests(managed_by)]
    if output == STDIN:
        # YAML and JSON are UTF-8, whatever the terminal speaks.
        typer.echo(jobfile.dump(manifests, style.value).encode(), nl=False)
    else:
        _write_folder(Path(output), manifests, style)


@app.command()
def validate(
    files: Files,
    *,
    style: Annotated[
        ReportStyle,
        typer.Option("--format", help="Lines for people; JSON or SARIF (editors, code review) on standard output."),
    ] = ReportStyle.TEXT,
    lenient: Lenient = False,
    cluster: Cluster = None,
) -> None:
    """Report every problem of Volcano jobs and what to do."""
    facts = _cluster(cluster)
    findings: list[Finding] = []

    def collect(file: str, problems: Iterable[Problem]) -> None:
        place = quote(file) if style is ReportStyle.SARIF else file
        findings.extend(Finding(place, problem) for problem in in_order(problems))

    def check(document: jobfile.Document) -> Rendered:
        return render(document.data, strict=not lenient, cluster=facts, earlier=document.problems)

    report = _report if style is ReportStyle.TEXT else collect
    try:
        made = _for_each(files, check, report)
        for file in dict.fromkeys(item.file for item in made):
            # Files may be alternatives, such as one for each cluster; the documents of one file go together.
            _refuse_twins([item for item in made if item.file == file], Manager.PULUMI, report)
    finally:
        if style is not ReportStyle.TEXT:
            text = as_json(findings) if style is ReportStyle.JSON else as_sarif(findings)
            typer.echo(f"{text}\n".encode(), nl=False)


def _for_each(files: Sequence[str], make: Callable[[jobfile.Document], Rendered], report: Report) -> list[Made]:
    """Render all documents of all files; report all problems of all of them before giving up."""
    made, failed = [], False
    for file in files:
        text, name = _read(file), _shown(file)
        try:
            documents = jobfile.read(text, name)
        except JobError as error:
            report(name, error.problems)
            failed = True
            continue
        for document in documents:
            try:
                made.append(Made(name, document, make(document)))
                report(name, [*document.problems, *document.placed(made[-1].rendered.warnings)])
            except JobError as error:
                report(name, [*document.problems, *document.placed(error.problems)])
                failed = True
    if failed:
        raise typer.Exit(PROBLEMS)
    return made


def _shown(file: str) -> str:
    return "<stdin>" if file == STDIN else file


def _read(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        _give_up(f"cannot read {_shown(file)}: {error.strerror}")
    except UnicodeDecodeError:
        _give_up(f"cannot read {_shown(file)}: it is not UTF-8 text")


def _cluster(file: Path | None) -> ClusterFacts:
    if file is None:
        return ClusterFacts()
    name = _shown(str(file))
    try:
        objects = [item for item in yaml.load_all(_read(str(file)), _YamlLoader) if item is not None]
    except (yaml.YAMLError, ValueError, RecursionError):
        _give_up(f"{name} is no YAML; it must be what kubectl get ... -o yaml prints")
    if not objects:
        _give_up(f"{name} is empty; it must be what kubectl get ... -o yaml prints")
    try:
        return ClusterFacts.from_objects(objects)
    except JobError as error:
        _report(name, error.problems)
        raise typer.Exit(USAGE) from None


def _report(file: str, problems: Iterable[Problem]) -> None:
    """Print problems by place, each on one line."""
    for problem in in_order(problems):
        place = f"{file}:{problem.line}:{problem.column}" if problem.line else file
        level = "warning: " if problem.warning else ""
        text = " ".join(str(problem).removeprefix(": ").split())
        typer.echo(f"{place}: {level}{text}", err=True)


def _give_up(message: str) -> NoReturn:
    typer.echo(f"volcano-jobs: {message}", err=True)
    raise typer.Exit(USAGE)


def _refuse_twins(made: Sequence[Made], managed_by: Manager, report: Report) -> None:
    """Refuse objects of several jobs that have one kind, namespace and name: the last would overwrite the others."""
    owners: dict[tuple[str, str, str], Made] = {}
    failed = False
    for item in made:
        twins = {}
        for key in map(_key, item.manifests(managed_by)):
            if key in owners:
                twins[key] = owners[key]
            owners[key] = item
        if twins:
            report(item.file, item.document.placed([_twin(twins)]))
            failed = True
    if failed:
        raise typer.Exit(PROBLEMS)


def _twin(twins: Mapping[tuple[str, str, str], Made]) -> Problem:
    (kind, namespace, name), other = next(iter(twins.items()))
    more = f" (and {len(twins) - 1} more)" if len(twins) > 1 else ""
    reason = f"the {kind} {name}{more} in the namespace {namespace} is made by the job {other.rendered.job.name} too"
    return Problem("metadata.name", f"{reason}, in {other.file}", "rename one of the jobs or its tasks")


def _key(manifest: Manifest) -> tuple[str, str, str]:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", "default"), metadata["name"]


def _write_folder(folder: Path, manifests: Sequence[Manifest], style: Style) -> None:
    """Write a file for each manifest, in a folder that only its owner can read: Secrets may be among them."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for manifest in manifests:
            kind, namespace, name = _key(manifest)
            # Escaped: a namespace is whatever the file says, and must not lead out of the folder.
            path = folder / f"{quote(f'{namespace}.{kind.lower()}.{name}', safe='')}.{style.value}"
            text = jobfile.dump([manifest], style.value)
            if kind == "Secret":
                path.touch(mode=0o600)
                path.chmod(0o600)  # it may have been there
            path.write_text(text, "utf-8")
    except FileExistsError:
        _give_up(f"cannot write to {folder}: it is no folder")
    except OSError as error:
        _give_up(f"cannot write {error.filename or folder}: {error.strerror}")


def main() -> None:
    """Run the command line: exit code 0 if all is well, 1 for problems of a job, 2 for bad usage or files."""
    app(prog_name="volcano-jobs")
