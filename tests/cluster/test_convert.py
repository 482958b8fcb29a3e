"""A converted program creates the other objects of a file before its job, on the real API server."""

from __future__ import annotations

from pathlib import Path

from pulumi_volcano_jobs.files import job_file
from tests.cluster.conftest import Space, Stack
from tests.commands import run_command
from tests.conftest import CLAIM, job, task


def test_a_program_with_other_objects_is_previewed_and_brought_up(space: Space, tmp_path: Path) -> None:
    """The PriorityClass does not exist before: the API server rejects a Pod that names it, also in a dry run.

    The Service has no endpoints, and the claim has no volume, before the Pods run.
    """
    name, metadata = f"{space.name}-high", {"namespace": space.name}
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    document = job(task(priorityClassName=name, volumes=volumes), priorityClassName=name)
    document["metadata"] |= metadata
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": CLAIM},
        {"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
    ]
    objects = [{**item, "metadata": {"name": "settings", **metadata}} for item in objects]
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000}
    file = tmp_path / "all.yaml"
    file.write_text(job_file.dump([*objects, high, document]), "utf-8")
    program = run_command("convert", str(file)).stdout
    stack = Stack(tmp_path / "project", space, program)

    preview, up = stack.preview(), stack.up()

    assert preview.changes.keys() == up.changes.keys() == {"create"}
    stored = space.seen()
    (pod,) = (item for item in stored.values() if item["kind"] == "Pod")
    assert pod["spec"]["priority"] == 1000
    assert {"ConfigMap", "PersistentVolumeClaim", "Service"} <= {item["kind"] for item in stored.values()}
    assert stack.up().changes.keys() == {"same"}
