"""A program without the library that creates the same resources in the simplest way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

# Any: like most programs, this one passes plain dicts, which type checkers reject.
k8s: Any = pulumi_kubernetes
JOB = "train"
SELECTOR = {"volcano.sh/job-name": JOB, "volcano.sh/job-namespace": "default"}
# `up` returns while the gang waits for nodes, as with the component.
NO_WAIT = {"pulumi.com/waitFor": "jsonpath={.metadata.uid}"}
KEYS = ("id_rsa", "id_rsa.pub", "authorized_keys", "config")


def make(tasks: Sequence[dict[str, Any]]) -> None:
    """Create the resources of a PyTorch job with a master and workers."""
    hosts = {task["name"]: [f"{JOB}-{task['name']}-{at}" for at in range(task["replicas"])] for task in tasks}
    before = _objects(hosts)
    names = [f"VC_{task.upper()}_{what}" for task in hosts for what in ("HOSTS", "NUM")]
    size = sum(map(len, hosts.values()))
    rank = 0
    for task in tasks:
        for index in range(task["replicas"]):
            _pod(task, index, names, size, rank, before)
            rank += 1


def _objects(hosts: dict[str, list[str]]) -> list[pulumi.Resource]:
    metadata = {"name": JOB, "namespace": "default"}
    private, public = _pair()
    lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    data: dict[str, str] = {}
    for task, found in hosts.items():
        addresses = [f"{host}.{JOB}" for host in found]
        data[f"{task}.host"] = "\n".join(addresses)
        data[f"VC_{task.upper()}_HOSTS"] = ",".join(addresses)
        data[f"VC_{task.upper()}_NUM"] = str(len(found))
        for host, address in zip(found, addresses, strict=True):
            lines += [f"Host {host}", f"  HostName {address}", "  Port 22"]
    config = "\n".join(lines) + "\n"
    secret = {"id_rsa": private, "id_rsa.pub": public, "authorized_keys": public, "config": config}
    size = sum(map(len, hosts.values()))
    return [
        k8s.core.v1.Secret(
            f"{JOB}-ssh",
            metadata={**metadata, "name": f"{JOB}-ssh"},
            string_data=pulumi.Output.secret(secret),
        ),
        k8s.core.v1.ConfigMap(f"{JOB}-svc", metadata={**metadata, "name": f"{JOB}-svc"}, data=data),
        k8s.core.v1.Service(
            JOB,
            metadata={**metadata, "annotations": NO_WAIT},
            spec={"clusterIP": "None", "selector": SELECTOR},
        ),
        k8s.networking.v1.NetworkPolicy(
            JOB,
            metadata=metadata,
            spec={
                "podSelector": {"matchLabels": SELECTOR},
                "ingress": [{"from": [{"podSelector": {"matchLabels": SELECTOR}}]}],
                "policyTypes": ["Ingress"],
            },
        ),
        k8s.apiextensions.CustomResource(
            JOB,
            api_version="scheduling.volcano.sh/v1beta1",
            kind="PodGroup",
            metadata=metadata,
            spec={"minMember": size, "minTaskMember": {task: len(found) for task, found in hosts.items()}},
        ),
    ]


def _pair() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode()


def _pod(
    task: dict[str, Any],
    index: int,
    names: Sequence[str],
    size: int,
    rank: int,
    before: Sequence[pulumi.Resource],
) -> None:
    name = f"{JOB}-{task['name']}-{index}"
    place = {
        "volcano.sh/task-spec": task["name"],
        "volcano.sh/task-index": str(index),
        "volcano.sh/queue-name": "default",
    }
    group = {
        "scheduling.k8s.io/group-name": JOB,
        "volcano.sh/job-name": JOB,
        "volcano.sh/job-retry-count": "0",
        "volcano.sh/job-version": "0",
        "volcano.sh/template-uid": f"{JOB}-{task['name']}",
    }
    template = task["template"]["spec"]
    hosts = [
        {"name": variable, "valueFrom": {"configMapKeyRef": {"key": variable, "name": f"{JOB}-svc"}}}
        for variable in names
    ]
    values = {
        "MASTER_ADDR": f"{JOB}-master-0.{JOB}",
        "MASTER_PORT": "23456",
        "WORLD_SIZE": str(size),
        "RANK": str(rank),
    }
    places = [{"name": variable, "value": str(index)} for variable in ("VK_TASK_INDEX", "VC_TASK_INDEX")]
    world = [{"name": variable, "value": value} for variable, value in values.items()]
    mounts = [
        {"name": f"{JOB}-ssh", "mountPath": "/root/.ssh", "subPath": ".ssh"},
        {"name": f"{JOB}-svc", "mountPath": "/etc/volcano"},
    ]
    containers = [
        {
            **container,
            "env": [*container["env"], *places, *hosts, *world],
            "ports": [{"name": "pytorchjob-port", "containerPort": 23456}],
            "volumeMounts": mounts,
        }
        for container in template["containers"]
    ]
    items = [{"key": key, "path": f".ssh/{key}"} for key in KEYS]
    volumes = [
        {"name": f"{JOB}-ssh", "secret": {"secretName": f"{JOB}-ssh", "items": items, "defaultMode": 0o600}},
        {"name": f"{JOB}-svc", "configMap": {"name": f"{JOB}-svc"}},
    ]
    k8s.core.v1.Pod(
        name,
        metadata={
            "name": name,
            "namespace": "default",
            "labels": {**SELECTOR, **place},
            "annotations": {**NO_WAIT, **group, **place},
        },
        spec={
            **template,
            "containers": containers,
            "volumes": volumes,
            "hostname": name,
            "subdomain": JOB,
            "schedulerName": "volcano",
        },
        opts=pulumi.ResourceOptions(depends_on=list(before)),
    )
