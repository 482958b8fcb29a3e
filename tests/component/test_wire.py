"""Pod templates and claims as YAML dictionaries, snake_case dictionaries and Args classes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pulumi
import pytest
from pulumi._types import input_type_py_to_pulumi_names
from pulumi_kubernetes import core, meta
from pulumi_kubernetes.core import v1
from pulumi_kubernetes.core.v1 import PersistentVolumeClaimSpecArgsDict, PodTemplateSpecArgsDict

from pulumi_volcano_jobs import Task, Volume
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.testing import Result, run
from tests.component.programs import new_job
from tests.conftest import Wire

WIRE: Wire = {
    "metadata": {"labels": {"app_name": "a"}, "annotations": {"example.org/some_key": "b"}},
    "spec": {
        "activeDeadlineSeconds": 3600,
        "automountServiceAccountToken": False,
        "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["example.org"]},
        "enableServiceLinks": False,
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
        "hostIPC": True,
        "hostPID": True,
        "imagePullSecrets": [{"name": "registry"}],
        "nodeSelector": {"node_pool": "gpu"},
        "restartPolicy": "OnFailure",
        "runtimeClassName": "nvidia",
        "securityContext": {"fsGroup": 1000, "runAsNonRoot": True, "sysctls": [{"name": "net.a", "value": "1"}]},
        "serviceAccountName": "trainer",
        "setHostnameAsFQDN": True,
        "shareProcessNamespace": False,
        "terminationGracePeriodSeconds": 5,
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app_name": "a"}},
            },
        ],
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app_name": "a"}}, "topologyKey": "host"},
                ],
            },
        },
        "initContainers": [{"name": "before", "image": "example.org/before:1", "workingDir": "/"}],
        "containers": [
            {
                "name": "main",
                "image": "example.org/image:1",
                "imagePullPolicy": "IfNotPresent",
                "command": ["run"],
                "args": ["--some_flag"],
                "env": [
                    {"name": "PLAIN", "value": "a_b"},
                    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "levels", "key": "some_level"}}},
                    {
                        "name": "LIMIT",
                        "valueFrom": {"resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}},
                    },
                ],
                "envFrom": [{"secretRef": {"name": "tokens", "optional": True}, "prefix": "T_"}],
                "ports": [{"containerPort": 8080, "hostIP": "10.0.0.2", "name": "http", "protocol": "TCP"}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "500m"}},
                "livenessProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 3, "timeoutSeconds": 1},
                "readinessProbe": {
                    "httpGet": {"path": "/", "port": "http", "httpHeaders": [{"name": "A", "value": "b"}]}
                },
                "lifecycle": {"preStop": {"exec": {"command": ["sync"]}}},
                "securityContext": {
                    "capabilities": {"add": ["IPC_LOCK"]},
                    "runAsUser": 1000,
                    "seLinuxOptions": {"level": "a"},
                },
                "terminationMessagePath": "/dev/end",
                "volumeMounts": [{"name": "memory", "mountPath": "/mnt/memory", "subPath": "a", "readOnly": False}],
                "workingDir": "/home",
            },
        ],
        "volumes": [
            {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "nfs", "nfs": {"server": "a", "path": "/", "readOnly": True}},
            {
                "name": "keys",
                "secret": {"secretName": "keys", "items": [{"key": "a", "path": "b"}], "defaultMode": 256},
            },
            {
                "name": "all",
                "projected": {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}]},
            },
        ],
    },
}

CLASSES = v1.PodTemplateSpecArgs(
    metadata=meta.v1.ObjectMetaArgs(labels={"app_name": "a"}, annotations={"example.org/some_key": "b"}),
    spec=v1.PodSpecArgs(
        active_deadline_seconds=3600,
        automount_service_account_token=False,
        dns_config=v1.PodDNSConfigArgs(nameservers=["1.1.1.1"], searches=["example.org"]),
        enable_service_links=False,
        host_aliases=[v1.HostAliasArgs(ip="10.0.0.1", hostnames=["a"])],
        host_ipc=True,
        host_pid=True,
        image_pull_secrets=[v1.LocalObjectReferenceArgs(name="registry")],
        node_selector={"node_pool": "gpu"},
        restart_policy="OnFailure",
        runtime_class_name="nvidia",
        security_context=v1.PodSecurityContextArgs(
            fs_group=1000, run_as_non_root=True, sysctls=[v1.SysctlArgs(name="net.a", value="1")]
        ),
        service_account_name="trainer",
        set_hostname_as_fqdn=True,
        share_process_namespace=False,
        termination_grace_period_seconds=5,
        tolerations=[v1.TolerationArgs(key="gpu", operator="Exists", effect="NoExecute", toleration_seconds=3)],
        topology_spread_constraints=[
            v1.TopologySpreadConstraintArgs(
                max_skew=1,
                topology_key="zone",
                when_unsatisfiable="DoNotSchedule",
                label_selector=meta.v1.LabelSelectorArgs(match_labels={"app_name": "a"}),
            ),
        ],
        affinity=v1.AffinityArgs(
            pod_anti_affinity=v1.PodAntiAffinityArgs(
                required_during_scheduling_ignored_during_execution=[
                    v1.PodAffinityTermArgs(
                        label_selector=meta.v1.LabelSelectorArgs(match_labels={"app_name": "a"}), topology_key="host"
                    ),
                ],
            ),
        ),
        init_containers=[v1.ContainerArgs(name="before", image="example.org/before:1", working_dir="/")],
        containers=[
            v1.ContainerArgs(
                name="main",
                image="example.org/image:1",
                image_pull_policy="IfNotPresent",
                command=["run"],
                args=["--some_flag"],
                env=[
                    v1.EnvVarArgs(name="PLAIN", value="a_b"),
                    v1.EnvVarArgs(
                        name="POD_IP",
                        value_from=v1.EnvVarSourceArgs(field_ref=v1.ObjectFieldSelectorArgs(field_path="status.podIP")),
                    ),
                    v1.EnvVarArgs(
                        name="LEVEL",
                        value_from=v1.EnvVarSourceArgs(
                            config_map_key_ref=v1.ConfigMapKeySelectorArgs(name="levels", key="some_level")
                        ),
                    ),
                    v1.EnvVarArgs(
                        name="LIMIT",
                        value_from=v1.EnvVarSourceArgs(
                            resource_field_ref=v1.ResourceFieldSelectorArgs(
                                container_name="main", resource="limits.cpu"
                            )
                        ),
                    ),
                ],
                env_from=[
                    v1.EnvFromSourceArgs(secret_ref=v1.SecretEnvSourceArgs(name="tokens", optional=True), prefix="T_")
                ],
                ports=[v1.ContainerPortArgs(container_port=8080, host_ip="10.0.0.2", name="http", protocol="TCP")],
                resources=v1.ResourceRequirementsArgs(limits={"nvidia.com/gpu": "1"}, requests={"cpu": "500m"}),
                liveness_probe=v1.ProbeArgs(
                    exec_=v1.ExecActionArgs(command=["true"]), initial_delay_seconds=3, timeout_seconds=1
                ),
                readiness_probe=v1.ProbeArgs(
                    http_get=v1.HTTPGetActionArgs(
                        path="/", port="http", http_headers=[v1.HTTPHeaderArgs(name="A", value="b")]
                    )
                ),
                lifecycle=v1.LifecycleArgs(
                    pre_stop=v1.LifecycleHandlerArgs(exec_=v1.ExecActionArgs(command=["sync"])),
                ),
                security_context=v1.SecurityContextArgs(
                    capabilities=v1.CapabilitiesArgs(add=["IPC_LOCK"]),
                    run_as_user=1000,
                    se_linux_options=v1.SELinuxOptionsArgs(level="a"),
                ),
                termination_message_path="/dev/end",
                volume_mounts=[
                    v1.VolumeMountArgs(name="memory", mount_path="/mnt/memory", sub_path="a", read_only=False),
                ],
                working_dir="/home",
            ),
        ],
        volumes=[
            v1.VolumeArgs(name="memory", empty_dir=v1.EmptyDirVolumeSourceArgs(medium="Memory", size_limit="1Gi")),
            v1.VolumeArgs(name="nfs", nfs=v1.NFSVolumeSourceArgs(server="a", path="/", read_only=True)),
            v1.VolumeArgs(
                name="keys",
                secret=v1.SecretVolumeSourceArgs(
                    secret_name="keys", items=[v1.KeyToPathArgs(key="a", path="b")], default_mode=256
                ),
            ),
            v1.VolumeArgs(
                name="all",
                projected=v1.ProjectedVolumeSourceArgs(
                    sources=[
                        v1.VolumeProjectionArgs(
                            service_account_token=v1.ServiceAccountTokenProjectionArgs(
                                path="token", expiration_seconds=600
                            )
                        )
                    ]
                ),
            ),
        ],
    ),
)

SNAKE: PodTemplateSpecArgsDict = {
    "metadata": {"labels": {"app_name": "a"}, "annotations": {"example.org/some_key": "b"}},
    "spec": {
        "active_deadline_seconds": 3600,
        "automount_service_account_token": False,
        "dns_config": {"nameservers": ["1.1.1.1"], "searches": ["example.org"]},
        "enable_service_links": False,
        "host_aliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
        "host_ipc": True,
        "host_pid": True,
        "image_pull_secrets": [{"name": "registry"}],
        "node_selector": {"node_pool": "gpu"},
        "restart_policy": "OnFailure",
        "runtime_class_name": "nvidia",
        "security_context": {
            "fs_group": 1000,
            "run_as_non_root": True,
            "sysctls": [{"name": "net.a", "value": "1"}],
        },
        "service_account_name": "trainer",
        "set_hostname_as_fqdn": True,
        "share_process_namespace": False,
        "termination_grace_period_seconds": 5,
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute", "toleration_seconds": 3}],
        "topology_spread_constraints": [
            {
                "max_skew": 1,
                "topology_key": "zone",
                "when_unsatisfiable": "DoNotSchedule",
                "label_selector": {"match_labels": {"app_name": "a"}},
            },
        ],
        "affinity": {
            "pod_anti_affinity": {
                "required_during_scheduling_ignored_during_execution": [
                    {"label_selector": {"match_labels": {"app_name": "a"}}, "topology_key": "host"},
                ],
            },
        },
        "init_containers": [{"name": "before", "image": "example.org/before:1", "working_dir": "/"}],
        "containers": [
            {
                "name": "main",
                "image": "example.org/image:1",
                "image_pull_policy": "IfNotPresent",
                "command": ["run"],
                "args": ["--some_flag"],
                "env": [
                    {"name": "PLAIN", "value": "a_b"},
                    {"name": "POD_IP", "value_from": {"field_ref": {"field_path": "status.podIP"}}},
                    {"name": "LEVEL", "value_from": {"config_map_key_ref": {"name": "levels", "key": "some_level"}}},
                    {
                        "name": "LIMIT",
                        "value_from": {"resource_field_ref": {"container_name": "main", "resource": "limits.cpu"}},
                    },
                ],
                "env_from": [{"secret_ref": {"name": "tokens", "optional": True}, "prefix": "T_"}],
                "ports": [{"container_port": 8080, "host_ip": "10.0.0.2", "name": "http", "protocol": "TCP"}],
                "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "500m"}},
                "liveness_probe": {"exec_": {"command": ["true"]}, "initial_delay_seconds": 3, "timeout_seconds": 1},
                "readiness_probe": {
                    "http_get": {"path": "/", "port": "http", "http_headers": [{"name": "A", "value": "b"}]},
                },
                "lifecycle": {"pre_stop": {"exec_": {"command": ["sync"]}}},
                "security_context": {
                    "capabilities": {"add": ["IPC_LOCK"]},
                    "run_as_user": 1000,
                    "se_linux_options": {"level": "a"},
                },
                "termination_message_path": "/dev/end",
                "volume_mounts": [
                    {"name": "memory", "mount_path": "/mnt/memory", "sub_path": "a", "read_only": False},
                ],
                "working_dir": "/home",
            },
        ],
        "volumes": [
            {"name": "memory", "empty_dir": {"medium": "Memory", "size_limit": "1Gi"}},
            {"name": "nfs", "nfs": {"server": "a", "path": "/", "read_only": True}},
            {
                "name": "keys",
                "secret": {"secret_name": "keys", "items": [{"key": "a", "path": "b"}], "default_mode": 256},
            },
            {
                "name": "all",
                "projected": {"sources": [{"service_account_token": {"path": "token", "expiration_seconds": 600}}]},
            },
        ],
    },
}

MIXED: Wire = {
    "metadata": meta.v1.ObjectMetaArgs(labels={"app_name": "a"}, annotations={"example.org/some_key": "b"}),
    "spec": {**SNAKE["spec"], "containers": WIRE["spec"]["containers"]},  # type: ignore[dict-item]  # it is not an Output
}


def of(template: Any, **fields: Any) -> Result:
    """Run a program with a job of one Pod."""

    def program() -> None:
        new_job(
            "train", {"tasks": [Task(name="worker", replicas=1, template=template)], "plugins": {"svc": []}, **fields}
        )

    return run(program)


FORMS: dict[str, Any] = {"args classes": CLASSES, "TypedDicts": SNAKE, "a mixture": MIXED}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_template_registers_the_same_pods(form: str) -> None:
    """The digest is also the same."""
    assert of(FORMS[form]).leaves() == of(WIRE).leaves()


def test_every_field_of_the_template_arrives() -> None:
    """The comparison above would not notice a field that all forms lose."""
    (pod,) = (manifest for name, manifest in of(WIRE).manifests().items() if name.startswith("Pod "))

    assert missing(WIRE["spec"], pod["spec"]) == []
    assert missing(WIRE["metadata"], pod["metadata"]) == []


def missing(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return the expected values that are absent."""
    if isinstance(expected, dict):
        return [
            place
            for key, value in expected.items()
            for place in (missing(value, found[key], f"{path}.{key}") if key in found else [f"{path}.{key}"])
        ]
    if isinstance(expected, list):
        return [
            place
            for index, (value, other) in enumerate(zip(expected, found, strict=False))
            for place in missing(value, other, f"{path}[{index}]")
        ]
    return [] if expected == found else [path]


def test_a_task_dictionary_accepts_a_template_in_any_form() -> None:
    """The other fields of the task are camelCase."""

    def program() -> None:
        new_job("train", {"tasks": [{"name": "worker", "replicas": 1, "template": CLASSES}], "plugins": {"svc": []}})

    assert run(program).leaves() == of(WIRE).leaves()


def test_a_subclass_of_an_args_class_is_accepted() -> None:
    """A platform team may define a container with defaults."""

    class Trainer(v1.ContainerArgs):
        def __init__(self, image: str) -> None:
            super().__init__(name="train", image=image, image_pull_policy="Always")

    pod = v1.PodTemplateSpecArgs(spec=v1.PodSpecArgs(containers=[Trainer("train:1")], restart_policy="Never"))

    container = {"name": "train", "image": "train:1", "imagePullPolicy": "Always"}
    assert of(pod).leaves() == of({"spec": {"containers": [container], "restartPolicy": "Never"}}).leaves()


def test_an_output_of_an_args_class_is_converted_when_known() -> None:
    """Fields inside the Output can also be snake_case."""
    spec: Any = SNAKE["spec"]

    def program() -> None:
        template = {**SNAKE, "spec": {**spec, "affinity": pulumi.Output.from_input(spec["affinity"])}}
        new_job("train", {"tasks": [{"name": "worker", "replicas": 1, "template": template}], "plugins": {"svc": []}})

    assert run(program).leaves() == of(WIRE).leaves()


CLAIM: Wire = {
    "accessModes": ["ReadWriteMany"],
    "storageClassName": "fast",
    "volumeMode": "Filesystem",
    "resources": {"requests": {"storage": "1Gi"}},
    "dataSourceRef": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"},
}
SNAKE_CLAIM: PersistentVolumeClaimSpecArgsDict = {
    "access_modes": ["ReadWriteMany"],
    "storage_class_name": "fast",
    "volume_mode": "Filesystem",
    "resources": {"requests": {"storage": "1Gi"}},
    "data_source_ref": {"api_group": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"},
}
CLAIM_OF_CLASSES = core.v1.PersistentVolumeClaimSpecArgs(
    access_modes=["ReadWriteMany"],
    storage_class_name="fast",
    volume_mode="Filesystem",
    resources=core.v1.VolumeResourceRequirementsArgs(requests={"storage": "1Gi"}),
    data_source_ref=core.v1.TypedObjectReferenceArgs(
        api_group="snapshot.storage.k8s.io", kind="VolumeSnapshot", name="a"
    ),
)
VOLUMES: dict[str, Any] = {
    "wire": {"mountPath": "/data", "volumeClaim": CLAIM},
    "snake": {"mount_path": "/data", "volume_claim": SNAKE_CLAIM},
    "classes": {"mountPath": "/data", "volumeClaim": CLAIM_OF_CLASSES},
    "a Volume": Volume(mount_path="/data", volume_claim=CLAIM),
    "a Volume with a TypedDict": Volume(mount_path="/data", volume_claim=SNAKE_CLAIM),
}


@pytest.mark.parametrize("form", VOLUMES)
def test_each_form_of_a_claim_registers_the_same_claim(form: str) -> None:
    """The claim spec has camelCase names."""
    done = of(WIRE, volumes=[VOLUMES[form]])

    assert done.manifests()["PersistentVolumeClaim train-pvc-data"]["spec"] == CLAIM


def reachable(*roots: str) -> Iterator[str]:
    """Yield the definitions reachable from the roots."""
    waiting, met = list(roots), set(roots)
    while waiting:
        definition = waiting.pop()
        yield definition
        children = {schema.child_definition(definition, name)[0] for name in schema.wire_names(definition).values()}
        waiting += sorted(children - met - {""})
        met |= children


def args_class(definition: str) -> Any:
    """Return the pulumi_kubernetes class of a definition."""
    *_, group, version, kind = definition.split(".")
    return getattr(importlib.import_module(f"pulumi_kubernetes.{group}.{version}"), f"{kind}Args")


def has_args_class(definition: str) -> bool:
    """Return whether this version of pulumi_kubernetes has the type."""
    try:
        args_class(definition)
    except (AttributeError, KeyError):
        return False
    return True


DEFINITIONS = sorted(reachable(schema.POD_TEMPLATE, schema.CLAIM))


def test_the_walk_reaches_the_types_of_a_pod() -> None:
    """Otherwise the next test would compare nothing."""
    kinds = {definition.rsplit(".", 1)[1] for definition in DEFINITIONS}

    assert kinds >= {"PodSpec", "Container", "Probe", "EnvVarSource", "NFSVolumeSource", "LabelSelector", "ObjectMeta"}


# The first pulumi_kubernetes with all fields of the Kubernetes version of the schemas; older versions lack some.
KNOWS_ALL = tuple(map(int, version("pulumi-kubernetes").split(".")[:2])) >= (4, 32)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_field_names_match_pulumi_kubernetes(definition: str) -> None:
    """Each snake_case name maps to the same field, as far as the installed version has it."""
    ours = schema.wire_names(definition)
    if not KNOWS_ALL and not has_args_class(definition):
        pytest.skip("this pulumi_kubernetes is older than the type")
    theirs = input_type_py_to_pulumi_names(args_class(definition))
    known = {name: wire for name, wire in ours.items() if KNOWS_ALL or name in theirs}

    assert known
    assert known.items() <= theirs.items()
