"""The objects of all jobs and queues of a stack: two of one name would overwrite each other."""

from __future__ import annotations

from collections.abc import Iterable

from pulumi_volcano_jobs.component.per_program import PerProgram
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, identity

Key = tuple[str, str, str]

_registered: PerProgram[dict[Key, str]] = PerProgram(dict)


def register_names(name: str, manifests: Iterable[Manifest], kind: str = "VolcanoJob") -> list[Problem]:
    """Take the names of the objects of the resource `name`, or give a Problem for each that another resource has.

    A namespace that is not known yet is compared with none. `kind` is the resource's.
    """
    registered = _registered.get()
    keys = [identity(manifest) for manifest in manifests if not isinstance(manifest["metadata"].get("namespace"), Leaf)]
    clashes = [key for key in keys if registered.get(key, name) != name]
    if not clashes:
        registered.update(dict.fromkeys(keys, name))
    hint = "give one of the jobs another name or namespace" if kind == "VolcanoJob" else "give one of them another name"
    return [
        Problem(
            "metadata.name",
            "Duplicate",
            f"the {kind}s {registered[key]} and {name} both make the {key[0]} {key[2]}",
            hint,
        )
        for key in clashes
    ]
