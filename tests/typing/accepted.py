"""Programs that type checkers accept, with a function for each form of arguments; never run."""

# pyright: strict

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import (
    ContainerArgs,
    EnvVarArgs,
    PodSpecArgs,
    PodTemplateSpecArgs,
    PodTemplateSpecArgsDict,
    ResourceRequirementsArgs,
)
from typing_extensions import assert_type

from pulumi_volcano_jobs import (
    Allow,
    ContainerDict,
    EnvPlugin,
    HcclrankPlugin,
    Job,
    JobContext,
    JobDefaults,
    JobError,
    KubernetesObject,
    MpiPlugin,
    NetworkTopology,
    NetworkTopologyArgs,
    PartitionPolicy,
    Plugin,
    Pod,
    PodSpecDict,
    PodTemplateSpecDict,
    Policy,
    PolicyArgs,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    Stage,
    SvcPlugin,
    Task,
    TaskArgs,
    TaskOverrides,
    TensorflowPlugin,
    VolcanoJob,
    VolcanoJobArgs,
    VolcanoQueue,
    VolcanoQueueArgs,
    Volume,
    flag,
    load_jobs,
    pod_template,
    presets,
    register,
    render,
)

config = pulumi.Config()
secret: pulumi.Output[str] = config.require_secret("token")
number: pulumi.Output[int] = pulumi.Output.from_input(1)
WIRE: PodTemplateSpecDict = {"spec": {"containers": [{"name": "main", "image": "example.org/image:1"}]}}


def options_of_ssh() -> list[Plugin]:
    """Settings with few values are Literals; the name of a Secret can be an Output."""
    return [
        SshPlugin(key_type="ed25519", file_modes="by-user", address_aliases=True),
        SshPlugin(key_secret=secret, key_secret_private="id_rsa", key_secret_public="id_rsa.pub"),
    ]


def the_shortest_job() -> None:
    """A job with one task; its name is that of the resource."""
    VolcanoJob("train", tasks=[{"name": "worker", "replicas": 2, "template": WIRE}])


def every_field_and_option() -> None:
    """Every plugin with settings, all fields and all options."""
    VolcanoJob(
        "train",
        name="other",
        tasks=[
            {
                "name": "master",
                "replicas": 1,
                "min_available": 1,
                "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
                "template": WIRE,
                "topology_policy": "none",
                "max_retry": 1,
            },
            {"replicas": 2, "template": WIRE, "depends_on": {"name": ["master"]}},
            TaskArgs(
                name="parts",
                replicas=4,
                template={},
                partition_policy={"total_partitions": 2, "partition_size": 2, "network_topology": {"mode": "soft"}},
            ),
        ],
        plugins=[
            EnvPlugin(),
            HcclrankPlugin(master="master"),
            MpiPlugin(master="master", worker="worker", port=2222),
            PytorchPlugin(port=29500, wait_master_enabled=True),
            RayPlugin(head="master", dashboard_port=8266),
            SshPlugin(ssh_private_key=secret, ssh_public_key="ssh-rsa AAAA"),
            SvcPlugin(
                publish_not_ready_addresses=True, allow=[Allow(ports=["http"], cidrs=[secret])], own_address=True
            ),
            TensorflowPlugin(ps="ps", port=2222),
        ],
        policies=[{"events": ["PodFailed", "PodEvicted"], "action": "RestartJob", "timeout": "1h"}],
        volumes=[
            {"mount_path": "/data", "volume_claim_name": "data"},
            {
                "mount_path": "/new",
                "volume_claim": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
            },
        ],
        network_topology={"mode": "hard", "highest_tier_allowed": 2},
        scheduler_name="volcano",
        min_available=3,
        min_success=1,
        max_retry=3,
        ttl_seconds_after_finished=60,
        running_estimate="1h",
        restart="gang",
        on_scale="keep",
        run="2",
        key_rotation="2026-11",
        claims="keep",
        unsupported="ignore",
        opts=pulumi.ResourceOptions(protect=True),
    )


def managed_by_volcano() -> None:
    """One Job for Volcano's controllers, and the state that `up` waits for."""
    VolcanoJob(
        "train",
        tasks=[{"name": "worker", "replicas": 2, "template": WIRE}],
        managed_by="volcano",
        wait_for="succeeded",
        wait_timeout="1h30m",
    )
    VolcanoJob.from_yaml("read", Path("job.yaml"), managed_by="volcano", wait_for="running")


def presets_on_a_template() -> None:
    """Presets of the library, and one of the program."""

    def own(template: Mapping[str, Any]) -> dict[str, Any]:
        return {**template, "metadata": {"labels": {"team": "ml"}}}

    template = presets.apply(WIRE, presets.shm(secret), presets.nccl(debug="WARN"), own, presets.gpu_tolerations())
    VolcanoJob("train", tasks=[{"name": "worker", "replicas": 2, "template": template}])


def volcanos_own_arguments() -> None:
    """Plugins with Volcano's flags."""
    VolcanoJob(
        "train",
        plugins={"pytorch": ["--port=29500"], "ssh": [], "svc": []},
        tasks=[{"name": "master", "replicas": 1, "template": WIRE}],
    )


def outputs_wherever_a_value_decides_no_structure() -> None:
    """Outputs as values of the job, as keys, and in templates of all three forms."""
    container = ContainerArgs(
        name="main",
        image=secret,
        args=["--token", secret],
        env=[EnvVarArgs(name="TOKEN", value=secret)],
        resources=ResourceRequirementsArgs(limits={"cpu": secret}),
    )
    snake: PodTemplateSpecArgsDict = {
        "metadata": {"labels": {"team": secret}},
        "spec": {
            "service_account_name": secret,
            "containers": [{"name": "main", "image": secret, "image_pull_policy": "Always"}],
        },
    }
    args = PodTemplateSpecArgs(spec=PodSpecArgs(containers=[container]))
    untyped: dict[str, Any] = {"spec": {"containers": [{"name": "main", "image": secret}]}}
    own: ContainerDict = {"name": "main", "image": secret, "args": ["--token", secret], "image_pull_policy": "Always"}
    own["resources"] = {"limits": {"cpu": secret, "memory": 1.5}}
    own["env"] = [{"name": "TOKEN", "value": secret}, {"name": "KEY", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}]
    pod: PodSpecDict = {"containers": [own], "nodeSelector": {"pool": secret}, "tolerations": [{"key": secret}]}
    VolcanoJob(
        "train",
        namespace=secret,
        labels={"team": secret},
        annotations={"note": secret, "other": "plain"},
        queue=secret,
        priority_class_name=secret,
        plugins={"ssh": ["--ssh-private-key", secret, "--ssh-public-key=ssh-rsa AAAA"], "svc": []},
        tasks=[
            {"name": "args", "replicas": 1, "template": pod_template(args)},
            {"name": "snake", "replicas": 1, "template": pod_template(snake)},
            {"name": "untyped", "replicas": 1, "template": pod_template(untyped)},
            {"name": "wire", "replicas": 1, "template": {"metadata": {"labels": {"team": secret}}, "spec": pod}},
        ],
    )


def arguments_that_may_be_none(
    text: str | None,
    number: int | None,
    labels: Mapping[str, str] | None,
    policies: list[PolicyArgs] | None,
    topology: NetworkTopologyArgs | None,
    *,
    choice: bool | None,
) -> None:
    """A wrapper passes its optional arguments on."""
    defaults: JobDefaults = {"queue": text, "labels": labels, "managed_by": None, "node_selector": {"pool": text}}
    template: PodTemplateSpecDict = {
        "spec": {"containers": [{"name": "main", "image": text, "env": None}], "nodeSelector": {"pool": text}}
    }
    VolcanoJob(
        "train",
        name=text,
        queue=text,
        labels={"team": text},
        min_available=number,
        volumes=None,
        policies=policies,
        network_topology=topology,
        tasks=[
            {"name": text, "replicas": number, "policies": None, "depends_on": None, "template": template},
        ],
        plugins=[
            PytorchPlugin(port=number, torchrun=choice, wait_master_script=None, nproc_per_node=None),
            SshPlugin(ssh_private_key=text, key_type=None),
            SvcPlugin(allow=[Allow(ports=None, pods={"app": text})], service_ports=None),
            RayPlugin(head_start_args=None, probes=choice),
        ],
        restart=None,
        run=text,
        wait_timeout=text,
        plugin_options={"pytorch": None},
        image_registry=text,
        ignore_warnings=None,
        job_defaults=defaults,
        opts=None,
    )
    Task(name=text, replicas=number, min_available=number, template=None, policies=None, depends_on=None)
    VolcanoJob.from_yaml("read", "job.yaml", None, restart=None, image_registry=text, tasks={"a": {"replicas": number}})
    VolcanoQueue("research", weight=number, capability={"cpu": text}, guarantee={"resource": None}, affinity=None)
    presets.apply(WIRE, presets.shm("8Gi", container=text) if text else None, presets.rdma("rdma/a", number))
    presets.apply(WIRE, presets.nccl(interface=text, debug=None, variables={"NCCL_IB_HCA": text}))
    assert_type(PytorchPlugin(port=number).port, int)


def queues_and_what_jobs_share() -> None:
    """Queues with plain values and Outputs; defaults for jobs, as a literal or with the class."""
    everyone = VolcanoQueue("everyone")
    amounts: dict[str, int | str] = {"cpu": 8, "memory": "64Gi"}
    research = VolcanoQueue(
        "research",
        name="team-research",
        labels={"team": secret},
        parent=everyone.name,
        weight=number,
        priority=1,
        capability={"cpu": 8, "memory": secret, "nvidia.com/gpu": number},
        deserved={"cpu": 0.5},
        guarantee={"resource": {"cpu": "500m"}},
        reclaimable=False,
        dequeue_strategy="fifo",
        affinity={"node_group_affinity": {"required_during_scheduling_ignored_during_execution": ["gpu", secret]}},
        extend_clusters=[{"name": "other", "weight": 1}],
        opts=pulumi.ResourceOptions(protect=True, retain_on_delete=True),
    )
    VolcanoQueue("other", VolcanoQueueArgs(weight=2, capability=amounts))
    assert_type(research.name, pulumi.Output[str])
    assert_type(research.resource, KubernetesObject)
    shared = JobDefaults(
        namespace="research",
        queue=research.name,
        image_registry=secret,
        image_pull_secrets=["pull", secret],
        labels={"team": secret},
        node_selector={"pool": secret},
        tolerations=[{"key": "gpu", "operator": "Exists"}],
        defaults="recommended",
        managed_by="volcano",
        kubernetes_version="1.31",
        volcano_version="1.15",
    )
    VolcanoJob("train", tasks=[], job_defaults=shared, image_registry=secret)
    VolcanoJob("other", tasks=[], job_defaults={"queue": "batch", "node_selector": {"pool": "gpu"}})
    VolcanoJob.from_yaml("read", "job.yaml", job_defaults=shared)


def arguments_put_together() -> None:
    """Arguments that a program builds step by step, as one dictionary or as keyword arguments."""
    worker: TaskArgs = {"name": "worker", "replicas": 1, "template": WIRE}
    args: VolcanoJobArgs = {"tasks": [worker]}
    if config.get_bool("gang"):
        args["min_available"] = 1
    VolcanoJob("train", args)
    VolcanoJob("train", args, pulumi.ResourceOptions(protect=True))
    VolcanoJob("train", **args, opts=pulumi.ResourceOptions(protect=True))
    VolcanoJob("other", VolcanoJobArgs(tasks=[worker], plugins=[PytorchPlugin()], restart="pod"))


def a_job_as_data() -> None:
    """A Job object that the component, the renderer and a file share."""
    partition = PartitionPolicy(total_partitions=2, partition_size=1, network_topology=NetworkTopology(mode="soft"))
    labels: dict[str, str] = {"team": "ml"}
    job = Job(
        name="train",
        labels=labels,
        plugins=[PytorchPlugin(), SvcPlugin()],
        policies=[Policy(event="PodEvicted", action="RestartJob")],
        volumes=[Volume(mount_path="/data", volume_claim={"accessModes": ["ReadWriteMany"]})],
        tasks=[Task(name="worker", replicas=2, template=WIRE, partition_policy=partition)],
    )
    assert_type(VolcanoJob.from_job("train", job), VolcanoJob)
    VolcanoJob.from_job(
        "read", Job.model_validate({"metadata": {"name": "read"}, "spec": {"tasks": []}}), restart="pod"
    )
    VolcanoJob.from_job("other", Job(name="other", plugins={"ssh": [], "svc": ["--disable-network-policy=true"]}))
    for pod in render(job).pods:
        assert_type(pod, dict[str, Any])
    for read in load_jobs(Path("job.yaml")):
        try:
            render(read, strict=False)
        except JobError as error:
            assert_type([problem.path for problem in error.problems], list[str])
        VolcanoJob.from_job(read.name, read, queue="research")


def a_job_from_a_file() -> None:
    """YAML from a file or a text, with Pulumi's resource options."""
    assert_type(VolcanoJob.from_yaml("train", Path("job.yaml")), VolcanoJob)
    VolcanoJob.from_yaml("train", "job.yaml", restart="pod", run="2", opts=pulumi.ResourceOptions(protect=True))
    VolcanoJob.from_yaml("train", "job.yaml", pulumi.ResourceOptions(protect=True))
    VolcanoJob.from_yaml(
        "train",
        "job.yaml",
        queue=secret,
        namespace="prod",
        labels={"team": secret},
        tasks={
            "worker": {
                "replicas": 4,
                "template": {"spec": {"containers": [{"name": "main", "image": secret}]}},
                "policies": [{"event": "PodEvicted", "action": "RestartJob"}],
            },
            "master": TaskOverrides(max_retry=2),
        },
    )


def what_a_program_reads() -> None:
    """Outputs with their types."""
    job = VolcanoJob("train", tasks=[])
    assert_type(job.namespace, pulumi.Output[str])
    assert_type(job.pod_names, pulumi.Output[list[str]])
    assert_type(job.hosts, pulumi.Output[dict[str, list[str]]])
    assert_type(job.tasks["worker"].hosts, pulumi.Output[list[str]])
    assert_type(job.tasks["worker"].pods[1].status, pulumi.Output[dict[str, Any]])
    assert_type(job.ssh.public_key, pulumi.Output[str])
    assert_type(job.svc.service_name, pulumi.Output[str])
    assert_type(job.pytorch.master_port, pulumi.Output[int])
    assert_type(job.tensorflow.cluster, pulumi.Output[dict[str, list[str]]])
    assert_type(job.mpi.hosts, pulumi.Output[list[str]])
    assert_type(job.ray.dashboard_url, pulumi.Output[str])
    pulumi.export("url", job.ray.dashboard_url.apply(lambda url: f"{url}/jobs"))
    pulumi.export("of_env", job.env.objects)
    pulumi.export("of_hcclrank", job.hcclrank.objects)


@register
class TokenPlugin(Plugin):
    """A custom plugin."""

    name = "token"
    stage = Stage.FRAMEWORK
    audience: str = flag("audience", default="training")

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Set a variable."""
        for container in pod.all_containers:
            container.set_env("AUDIENCE", f"{self.audience} of {ctx.name}")


def a_plugin_of_ones_own() -> None:
    """The settings of a custom plugin are typed."""
    VolcanoJob("train", plugins=[TokenPlugin(audience="serving"), SvcPlugin()], tasks=[])
    assert_type(TokenPlugin().audience, str)
