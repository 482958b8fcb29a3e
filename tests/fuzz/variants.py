"""Random variants of templates and jobs: some fields at once get valid or nearly valid values of the schema.

Each variant is a function of its number, so that a finding can be repeated.
"""

from __future__ import annotations

import copy
import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from pulumi_volcano_jobs import JobError, render
from pulumi_volcano_jobs.kubernetes import schema
from tests.conftest import CLAIM, job
from tests.fuzz.strategies import FLAGS, SOURCES
from tests.pod_rules import TAKEN, container, mounting, pod
from tests.templates import RICH, Wire

TEXTS = (
    "a", "main", "data", "disk", "x.y", "A", "A_b", "a b", "", "-", "a/b", "x" * 63, "x" * 64, "x" * 254, "1", "0",
    "1A", "_a", "a=b", "..", "../a", "/a", "a:b", "10.0.0.1", "010.0.0.1", "fd00::1", "1Gi", " a", "a ", "é", "\n",
    "Always", "Never", "None", "Localhost", "RuntimeDefault", "Unconfined", "TCP", "UDP", "In", "NotIn", "Exists",
    "Equal", "Lt", "linux", "windows", "SIGTERM", "example.org/a", "kubernetes.io/a", "NoExecute", "DoNotSchedule",
    "Honor", "metadata.name", "limits.cpu", "ReadWriteOnce", "Filesystem", "Block",
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2, 10, 22, 0o777, 0o1000, 1000, 65535, 65536, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1)
AMOUNTS = ("1", "500m", "0", "-1", "1Gi", "0.5", "1e3", "x", "10000000000000000000", "2Mi", 0.5, 1, "")
RESOURCES = (
    "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi", "hugepages-", "storage", "pods",
    "requests.cpu", "requests.nvidia.com/gpu", "kubernetes.io/a", "a b", "attachable-volumes-a",
)  # fmt: skip
KEYS = (
    "app", "example.org/a", "a b", "", "A/b", "kubernetes.io/hostname", "controller.kubernetes.io/pod-deletion-cost",
    "kubernetes.io/config.mirror", "container.apparmor.security.beta.kubernetes.io/main",
    "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/main",
    "scheduler.alpha.kubernetes.io/tolerations",
)  # fmt: skip
# Metadata that the Pods of a template do not have, and a field that the API server rejects in new Pods.
LEFT_OUT = {"annotations", "labels"}
EPHEMERAL = "ephemeralContainers"
METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

SMALL: Wire = mounting({}) | {"initContainers": [container("early")]}
TEMPLATES: list[Wire] = [
    {"metadata": {"labels": {"app": "a"}, "annotations": {}}, "spec": spec}
    for spec in [*TAKEN.values(), *RICH.values()]
]


class Variants:
    """Values of random fields, in trees of Kubernetes' types."""

    def __init__(self, number: int) -> None:
        """Set the number of the variant."""
        self._random = random.Random(number)  # noqa: S311  # no key

    def template(self) -> Wire:
        """Return a variant of a Pod template."""
        small = {"metadata": {"labels": {"app": "a"}, "annotations": {}}, "spec": SMALL}
        template = copy.deepcopy(self._random.choice([small, self._random.choice(TEMPLATES)]))
        for _ in range(self._random.choice([1, 1, 2, 3])):
            self._change(template, schema.POD_TEMPLATE)
        return template

    def job(self) -> Wire:
        """Return a variant of a whole job."""
        document = copy.deepcopy(self._random.choice(_jobs()))
        for _ in range(self._random.choice([1, 1, 2, 3])):
            self._random.choice(JOB_CHANGES)(self, document)
        return document

    def of_a_template(self) -> Wire:
        """Return a job of one task, whose template is a variant."""
        return job({"name": "worker", "replicas": 1, "template": self.template()})

    def _change(self, tree: Wire, definition: str) -> None:
        """Change a field of the tree, or of an object in it."""
        holder, kind = self._random.choice(list(_objects(tree, definition)))
        fields = _fields(kind)
        key = self._random.choice(list(fields))
        action, old = self._random.random(), holder.get(key)
        if action < 0.08 and key in holder:
            del holder[key]
        elif action < 0.16 and isinstance(old, list):
            holder[key] = old + copy.deepcopy(old)
        else:
            new = self._value(fields[key], 2, key)
            if isinstance(new, list) and isinstance(old, list):
                new = old + new
            elif isinstance(new, dict) and isinstance(old, dict):
                new = old | new
            holder[key] = new

    def _value(self, kind: Mapping[str, Any], depth: int, key: str = "") -> Any:
        """Return a value of a type of the schema, right or nearly right."""
        reference = kind.get("$ref", "").removeprefix("#/$defs/")
        if reference == schema.QUANTITY:
            return self._random.choice(AMOUNTS)
        if reference.endswith("IntOrString"):
            return self._random.choice(NUMBERS + TEXTS)
        if reference:
            kind = schema._definitions()[reference]
            if "properties" in kind:
                return self._object(reference, depth)
        name = kind.get("type") or "string"
        makers: dict[str, Callable[[Mapping[str, Any], int, str], Any]] = {
            "array": self._list,
            "object": self._mapping,
            "integer": lambda *_: self._random.choice(NUMBERS),
            "number": lambda *_: self._random.choice(NUMBERS),
            "boolean": lambda *_: self._random.random() < 0.5,
        }
        return makers.get(name if isinstance(name, str) else name[0], self._text)(kind, depth, key)

    def _object(self, definition: str, depth: int) -> Wire:
        fields = _fields(definition)
        required = [key for key in schema._definitions()[definition].get("required", ()) if key in fields]
        optional = [key for key in fields if key not in required] if depth > 0 else []
        given = self._random.sample(optional, min(len(optional), self._random.choice([0, 1, 1, 2, 2, 3])))
        return {key: self._value(fields[key], depth - 1, key) for key in required + given}

    def _list(self, kind: Mapping[str, Any], depth: int, key: str) -> list[Any]:
        return [self._value(kind["items"], depth - 1, key) for _ in range(self._random.choice([0, 1, 1, 1, 2]))]

    def _mapping(self, kind: Mapping[str, Any], depth: int, _: str) -> Wire:
        values = kind.get("additionalProperties")
        if not isinstance(values, Mapping):
            return {}
        keys = RESOURCES if values.get("$ref", "").endswith(schema.QUANTITY) else KEYS
        return {
            self._random.choice(keys): self._value(values, depth - 1) for _ in range(self._random.choice([0, 1, 1, 2]))
        }

    def _text(self, kind: Mapping[str, Any], _: int, key: str) -> str:
        words = [one or other for one, other in re.findall(r'"([A-Za-z]+)"|`([A-Za-z]+)`', kind.get("description", ""))]
        if words and self._random.random() < 0.4:
            return self._random.choice(words)
        if key in {"name", "volumeName"} and self._random.random() < 0.5:
            return self._random.choice(["main", "data", "disk"])
        return self._random.choice(TEXTS)

    def change_template(self, document: Wire) -> None:
        """Change a field of one of the job's templates."""
        self._change(self._random.choice(document["spec"]["tasks"])["template"], schema.POD_TEMPLATE)

    def change_claim(self, document: Wire) -> None:
        """Add a volume to the job, with a new claim or the name of one."""
        spec = copy.deepcopy(CLAIM)
        self._change(spec, schema.CLAIM)
        source: Wire = {"volumeClaim": spec} if self._random.random() < 0.8 else {"volumeClaimName": self._pick(NAMES)}
        path = self._pick(("/data", "/a.b", "/a_b", "/A", f"/{'x' * 70}", "/data/more", "relative", "/a b", "/é"))
        document["spec"].setdefault("volumes", []).append({"mountPath": path} | source)

    def rename(self, document: Wire) -> None:
        """Rename the job, a task or its queue."""
        holder, key = self._random.choice(
            [
                (document["metadata"], "name"),
                (self._random.choice(document["spec"]["tasks"]), "name"),
                (document["spec"], "queue"),
            ]
        )
        holder[key] = self._pick(NAMES)

    def annotate(self, document: Wire) -> None:
        """Add a label or an annotation to the job, which its Pods and its PodGroup may inherit."""
        metadata = document["metadata"]
        kind = self._random.choice(["labels", "annotations"])
        metadata[kind] = {**(metadata.get(kind) or {}), self._pick(OF_JOBS + KEYS): self._pick(TEXTS)}

    def count(self, document: Wire) -> None:
        """Set a number of the job, or of a task."""
        task = self._random.choice(document["spec"]["tasks"])
        holder, key = self._random.choice(
            [(document["spec"], key) for key in ("minAvailable", "maxRetry", "ttlSecondsAfterFinished", "minSuccess")]
            + [(task, key) for key in ("minAvailable", "replicas", "maxRetry")]
        )
        holder[key] = self._random.choice((-1, 0, 1, 2, 3, 2**31 - 1, 2**31))

    def plug(self, document: Wire) -> None:
        """Add a plugin to the job, perhaps with an argument."""
        flags = [f"--{self._random.choice(FLAGS)}={self._pick(VALUES)}"] if self._random.random() < 0.7 else []
        plugins = dict(document["spec"].get("plugins") or {})
        name = self._pick(("svc", "ssh", "env", "pytorch", "mpi", "tensorflow", "ray", "hcclrank"))
        document["spec"]["plugins"] = plugins | {name: flags}

    def _pick(self, values: tuple[str, ...]) -> str:
        return self._random.choice(values)


NAMES = ("train", "a.b", "1a", "x" * 40, "x" * 50, "x" * 63, "x" * 64, "A", "a-", "", "x.y.z", f"{'x' * 30}.{'y' * 20}")
OF_JOBS = (
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/jdb-min-available",
    "volcano.sh/queue-name",
)
VALUES = (
    "", "master", "worker", "22", "0", "-1", "65535", "99999", "true", "main", "example.org/image:1", " ", "/root/.ssh",
    "/a/", "10.0.0.0/8", "fd00::/8", "10.0.0.1/8", "web",
)  # fmt: skip
JOB_CHANGES: list[Callable[[Variants, Wire], None]] = [
    Variants.change_template,
    Variants.change_claim,
    Variants.change_claim,
    Variants.rename,
    Variants.annotate,
    Variants.count,
    Variants.plug,
]


def _fields(definition: str) -> Mapping[str, Any]:
    """Return the fields of a type that a job's template may set, with their schemas."""
    fields = schema._properties(definition)
    if definition == METADATA:
        return {key: fields[key] for key in LEFT_OUT}
    return {key: value for key, value in fields.items() if key != EPHEMERAL}


def _objects(tree: Wire, definition: str) -> Iterator[tuple[Wire, str]]:
    """Yield each object of a tree that has fields, with its type."""
    if definition != schema.POD_TEMPLATE:
        yield tree, definition
    for key, value in tree.items():
        child, is_list = schema.child_definition(definition, key)
        for item in value if is_list and isinstance(value, list) else [value]:
            if child and isinstance(item, dict):
                yield from _objects(item, child)


@functools.cache
def _jobs() -> list[Wire]:
    """Return the accepted jobs of Volcano's examples and the golden cases, and one more job."""
    own = [{"name": name, "replicas": 2, "template": {"spec": pod()}} for name in ("master", "worker")]
    documents = [job(*own, plugins={"svc": [], "ssh": []}), *(yaml.safe_load(text) for text in SOURCES)]
    return [document for document in documents if _is_accepted(document)]


def _is_accepted(document: Wire) -> bool:
    try:
        render(document)
    except JobError:
        return False
    return True
