"""The Volcano Job as typed data, field by field as `batch.volcano.sh/v1alpha1` has it.

Every model takes its fields in snake_case or in Volcano's camelCase. Unknown fields are kept aside, not refused:
whether they are a mistake (strict) or dropped (as the API server does) is decided when the job is rendered.
Pod templates and claims stay plain dicts in wire form.

A field of type `LeafStr` may hold a `Leaf`: it decides nothing about which objects exist or what they are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from pulumi_volcano_jobs.leaf import Leaf, Text, is_whole

API_VERSION = "batch.volcano.sh/v1alpha1"
KIND = "Job"
METADATA_FIELDS = frozenset({"name", "namespace", "labels", "annotations"})
IN_METADATA = METADATA_FIELDS | {"generateName"}
"""What is told by its name to stand in a job's metadata; the last is unknown here, a job needs a name."""
# Set by the API server or meant for it; a job read back from a cluster has them, and they say nothing about its Pods.
SERVER_METADATA = frozenset(
    {
        "creationTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    },
)

DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
MAX_LABEL = 63
MAX_SUBDOMAIN = 253
DNS_SUBDOMAIN = rf"{DNS_LABEL}(\.{DNS_LABEL})*"

Tree = Any  # JSON-like data with leaves: the untyped edge of the library


def whole_number(value: object) -> object:
    """Take 3.0 for 3: whole floats are how integers cross a Pulumi component's wire."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


PLAIN = (str, int, float, bool, list, tuple, dict, Mapping, type(None))
"""What YAML has."""


def _text(value: object) -> object:
    # An Output is on its way to become a leaf; text of a class of its own (an Enum's) is no plain text.
    if not isinstance(value, Leaf) and not hasattr(value, "apply") and not isinstance(value, str):
        kind = "string_type"
        raise PydanticCustomError(kind, "this must be a string")
    if isinstance(value, str) and not is_whole(value):
        kind = "string_unicode"
        raise PydanticCustomError(kind, "this must be whole text")
    return value


def _dns_name(pattern: str, longest: int) -> Callable[[object], object]:
    """Make the check of a DNS name; an empty one means missing: Volcano fills in the default before its schema."""

    def check(value: object) -> object:
        text = _text(value)
        if isinstance(text, str) and text and (len(text) > longest or not re.fullmatch(pattern, text)):
            kind = "string_pattern_mismatch"
            raise PydanticCustomError(kind, "this must be a DNS name")
        return text

    return check


class PodTemplate(Protocol):
    """A `pulumi_kubernetes.core.v1.PodTemplateSpecArgs`, seen from code that knows no Pulumi."""

    @property
    def metadata(self) -> Any:
        """The metadata of each Pod."""
        ...

    @property
    def spec(self) -> Any:
        """The spec of each Pod."""
        ...


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (*PLAIN, Leaf)):
        kind = "dict_type"
        raise PydanticCustomError(kind, "this must be a mapping")
    return value


T = TypeVar("T")
Listed = Annotated[Sequence[T], AfterValidator(tuple)]
Str = Annotated[str, Field(strict=True)]
LeafStr = Annotated[Text, PlainValidator(_text)]
Int32 = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=-(2**31), le=2**31 - 1)]
Count = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=0, le=2**31 - 1)]
Positive = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=1, le=2**31 - 1)]
LeafLabel = Annotated[Text, PlainValidator(_dns_name(DNS_LABEL, MAX_LABEL))]
LeafSubdomain = Annotated[Text, PlainValidator(_dns_name(DNS_SUBDOMAIN, MAX_SUBDOMAIN))]
TaskName = Annotated[Str, StringConstraints(pattern=f"^({DNS_LABEL})?$", max_length=63)]
MountPath = Annotated[Str, StringConstraints(pattern="^[^:]+$")]
Event = Literal[
    "*",
    "PodPending",
    "PodRunning",
    "PodFailed",
    "PodEvicted",
    "Unknown",
    "TaskCompleted",
    "TaskFailed",
    "OutOfSync",
    "CommandIssued",
    "JobUpdated",
]
TopologyMode = Literal["hard", "soft"]
TopologyPolicy = Literal["none", "best-effort", "restricted", "single-numa-node"]


@runtime_checkable
class PluginSettings(Protocol):
    """What the model needs to know of a typed plugin: its name and its Volcano arguments."""

    @property
    def name(self) -> str:
        """The key in `spec.plugins`."""
        ...

    def to_args(self) -> list[Tree]:
        """Give the settings as Volcano's arguments."""
        ...


def _is_plugin(value: object) -> TypeGuard[PluginSettings]:
    # A class has all that its instances have.
    return isinstance(value, PluginSettings) and not isinstance(value, type)


def _by_name(value: object) -> object:
    """Turn a list of typed plugins into the mapping that Volcano has; one name twice is refused."""
    if value is None or isinstance(value, (str, Mapping, Leaf)) or not isinstance(value, Iterable):
        return value
    plugins: dict[str, object] = {}
    for plugin in value:
        if not _is_plugin(plugin):
            kind = "plugin_type"
            reason = (
                "a list of plugins holds plugin objects such as PytorchPlugin(); a mapping holds Volcano's arguments"
            )
            raise PydanticCustomError(kind, reason)
        if plugin.name in plugins:
            kind = "plugin_twice"
            raise PydanticCustomError(kind, "the plugin {name} is listed twice", {"name": plugin.name})
        plugins[plugin.name] = plugin
    return plugins


def _plugin_or_args(value: object, check: Any) -> Any:
    return value if _is_plugin(value) else check(value)


PluginUse = Annotated[tuple[LeafStr, ...] | None, WrapValidator(_plugin_or_args)]
Uses = dict[str, Any]
"""How a job uses plugins: a typed plugin or a tuple of Volcano's arguments by name (None: a key without a value)."""
if TYPE_CHECKING:
    # What may be given; the validator makes `Uses` of it.
    Plugins = Sequence[PluginSettings] | Mapping[str, Sequence[Text] | PluginSettings | None]
else:
    Plugins = Annotated[dict[str, PluginUse], BeforeValidator(_by_name)]


class Model(BaseModel):
    """The base of all models here: frozen, both spellings of a field, unknown fields kept aside, no input in errors."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Tree) -> Tree:
        """Take a null for a missing field, as the API server does."""
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, Mapping) else data

    def to_wire(self) -> dict[str, Tree]:
        """Give the fields that are set, in Volcano's spelling; unknown fields are left out."""
        wire = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None:
                wire[field.alias or name] = _wire(value)
        return wire

    def with_(self, **changes: Tree) -> Any:
        """Copy the model with some fields replaced (values of the right type: they are not checked again)."""
        return self.model_copy(update=changes)


def _wire(value: Tree) -> Tree:
    if isinstance(value, Model):
        return value.to_wire()
    if isinstance(value, tuple):
        return [_wire(item) for item in value]
    return value


class Policy(Model):
    """What Volcano does on an event or exit code (`spec.policies[]`, `spec.tasks[].policies[]`)."""

    action: Str | None = None
    """What is done, such as `RestartJob`, `CompleteJob` or `AbortJob`."""
    event: Event | None = None
    """When, such as `PodFailed`, `PodEvicted` or `TaskCompleted`; `*` is always."""
    events: Listed[Event] | None = None
    """Several events with one action."""
    exit_code: Int32 | None = None
    """When a container ends with this code, instead of an event; not 0."""
    timeout: Str | None = None
    """How long Volcano waits before it acts, such as `5m`."""


class NetworkTopology(Model):
    """How close the nodes of a job or partition must be (`networkTopology`)."""

    mode: TopologyMode | None = None
    """`hard` (the default): Pods wait for nodes that are so close. `soft`: they would rather have them."""
    highest_tier_allowed: Count | None = None
    """The highest tier of HyperNodes that all Pods must be in."""
    highest_tier_name: Annotated[Str, StringConstraints(max_length=253)] | None = None
    """The same by the tier's name."""


class PartitionPolicy(Model):
    """A task cut into partitions, each placed as a whole (`spec.tasks[].partitionPolicy`)."""

    total_partitions: Positive
    """How many partitions there are."""
    partition_size: Positive
    """How many Pods each has."""
    min_partitions: Count | None = None
    """How many must fit at once."""
    network_topology: NetworkTopology | None = None
    """How close the Pods of a partition must be."""


class DependsOn(Model):
    """Tasks that must run before this one (`spec.tasks[].dependsOn`)."""

    name: Listed[Str] | None = None
    """The tasks."""
    iteration: Str | None = None
    """`any` or `all` of them."""


class Volume(Model):
    """A claim that every container of the job mounts (`spec.volumes[]`): an existing one by name, or a new one."""

    mount_path: MountPath
    """Where containers see it."""
    volume_claim_name: Annotated[Str, StringConstraints(max_length=253)] | None = None
    """An existing claim."""
    volume_claim: Annotated[Mapping[str, Tree], PlainValidator(_mapping)] | None = None
    """A PersistentVolumeClaimSpec in wire form."""


class Task(Model):
    """A group of equal Pods, `replicas` of them (`spec.tasks[]`)."""

    name: TaskName | None = None
    """The task's name, part of its Pods' names."""
    replicas: Count | None = None
    """How many Pods it has."""
    min_available: Count | None = None
    """How many of them must fit at once."""
    template: Annotated[Mapping[str, Tree] | PodTemplate, PlainValidator(_mapping)] = Field(default_factory=dict)
    """A PodTemplateSpec in wire form: `{"metadata": ..., "spec": ...}`; for `VolcanoJob`, pulumi_kubernetes' too."""
    policies: Listed[Policy] | None = None
    """What Volcano does on events of this task's Pods."""
    topology_policy: TopologyPolicy | None = None
    """Volcano's NUMA policy."""
    max_retry: Count | None = None
    """How often Volcano restarts the task's Pods before the job fails."""
    depends_on: DependsOn | None = None
    """Tasks that must run before this one."""
    partition_policy: PartitionPolicy | None = None
    """The groups into which its Pods are cut."""

    @property
    def pod_spec(self) -> dict[str, Tree]:
        """The template's Pod spec; empty if there is none."""
        spec = self.pod_template.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def pod_template(self) -> dict[str, Tree]:
        """The template in wire form; empty if it is none."""
        return self.template if isinstance(self.template, dict) else {}

    @property
    def size(self) -> int:
        """The number of Pods (missing replicas are none)."""
        return self.replicas or 0


class Job(Model):
    """A Volcano Job. `Job.model_validate` also takes the document that kubectl takes (`metadata`, `spec`)."""

    name: Annotated[Str, StringConstraints(pattern=f"^{DNS_SUBDOMAIN}$", max_length=253)]
    """The job's name, which begins all others."""
    namespace: LeafLabel | None = None
    """The namespace of all that it is made of."""
    labels: Mapping[str, LeafStr] | None = None
    """Labels of the job, and of its PodGroup."""
    annotations: Mapping[str, LeafStr] | None = None
    """Annotations of the job, and of its PodGroup."""
    scheduler_name: Annotated[Str, StringConstraints(max_length=63)] | None = None
    """Who places the Pods; `volcano` by default."""
    min_available: Count | None = None
    """How many Pods must fit at once; by default the sum over the tasks."""
    volumes: Listed[Volume] | None = None
    """Claims that every container mounts."""
    tasks: Annotated[Sequence[Task], Field(min_length=1), AfterValidator(tuple)] | None = None
    """The groups of Pods."""
    policies: Listed[Policy] | None = None
    """What Volcano does on events, for all tasks."""
    plugins: Plugins | None = None
    """The plugins: a list of typed ones, or Volcano's arguments by name."""
    queue: LeafSubdomain | None = None
    """Volcano's queue; `default` by default."""
    max_retry: Count | None = None
    """How often Volcano restarts the job before it fails; 3 by default."""
    ttl_seconds_after_finished: Count | None = None
    """How long Volcano keeps the job when it has ended."""
    priority_class_name: LeafSubdomain | None = None
    """The PriorityClass of the PodGroup, and of Pods whose template names none."""
    min_success: Positive | None = None
    """How many Pods must succeed for the job to be completed."""
    network_topology: NetworkTopology | None = None
    """How close all Pods must be."""
    running_estimate: Str | None = None
    """How long the job will run, for the scheduler."""

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, data: Tree) -> Tree:
        """Take kubectl's document for the flat form."""
        if not isinstance(data, Mapping) or not DOCUMENT_FIELDS & data.keys():
            return data
        return flatten(data)

    @property
    def uses(self) -> Uses:
        """How the job uses each of its plugins, by name."""
        return dict(self.plugins) if isinstance(self.plugins, dict) else {}

    def task(self, name: str) -> Task | None:
        """Find a task by name."""
        return next((task for task in self.tasks or () if task.name == name), None)

    def to_manifest(self) -> dict[str, Tree]:
        """Give the job as the `batch.volcano.sh/v1alpha1` document that kubectl takes."""
        wire = self.to_wire()
        wire.pop("plugins", None)
        metadata = {key: wire.pop(key) for key in ("name", "namespace", "labels", "annotations") if key in wire}
        if self.plugins:
            wire["plugins"] = {name: _args(use) for name, use in sorted(self.uses.items())}
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": wire}


def _args(use: Tree) -> list[Tree]:
    return use.to_args() if isinstance(use, PluginSettings) else list(use or ())


_REMEDIES = {
    "Kustomization": "give what kustomize build prints",
    "CronJob": "give the Job that its jobTemplate makes",
    "JobTemplate": "give the Job that it makes",
    "JobFlow": "give the Jobs that it runs",
}


def _refuse_another_kind(document: Mapping[str, Tree]) -> None:
    identity = {key: document[key] for key in ("kind", "apiVersion") if key in document}
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if identity.get(key, expected) != expected:
            said = [
                f"its {name} is {value}"
                for name, value in identity.items()
                if isinstance(value, str) and is_whole(value)
            ]
            kind, reason = "not_a_job", "this is no Volcano Job"
            remedy = _REMEDIES.get(str(document.get("kind")), f"give a {KIND} of {API_VERSION}")
            found = ", ".join(said) or f"its {key} is no text"
            raise PydanticCustomError(kind, reason, {"place": key, "found": found, "remedy": remedy})


def flatten(document: Mapping[str, Tree]) -> dict[str, Tree]:
    """Turn kubectl's document into the flat form; what stands in a wrong place keeps it, as a prefix of its key."""
    _refuse_another_kind(document)
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(spec, Mapping):
        kind = "no_spec"
        raise PydanticCustomError(kind, "a Job needs a spec (a mapping)", {"place": "spec"})
    if not isinstance(metadata, Mapping):
        kind = "no_metadata"
        raise PydanticCustomError(kind, "a Job needs metadata (a mapping) with a name", {"place": "metadata"})
    # An unknown key of the metadata is no key of the spec, and no key of the spec (name, …) overwrites metadata.
    flat = {
        key if key in IN_METADATA else f".metadata.{key}": value
        for key, value in metadata.items()
        if key not in SERVER_METADATA
    }
    flat |= {f"spec.{key}" if key in METADATA_FIELDS else key: value for key, value in spec.items()}
    flat |= {f".{key}": value for key, value in document.items() if key not in DOCUMENT_FIELDS}
    return flat


DOCUMENT_FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
