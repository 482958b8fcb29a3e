"""Mistakes that type checkers report: an error in each marked line, and in no other; never run.

A mark may have the name of the key or argument that both checkers name.
"""

# pyright: strict

from __future__ import annotations

import pulumi

from pulumi_volcano_jobs import (
    Allow,
    ContainerDict,
    DependsOn,
    DependsOnArgs,
    Job,
    JobDefaults,
    MpiPlugin,
    NetworkTopology,
    NetworkTopologyArgs,
    Plugin,
    PodTemplateSpecDict,
    Policy,
    PytorchPlugin,
    SshPlugin,
    SvcPlugin,
    Task,
    TaskArgs,
    VolcanoJob,
    VolcanoJobArgs,
    VolcanoQueue,
    Volume,
    flag,
    pod_template,
    presets,
)

text: pulumi.Output[str] = pulumi.Output.from_input("text")
number: pulumi.Output[int] = pulumi.Output.from_input(1)
task: TaskArgs = {"name": "worker", "replicas": 1}
job = VolcanoJob("right", tasks=[task])


class TokenPlugin(Plugin):
    """A custom plugin."""

    name = "token"
    audience: str = flag("audience", default="training")


# The job.
VolcanoJob("train", tasks=[task], restart="all")  # refused: restart
VolcanoJob("train", tasks=[task], on_scale="never")  # refused: on_scale
VolcanoJob("train", tasks=[task], unsupported="maybe")  # refused: unsupported
VolcanoJob("train", tasks=[task], managed_by="kubectl")  # refused: managed_by
VolcanoJob("train", tasks=[task], wait_for="completed")  # refused: wait_for
VolcanoJob("train", tasks=[task], wait_timeout=60)  # refused: wait_timeout
VolcanoJob("train", tasks=[task], run=2)  # refused: run
VolcanoJob("train", tasks=[task], plugins=[3])  # refused
VolcanoJob("train", tasks=[task], plugins=["pytorch"])  # refused
VolcanoJob("train", tasks=[task], min_avaliable=1)  # refused: min_avaliable
VolcanoJob("train", tasks=[task], minAvailable=1)  # refused: minAvailable
VolcanoJob("train", tasks=[task], min_available="1")  # refused: min_available
VolcanoJob("train", tasks=[task], labels={"a": 1})  # refused
VolcanoJob("train", tasks=[task], queue=1)  # refused: queue
VolcanoJob("train", tasks="worker")  # refused: tasks
VolcanoJob("train", tasks=[3])  # refused
VolcanoJob("train", task=[task])  # refused: task
VolcanoJob("train", pulumi.ResourceOptions(), tasks=[task])  # refused
VolcanoJob(name="train", tasks=[task])  # refused: resource_name

# The job as one dictionary.
VolcanoJob("train", {"tasks": [task], "qeue": "research"})  # refused: qeue
VolcanoJob("train", {"tasks": [task], "queue": 1})  # refused: queue
VolcanoJob("train", {"tasks": [task], "restart": "all"})  # refused: restart
VolcanoJob("train", {"tasks": [{"replcas": 1}]})  # refused: replcas
VolcanoJob("train", VolcanoJobArgs(task=[task]))  # refused

# Tasks, and other parts of a job.
VolcanoJob("train", tasks=[{"name": "worker", "replcas": 1}])  # refused: replcas
VolcanoJob("train", tasks=[{"name": "worker", "replicas": "1"}])  # refused: replicas
VolcanoJob("train", tasks=[{"name": "worker", "topology_policy": "best"}])  # refused: topology_policy
VolcanoJob("train", tasks=[{"name": "worker", "depends_on": ["master"]}])  # refused: depends_on
VolcanoJob("train", tasks=[{"name": "worker", "policies": [{"evnt": "*"}]}])  # refused: evnt
VolcanoJob("train", tasks=[{"name": "worker", "policies": [{"event": "PodEvited"}]}])  # refused: event
VolcanoJob("train", tasks=[Task(name="worker", replicas=1)])  # refused
VolcanoJob("train", tasks=[TaskArgs(name="worker", replcas=1)])  # refused
VolcanoJob("train", tasks=[TaskArgs(name="worker", depends_on=DependsOnArgs(nam=["a"]))])  # refused
VolcanoJob("train", tasks=[task], policies=[{"event": "*", "acton": "AbortJob"}])  # refused: acton
VolcanoJob("train", tasks=[task], policies=[{"event": "*", "action": "Abort"}])  # refused: action
VolcanoJob("train", tasks=[task], policies=[{"exit_code": "1"}])  # refused: exit_code
VolcanoJob("train", tasks=[task], volumes=[{"mount_path": "/data", "claim": "data"}])  # refused: claim
VolcanoJob("train", tasks=[task], volumes=[{"volume_claim_name": "data"}])  # refused: mount_path
VolcanoJob("train", tasks=[task], volumes=[{"mount_path": 3}])  # refused: mount_path
VolcanoJob("train", tasks=[task], volumes=[{"mount_path": "/a", "volume_claim": {"size": 1}}])  # refused: size
VolcanoJob("train", tasks=[task], network_topology={"mode": "strict"})  # refused: network_topology
VolcanoJob("train", tasks=[task], network_topology=NetworkTopologyArgs(mod="hard"))  # refused

# Templates.
VolcanoJob("train", tasks=[{"template": "pod.yaml"}])  # refused: template
VolcanoJob("train", tasks=[{"template": {"sepc": {}}}])  # refused: sepc
VolcanoJob("train", tasks=[{"template": {"spec": {"restartPolicy": 1}}}])  # refused: restartPolicy
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"nmae": "main"}]}}}])  # refused: nmae
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"image": 1}]}}}])  # refused: image
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"image": number}]}}}])  # refused: image
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"name": text}]}}}])  # refused: name
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"env": {"A": "1"}}]}}}])  # refused: env
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"env": [{"nam": "A"}]}]}}}])  # refused: nam
VolcanoJob("train", tasks=[{"template": {"spec": {"containers": [{"resources": {"cpu": 1}}]}}}])  # refused: cpu
VolcanoJob("train", tasks=[{"template": {"spec": {"volumes": [{"emptydir": {}}]}}}])  # refused: emptydir
VolcanoJob("train", tasks=[{"template": {"metadata": {"uid": "a"}}}])  # refused: uid
template: PodTemplateSpecDict = {"spec": {"containres": []}}  # refused: containres
container: ContainerDict = {"name": "main", "imagePulPolicy": "Always"}  # refused: imagePulPolicy
pod_template("pod.yaml")  # refused

# A `Job`, and jobs from files.
VolcanoJob("train", Job(name="train", tasks=[Task(name="worker")]))  # refused
VolcanoJob.from_job("train", Job(tasks=[Task(name="worker")]))  # refused: name
VolcanoJob.from_job("train", Job(name="train", plugins=[3]))  # refused
VolcanoJob.from_job("train", Job(name="train", tasks=[3]))  # refused
VolcanoJob.from_job("train", {"tasks": [task]})  # refused
VolcanoJob.from_yaml("train", "job.yaml", restart="all")  # refused: restart
VolcanoJob.from_yaml("train", "job.yaml", {"restart": "pod"})  # refused
VolcanoJob.from_yaml("train", "job.yaml", qeue="other")  # refused: qeue
VolcanoJob.from_yaml("train", "job.yaml", queue=3)  # refused: queue
VolcanoJob.from_yaml("train", "job.yaml", tasks=[task])  # refused: tasks
VolcanoJob.from_yaml("train", "job.yaml", tasks={"worker": {"replcas": 4}})  # refused: replcas
VolcanoJob.from_yaml("train", "job.yaml", tasks={"worker": {"name": "other"}})  # refused: name

# Queues and shared defaults.
VolcanoQueue("research", weight="2")  # refused: weight
VolcanoQueue("research", weigth=2)  # refused: weigth
VolcanoQueue("research", {"weigth": 2})  # refused: weigth
VolcanoQueue("research", dequeueStrategy="fifo")  # refused: dequeueStrategy
VolcanoQueue("research", dequeue_strategy="lifo")  # refused: dequeue_strategy
VolcanoQueue("research", capability=["cpu"])  # refused: capability
VolcanoQueue("research", capability={"cpu": ["1"]})  # refused
VolcanoQueue("research", guarantee={"cpu": 1})  # refused: guarantee
VolcanoQueue("research", extend_clusters=[{"nam": "other"}])  # refused: nam
VolcanoQueue("research", name=text)  # refused: name
VolcanoQueue("research", namespace="research")  # refused: namespace
VolcanoJob("train", tasks=[task], image_registry=3)  # refused: image_registry
VolcanoJob("train", tasks=[task], job_defaults=JobDefaults(quueue="batch"))  # refused
JobDefaults(defaults="best")  # refused
JobDefaults(managed_by=text)  # refused
JobDefaults(tolerations=[{"ky": "gpu"}])  # refused
JobDefaults(node_selector="gpu")  # refused
JobDefaults(restart="pod")  # refused

# Outputs for structural fields.
VolcanoJob("train", tasks=[task], name=text)  # refused: name
VolcanoJob("train", tasks=[task], scheduler_name=text)  # refused: scheduler_name
VolcanoJob("train", tasks=[task], min_available=number)  # refused: min_available
VolcanoJob("train", tasks=[task], key_rotation=text)  # refused: key_rotation
VolcanoJob("train", tasks=[task], wait_for=text)  # refused: wait_for
Task(name=text, replicas=1)  # refused: name
Task(name="worker", replicas=number)  # refused: replicas
Volume(mount_path=text)  # refused: mount_path
PytorchPlugin(port=number)  # refused: port
MpiPlugin(master=text)  # refused: master

# Parts of a job.
Task(name="worker", replicas="two")  # refused: replicas
Task(name="worker", replica=2)  # refused: replica
Task(name="worker", template="pod.yaml")  # refused: template
Task(name="worker", policies=["TaskCompleted"])  # refused
Task(name="worker", topology_policy="best")  # refused: topology_policy
Task(name="worker", depends_on=["master"])  # refused: depends_on
DependsOn(name=[1])  # refused
Policy(event=3)  # refused: event
Policy(event="PodEvited")  # refused: event
Policy(exit_code="1")  # refused: exit_code
NetworkTopology(mode="strict")  # refused: mode
Volume(volume_claim_name="data")  # refused: mount_path
Volume(mount_path=None)  # refused: mount_path
PytorchPlugin(prot=1)  # refused: prot
PytorchPlugin(port="x")  # refused: port
PytorchPlugin(29500)  # refused
PytorchPlugin(wait_master_enabled="yes")  # refused: wait_master_enabled
PytorchPlugin(wait_master_script="check")  # refused: wait_master_script
SshPlugin(ssh_private_key=3)  # refused: ssh_private_key
SshPlugin(key_type="dsa")  # refused: key_type
SshPlugin(file_modes="0600")  # refused: file_modes
SshPlugin(key_secret_private=pulumi.Output.from_input("id_rsa"))  # refused: key_secret_private
SvcPlugin(allow=[Allow(ports=8265)])  # refused
SvcPlugin(allow=[Allow(namespace={})])  # refused
SvcPlugin(allow=Allow(ports=[8265]))  # refused: allow
SvcPlugin(service_ports=[29500])  # refused: service_ports
presets.nccl(debug="DEBUG")  # refused
presets.apply(presets.shm("8Gi"))  # refused
PytorchPlugin().port = 1  # refused
TokenPlugin(audience=3)  # refused
TokenPlugin(public="serving")  # refused

# Outputs of a job.
pulumi.export("key", job.ssh.publik_key)  # refused
pulumi.export("pods", job.tasks.worker)  # refused
