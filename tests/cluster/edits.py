"""Edits of a job and their effect on each object: tests apply them, and docs/updates.md lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]
Changes = Mapping[str, str]
DOCUMENT = Path(__file__).parents[2] / "docs" / "updates.md"

MASTER, WORKERS = "Pod master-0", ("Pod worker-0", "Pod worker-1")
PODS = (MASTER, *WORKERS)
REPLACED, UPDATED, MADE, DELETED = "replaced", "updated", "made", "deleted"
ALL = dict.fromkeys(PODS, REPLACED)
THE_WORKERS = dict.fromkeys(WORKERS, REPLACED)
# Since January 2026 the provider asks the API server for an update in place of a Pod that will be replaced.
ISSUE = "https://github.com/pulumi/pulumi-kubernetes/issues/3984"


class PreviewError(Exception):
    """A preview that fails as described in the issue."""


def job(name: str, restart: str) -> Manifest:
    """Return the job before the edit."""
    main = {"name": "main", "image": "example.org/image:1", "args": ["--epochs=1"]}
    spec = {"restartPolicy": "Never", "containers": [main | {"env": [{"name": "A", "value": "1"}]}]}
    template = {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "a"}}, "spec": spec}
    tasks = [
        {"name": task, "replicas": replicas, "template": deepcopy(template)}
        for task, replicas in (("master", 1), ("worker", 2))
    ]
    plugins: Manifest = {"pytorch": ["--port=23456"]}
    return {"name": name, "restart": restart, "tasks": tasks, "plugins": plugins}


@dataclass(frozen=True)
class Edit:
    """An edit, and its effect on each object with `restart="gang"` and with `restart="pod"`."""

    name: str
    apply: Callable[[Manifest], Any]
    gang: Changes
    pod: Changes | None = None
    """Changes that differ with `restart="pod"`."""
    preview_fails: bool = field(default=False, kw_only=True)
    """Whether preview fails on a live cluster for pulumi-kubernetes issue 3984."""

    def expected(self, restart: str) -> Changes:
        """Return the expected changes for one value of `restart`."""
        return self.gang if restart == "gang" or self.pod is None else self.pod


def main_of(job: Manifest) -> Manifest:
    """Return the container of the workers."""
    container: Manifest = job["tasks"][1]["template"]["spec"]["containers"][0]
    return container


def metadata_of(job: Manifest) -> Manifest:
    """Return the metadata of the workers' template."""
    metadata: Manifest = job["tasks"][1]["template"]["metadata"]
    return metadata


def add_task(job: Manifest) -> None:
    """Add a task at the end of the list."""
    job["tasks"].append(deepcopy(job["tasks"][0]) | {"name": "extra"})


def add_claim(job: Manifest) -> None:
    """Mount a new claim."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    job["volumes"] = [{"mountPath": "/data", "volumeClaim": claim}]


def claim_of(job: Manifest) -> Manifest:
    """Return the spec of the new claim."""
    claim: Manifest = job["volumes"][0]["volumeClaim"]
    return claim


GROUP = {"PodGroup": UPDATED}
# The svc plugin sets the hosts of all tasks in each Pod, so existing Pods do not know a new task.
ALL_AND_HOSTS = ALL | GROUP | {"ConfigMap svc": REPLACED}
EDITS = (
    Edit("the image of a task", lambda job: main_of(job).update(image="example.org/image:2"), ALL, THE_WORKERS),
    Edit(
        "an environment variable of a task",
        lambda job: main_of(job)["env"][0].update(value="2"),
        ALL,
        THE_WORKERS,
        preview_fails=True,
    ),
    Edit(
        "the arguments of a task",
        lambda job: main_of(job).update(args=["--epochs=2"]),
        ALL,
        THE_WORKERS,
        preview_fails=True,
    ),
    Edit(
        "the resources of a task",
        lambda job: main_of(job).update(resources={"limits": {"cpu": "1"}}),
        ALL | GROUP,
        THE_WORKERS | GROUP,
        preview_fails=True,
    ),
    Edit(
        "a label of a task's template",
        lambda job: metadata_of(job)["labels"].update(team="b"),
        dict.fromkeys(WORKERS, UPDATED),
    ),
    Edit(
        "an annotation of a task's template",
        lambda job: metadata_of(job)["annotations"].update(note="b"),
        dict.fromkeys(WORKERS, UPDATED),
    ),
    Edit("a label of the job", lambda job: job.update(labels={"team": "a"}), GROUP),
    Edit("an annotation of the job", lambda job: job.update(annotations={"note": "a"}), GROUP),
    Edit(
        "`queue` added or removed",
        lambda job: job.update(queue="research"),
        {"PodGroup": REPLACED} | dict.fromkeys(PODS, UPDATED),
    ),
    Edit("`queue`", lambda job: job.update(queue="vision"), GROUP | dict.fromkeys(PODS, UPDATED)),
    Edit("`min_available`", lambda job: job.update(min_available=1), GROUP),
    Edit(
        "an argument of a plugin",
        lambda job: job["plugins"].update(pytorch=["--port=23457"]),
        ALL,
        preview_fails=True,
    ),
    Edit(
        "a plugin added (ssh)",
        lambda job: job["plugins"].update(ssh=[]),
        ALL | {"Secret ssh": MADE},
        preview_fails=True,
    ),
    Edit("the token `key_rotation`", lambda job: job.update(key_rotation="2"), ALL | {"Secret ssh": REPLACED}),
    Edit("a plugin removed (ssh)", lambda job: job["plugins"].pop("ssh"), ALL | {"Secret ssh": DELETED}),
    Edit("a task added", add_task, ALL_AND_HOSTS | {"Pod extra-0": MADE}, preview_fails=True),
    Edit(
        "a task renamed",
        lambda job: job["tasks"][2].update(name="other"),
        ALL_AND_HOSTS | {"Pod extra-0": DELETED, "Pod other-0": MADE},
        preview_fails=True,
    ),
    Edit("a task removed", lambda job: job["tasks"].pop(), ALL_AND_HOSTS | {"Pod other-0": DELETED}),
    Edit("a volume with a new claim", add_claim, ALL | {"PersistentVolumeClaim pvc-data": MADE}, preview_fails=True),
    Edit(
        "the access modes of a claim",
        lambda job: claim_of(job).update(accessModes=["ReadWriteMany"]),
        ALL | {"PersistentVolumeClaim pvc-data": REPLACED},
        preview_fails=True,
    ),
    Edit("the token `run`", lambda job: job.update(run="2"), ALL),
    Edit("the order of the plugins", lambda job: job.update(plugins=dict(reversed(job["plugins"].items()))), {}),
)
MOVES = ("the job's `name`", "`namespace`")
HEAD = '| Edit | `restart="gang"` (the default) | `restart="pod"` |\n|---|---|---|\n'


def described(found: Changes) -> str:
    """Return the text of the table for the changes of objects."""
    words = {REPLACED: "replaces", UPDATED: "updates", MADE: "creates", DELETED: "deletes"}
    parts = []
    for change, word in words.items():
        names = {name for name, what in found.items() if what == change}
        if shown := [*_pods(names & set(PODS)), *sorted(names - set(PODS))]:
            parts.append(f"{word} {', '.join(shown)}")
    return "; ".join(parts) or "nothing"


def _pods(names: set[str]) -> list[str]:
    if names == set(PODS):
        return ["all Pods"]
    return ["the Pods of `worker`"] if names == set(WORKERS) else sorted(names)


def table() -> str:
    """Return the table of docs/updates.md."""
    rows = [(edit.name, described(edit.expected("gang")), described(edit.expected("pod"))) for edit in EDITS]
    rows += [(move, *["deletes all objects, creates new ones"] * 2) for move in MOVES]
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    before, _, rest = DOCUMENT.read_text("utf-8").partition(HEAD)
    end = rest.partition("\n\n")[2]
    DOCUMENT.write_text(f"{before}{table()}\n{end}", "utf-8")
