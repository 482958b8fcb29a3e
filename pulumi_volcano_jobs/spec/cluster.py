"""Facts about a cluster that rendering depends on. Callers pass them; the library never connects to a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from pulumi_volcano_jobs.core import bounds, paths
from pulumi_volcano_jobs.core.calls import checked_constructor
from pulumi_volcano_jobs.core.errors import Problem, job_error, raise_if_any, value_text, wrong_type
from pulumi_volcano_jobs.spec.options import one_of_its_values

ROOT_QUEUE = "root"
READ_CLUSTER = "kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml"
"""The command that reads the facts from a cluster."""


@checked_constructor
@dataclass(frozen=True)
class Queue:
    """A Volcano queue, as far as jobs depend on it."""

    state: str = "Open"
    """The state: `Open`, `Closing`, `Closed` or `Unknown`. Only an open queue accepts jobs."""
    children: int = 0
    """The number of queues that have this queue as their parent."""

    def __post_init__(self) -> None:
        """Reject values of a wrong type."""
        if not isinstance(self.state, str):
            raise job_error([wrong_type("Queue.state", "a string", 'for example "Open"')])
        if not isinstance(self.children, int):
            raise job_error([wrong_type("Queue.children", "a whole number", "")])


@checked_constructor
@dataclass(frozen=True)
class ClusterFacts:
    """Priority classes, queues, claims and the version of a cluster.

    Without facts, each priority class has the value 0, and queues and claims (`None`) are not checked.
    """

    kubernetes_version: str = ""
    """The version of Kubernetes, such as 1.31. Fields that it does not have are errors. `from_objects` leaves it empty,
    because the output of `kubectl get` does not contain it."""
    volcano_version: str = ""
    """The version of Volcano, such as 1.15. Fields, plugins and flags that it does not have are errors. `from_objects`
    leaves it empty."""
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    """The value of each PriorityClass by name."""
    queues: Mapping[str, Queue] | None = None
    """Volcano's queues by name."""
    claims: frozenset[tuple[str, str]] | None = None
    """The namespace and name of each PersistentVolumeClaim."""

    def __post_init__(self) -> None:
        """Reject unknown versions, and values of a wrong type."""
        raise_if_any(self._problems())

    def _problems(self) -> Iterator[Problem]:
        for name in ("kubernetes_version", "volcano_version"):
            if version := getattr(self, name):
                yield from one_of_its_values(name, version, name)
        if not _maps_to(int, self.priority_classes):
            example = 'for example {"high": 1000}'
            yield wrong_type("ClusterFacts.priority_classes", "a mapping from names to numbers", example)
        if self.queues is not None and not _maps_to(Queue, self.queues):
            example = 'for example {"research": Queue()}'
            yield wrong_type("ClusterFacts.queues", "a mapping from names to Queue objects", example)
        if self.claims is not None and not _are_claims(self.claims):
            example = 'for example frozenset({("default", "data")})'
            yield wrong_type("ClusterFacts.claims", "a frozenset of pairs of a namespace and a name", example)

    def with_objects(self, objects: Iterable[Any]) -> ClusterFacts:
        """Return the facts after `kubectl apply` of objects. Without facts about queues or claims, there are none."""
        applied = [item for item in map(_valid_object, objects) if item]
        added = [item for item in applied if isinstance(item, _QueueObject)]
        parents = Counter(item.spec.parent or ROOT_QUEUE for item in added)
        queues, claims = self.queues, self.claims
        if queues is not None:
            queues = {
                name: replace(queue, children=queue.children + parents[name])
                for name, queue in ({item.metadata.name: Queue() for item in added} | dict(queues)).items()
            }
        if claims is not None:
            claims |= {(item.metadata.namespace, item.metadata.name) for item in applied if isinstance(item, _Claim)}
        classes = {item.metadata.name: item.value for item in applied if isinstance(item, _PriorityClass)}
        return replace(self, priority_classes={**self.priority_classes, **classes}, queues=queues, claims=claims)

    @classmethod
    def from_objects(cls, objects: Any) -> ClusterFacts:
        """Read the output of `kubectl get priorityclasses,queues.scheduling.volcano.sh,pvc -A -o yaml`, as a list.

        Raises:
            JobError: if an item is not one of these objects or a List of them; its path names the item.
        """
        raise_if_any(bounds.check_bounds(objects, "items"))
        try:
            cluster_objects = list(_flatten(_OBJECTS.validate_python(objects)))
        except ValidationError as error:
            problems = [_problem(item) for item in error.errors(include_url=False)]
            raise job_error(problems) from None
        queues = [item for item in cluster_objects if isinstance(item, _QueueObject)]
        parents = Counter(item.spec.parent or ROOT_QUEUE for item in queues)
        return cls(
            priority_classes={
                item.metadata.name: item.value for item in cluster_objects if isinstance(item, _PriorityClass)
            },
            queues={item.metadata.name: Queue(item.status.state, parents[item.metadata.name]) for item in queues},
            claims=frozenset(
                (item.metadata.namespace, item.metadata.name) for item in cluster_objects if isinstance(item, _Claim)
            ),
        )


def _maps_to(kind: type, value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, kind) for item in value.values())


def _are_claims(value: object) -> bool:
    return isinstance(value, AbstractSet) and all(
        isinstance(item, tuple) and [*map(type, item)] == [str, str] for item in value
    )


class _Object(BaseModel):
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)


class _Metadata(_Object):
    name: StrictStr
    namespace: StrictStr = "default"


class _PriorityClass(_Object):
    kind: Literal["PriorityClass"]
    metadata: _Metadata
    value: StrictInt = 0


class _QueueSpec(_Object):
    parent: StrictStr = ""


class _QueueStatus(_Object):
    state: StrictStr = ""


class _QueueObject(_Object):
    kind: Literal["Queue"]
    metadata: _Metadata
    spec: _QueueSpec = _QueueSpec()
    status: _QueueStatus = _QueueStatus()


class _Claim(_Object):
    kind: Literal["PersistentVolumeClaim"]
    metadata: _Metadata


_ClusterObject = Annotated[_PriorityClass | _QueueObject | _Claim, Field(discriminator="kind")]


class _ObjectList(_Object):
    kind: Literal["List", "PriorityClassList", "QueueList", "PersistentVolumeClaimList"]
    items: list[_ClusterObject]


_OBJECTS: TypeAdapter[list[Any]] = TypeAdapter(
    list[Annotated[_PriorityClass | _QueueObject | _Claim | _ObjectList, Field(discriminator="kind")]],
)
_OBJECT: TypeAdapter[Any] = TypeAdapter(_ClusterObject)
_KINDS = ("PriorityClass", "Queue", "PersistentVolumeClaim")
_HINT = f"pass the output of `{READ_CLUSTER}`"


def _valid_object(item: Any) -> _Object | None:
    """Return an object that facts depend on, or None for any other object."""
    try:
        valid: _Object = _OBJECT.validate_python(item)
    except ValidationError:
        return None
    return valid


def _flatten(objects: list[Any]) -> Iterator[_Object]:
    for item in objects:
        if isinstance(item, _ObjectList):
            yield from item.items
        else:
            yield item


def _problem(error: ErrorDetails) -> Problem:
    # The location contains names that pydantic adds for unions. A document and an item of a List get equal paths.
    keys = [key for key in error["loc"] if key not in {*_KINDS, "List"}]
    keys = keys[2:] if keys[1:2] == ["items"] else keys[1:] if "List" in error["loc"] else keys
    path = f"items{paths.join('', *keys)}"
    if error["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return Problem(f"{path}.kind", "NotSupported", f"supported values: {', '.join(map(value_text, _KINDS))}", _HINT)
    return Problem(path, "Invalid", f"unexpected output of kubectl: {error['msg']}", _HINT)
