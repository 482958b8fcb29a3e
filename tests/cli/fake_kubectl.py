"""A kubectl that answers from recorded objects: `get` with names and selectors, and `logs`.

The folder of the program has `objects.json` (a list), `logs.json` (lines by `pod/container`) and `denied.json` (a
message by resource). Each call is appended to `calls.txt`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[0]).parent
KINDS = {
    "pods": "Pod",
    "jobs.batch.volcano.sh": "Job",
    "podgroups.scheduling.volcano.sh": "PodGroup",
    "queues.scheduling.volcano.sh": "Queue",
    "events": "Event",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "configmaps": "ConfigMap",
    "networkpolicies.networking.k8s.io": "NetworkPolicy",
    "resourcequotas": "ResourceQuota",
    "nodes": "Node",
}
CLUSTER_SCOPED = {"Queue", "Node"}
CURRENT_NAMESPACE = "research"


def read(name: str) -> Any:
    """Return the data of a file of the folder."""
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else {}


def main(arguments: list[str]) -> int:
    """Answer a call."""
    with (FOLDER / "calls.txt").open("a") as calls:
        calls.write(" ".join(arguments) + "\n")
    words = [word for word in arguments if not word.startswith("-")]
    options = dict(word.lstrip("-").split("=", 1) for word in arguments if word.startswith("-") and "=" in word)
    return get(words[1], words[2:], options) if words[0] == "get" else logs(words[1], options)


def get(resource: str, names: list[str], options: dict[str, str]) -> int:
    """Print a List of the objects that are selected, or one object, as `--ignore-not-found -o json` does."""
    if message := read("denied.json").get(resource):
        sys.stderr.write(f"E1129 10:00:00.000000 1 memcache.go:265] noise\n{message}\n")
        return 1
    kind, namespace = KINDS[resource], options.get("namespace", CURRENT_NAMESPACE)
    found = [item for item in read("objects.json") if item["kind"] == kind and selects(item, options)]
    if kind not in CLUSTER_SCOPED:
        found = [item for item in found if item["metadata"]["namespace"] == namespace]
    if names:
        found = [item for item in found if item["metadata"]["name"] in names]
    if len(names) == 1:
        print(json.dumps(found[0]) if found else "", end="")  # noqa: T201  # its output
    else:
        print(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}))  # noqa: T201  # its output
    return 0


def selects(item: Any, options: dict[str, str]) -> bool:
    """Check whether selectors of labels and fields select an object."""
    labels = dict(pair.split("=") for pair in options.get("selector", "").split(",") if pair)
    fields = dict(pair.split("=") for pair in options.get("field-selector", "").split(",") if pair)
    has_labels = labels.items() <= item["metadata"].get("labels", {}).items()
    return has_labels and all(value(item, path) == wanted for path, wanted in fields.items())


def value(item: Any, path: str) -> Any:
    """Return the value of a field."""
    for key in path.split("."):
        item = item.get(key, {})
    return item


def logs(pod: str, options: dict[str, str]) -> int:
    """Print the last lines of a log."""
    lines = read("logs.json").get(f"{pod}/{options['container']}")
    if lines is None:
        sys.stderr.write(f'Error from server (BadRequest): container "{options["container"]}" has no log\n')
        return 1
    for line in lines[-int(options.get("tail", len(lines))) :]:
        print(line)  # noqa: T201  # its output
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
