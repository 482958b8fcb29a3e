"""Warnings: each has its code, near misses have none, and lenient mode has none at all."""

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


def on_ray(workers: Any = "Never", **settings: Any) -> Wire:
    """Give a job that runs a program on Ray, with the restartPolicy of its workers."""
    head = task("head", containers=[container("head", command=["python", "driver.py"])])
    worker = task("worker", containers=[container("worker")], restartPolicy=workers)
    return job(head, worker, plugins=[RayPlugin(**settings), SvcPlugin(disable_network_policy=True)])


def restarting(name: str = "master", replicas: int = 1, **pod_spec: Any) -> Wire:
    """Give a task whose Pods start again after a failure, as an MPI master should."""
    return task(name, replicas, restartPolicy="OnFailure", **pod_spec)


def running_as(user: int | None = None, group: int | None = None, of_container: int | None = None) -> dict[str, Any]:
    """Give a Pod's spec by the user and the group that it sets."""
    spec: dict[str, Any] = {"securityContext": {"runAsUser": user, "fsGroup": group}}
    if of_container is not None:
        spec["containers"] = [container(securityContext={"runAsUser": of_container})]
    return spec


def logging_in(spec: dict[str, Any], **settings: Any) -> Wire:
    """Give a job with ssh by its Pods' spec."""
    return job(task(**spec), plugins=[SshPlugin(**settings), SvcPlugin()])


def letting_in(port: int | str, **reached: str) -> Wire:
    """Give a job whose master has a port of a name, and whose svc lets everybody in to another."""
    master = task("master", containers=[container(ports=[{"containerPort": 9090, "name": "metrics"}])])
    return job(master, task("worker"), plugins=[SvcPlugin(allow=[{"ports": [port], **reached}])])


def looking(command: str, *others: Wire, plugins: Any = SVC) -> Wire:
    """Give a job whose workers have an init container that runs a command."""
    return job(
        task("worker", 2, initContainers=[container("wait", command=["sh", "-c", command])]), *others, plugins=plugins
    )


def with_env(*env: Wire, plugins: Any = None) -> Wire:
    """Give a job of PyTorch's by the variables of its master."""
    return job(
        task("master", containers=[container(env=list(env))]),
        task("worker"),
        plugins=[PytorchPlugin()] if plugins is None else plugins,
    )


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
        job(task("ps"), {**task("worker", 2), "minAvailable": 1}, plugins=[TensorflowPlugin()]),
        "spec.tasks[1].minAvailable",
    ),
    "VJ104 Pods that look for each other": (
        looking("until nslookup train-worker-1.train; do sleep 1; done"),
        f"{SPEC}.initContainers[0]",
    ),
    "VJ105 a dashboard that others do not reach": (
        job(*RAY, plugins=[RayPlugin()]),
        "spec.plugins.ray",
    ),
    "VJ118 workers that survive the head": (
        on_ray(keep_command=True, workers="OnFailure"),
        "spec.tasks[1].template.spec.restartPolicy",
    ),
    "VJ119 a port of nobody": (
        letting_in("metrics", task="worker"),
        "spec.plugins.svc.allow[0].ports[0]",
    ),
    "VJ119 a port of others": (
        letting_in("metric"),
        "spec.plugins.svc.allow[0].ports[0]",
    ),
    "VJ106 the node's own sshd": (
        logging_in({"hostNetwork": True}),
        f"{SPEC}.hostNetwork",
    ),
    "VJ107 a wait for a node's port": (
        job(task("master", hostNetwork=True), task(), plugins=[PytorchPlugin(wait_master_enabled=True)]),
        "spec.plugins.pytorch.wait_master_enabled",
    ),
    "VJ108 root's key for another user": (
        logging_in(running_as(1000)),
        f"{SPEC}.securityContext",
    ),
    "VJ108 root and a group": (
        logging_in(running_as(group=2000)),
        f"{SPEC}.securityContext",
    ),
    "VJ108 root and another's path": (
        logging_in(running_as(0), ssh_key_file_path="/home/me/.ssh"),
        f"{SPEC}.securityContext",
    ),
    "VJ109 a reference to a later variable": (
        with_env({"name": "ARGS", "value": "--rank=$(RANK)"}),
        f"{SPEC}.containers[0].env[0]",
    ),
    "VJ110 ssh without svc": (
        job(plugins={"ssh": []}),
        "spec.plugins.ssh",
    ),
    "VJ111 mpi's port, and ssh brought in by it": (
        job(restarting(), task(), plugins={"mpi": ["--port=2222"]}),
        "spec.plugins.mpi[0]",
    ),
    "VJ111 ssh's port": (
        job(restarting(), task(), plugins=[MpiPlugin(), SshPlugin(ssh_port=2222)]),
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
    "VJ116 a variable that stands twice": (
        with_env({"name": "A", "value": "1"}, {"name": "A", "value": "2"}, plugins=[]),
        f"{SPEC}.containers[0].env[1]",
    ),
    "VJ116 a port that stands twice": (
        job(task(containers=[container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}])])),
        f"{SPEC}.containers[0].ports[1]",
    ),
    "VJ116 a pull secret that stands twice": (
        job(task(imagePullSecrets=[{"name": "a"}, {"name": "a"}])),
        f"{SPEC}.imagePullSecrets[1]",
    ),
    "VJ116 an address that stands twice": (
        job(task(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}])),
        f"{SPEC}.hostAliases[1]",
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
    "VJ116 an exit code that stands twice": (
        job(task(containers=[container(restartPolicy="Never", restartPolicyRules=[EXIT_CODES])])),
        f"{SPEC}.containers[0].restartPolicyRules[0].exitCodes.values[1]",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_job_with_a_warning_is_rendered(name: str, snapshot: SnapshotAssertion) -> None:
    """There is one warning, with its code."""
    document, path = WARNED[name]

    rendered = render(document)

    assert typed(rendered.warnings) == [(path, name.partition(" ")[0])]
    assert rendered.pods
    assert str(rendered.warnings[0]) == snapshot


@pytest.mark.parametrize("document", [document for document, _ in WARNED.values()], ids=WARNED)
def test_lenient_mode_warns_of_nothing(document: Wire) -> None:
    """It does what Volcano does."""
    assert render(document, strict=False).warnings == ()


# The other warnings have tests of their own: three are about YAML, two about the native mode, one about a stored Job
# and one about a DSA key.
ELSEWHERE = {"VJ115", "VJ117", "VJ121", "VJ122", "VJ124", "VJ125", "VJ126"}


def test_every_code_is_tried_here() -> None:
    """And no other is in use."""
    assert {name.partition(" ")[0] for name in WARNED} | ELSEWHERE == WARNINGS.keys()


SILENT: dict[str, Wire] = {
    "a port that a container names": letting_in("metrics"),
    "a port by its number": letting_in(9091, task="worker"),
    "an unknown restartPolicy": job(task(restartPolicy=Leaf("policy"))),
    "an MPI master of which that is not known": job(
        task("master", restartPolicy=Leaf("policy")), task(), plugins=[MpiPlugin()]
    ),
    "an MPI worker that is not started again": job(restarting(), task(), plugins=[MpiPlugin()]),
    "a small gang without a world": job(task("a", 3), plugins=SVC, minAvailable=1),
    "a gang of all": job(task("master"), task("worker", 2), plugins=[PytorchPlugin()], minAvailable=3),
    "init containers that look for Pods without any": looking("nslookup train-master-0.train", task("master")),
    "published addresses": looking(
        "nslookup train-worker-1.train", plugins=[SvcPlugin(publish_not_ready_addresses=True)]
    ),
    "names that only begin alike": looking("cat train-worker-svc; echo pretrain-worker-0"),
    "an init container with unknown arguments": looking(Leaf("command")),  # type: ignore[arg-type]
    "a dashboard for everybody": job(*RAY, plugins=QUIET_RAY),
    "Ray workers that end with the head": on_ray(keep_command=True),
    "Ray workers of which that is not known": on_ray(keep_command=True, workers=Leaf("policy")),
    "Ray workers whose head stays": on_ray(workers="OnFailure"),
    "hostNetwork with another port": logging_in({"hostNetwork": True}, ssh_port=2222),
    "hostNetwork of workers": job(
        task("master"), task(hostNetwork=True), plugins=[PytorchPlugin(wait_master_enabled=True)]
    ),
    "hostNetwork without a wait": job(task("master", hostNetwork=True), task(), plugins=[PytorchPlugin()]),
    "root": logging_in(running_as(0)),
    "an unknown user": logging_in({"securityContext": Leaf("context")}),
    "another user with a path": logging_in(running_as(1000), ssh_key_file_path="/home/me/.ssh"),
    "another user with a path and a group": logging_in(running_as(1000, 1000), ssh_key_file_path="/home/me/.ssh"),
    "a container that is root in another's Pod": logging_in(running_as(1000, of_container=0)),
    "a reference to an earlier variable": with_env({"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}),
    "a reference that is none": with_env({"name": "A", "value": "$$(RANK) $RANK"}),
    "a reference to nothing": with_env({"name": "A", "value": "$(HOME)"}),
    "a reference in an unknown value": with_env({"name": "A", "value": Leaf("a")}),
    "ssh with svc": job(plugins={"ssh": [], "svc": []}),
    "one port for both": job(restarting(), task(), plugins=[MpiPlugin(port=2222), SshPlugin(ssh_port=2222)]),
    "the job's own domain": job(task(subdomain="train"), plugins=SVC),
    "hostnames without svc": job(task("b", 2, hostname="node", subdomain="other")),
    "one port with two protocols": job(
        task(containers=[container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}])])
    ),
}


@pytest.mark.parametrize("document", SILENT.values(), ids=SILENT)
def test_near_misses_are_silent(document: Wire) -> None:
    """A warning that cries wolf is switched off for good."""
    assert render(document).warnings == ()


LOOKS = [
    "cat /etc/volcano/worker.host",
    "for h in ${VC_WORKER_HOSTS//,/ }; do nslookup $h; done",
    "ping train-worker-$i",
]


@pytest.mark.parametrize("command", LOOKS)
def test_every_way_of_looking_for_peers_is_seen(command: str) -> None:
    """The host lists, as files and variables, and names that a shell makes."""
    assert [warning.code for warning in render(looking(command)).warnings] == ["VJ104"]


def test_the_table_of_the_docs_has_every_code_with_its_title() -> None:
    """So that a reader of a message finds it."""
    text = (Path(__file__).parents[3] / "docs" / "warnings.md").read_text("utf-8")

    assert {code: title for code, title in WARNINGS.items() if f"## {code}: {title}\n" not in text} == {}
    assert text.count("\n## VJ") == len(WARNINGS)


class Emptying(Plugin):
    """A plugin that takes a container out."""

    name = "test-emptying"

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:  # noqa: ARG002
        """Leave the first."""
        del pod.containers[1:]


def test_a_container_that_a_plugin_took_out_refers_to_nothing() -> None:
    """It has no variables to be looked at."""
    variables = [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "b"}]
    containers = [container("main"), container("other", env=variables)]

    assert render(job(task(containers=containers), plugins=[Emptying()])).warnings == ()


def test_ssh_without_svc_is_odd() -> None:
    """The names in its configuration do not resolve: a warning, and the job is made."""
    assert typed(render(job(plugins={"ssh": []})).warnings) == [("spec.plugins.ssh", "VJ110")]
    assert render(job(plugins={"ssh": [], "svc": []})).warnings == ()
    assert render(job(plugins={"ssh": []}), strict=False).warnings == ()
