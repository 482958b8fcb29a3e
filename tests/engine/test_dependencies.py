"""The order in which the engine creates the objects of a job and resources that use its outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pulumi.automation import StepEventMetadata

from tests.engine.conftest import Project, Run, short
from tests.engine.yamlproject import YamlProject

pytestmark = pytest.mark.engine
PROGRAM = """
def task(name, image="example.org/ray:1"):
    containers = [{"name": name, "image": image}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    return {"name": name, "replicas": 1, "template": template}

def submit(name, address):
    containers = [{"name": "submit", "image": "example.org/ray:1", "args": ["--address", address]}]
    kubernetes.batch.v1.Job(
        name,
        metadata={"name": name, "annotations": {"pulumi.com/skipAwait": "true"}},
        spec={"template": {"spec": {"restartPolicy": "Never", "containers": containers}}},
        opts=opts,
    )

mode = config.get("mode") or "pulumi"
tasks = [task("head", config.get("image") or "example.org/ray:1"), task("worker")]
ray = VolcanoJob("ray", {"plugins": {"ray": []}, "managed_by": mode, "tasks": tasks, "restart": "pod"}, opts)
submit("submit", ray.ray.dashboard_url)
kubernetes.core.v1.ConfigMap(
    "settings",
    metadata={"name": ray.name.apply(lambda name: f"{name}-settings")},
    data={"service": ray.ray.service_name},
    opts=opts,
)
second = VolcanoJob(
    "second",
    {"tasks": [{"name": "client", "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "example.org/ray:1", "env": [{"name": "RAY_ADDRESS", "value": ray.ray.gcs_address}]}
    ]}}, "replicas": 1}]},
    opts,
)
pulumi.export("pods", ray.pod_names)
"""
SUBMIT, HEAD, SERVICE = "Job submit", "Pod ray-head-0", "Service ray-ray-head-svc"
YAML_JOB = {
    "plugins": {"svc": []},
    "tasks": [
        {
            "name": "worker",
            "replicas": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}},
        }
    ],
}


def planned(run: Run) -> list[StepEventMetadata]:
    """Return the steps of a preview."""
    return [event.resource_pre_event.metadata for event in run.events if event.resource_pre_event]


def test_a_job_that_submits_to_ray_is_created_after_the_cluster(tmp_path: Path) -> None:
    """It is deleted before the cluster, and a new head gets the submission again."""
    project = Project(tmp_path / "project", PROGRAM)
    previewed = {short(item.urn): item.new.inputs for item in planned(project.preview()) if item.new}
    (container,) = previewed[SUBMIT]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--address", "http://ray-head-svc.default.svc:8265"]

    up = project.up().order
    assert up.index(SUBMIT) > max(up.index(SERVICE), up.index(HEAD))
    assert project.dependencies(SUBMIT) == [HEAD, SERVICE]
    assert project.dependencies("ConfigMap settings") == ["PodGroup ray", SERVICE]

    project.configure(image="example.org/ray:2")
    preview = project.preview()
    # A Pod of another job keeps running, and so does a resource that has only names of the job.
    assert preview.steps == {HEAD: "replace", SUBMIT: "replace", "Task ray-head": "update"}
    assert project.up().urns == preview.urns

    destroyed = project.destroy().order
    assert destroyed.index(SUBMIT) < min(destroyed.index(SERVICE), destroyed.index(HEAD))


def test_a_job_that_submits_to_a_native_ray_job_is_created_after_it(tmp_path: Path) -> None:
    """The address depends on the Job."""
    project = Project(tmp_path / "project", PROGRAM.replace(', "restart": "pod"', ""), {"tests:mode": "volcano"})

    up = project.up().order

    assert up.index(SUBMIT) > up.index("Job ray")
    assert project.dependencies(SUBMIT) == ["Job ray"]


def test_a_yaml_resource_is_created_after_the_pods_whose_names_it_has(tmp_path: Path) -> None:
    """The outputs of a component in another language depend on all its children."""
    project = YamlProject(tmp_path)
    settings = {
        "type": "kubernetes:core/v1:ConfigMap",
        "properties": {"metadata": {"name": "settings"}, "data": {"pods": {"fn::join": [",", "${train.podNames}"]}}},
        "options": {"provider": "${files}"},
    }
    project.write(YAML_JOB, resources={"settings": settings})
    project.done("stack", "init", "dev")

    log = tmp_path / "events.json"
    project.done("up", "--yes", "--skip-preview", "--event-log", str(log))

    finished = [json.loads(line).get("resOutputsEvent") for line in log.read_text("utf-8").splitlines()]
    created = [short(event["metadata"]["urn"]) for event in finished if event]
    pods = ["Pod train-worker-0", "Pod train-worker-1"]
    assert created.index("ConfigMap settings") > max(map(created.index, pods))
