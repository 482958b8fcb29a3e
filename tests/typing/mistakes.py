"""Forty programs with a mistake each: type checkers report the marked lines, and `up` rejects all of them.

A mark may have the name of the key, argument or attribute that both checkers name.
"""

# pyright: strict
# ruff: noqa: D103  # the name of a function describes the mistake

from __future__ import annotations

import pulumi

from pulumi_volcano_jobs import (
    ContainerDict,
    MpiPlugin,
    PodTemplateSpecDict,
    PytorchPlugin,
    SshPlugin,
    TaskArgs,
    VolcanoJob,
    VolcanoQueue,
    presets,
)

MAIN: ContainerDict = {"name": "main", "image": "ghcr.io/me/train:1"}
POD: PodTemplateSpecDict = {"spec": {"restartPolicy": "Never", "containers": [MAIN]}}
WORKER: TaskArgs = {"name": "worker", "template": POD}
MASTER: TaskArgs = {"name": "master", "template": POD}
FILE = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  tasks:
    - name: worker
      replicas: 1
      template: {spec: {restartPolicy: Never, containers: [{name: main, image: ghcr.io/me/train:1}]}}
"""


def tag() -> pulumi.Output[str]:
    """Return an output of another resource."""
    return pulumi.Output.from_input("1")


def worker(container: ContainerDict) -> TaskArgs:
    """Return a task with this container."""
    return {"name": "worker", "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}


# Keys.
def a_misspelt_argument() -> None:
    VolcanoJob("train", tasks=[WORKER], qeue="research")  # refused: qeue


def a_misspelt_key_of_a_task() -> None:
    VolcanoJob("train", tasks=[{"name": "worker", "replcas": 2, "template": POD}])  # refused: replcas


def a_misspelt_key_of_a_container() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "imagePulPolicy": "Always"})])  # refused: imagePulPolicy


def a_misspelt_key_of_a_variable() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": "train:1", "env": [{"nam": "A"}]})])  # refused: nam


def a_misspelt_key_of_a_policy() -> None:
    VolcanoJob("train", tasks=[WORKER], policies=[{"evnt": "PodEvicted", "action": "RestartJob"}])  # refused: evnt


def a_wrong_key_of_a_volume() -> None:
    VolcanoJob("train", tasks=[WORKER], volumes=[{"mount_path": "/data", "claim": "data"}])  # refused: claim


def an_amount_outside_of_limits() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": "train:1", "resources": {"cpu": 1}})])  # refused: cpu


def a_field_of_the_pod_spec_in_the_template() -> None:
    pod: PodTemplateSpecDict = {"restartPolicy": "Never", "spec": {"containers": [MAIN]}}  # refused: restartPolicy
    VolcanoJob("train", tasks=[{"name": "worker", "template": pod}])


def a_misspelt_argument_of_a_queue() -> None:
    VolcanoQueue("research", weigth=2)  # refused: weigth


# Types.
def a_number_in_quotes() -> None:
    VolcanoJob("train", tasks=[{"name": "worker", "replicas": "2", "template": POD}])  # refused: replicas


def tasks_that_are_not_a_list() -> None:
    VolcanoJob("train", tasks=WORKER)  # refused: tasks


def an_image_that_is_a_number() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": 1})])  # refused: image


def variables_as_a_mapping() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": "train:1", "env": {"A": "1"}})])  # refused: env


def a_command_that_is_not_a_list() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": "train:1", "command": "python train.py"})])


def a_template_that_is_the_name_of_a_file() -> None:
    VolcanoJob("train", tasks=[{"name": "worker", "template": "pod.yaml"}])  # refused: template


def options_that_are_a_dictionary() -> None:
    VolcanoJob("train", tasks=[WORKER], opts={"protect": True})  # refused: opts


def a_timeout_that_is_a_number() -> None:
    VolcanoJob("train", tasks=[WORKER], managed_by="volcano", wait_timeout=60)  # refused: wait_timeout


def a_weight_in_quotes() -> None:
    VolcanoQueue("research", weight="2")  # refused: weight


# Values.
def an_option_that_does_not_exist() -> None:
    VolcanoJob("train", tasks=[WORKER], restart="all")  # refused: restart


def a_misspelt_event() -> None:
    VolcanoJob("train", tasks=[WORKER], policies=[{"event": "PodEvited", "action": "RestartJob"}])  # refused: event


def a_misspelt_restart_policy() -> None:
    pod: PodTemplateSpecDict = {"spec": {"restartPolicy": "Allways", "containers": [MAIN]}}
    VolcanoJob("train", tasks=[{"name": "worker", "template": pod}])


def an_image_that_cannot_be_pulled() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": "ghcr.io/Me/train:1"})])


# Plugins.
def a_misspelt_setting() -> None:
    VolcanoJob("train", tasks=[MASTER], plugins=[PytorchPlugin(prot=29500)])  # refused: prot


def a_setting_of_a_wrong_type() -> None:
    VolcanoJob("train", tasks=[MASTER], plugins=[PytorchPlugin(port="29500")])  # refused: port


def a_setting_by_position() -> None:
    VolcanoJob("train", tasks=[MASTER], plugins=[PytorchPlugin(29500)])  # refused


def a_setting_with_an_unsupported_value() -> None:
    VolcanoJob("train", tasks=[WORKER], plugins=[SshPlugin(key_type="dsa")])  # refused: key_type


def the_name_of_a_plugin_in_a_list() -> None:
    VolcanoJob("train", tasks=[WORKER], plugins=["svc"])  # refused


def a_misspelt_argument_of_volcano() -> None:
    VolcanoJob("train", tasks=[MASTER], plugins={"pytorch": ["--prot=29500"]})


def a_role_without_a_task() -> None:
    VolcanoJob("train", tasks=[WORKER], plugins=[MpiPlugin()])


# Outputs.
def an_output_in_an_f_string() -> None:
    VolcanoJob("train", tasks=[worker({"name": "main", "image": f"ghcr.io/me/train:{tag()}"})])


def an_output_as_the_number_of_pods() -> None:
    nodes = tag().apply(int)
    VolcanoJob("train", tasks=[{"name": "worker", "replicas": nodes, "template": POD}])  # refused: replicas


# Lookups.
def a_misspelt_task() -> None:
    job = VolcanoJob("train", tasks=[WORKER])
    pulumi.export("hosts", job.tasks["wroker"].hosts)


def a_misspelt_output() -> None:
    job = VolcanoJob("train", tasks=[MASTER], plugins=[PytorchPlugin()])
    pulumi.export("master", job.pytorch.master_adress)  # refused: master_adress


def a_plugin_that_the_job_does_not_have() -> None:
    job = VolcanoJob("train", tasks=[WORKER])
    pulumi.export("key", job.ssh.public_key)


# Calls.
def a_job_without_tasks() -> None:
    VolcanoJob("train", queue="research")


def a_dictionary_and_keyword_arguments() -> None:
    VolcanoJob("train", {"tasks": [WORKER]}, queue="research")


def options_by_position() -> None:
    VolcanoJob("train", pulumi.ResourceOptions(protect=True), tasks=[WORKER])  # refused


def a_misspelt_argument_of_a_preset() -> None:
    presets.apply(POD, presets.shm(sise="8Gi"))  # refused: sise


def a_misspelt_override_of_a_file() -> None:
    VolcanoJob.from_yaml("train", FILE, qeue="research")  # refused: qeue


def an_override_of_a_task_that_the_file_does_not_have() -> None:
    VolcanoJob.from_yaml("train", FILE, tasks={"wroker": {"replicas": 4}})
