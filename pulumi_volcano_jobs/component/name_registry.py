"""The names of all objects of a stack. Two objects with one name would overwrite each other."""

from __future__ import annotations

from collections.abc import Iterable

from pulumi_volcano_jobs.component.per_program import PerProgram
from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, identity

Key = tuple[str, str, str]

_registered: PerProgram[dict[Key, str]] = PerProgram(dict)


def register_names(name: str, manifests: Iterable[Manifest], kind: str = "VolcanoJob") -> list[Problem]:
    """Register the names of a resource's objects, or return a Problem for each name that another resource has.

    An object whose namespace is unknown is not compared. `kind` is the kind of the resource.
    """
    registered = _registered.get()
    keys = [identity(manifest) for manifest in manifests if not isinstance(manifest["metadata"].get("namespace"), Leaf)]
    clashes = [key for key in keys if registered.get(key, name) != name]
    if not clashes:
        registered.update(dict.fromkeys(keys, name))
    hint = "change the name or namespace of one job" if kind == "VolcanoJob" else "rename one of them"
    return [
        Problem(
            "metadata.name",
            "Duplicate",
            f"the {kind}s {registered[key]} and {name} both create the {key[0]} {key[2]}",
            hint,
        )
        for key in clashes
    ]
