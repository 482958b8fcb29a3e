"""Generate the pages of the reference: public names by subject, settings of plugins, and help of the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import griffe
import tables
from typer.main import get_command
from typer.testing import CliRunner

from pulumi_volcano_jobs import policy, testing
from pulumi_volcano_jobs.cli import app
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.spec import model
from pulumi_volcano_jobs.spec.model import Model

ROOT = Path(__file__).parents[1]
PACKAGE = "pulumi_volcano_jobs"
PARTS = f"{PACKAGE}.component.plugin_components"
_KINDS = {
    "Action": "str",
    "Count": "int",
    "Event": "str",
    "Int32": "int",
    "LeafLabel": "Text",
    "LeafStr": "Text",
    "LeafSubdomain": "Text",
    "MountPath": "str",
    "Positive": "int",
    "Sequence": "list",
    "Str": "str",
    "TaskName": "str",
    "TopologyMode": "str",
    "TopologyPolicy": "str",
    "Tree": "Any",
}
"""Types of the model, with the types to show to users. The pages explain `Text`."""
_TEXT = "`Text` is a string or an Output of a string."


@dataclass(frozen=True)
class Page:
    """A page of docstrings, with an introduction."""

    title: str
    text: str
    names: tuple[str, ...]
    """Public names of the package, or full paths of other names."""


def of_module(module: ModuleType, *first: str) -> tuple[str, ...]:
    """Return the full paths of a module's public names, with the most important ones first."""
    return tuple(f"{module.__name__}.{name}" for name in dict.fromkeys((*first, *module.__all__)))


TEMPLATE_TYPES = (
    "PodTemplateSpecDict",
    "PodSpecDict",
    "ContainerDict",
    f"{PACKAGE}.kubernetes.template_types.PersistentVolumeClaimSpecDict",
    f"{PACKAGE}.kubernetes.template_types.TolerationDict",
)
"""Types with the fields of Kubernetes, whose own reference describes each field."""
OPTION_TYPES = ("ManagedBy", "Restart", "OnScale", "OnConflict", "Defaults", "Claims", "WaitFor", "Unsupported")
"""Types of the options of a job."""
PAGES: dict[str, Page] = {
    "job": Page(
        "VolcanoJob",
        "A job as a Pulumi component: its arguments, its parts and its outputs.",
        (
            "VolcanoJob",
            "VolcanoJobArgs",
            f"{PACKAGE}.component.job_fields.JobFields",
            f"{PACKAGE}.component.job_fields.JobSettings",
            f"{PACKAGE}.component.job_args.JobOptions",
            f"{PACKAGE}.spec.options.RenderOptions",
            "VolcanoJobOverrides",
            "TaskArgs",
            "TaskOverrides",
            "PolicyArgs",
            "VolumeArgs",
            "NetworkTopologyArgs",
            "PartitionPolicyArgs",
            "DependsOnArgs",
            *TEMPLATE_TYPES,
            "pod_template",
            f"{PARTS}.TaskComponent",
            "KubernetesObject",
            f"{PARTS}.PluginComponent",
            f"{PARTS}.PytorchComponent",
            f"{PARTS}.SshComponent",
            f"{PARTS}.SvcComponent",
            f"{PARTS}.MpiComponent",
            f"{PARTS}.RayComponent",
            f"{PARTS}.TensorflowComponent",
            f"{PARTS}.EnvComponent",
            f"{PARTS}.HcclrankComponent",
        ),
    ),
    "stack": Page(
        "Queues and shared defaults",
        "Queues and defaults that the jobs of a stack share ([how to use them](../stack.md)).",
        (
            "VolcanoQueue",
            "VolcanoQueueArgs",
            f"{PACKAGE}.component.queue_args.QueueGuaranteeArgs",
            f"{PACKAGE}.component.queue_args.QueueAffinityArgs",
            f"{PACKAGE}.component.queue_args.QueueNodeGroupsArgs",
            f"{PACKAGE}.component.queue_args.QueueClusterArgs",
            f"{PACKAGE}.component.queue_args.Amounts",
            "JobDefaults",
        ),
    ),
    "testing": Page(
        "Tests of your programs",
        "Run your programs without an engine ([how to use it](../testing.md)).",
        of_module(testing, "run", "failed", "Surroundings", "Result", "Job", "Pod", "Container"),
    ),
    "policy": Page(
        "Policies",
        "Rules of a platform as Pulumi policies ([how to use them](../policies.md)).",
        of_module(policy, "pack", "rules"),
    ),
    "plugins": Page(
        "Plugins",
        "Volcano's job plugins as typed settings. A setting that sets an argument of Volcano shows its flag. The other"
        " settings are options of this library, and by default they do not change Volcano's behavior"
        ' ([when to use them](../frameworks.md)). `defaults="recommended"` applies the recommended values.'
        f" `Allow` is an entry of svc's `allow`. {_TEXT}",
        (*(plugin.__name__ for plugin in BUILT_IN), "Allow"),
    ),
    "model": Page(
        "Job",
        "The fields of a Volcano Job, for `VolcanoJob.from_job` and for use without Pulumi. Every field also accepts"
        f" Volcano's spelling (`min_available`, `minAvailable`). {_TEXT}",
        ("Job", "Task", "Policy", "Volume", "DependsOn", "NetworkTopology", "PartitionPolicy"),
    ),
    "presets": Page("Presets", _TEXT, ("presets",)),
    "render": Page(
        "Without Pulumi",
        "The functions of the command line: read job files, and return the manifests or every problem.",
        ("load_jobs", "render", "Rendered", "JobError", "Problem", "ClusterFacts", "Queue", "KeyPair"),
    ),
    "own-plugins": Page(
        "A plugin of your own",
        (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## A plugin of your own\n")[2].strip(),
        (
            "Plugin",
            "flag",
            "register",
            "Stage",
            "JobContext",
            "JobUpdate",
            "Pod",
            "Container",
            "ObjectRef",
            "PluginOutput",
        ),
    ),
    "types": Page(
        "Types",
        "Names of types in the signatures of the other pages.",
        (
            f"{PACKAGE}.core.leaf.Text",
            f"{PACKAGE}.core.leaf.OutputLike",
            *(f"{PACKAGE}.spec.options.{name}" for name in OPTION_TYPES),
            f"{PACKAGE}.spec.fields.Event",
            f"{PACKAGE}.spec.fields.Action",
            f"{PACKAGE}.spec.fields.Tree",
            f"{PACKAGE}.kubernetes.manifest.Manifest",
            f"{PACKAGE}.presets.Preset",
            f"{PACKAGE}.presets.editor.Template",
            f"{PACKAGE}.presets.NcclDebug",
            f"{PACKAGE}.presets.Unsatisfiable",
            f"{PACKAGE}.plugins.ssh_keys.KeyFactory",
            f"{PACKAGE}.plugins.ssh_keys.KeyType",
            f"{PACKAGE}.core.errors.ErrorType",
            f"{PACKAGE}.core.errors.ProblemType",
            f"{PACKAGE}.core.errors.RejectionStage",
            f"{PACKAGE}.testing.values.Wire",
            f"{PACKAGE}.testing.pods.Variable",
        ),
    ),
}
"""The pages of docstrings by file name. The page of the commands follows them."""
# The values of these attributes are of no use to users, who never create such objects.
_MADE_FOR_ONE = (
    "JobError",
    "Pod",
    "Container",
    f"{PARTS}.TaskComponent",
    f"{PARTS}.PluginComponent",
    *(f"{PACKAGE}.testing.{name}" for name in ("Container", "Resource", "Result")),
)
OPTIONS = dict.fromkeys(_MADE_FOR_ONE, "{show_attribute_values: false}") | {
    **dict.fromkeys(TEMPLATE_TYPES, "{members: []}"),
    "Plugin": "{members: [name, stage, requires, aliases, validate, on_job_add, on_pod_create, on_job_update,"
    " on_job_delete, outputs, problem, from_args, to_args, with_]}",
    "VolcanoJob": "{merge_init_into_class: true}",
    "presets": "{show_if_no_docstring: false}",
    # The value is a validator.
    f"{PACKAGE}.spec.fields.Action": "{show_attribute_values: false}",
}
"""The options of mkdocstrings for single names."""
PATHS = {
    "register": f"{PACKAGE}.plugins.Registry.register",
    "render": f"{PACKAGE}.rendering.renderer.render",
    f"{PACKAGE}.policy.pack": f"{PACKAGE}.policy.bundle.pack",
    f"{PACKAGE}.policy.rules": f"{PACKAGE}.policy.bundle.rules",
}
"""Full paths of names that also refer to a module or a bound method in the package."""
MODELS: dict[str, type[Model]] = {name: getattr(model, name) for name in PAGES["model"].names}
COMMANDS = "command-line"


def names() -> list[str]:
    """Return the file names of the pages, in order."""
    return [*PAGES, COMMANDS]


def pages() -> dict[str, str]:
    """Return the pages as Markdown for Zensical, by file name."""
    found = {name: "\n\n".join(_page(page)) for name, page in PAGES.items()}
    return found | {COMMANDS: "\n\n".join(_commands())}


def path_of(name: str) -> str:
    """Return the full path of a name on a page."""
    return PATHS.get(name, name if "." in name else f"{PACKAGE}.{name}")


def _page(page: Page) -> Iterator[str]:
    yield f"# {page.title}"
    yield page.text
    plugins = {plugin.__name__: plugin for plugin in BUILT_IN}
    for name in page.names:
        yield f"::: {path_of(name)}"
        if name in OPTIONS:
            yield f"    options: {OPTIONS[name]}"
        elif name in plugins:
            yield "    options: {members: []}"
            yield tables.settings(plugins[name]) if plugins[name].model_fields else ""
        elif name in MODELS:
            yield "    options: {members: []}"
            yield from _fields(MODELS[name])
            for method in _methods(MODELS[name]):
                yield f"::: {PACKAGE}.{name}.{method}"
                yield "    options: {heading_level: 3}"
    yield ""


def _fields(model: type[Model]) -> Iterator[str]:
    """Yield the list of a model's fields, with types for users, without pydantic's metadata."""
    yield "**Fields**"
    fields = ((name, field, _declared(model, name)) for name, field in model.model_fields.items())
    yield "\n".join(
        _entry(
            name,
            [*([f"`{field.alias}`"] if field.alias != name else []), f"`{kind(str(described.annotation))}`"],
            described,
        )
        for name, field, described in fields
    )


def _declared(kind: type, name: str) -> Any:
    """Return the source of a field, in the class or a base that declares it."""
    owner = next(base for base in kind.__mro__ if name in vars(base).get("__annotations__", ()))
    return _source(owner).members[name]


def _methods(model: type[Model]) -> list[str]:
    """Return the names of the public methods that a model defines itself."""
    members = _source(model).members.items()
    return [name for name, member in members if member.is_function and not name.startswith("_")]


def _entry(name: str, facts: list[str], described: Any) -> str:
    text = " ".join(described.docstring.value.split())
    return f"- **`{name}`** ({', '.join(facts)}): {text}"


def kind(annotation: str) -> str:
    """Return a type for users: `Annotated[Str, ...] | None` becomes `str`."""
    text = annotation.removesuffix(" | None")
    inner = re.fullmatch(r"(Annotated|Listed)\[(.*)\]", text)
    if inner and inner[1] == "Listed":
        return f"list[{kind(inner[2])}]"
    if inner:
        return kind(_first(inner[2]))
    return re.sub(r"\w+", lambda found: _KINDS.get(found[0], found[0]), text)


def _first(arguments: str) -> str:
    """Return the first argument: the text before the first comma outside brackets."""
    depth = 0
    for position, sign in enumerate(arguments):
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and not depth:
            return arguments[:position]
    return arguments


def _source(thing: type) -> Any:
    if thing.__module__.startswith(f"{PACKAGE}."):
        return _package()[f"{thing.__module__.removeprefix(PACKAGE + '.')}.{thing.__name__}"]
    path = Path(inspect.getfile(thing))
    return griffe.visit(path.stem, path, path.read_text("utf-8"))[thing.__name__]


@cache
def _package() -> Any:
    return griffe.load(PACKAGE, search_paths=[ROOT])


def _commands() -> Iterator[str]:
    yield "# Command line"
    yield "The `--help` of each command. [The command line](../commands.md) shows their output."
    runner = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    for name in ["", *get_command(app).commands]:  # type: ignore[attr-defined]  # the application is a group
        command = f"volcano-jobs {name}".strip()
        told = runner.invoke(app, [*([name] if name else []), "--help"], prog_name="volcano-jobs")
        yield f"## {command}"
        yield f"```\n{told.output.strip()}\n```"
