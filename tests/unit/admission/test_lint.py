"""Each warning has its code, near misses have no warning, and lenient mode has the same warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import (
    JobContext,
    MpiPlugin,
    Plugin,
    Pod,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
    render,
)
from pulumi_volcano_jobs.core.errors import WARNINGS
from pulumi_volcano_jobs.core.leaf import Leaf
from tests.conftest import CLAIM, Wire, container, job, task, typed

TEMPLATE = "spec.tasks[0].template"
SPEC = f"{TEMPLATE}.spec"
SVC = {"svc": []}
QUIET_RAY = [RayPlugin(), SvcPlugin(disable_network_policy=True)]
RAY = (task("head", containers=[container("head")]), task("worker", containers=[container("worker")]))


def ray_job(workers: Any = "Never", **settings: Any) -> Wire:
    """Build a job with Ray by the restartPolicy of its workers. With keep_command, the head runs a program."""
    command = {"command": ["python", "driver.py"]} if settings.get("keep_command") else {}
    head = task("head", containers=[container("head", **command)])
    worker = task("worker", containers=[container("worker")], restartPolicy=workers)
    return job(head, worker, plugins=[RayPlugin(**settings), SvcPlugin(disable_network_policy=True)])


def restarting_task(name: str = "master", replicas: int = 1, **pod_spec: Any) -> Wire:
    """Build a task whose Pods restart after a failure, as an MPI master should."""
    return task(name, replicas, restartPolicy="OnFailure", **pod_spec)


def security_context(
    user: int | None = None, group: int | None = None, of_container: int | None = None
) -> dict[str, Any]:
    """Build a Pod spec by its user and group."""
    spec: dict[str, Any] = {"securityContext": {"runAsUser": user, "fsGroup": group}}
    if of_container is not None:
        spec["containers"] = [container(securityContext={"runAsUser": of_container})]
    return spec


def volume_job(**source: Any) -> Wire:
    """Build a job whose Pods have a volume."""
    return job(task(volumes=[{"name": "v", **source}]))


def mpi_job(script: str, **settings: Any) -> Wire:
    """Build an MPI job with two workers by the script of its master."""
    master = restarting_task(containers=[container(command=["sh", "-c", script])])
    return job(master, task("worker", 2), plugins=[MpiPlugin(**settings)])


def with_annotation(value: str) -> Wire:
    """Build a task whose Pods have the annotation of Prometheus."""
    template = task()["template"]
    return {**task(), "template": {**template, "metadata": {"annotations": {"prometheus.io/scrape": value}}}}


def ssh_job(spec: dict[str, Any], **settings: Any) -> Wire:
    """Build a job with ssh by the spec of its Pods."""
    return job(task(**spec), plugins=[SshPlugin(**settings), SvcPlugin()])


def job_with_policy(port: int | str, **reached: str) -> Wire:
    """Build a job whose master has a named port, and whose svc allows traffic to another port."""
    master = task("master", containers=[container(ports=[{"containerPort": 9090, "name": "metrics"}])])
    return job(master, task("worker"), plugins=[SvcPlugin(allow=[{"ports": [port], **reached}])])


def job_with_lookup(command: str, *others: Wire, plugins: Any = SVC) -> Wire:
    """Build a job whose workers have an init container that runs a command."""
    return job(
        task("worker", 2, initContainers=[container("wait", command=["sh", "-c", command])]), *others, plugins=plugins
    )


def pytorch_job(*env: Wire, plugins: Any = None) -> Wire:
    """Build a job of PyTorch by the variables of its master."""
    return job(
        task("master", containers=[container(env=list(env))]),
        task("worker"),
        plugins=[PytorchPlugin()] if plugins is None else plugins,
    )


TORCHRUN = container(command=["torchrun", "train.py"])
ONE_PROCESS = container(command=["python", "train.py"], resources={"limits": {"nvidia.com/gpu": 2}})
CERTIFICATE = {"signerName": "example.org/a", "keyType": "ED25519", "keyPath": "key"}
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a", "namespace": "b"}
BUNDLE = {"name": "a", "path": "ca.crt"}
EXIT_CODES = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42, 42]}}
WARNED: dict[str, tuple[Wire, str]] = {
    "VJ101 no restartPolicy": (
        job(task(restartPolicy=None)),
        SPEC,
    ),
    "VJ102 a master that is not started again": (
        job(task("master"), task(), plugins=[MpiPlugin()]),
        f"{SPEC}.restartPolicy",
    ),
    "VJ103 a gang smaller than its world": (
        job(task("master"), task("worker", 2), plugins=[PytorchPlugin()], minAvailable=2),
        "spec.minAvailable",
    ),
    "VJ103 a task's part smaller than the task": (
        job(task("chief"), {**task("worker", 2), "minAvailable": 1}, plugins=[TensorflowPlugin()]),
        "spec.tasks[1].minAvailable",
    ),
    "VJ104 Pods that look for each other": (
        job_with_lookup("until nslookup train-worker-1.train; do sleep 1; done"),
        f"{SPEC}.initContainers[0]",
    ),
    "VJ105 a dashboard that others do not reach": (
        job(*RAY, plugins=[RayPlugin()]),
        "spec.plugins.ray",
    ),
    "VJ118 workers that survive the head": (
        ray_job(keep_command=True, workers="OnFailure"),
        "spec.tasks[1].template.spec.restartPolicy",
    ),
    "VJ119 a port of no container": (
        job_with_policy("metrics", task="worker"),
        "spec.plugins.svc.allow[0].ports[0]",
    ),
    "VJ119 a port of others": (
        job_with_policy("metric"),
        "spec.plugins.svc.allow[0].ports[0]",
    ),
    "VJ106 the node's own sshd": (
        ssh_job({"hostNetwork": True, "containers": [container(command=["/usr/sbin/sshd", "-D"])]}),
        f"{SPEC}.hostNetwork",
    ),
    "VJ107 a wait for a node's port": (
        job(task("master", hostNetwork=True), task(), plugins=[PytorchPlugin(wait_master_enabled=True)]),
        "spec.plugins.pytorch.wait_master_enabled",
    ),
    "VJ108 root's key for another user": (
        ssh_job(security_context(1000)),
        f"{SPEC}.securityContext",
    ),
    "VJ108 root and a group": (
        ssh_job(security_context(group=2000)),
        f"{SPEC}.securityContext",
    ),
    "VJ108 root and another's path": (
        ssh_job(security_context(0), ssh_key_file_path="/home/me/.ssh"),
        f"{SPEC}.securityContext",
    ),
    "VJ109 a reference to a later variable": (
        pytorch_job({"name": "ARGS", "value": "--rank=$(RANK)"}),
        f"{SPEC}.containers[0].env[0]",
    ),
    "VJ110 ssh without svc": (
        job(plugins={"ssh": []}),
        "spec.plugins.ssh",
    ),
    "VJ111 mpi's port, and ssh as a required plugin": (
        job(restarting_task(), task(), plugins={"mpi": ["--port=2222"]}),
        "spec.plugins.mpi[0]",
    ),
    "VJ111 ssh's port": (
        job(restarting_task(), task(), plugins=[MpiPlugin(), SshPlugin(ssh_port=2222)]),
        "spec.plugins.mpi.port",
    ),
    "VJ112 one hostname for several Pods": (
        job(task(hostname="node"), task("b", 2, hostname="node"), plugins=SVC),
        "spec.tasks[1].template.spec.hostname",
    ),
    "VJ113 another domain": (
        job(task(subdomain="other"), plugins=SVC),
        f"{SPEC}.subdomain",
    ),
    "VJ114 the guide's name": (
        job(*RAY, plugins={"ray": ["--clientServerPort=10002"], "svc": ["--disable-network-policy=true"]}),
        "spec.plugins.ray[0]",
    ),
    "VJ116 a repeated variable": (
        pytorch_job({"name": "A", "value": "1"}, {"name": "A", "value": "2"}, plugins=[]),
        f"{SPEC}.containers[0].env[1]",
    ),
    "VJ116 a repeated port": (
        job(task(containers=[container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}])])),
        f"{SPEC}.containers[0].ports[1]",
    ),
    "VJ116 a repeated pull secret": (
        job(task(imagePullSecrets=[{"name": "a"}, {"name": "a"}])),
        f"{SPEC}.imagePullSecrets[1]",
    ),
    "VJ116 a repeated address": (
        job(task(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}])),
        f"{SPEC}.hostAliases[1]",
    ),
    "VJ120 torchrun alone": (
        job(*(task(name, containers=[TORCHRUN]) for name in ("master", "worker")), plugins=[PytorchPlugin()]),
        "spec.plugins.pytorch",
    ),
    "VJ140 one process for several GPUs": (
        job(*(task(name, containers=[ONE_PROCESS]) for name in ("master", "worker")), plugins=[PytorchPlugin()]),
        "spec.plugins.pytorch",
    ),
    "VJ141 workers that run sshd": (
        job(restarting_task(), task(containers=[container(command=["/usr/sbin/sshd", "-D"])]), plugins=[MpiPlugin()]),
        "spec.tasks[1]",
    ),
    "VJ142 a variable of a plugin that the job does not use": (
        job(task(containers=[container(command=["train", "--rank=$(VC_TASK_INDEX)"])])),
        f"{SPEC}.containers[0].command[1]",
    ),
    "VJ143 a file of another task": (
        job(task(containers=[container(command=["mpirun", "--hostfile", "/etc/volcano/node.host"])]), plugins=SVC),
        f"{SPEC}.containers[0].command[2]",
    ),
    "VJ144 a variable without a shell": (
        job(task(containers=[container(command=["train", "${VC_WORKER_NUM}"])]), plugins=SVC),
        f"{SPEC}.containers[0].command[1]",
    ),
    "VJ145 a command of a Ray head": (
        job(task("head", containers=[container("head", command=["serve"])]), RAY[1], plugins=QUIET_RAY),
        f"{SPEC}.containers[0].command",
    ),
    "VJ123 a field that the API server drops": (
        job(task(containers=[container(lifecycle={"stopSignal": "SIGTERM"})], os={"name": "linux"})),
        f"{SPEC}.containers[0].lifecycle.stopSignal",
    ),
    "VJ123 a group of Pods": (
        job(task(schedulingGroup={"podGroupName": "a"})),
        f"{SPEC}.schedulingGroup",
    ),
    "VJ123 a comparison in a toleration": (
        job(task(tolerations=[{"key": "sla", "operator": "Gt", "value": "3"}])),
        f"{SPEC}.tolerations[0].operator",
    ),
    "VJ123 a policy of SELinux": (
        job(task(securityContext={"seLinuxChangePolicy": "MountOption"})),
        f"{SPEC}.securityContext.seLinuxChangePolicy",
    ),
    "VJ123 a projected certificate": (
        job(task(volumes=[{"name": "a", "projected": {"sources": [{"podCertificate": CERTIFICATE}]}}])),
        f"{SPEC}.volumes[0].projected.sources[0].podCertificate",
    ),
    "VJ123 a projected bundle": (
        job(task(volumes=[{"name": "a", "projected": {"sources": [{"clusterTrustBundle": BUNDLE}]}}])),
        f"{SPEC}.volumes[0].projected.sources[0].clusterTrustBundle",
    ),
    "VJ123 a data source of another namespace": (
        job(volumes=[{"mountPath": "/data", "volumeClaim": CLAIM | {"dataSourceRef": SNAPSHOT}}]),
        "spec.volumes[0].volumeClaim.dataSourceRef",
    ),
    "VJ123 a data source of another namespace for a Pod": (
        job(
            task(
                volumes=[
                    {
                        "name": "data",
                        "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM | {"dataSourceRef": SNAPSHOT}}},
                    }
                ]
            )
        ),
        f"{SPEC}.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef",
    ),
    "VJ127 a plugin without a value": (
        job(plugins={"svc": None}),
        "spec.plugins.svc",
    ),
    "VJ131 a capital letter": (job(schedulerName="Volcano"), "spec.schedulerName"),
    "VJ131 a typing mistake": (job(task(schedulerName="vulcano")), f"{SPEC}.schedulerName"),
    "VJ131 the name of the Deployment": (job(schedulerName="volcano-scheduler"), "spec.schedulerName"),
    "VJ131 a space": (job(schedulerName="volcano "), "spec.schedulerName"),
    "VJ131 the default scheduler of a gang": (
        job(task(replicas=2), schedulerName="default-scheduler"),
        "spec.schedulerName",
    ),
    "VJ132 a gang with a task that waits": (
        job(task("worker", 2), task("master") | {"dependsOn": {"name": ["worker"]}}),
        "spec.tasks[1].dependsOn",
    ),
    "VJ132 more Pods than those that do not wait": (
        job(task("a", 2), task("b", 4) | {"dependsOn": {"name": ["a"]}}, minAvailable=3),
        "spec.tasks[1].dependsOn",
    ),
    "VJ132 spare Pods do not replace those of the waiting task": (
        job(
            task("a", 4) | {"minAvailable": 2},
            task("b") | {"dependsOn": {"name": ["a", "c"], "iteration": "any"}},
            task("c"),
        ),
        "spec.tasks[1].dependsOn",
    ),
    "VJ133 no Pod": (job(task(replicas=2), minAvailable=0), "spec.minAvailable"),
    "VJ133 no retry of the job": (job(maxRetry=0), "spec.maxRetry"),
    "VJ133 no retry of a task": (job(task() | {"maxRetry": 0}), "spec.tasks[0].maxRetry"),
    "VJ135 envsubst": (job(task(containers=[container(workingDir="${IMAGE}")])), f"{SPEC}.containers[0].workingDir"),
    "VJ135 kustomize": (job(task(containers=[container(workingDir="$(IMAGE)")])), f"{SPEC}.containers[0].workingDir"),
    "VJ135 Jinja": (job(task(containers=[container(workingDir="x:{{ tag }}")])), f"{SPEC}.containers[0].workingDir"),
    "VJ135 a documentation": (
        job(task(containers=[container(workingDir="<your-image>")])),
        f"{SPEC}.containers[0].workingDir",
    ),
    "VJ135 sed": (job(volumes=[{"mountPath": "/__DIR__", "volumeClaimName": "a"}]), "spec.volumes[0].mountPath"),
    "VJ135 a reminder": (job(task(containers=[container(workingDir="CHANGE_ME")])), f"{SPEC}.containers[0].workingDir"),
    "VJ146": (volume_job(emptyDir={"medium": "memory"}), f"{SPEC}.volumes[0].emptyDir.medium"),
    "VJ147 of a Secret": (
        volume_job(secret={"secretName": "a", "defaultMode": 400}),
        f"{SPEC}.volumes[0].secret.defaultMode",
    ),
    "VJ147 of a file": (
        volume_job(configMap={"name": "a", "items": [{"key": "k", "path": "k", "mode": 500}]}),
        f"{SPEC}.volumes[0].configMap.items[0].mode",
    ),
    "VJ147 of projected files": (
        volume_job(projected={"defaultMode": 440, "sources": []}),
        f"{SPEC}.volumes[0].projected.defaultMode",
    ),
    "VJ147 of a projected file": (
        volume_job(
            projected={"sources": [{"secret": {"name": "a", "items": [{"key": "k", "path": "k", "mode": 444}]}}]}
        ),
        f"{SPEC}.volumes[0].projected.sources[0].secret.items[0].mode",
    ),
    "VJ104 a worker that waits for a waiting master": (
        job(
            restarting_task(),
            task("worker", initContainers=[container("wait", command=["sh", "-c", "nslookup train-master-0.train"])]),
            plugins=[MpiPlugin(wait_for_workers=True)],
        ),
        "spec.tasks[1].template.spec.initContainers[0]",
    ),
    "VJ136 Open MPI": (mpi_job("mpirun --allow-run-as-root --host $MPI_HOST -np 4 a"), f"{SPEC}.containers[0]"),
    "VJ136 braces": (mpi_job("mpiexec --mca a b -n 3 --host ${MPI_HOST} a"), f"{SPEC}.containers[0]"),
    "VJ137 a launcher": (mpi_job("deepspeed --num_gpus 8 train.py"), f"{SPEC}.containers[0]"),
    "VJ138 a script": (
        job(
            task("worker", 2, containers=[container(command=["sh", "-c", "export TF_CONFIG={}; python t.py"])]),
            plugins=[TensorflowPlugin()],
        ),
        f"{SPEC}.containers[0]",
    ),
    "VJ139 Prometheus": (
        job(with_annotation("true"), plugins=SVC),
        f"{TEMPLATE}.metadata.annotations.prometheus.io/scrape",
    ),
    "VJ116 a repeated exit code": (
        job(task(containers=[container(restartPolicy="Never", restartPolicyRules=[EXIT_CODES])])),
        f"{SPEC}.containers[0].restartPolicyRules[0].exitCodes.values[1]",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_job_with_a_warning_is_rendered(name: str, snapshot: SnapshotAssertion) -> None:
    """The job has one warning, with its code."""
    document, path = WARNED[name]

    rendered = render(document)

    assert typed(rendered.warnings) == [(path, name.partition(" ")[0])]
    assert rendered.pods
    assert str(rendered.warnings[0]) == snapshot


@pytest.mark.parametrize("name", [name for name in WARNED if not name.startswith("VJ114 ")])
def test_lenient_mode_has_the_same_warnings(name: str) -> None:
    """Only a name of the guide (VJ114) differs, because Volcano drops it."""
    document, _ = WARNED[name]

    assert render(document, strict=False).warnings == render(document).warnings


# Other tests check the other warnings: three are about YAML, two about native mode, two about a document, one about a
# DSA key, one about a job without Pods, three about other objects of a file, one about lenient mode, and one about
# policies (test_idle_policies.py).
ELSEWHERE = {
    "VJ115",
    "VJ117",
    "VJ121",
    "VJ122",
    "VJ124",
    "VJ125",
    "VJ126",
    "VJ128",
    "VJ129",
    "VJ130",
    "VJ134",
    "VJ150",
    "VJ151",
    "VJ152",
    "VJ153",
}


def test_every_code_has_a_test() -> None:
    """Each code in the tests exists."""
    assert {name.partition(" ")[0] for name in WARNED} | ELSEWHERE == WARNINGS.keys()


SILENT: dict[str, Wire] = {
    "a port that a container names": job_with_policy("metrics"),
    "a port by its number": job_with_policy(9091, task="worker"),
    "a medium of memory": volume_job(emptyDir={"medium": "Memory"}),
    "a medium of large pages": volume_job(emptyDir={"medium": "HugePages-2Mi"}),
    "no medium": volume_job(emptyDir={"medium": ""}),
    "an unknown medium": volume_job(emptyDir={"medium": Leaf("medium")}),
    "a decimal mode": volume_job(secret={"secretName": "a", "defaultMode": 420}),
    "an octal mode": volume_job(secret={"secretName": "a", "defaultMode": 0o400}),
    "an unknown mode": volume_job(secret={"secretName": "a", "defaultMode": Leaf("mode")}),
    "an unknown restartPolicy": job(task(restartPolicy=Leaf("policy"))),
    "an MPI master of which that is not known": job(
        task("master", restartPolicy=Leaf("policy")), task(), plugins=[MpiPlugin()]
    ),
    "an MPI worker that is not started again": job(restarting_task(), task(), plugins=[MpiPlugin()]),
    "a small gang without a world": job(task("a", 3), plugins=SVC, minAvailable=1),
    "a gang of all": job(task("master"), task("worker", 2), plugins=[PytorchPlugin()], minAvailable=3),
    "init containers that look for Pods without any": job_with_lookup("nslookup train-master-0.train", task("master")),
    "published addresses": job_with_lookup(
        "nslookup train-worker-1.train", plugins=[SvcPlugin(publish_not_ready_addresses=True)]
    ),
    "names that only begin alike": job_with_lookup("cat train-worker-svc; echo pretrain-worker-0"),
    "an init container with unknown arguments": job_with_lookup(Leaf("command")),  # type: ignore[arg-type]
    "a dashboard for all peers": job(*RAY, plugins=QUIET_RAY),
    "Ray workers that end with the head": ray_job(keep_command=True),
    "Ray workers of which that is not known": ray_job(keep_command=True, workers=Leaf("policy")),
    "Ray workers whose head stays": ray_job(workers="OnFailure"),
    "hostNetwork with another port": ssh_job({"hostNetwork": True}, ssh_port=2222),
    "hostNetwork of workers": job(
        task("master"), task(hostNetwork=True), plugins=[PytorchPlugin(wait_master_enabled=True)]
    ),
    "hostNetwork without a wait": job(task("master", hostNetwork=True), task(), plugins=[PytorchPlugin()]),
    "root": ssh_job(security_context(0)),
    "an unknown user": ssh_job({"securityContext": Leaf("context")}),
    "another user with a path": ssh_job(security_context(1000), ssh_key_file_path="/home/me/.ssh"),
    "another user with a path and a group": ssh_job(security_context(1000, 1000), ssh_key_file_path="/home/me/.ssh"),
    "a container that is root in another's Pod": ssh_job(security_context(1000, of_container=0)),
    "a reference to an earlier variable": pytorch_job({"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}),
    "a reference that is none": pytorch_job({"name": "A", "value": "$$(RANK) $RANK"}),
    "a reference to nothing": pytorch_job({"name": "A", "value": "$(HOME)"}),
    "a reference in an unknown value": pytorch_job({"name": "A", "value": Leaf("a")}),
    "ssh with svc": job(plugins={"ssh": [], "svc": []}),
    "one port for both": job(restarting_task(), task(), plugins=[MpiPlugin(port=2222), SshPlugin(ssh_port=2222)]),
    "the job's own domain": job(task(subdomain="train"), plugins=SVC),
    "hostnames without svc": job(task("b", 2, hostname="node", subdomain="other")),
    "several schedulers of Volcano": job(task("a", schedulerName="volcano-2"), task("b", schedulerName="volcano-gpu")),
    "another scheduler": job(schedulerName="yunikorn"),
    "the default scheduler without a gang": job(schedulerName="default-scheduler"),
    "an unknown scheduler": job(task(schedulerName="")),
    "a gang without the task that waits": job(task("a", 2), task("b") | {"dependsOn": {"name": ["a"]}}, minAvailable=2),
    "a task that waits for one of two": job(
        task("a"), task("b", 0) | {"dependsOn": {"name": ["a", "c"], "iteration": "any"}}, task("c")
    ),
    "a task that waits for no Pod": job(
        task("a") | {"minAvailable": 0}, task("b") | {"dependsOn": {"name": ["a"]}}, minAvailable=1
    ),
    "an MPI master that waits in its command": job(
        task("master", containers=[container(command=["sh", "-c", "sleep 10; mpiexec hostname"])]),
        task(),
        plugins=[MpiPlugin()],
    ),
    "a gang that cannot have all Pods": job(
        task("worker", 2),
        restarting_task() | {"dependsOn": {"name": ["worker"]}},
        plugins=[MpiPlugin()],
        minAvailable=2,
    ),
    "a task that may have no Pod": job(task() | {"minAvailable": 0}, task("b", 0), minAvailable=1),
    "a server": job(task(restartPolicy=None, containers=[container(image="docker.io/nginx:1")])),
    "a command that does not end": job(
        task(restartPolicy=None, containers=[container(command=["sh", "-c", "prepare; tail -f /dev/null"])])
    ),
    "Ray without restartPolicy": job(
        task("head", restartPolicy=None, containers=[container("head")]),
        task("worker", restartPolicy=None, containers=[container("worker")]),
        plugins=QUIET_RAY,
    ),
    "a task that a policy ends": job(
        task("ps", restartPolicy=None),
        task() | {"policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]},
    ),
    "a dashboard of a job with a driver": job(
        *RAY,
        task("driver") | {"policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]},
        plugins=[RayPlugin()],
    ),
    "hostNetwork without sshd": ssh_job({"hostNetwork": True}),
    "hostNetwork with a port of sshd": ssh_job(
        {"hostNetwork": True, "containers": [container(command=["sh", "-c", "sshd -p 2222; mpirun hostname"])]}
    ),
    "hostNetwork with a chosen port": job(
        task("master", hostNetwork=True), task(), plugins=[PytorchPlugin(wait_master_enabled=True, port=29500)]
    ),
    "text in which programs expand variables": job(
        task(
            containers=[
                container(
                    command=["sh", "-c", "echo ${A} <b> $(C) __D__ {{ e }}"],
                    args=["${A}"],
                    env=[{"name": "B", "value": "${HOME}"}],
                    volumeMounts=[{"name": "a", "mountPath": "/a", "subPathExpr": "$(B)"}],
                )
            ],
            volumes=[{"name": "a", "emptyDir": {}}],
        ),
    ),
    "as many MPI processes as workers": mpi_job("mpirun --allow-run-as-root --host $MPI_HOST -np 2 a"),
    "more MPI processes with permission": mpi_job(
        "mpirun --allow-run-as-root --oversubscribe --host $MPI_HOST -np 8 a"
    ),
    "more MPI processes of another launcher": mpi_job("mpirun -host $MPI_HOST -np 8 a"),
    "more MPI processes with slots": mpi_job("mpirun --allow-run-as-root --host $MPI_HOST:4 -np 8 a"),
    "more MPI processes with a host file": mpi_job("mpirun --allow-run-as-root -np 8 a", hostfile="openmpi"),
    "DeepSpeed with the file of the plugin": mpi_job("deepspeed train.py", hostfile="deepspeed"),
    "DeepSpeed with another file": mpi_job("deepspeed --hostfile /etc/hosts.txt train.py"),
    "a program that reads TF_CONFIG": job(
        task("worker", 2, containers=[container(command=["sh", "-c", "echo $TF_CONFIG"])]), plugins=[TensorflowPlugin()]
    ),
    "metrics without a policy": job(with_annotation("true"), plugins=[SvcPlugin(disable_network_policy=True)]),
    "metrics for an admitted client": job(
        with_annotation("true"), plugins=[SvcPlugin(allow=[{"cidrs": ["10.0.0.0/8"]}])]
    ),
    "no metrics": job(with_annotation("false"), plugins=SVC),
    "one port with two protocols": job(
        task(containers=[container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}])])
    ),
}


@pytest.mark.parametrize("document", SILENT.values(), ids=SILENT)
def test_near_misses_have_no_warning(document: Wire) -> None:
    """Users turn off warnings that are often wrong."""
    assert render(document).warnings == ()


LOOKS = [
    "cat /etc/volcano/worker.host",
    "for h in ${VC_WORKER_HOSTS//,/ }; do nslookup $h; done",
    "ping train-worker-$i",
]


@pytest.mark.parametrize("command", LOOKS)
def test_every_lookup_of_peers_is_detected(command: str) -> None:
    """Host lists in files and variables, and names that a shell composes."""
    assert [warning.code for warning in render(job_with_lookup(command)).warnings] == ["VJ104"]


def test_the_table_of_the_docs_has_every_code_with_its_title() -> None:
    """Users search for the code of a message."""
    text = (Path(__file__).parents[3] / "docs" / "warnings.md").read_text("utf-8")

    assert {code: title for code, title in WARNINGS.items() if f"## {code}: {title}\n" not in text} == {}
    assert text.count("\n## VJ") == len(WARNINGS)


class Emptying(Plugin):
    """A plugin that removes a container."""

    name = "test-emptying"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Keep only the first container."""
        del pod.containers[1:]


def test_a_container_that_a_plugin_removes_has_no_warning() -> None:
    """Its variables are not checked."""
    variables = [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "b"}]
    containers = [container("main"), container("other", env=variables)]

    assert render(job(task(containers=containers), plugins=[Emptying()])).warnings == ()


def test_ssh_without_svc_has_a_warning() -> None:
    """The names in its configuration do not resolve. The job is rendered."""
    assert typed(render(job(plugins={"ssh": []})).warnings) == [("spec.plugins.ssh", "VJ110")]
    assert render(job(plugins={"ssh": [], "svc": []})).warnings == ()
