"""Compare our manifests with those that Volcano created: convert both to one form, then compare them.

`DIFFERENCES` lists all intended differences of composed mode.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from pulumi_volcano_jobs.kubernetes.quantity import parse
from pulumi_volcano_jobs.spec.naming import pod_group

DIFFERENCES = {
    "no owner": "no Job object exists that could own the rest: Pulumi does, so ownerReferences and uid are left out",
    "PodGroup name": "Volcano's name ends in the Job's uid; without a Job, ours ends in a UUID of the job's name",
    "default queue": "the PodGroup leaves it to the API server and the webhook, so that an update does not reset it",
    "stable names": "random suffixes of claims and volumes would replace them on every update; ours come from the path",
    "written once": "server-side apply refuses a name, path or port (its name too) twice: the last one wins",
    "plugin order": "the design runs hcclrank after pytorch, which is one of Volcano's random orders",
    "wait script": "the init container's words are ours; host, port and timeout are compared",
    "ssh configuration": "Volcano's goes stale when a task is scaled; ours follows, for Pods that come then",
    "ranks": "with more masters Volcano gives two Pods one hccl/rankIndex; ours moves on in Pods that are there",
}
UID = "00000000-0000-0000-0000-000000000001"
KEYS = {"env": "name", "volumes": "name", "volumeMounts": "mountPath", "containers": "name", "initContainers": "name"}
GONE = ("", False, 0, [])  # Go omits zero values.
Tree = Any


def normal_form(tree: Tree, names: dict[str, str], key: str = "") -> Tree:
    """Remove values that Go omits, key lists as Kubernetes does, and convert amounts to numbers."""
    if isinstance(tree, dict):
        done = {k: normal_form(v, names, k) for k, v in tree.items() if k not in ("ownerReferences", "uid")}
        if key in ("minResources", "requests", "limits"):
            return {k: parse(v).nano for k, v in done.items()}
        empty = [k for k, v in done.items() if any(v is zero or (v == zero and type(v) is type(zero)) for zero in GONE)]
        return {k: v for k, v in done.items() if k not in empty and not (k in ("resources", "metadata") and v == {})}
    if isinstance(tree, list) and tree:
        items = [normal_form(item, names) for item in tree]
        if key == "ports" and all("containerPort" in item or "targetPort" not in item for item in items):
            by_name = {item.get("name", index): item for index, item in enumerate(items)}
            return {
                (item.get("containerPort", 0), item.get("protocol", "TCP")): _tcp(item) for item in by_name.values()
            }
        if key == "command":
            return [_wait(item) for item in items]
        return {item.get(KEYS[key]): item for item in items} if key in KEYS and isinstance(items[0], dict) else items
    for theirs, ours in names.items() if isinstance(tree, str) else ():
        tree = tree.replace(theirs, ours)
    return tree


def _tcp(port: dict[str, Tree]) -> dict[str, Tree]:
    return {"protocol": "TCP", **port}


def _wait(text: str) -> Tree:
    """Return the parameters of the waiting script: address and port, timeout, exit code."""
    found = re.search(r"nc -z (\S+) (\S+)", text)
    return (*found.groups(), *re.findall(r"(?:TIMEOUT=|-ge )(-?\d+)", text)[:1], "exit 1" in text) if found else text


def decoded(item: dict[str, Tree]) -> dict[str, Tree]:
    """Decode the data of a Secret. Placeholders are not encoded."""
    if item["kind"] != "Secret" or "data" not in item:
        return item
    text = {k: v if v.startswith("<") else base64.b64decode(v, validate=True).decode() for k, v in item["data"].items()}
    return {**{k: v for k, v in item.items() if k != "data"}, "stringData": text}


def renames(expected: dict[str, Tree], claims: list[str]) -> dict[str, str]:
    """Map Volcano's random names to ours; `claims` are our names for the volumes of the job."""
    name = (expected["job"] or {"metadata": {"name": ""}})["metadata"]["name"]
    numbered = {f"{name}-pvc-<random-{k}>": claim for k, claim in enumerate(claims, 1)}
    return {f"{name}-{UID}": pod_group(name)} | numbered


def with_default_queue(item: dict[str, Tree]) -> dict[str, Tree]:
    """Set the queue of a PodGroup, as the API server does."""
    return {**item, "spec": {"queue": "default", **item["spec"]}} if item["kind"] == "PodGroup" else item


def pod_volumes(pod: dict[str, Tree], ours: list[str]) -> dict[str, str]:
    """Map the random names of a Pod's claim volumes to ours, which have the same order."""
    theirs = [v["name"] for v in pod["spec"].get("volumes", []) if "<random-" in v["name"]]
    return dict(zip(theirs, ours, strict=True))


def ranks(expected: dict[str, Tree]) -> dict[tuple[str, str], Tree]:
    """Return the annotations that depend on the order of plugins, with the values for our order."""
    differing = expected["meta"].get("pluginOrder", {}).get("contentDiffers", [])
    prefix = "/metadata/annotations/"
    rank = [d for d in differing if d["path"] == f"{prefix}hccl/rankIndex"]
    return {(d["pod"], d["path"].removeprefix(prefix)): d["values"][1].strip('"') for d in rank}
