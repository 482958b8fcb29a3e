"""Pydantic models of the Volcano Job, with the fields of `batch.volcano.sh/v1alpha1`.

Every model accepts its fields in snake_case or in Volcano's camelCase. Unknown fields are kept, not rejected: rendering
decides whether they are errors (strict) or are dropped, as the API server does. Pod templates and claims stay plain
dicts in wire format.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    PrivateAttr,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from pulumi_volcano_jobs.core import bounds
from pulumi_volcano_jobs.core.calls import not_assignable, not_keywords, unknown_attribute
from pulumi_volcano_jobs.core.errors import Problem, job_error, raise_if_any
from pulumi_volcano_jobs.core.resource_types import JOB
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.text import holds_output, redacted_for_repr
from pulumi_volcano_jobs.kubernetes.dns import DNS_SUBDOMAIN
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, METADATA_FIELDS, flatten, warnings, without_null_labels
from pulumi_volcano_jobs.spec.fields import (
    Action,
    Count,
    Duration,
    Event,
    Int32,
    LeafLabel,
    LeafStr,
    LeafSubdomain,
    Listed,
    MountPath,
    OptionalEvent,
    Plugins,
    PluginSettings,
    PodTemplateArgs,
    Positive,
    Str,
    TaskName,
    TopologyMode,
    TopologyPolicy,
    Tree,
    Uses,
    mapping,
)
from pulumi_volcano_jobs.spec.model_errors import as_job_error
from pulumi_volcano_jobs.spec.releases import Since


class Model(BaseModel):
    """Base of all models: frozen, with both spellings of a field, unknown fields kept, and no input in errors."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )

    def __init__(self, /, *values: Tree, **fields: Tree) -> None:
        """Validate the fields, in either spelling.

        Raises:
            JobError: with a Problem for each invalid field.
        """
        if values:
            name = type(self).__name__
            raise job_error([not_keywords(name, "fields", name, type(self).model_fields)])
        raise_if_any(bounds.check_bounds(fields, self._owner(fields)))
        fields = without_null_labels(fields)
        with as_job_error(self._owner(fields)):
            super().__init__(**fields)

    # With this mark, pydantic validates a nested model without this method, and so reports all errors of a tree.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # it is pydantic's own

    @classmethod
    def model_validate(cls, obj: Tree, **options: Tree) -> Self:
        """Build the model from a mapping; `options` are pydantic's.

        Raises:
            JobError: with a Problem for each invalid field.
        """
        raise_if_any(bounds.check_bounds(obj, cls._owner(obj)))
        with as_job_error(cls._owner(obj)):
            return super().model_validate(obj, **options)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Tree) -> Self:
        """Build the model from JSON; `options` are pydantic's.

        Raises:
            JobError: with a Problem for each invalid field, or if the text is not JSON.
        """
        with as_job_error(cls._owner({})):
            return super().model_validate_json(json_data, **options)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Tree:
            """Return an unknown field that is kept, or raise an error with the existing fields."""
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("_"):
                    raise
            raise unknown_attribute("field", name, type(self), type(self).model_fields)

    @classmethod
    def _owner(cls, data: Tree) -> str:
        """Return the name of the model in messages, for a model outside of a job."""
        name = data.get("name") if isinstance(data, Mapping) else None
        is_shown = isinstance(name, str) and name and not holds_output(name)
        return f"{cls.__name__}[{name}]" if is_shown else cls.__name__

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Tree) -> Tree:
        """Drop known fields that are null, which the API server treats as missing. It rejects unknown ones."""
        if not isinstance(data, Mapping):
            return data
        known = field_keys(cls)
        return {key: value for key, value in data.items() if value is not None or key not in known}

    def __repr_args__(self) -> Iterator[tuple[str | None, Tree]]:
        """Yield the fields without private keys, and without plugin arguments that may contain one."""
        for name, value in super().__repr_args__():
            (shown,) = redacted_for_repr({name: value}).values()
            yield name, shown

    def to_wire(self) -> dict[str, Tree]:
        """Return the fields that are set, in Volcano's spelling, without unknown fields.

        Empty strings are omitted: the CRD rejects an empty priorityClassName, and Go omits it.
        """
        wire = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and not value):
                wire[field.alias or name] = _wire(value)
        return wire

    def with_(self, **changes: Tree) -> Self:
        """Return a copy with some fields replaced. The new values are not validated.

        Raises:
            JobError: with a Problem for each unknown field.
        """
        owner, known = self._owner({}) or type(self).__name__, type(self).model_fields
        raise_if_any(
            Problem(f"{owner}.{name}", "Forbidden", "unknown field", suggestion(name, known))
            for name in changes
            if name not in known
        )
        return self.model_copy(update=changes)

    def __setattr__(self, name: str, value: Tree) -> None:
        """Reject the assignment, because models and plugins are shared by several objects."""
        if not name.startswith("_"):
            raise job_error([not_assignable(type(self).__name__, name)])
        super().__setattr__(name, value)


@functools.cache
def field_keys(model: type[Model]) -> frozenset[str]:
    """Return the names of a model's fields, in both spellings."""
    return frozenset(key for name, field in model.model_fields.items() for key in (name, field.alias or name))


def _wire(value: Tree) -> Tree:
    if isinstance(value, Model):
        return value.to_wire()
    if isinstance(value, tuple):
        return [_wire(item) for item in value]
    return value


class Policy(Model):
    """The action of Volcano on an event or exit code (`spec.policies[]`, `spec.tasks[].policies[]`)."""

    action: Action | None = None
    """The action, such as `RestartJob`, `RestartTask`, `CompleteJob` or `AbortJob`."""
    event: OptionalEvent = None
    """The event, such as `PodFailed`, `PodEvicted` or `TaskCompleted`; `*` is any event."""
    events: Listed[Event] | None = None
    """Several events with the same action."""
    exit_code: Int32 | None = None
    """The exit code of a container, instead of an event; not 0."""
    timeout: Duration | None = None
    """How long after the event Volcano acts, such as `5m`."""


class NetworkTopology(Model):
    """How close the nodes of a job or partition must be (`networkTopology`)."""

    mode: TopologyMode = None
    """`hard` (the default): Pods wait for nodes within the tier. `soft`: the scheduler only prefers such nodes."""
    highest_tier_allowed: Count | None = None
    """The highest tier of a HyperNode that has all Pods."""
    highest_tier_name: Annotated[
        Annotated[Str, StringConstraints(max_length=253)] | None,
        Since("1.14"),
    ] = None
    """The highest tier, by its name."""


class PartitionPolicy(Model):
    """The division of a task into partitions, each placed as a whole (`spec.tasks[].partitionPolicy`)."""

    total_partitions: Positive
    """The number of partitions; times `partition_size`, it is the number of replicas of the task."""
    partition_size: Positive
    """The number of Pods of each partition."""
    min_partitions: Count | None = None
    """The number of partitions that must fit for the job to start."""
    network_topology: NetworkTopology | None = None
    """How close to each other the nodes of a partition must be."""


class DependsOn(Model):
    """Tasks that must run before this one (`spec.tasks[].dependsOn`)."""

    name: Listed[Str] | None = None
    """The names of the tasks."""
    iteration: Str | None = None
    """Whether `all` (the default) or `any` of the tasks must run."""


class Volume(Model):
    """A claim that every container of the job mounts (`spec.volumes[]`): an existing one by name, or a new one."""

    mount_path: MountPath
    """The path in each container."""
    volume_claim_name: Annotated[Str, StringConstraints(max_length=253)] | None = None
    """The name of an existing claim."""
    volume_claim: Annotated[Mapping[str, Tree], PlainValidator(mapping)] | None = None
    """The PersistentVolumeClaimSpec of a new claim, with the field names of YAML."""


class Task(Model):
    """A group of identical Pods (`spec.tasks[]`)."""

    name: TaskName | None = None
    """The name of the task, which is part of the names of its Pods."""
    replicas: Count | None = 1
    """The number of Pods; 1 by default. With 0, the task is scaled to zero."""
    min_available: Count | None = None
    """The number of Pods that must fit for the job to start; all Pods of the task by default."""
    template: Annotated[Mapping[str, Tree] | PodTemplateArgs | None, PlainValidator(mapping)] = Field(
        default_factory=dict
    )
    """The Pod template, as in Kubernetes, with `metadata` and `spec`. Its values may be Outputs."""
    policies: Listed[Policy] | None = None
    """Lifecycle policies of the task, which take precedence over policies of the job."""
    topology_policy: TopologyPolicy = None
    """How the CPUs of a Pod must be placed: `none`, `best-effort`, `restricted` or `single-numa-node`."""
    max_retry: Count | None = None
    """The number of times that Volcano restarts the task before the job fails."""
    depends_on: DependsOn | None = None
    """Tasks that must run before this task."""
    partition_policy: Annotated[PartitionPolicy | None, Since("1.14")] = None
    """How the Pods of the task are divided into partitions."""

    @property
    def pod_spec(self) -> dict[str, Tree]:
        """The Pod spec of the template; empty if the template has none."""
        spec = self.pod_template.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def pod_template(self) -> dict[str, Tree]:
        """The template in wire format; empty if it is not a mapping."""
        return self.template if isinstance(self.template, dict) else {}

    @property
    def size(self) -> int:
        """The number of Pods."""
        return self.replicas or 0


class Job(Model):
    """A Volcano Job. `Job.model_validate` also accepts a document for kubectl (`metadata`, `spec`).

    In such a document, as for Volcano, a task without `replicas` has no Pods. In a program it has one.
    """

    _warnings: tuple[Problem, ...] = PrivateAttr(())

    name: Annotated[Str, StringConstraints(pattern=f"^{DNS_SUBDOMAIN}$", max_length=253)]
    """The name of the job, and the prefix of the names of its objects; the name of the resource by default."""
    namespace: LeafLabel | None = None
    """The namespace of all objects; `volcano-jobs:namespace` of the stack, or `default`, by default."""
    labels: Mapping[str, LeafStr] | None = None
    """Labels of the PodGroup, or of the Job with `managed_by="volcano"`."""
    annotations: Mapping[str, LeafStr] | None = None
    """Annotations of the PodGroup, or of the Job with `managed_by="volcano"`."""
    scheduler_name: Annotated[Str, StringConstraints(max_length=63)] | None = None
    """The scheduler; `volcano` by default."""
    min_available: Count | None = None
    """The size of the gang: the number of Pods that must fit for any to start; all Pods by default."""
    volumes: Listed[Volume] | None = None
    """Claims that all containers mount."""
    tasks: Annotated[Sequence[Task], Field(min_length=1), AfterValidator(tuple)] | None = None
    """The tasks, groups of equal Pods; a job has at least one."""
    policies: Listed[Policy] | None = None
    """Lifecycle policies, which need `managed_by="volcano"`."""
    plugins: Plugins | None = None
    """The plugins: typed (`[PytorchPlugin(port=29500)]`), or Volcano's arguments (`{"pytorch": ["--port=29500"]}`)."""
    queue: LeafSubdomain | None = None
    """The queue; `volcano-jobs:queue` of the stack, or `default`, by default."""
    max_retry: Count | None = None
    """The number of times that Volcano restarts the job, 3 by default; needs `managed_by="volcano"`."""
    ttl_seconds_after_finished: Count | None = None
    """Seconds after its end until Volcano deletes the job; needs `managed_by="volcano"`."""
    priority_class_name: LeafSubdomain | None = None
    """The PriorityClass of the PodGroup, and of Pods whose template has none."""
    min_success: Positive | None = None
    """The number of Pods that must succeed for the job to complete; needs `managed_by="volcano"`."""
    network_topology: Annotated[NetworkTopology | None, Since("1.12")] = None
    """How close to each other the nodes of all Pods must be."""
    running_estimate: Duration | None = None
    """How long the job is expected to run, such as `2h`, for the scheduler."""

    @model_validator(mode="wrap")
    @classmethod
    def _flatten(cls, data: Tree, build: ModelWrapValidatorHandler[Self]) -> Self:
        """Convert a document for kubectl to the flat form, and keep the warnings about it."""
        if isinstance(data, Mapping) and DOCUMENT_FIELDS & data.keys():
            # A document has Volcano's names only: kubectl rejects `min_available`.
            job: Self = cls.__pydantic_validator__.validate_python(flatten(data), by_alias=True, by_name=False)
            job._warnings = tuple(warnings(data))
            return job
        if isinstance(data, Mapping) and field_keys(cls).isdisjoint(data):
            kind = "no_job_fields"
            raise PydanticCustomError(kind, "not a Volcano Job")
        return build(data)

    @classmethod
    def _owner(cls, data: Tree) -> str:  # noqa: ARG003  # the paths of a job's fields start at its document
        return ""

    @property
    def uses(self) -> Uses:
        """The plugins of the job by name."""
        return dict(self.plugins) if isinstance(self.plugins, dict) else {}

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Warnings about the document that the job was built from. `render` and `VolcanoJob` report them."""
        return self._warnings

    @property
    def has_pods(self) -> bool:
        """Whether any task has replicas. Otherwise the job is scaled to zero."""
        return any(task.size for task in self.tasks or ())

    def task(self, name: str) -> Task | None:
        """Return the task of a name, or None."""
        return next((task for task in self.tasks or () if task.name == name), None)

    def arguments(self, plugin: str) -> list[Tree]:
        """Return the arguments of a plugin for Volcano."""
        use = self.uses.get(plugin)
        return use.to_args() if isinstance(use, PluginSettings) else list(use or ())

    def to_manifest(self) -> dict[str, Tree]:
        """Return the job as a `batch.volcano.sh/v1alpha1` document for kubectl."""
        wire = self.to_wire()
        wire.pop("plugins", None)
        metadata = {key: wire.pop(key) for key in tuple(wire) if key in METADATA_FIELDS}
        if self.plugins:
            wire["plugins"] = {name: self.arguments(name) for name in sorted(self.uses)}
        return {"apiVersion": JOB.api_version, "kind": JOB.kind, "metadata": metadata, "spec": wire}
