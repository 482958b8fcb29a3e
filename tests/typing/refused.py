"""Mistakes that type checkers report: an error in each marked line, and in no other; never run."""

# pyright: strict

from __future__ import annotations

import pulumi

from pulumi_volcano_jobs import (
    Allow,
    DependsOn,
    Job,
    JobDefaults,
    MpiPlugin,
    NetworkTopology,
    Plugin,
    Policy,
    PytorchPlugin,
    SshPlugin,
    SvcPlugin,
    Task,
    VolcanoJob,
    VolcanoJobArgs,
    VolcanoQueue,
    Volume,
    flag,
    presets,
)

text: pulumi.Output[str] = pulumi.Output.from_input("text")
number: pulumi.Output[int] = pulumi.Output.from_input(1)
task = Task(name="worker", replicas=1)
job = VolcanoJob("right", {"tasks": [task]})


class TokenPlugin(Plugin):
    """A custom plugin."""

    name = "token"
    audience: str = flag("audience", default="training")


# The job.
VolcanoJob("train")  # refused
VolcanoJob("train", {"tasks": [task], "restart": "all"})  # refused
VolcanoJob("train", {"tasks": [task], "on_scale": "never"})  # refused
VolcanoJob("train", {"tasks": [task], "unsupported": "maybe"})  # refused
VolcanoJob("train", {"tasks": [task], "managed_by": "kubectl"})  # refused
VolcanoJob("train", {"tasks": [task], "wait_for": "completed"})  # refused
VolcanoJob("train", {"tasks": [task], "wait_timeout": 60})  # refused
VolcanoJob("train", {"tasks": [task], "run": 2})  # refused
VolcanoJob("train", {"tasks": [task], "plugins": [3]})  # refused
VolcanoJob("train", {"tasks": [task], "plugins": ["pytorch"]})  # refused
VolcanoJob("train", {"tasks": [task], "min_avaliable": 1})  # refused
VolcanoJob("train", {"tasks": [task], "minAvailable": 1})  # refused
VolcanoJob("train", {"tasks": [task], "min_available": "1"})  # refused
VolcanoJob("train", {"tasks": [task], "labels": {"a": 1}})  # refused
VolcanoJob("train", {"tasks": [task], "queue": 1})  # refused
VolcanoJob("train", {"tasks": "worker"})  # refused
VolcanoJob("train", {"tasks": [3]})  # refused
VolcanoJob("train", VolcanoJobArgs(task=[task]))  # refused
VolcanoJob("train", Job(tasks=[task]))  # refused
VolcanoJob("train", Job(name="train", tasks=[task], plugins=[3]))  # refused
VolcanoJob("train", Job(name="train", tasks=[3]))  # refused
VolcanoJob.from_yaml("train", "job.yaml", {"restart": "all"})  # refused
VolcanoJob.from_yaml("train", "job.yaml", {"queue": "other"})  # refused

# Queues and shared defaults.
VolcanoQueue("research", {"weight": "2"})  # refused
VolcanoQueue("research", {"weigth": 2})  # refused
VolcanoQueue("research", {"dequeueStrategy": "fifo"})  # refused
VolcanoQueue("research", {"dequeue_strategy": "lifo"})  # refused
VolcanoQueue("research", {"capability": ["cpu"]})  # refused
VolcanoQueue("research", {"capability": {"cpu": ["1"]}})  # refused
VolcanoQueue("research", {"guarantee": {"cpu": 1}})  # refused
VolcanoQueue("research", {"name": text})  # refused
VolcanoQueue("research", {"namespace": "research"})  # refused
VolcanoJob("train", {"tasks": [task], "image_registry": 3})  # refused
VolcanoJob("train", {"tasks": [task], "job_defaults": {"quueue": "batch"}})  # refused
JobDefaults(defaults="best")  # refused
JobDefaults(managed_by=text)  # refused
JobDefaults(tolerations=["gpu"])  # refused
JobDefaults(node_selector="gpu")  # refused
JobDefaults(restart="pod")  # refused

# Outputs for structural fields.
VolcanoJob("train", {"tasks": [task], "name": text})  # refused
VolcanoJob("train", {"tasks": [task], "scheduler_name": text})  # refused
VolcanoJob("train", {"tasks": [task], "min_available": number})  # refused
VolcanoJob("train", {"tasks": [task], "key_rotation": text})  # refused
VolcanoJob("train", {"tasks": [task], "wait_for": text})  # refused
Task(name=text, replicas=1)  # refused
Task(name="worker", replicas=number)  # refused
Volume(mount_path=text)  # refused
PytorchPlugin(port=number)  # refused
MpiPlugin(master=text)  # refused

# Parts of a job.
Task(name="worker", replicas="two")  # refused
Task(name="worker", replica=2)  # refused
Task(name="worker", template="pod.yaml")  # refused
Task(name="worker", policies=["TaskCompleted"])  # refused
Task(name="worker", topology_policy="best")  # refused
Task(name="worker", depends_on=["master"])  # refused
DependsOn(name=[1])  # refused
Policy(event=3)  # refused
Policy(event="PodEvited")  # refused
Policy(exit_code="1")  # refused
NetworkTopology(mode="strict")  # refused
Volume(volume_claim_name="data")  # refused
Volume(mount_path=None)  # refused
PytorchPlugin(prot=1)  # refused
PytorchPlugin(port="x")  # refused
PytorchPlugin(29500)  # refused
PytorchPlugin(wait_master_enabled="yes")  # refused
PytorchPlugin(wait_master_script="check")  # refused
SshPlugin(ssh_private_key=3)  # refused
SshPlugin(key_type="dsa")  # refused
SshPlugin(file_modes="0600")  # refused
SshPlugin(key_secret_private=pulumi.Output.from_input("id_rsa"))  # refused
SvcPlugin(allow=[Allow(ports=8265)])  # refused
SvcPlugin(allow=[Allow(namespace={})])  # refused
SvcPlugin(allow=Allow(ports=[8265]))  # refused
SvcPlugin(service_ports=[29500])  # refused
presets.nccl(debug="DEBUG")  # refused
presets.apply(presets.shm("8Gi"))  # refused
PytorchPlugin().port = 1  # refused
TokenPlugin(audience=3)  # refused
TokenPlugin(public="serving")  # refused

# Outputs of a job.
pulumi.export("key", job.ssh.publik_key)  # refused
pulumi.export("pods", job.tasks.worker)  # refused
