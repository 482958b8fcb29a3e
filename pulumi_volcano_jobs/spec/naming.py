"""Names of the Pods, hosts, objects and variables of a job.

Upstream: `helpers.MakePodName` and `helpers.MakeDomainName` of Volcano's job controller.
"""

from __future__ import annotations

import re
from hashlib import sha256

from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN
from pulumi_volcano_jobs.spec.model import Task

HOSTS_PATH = "/etc/volcano"
"""The path where the svc plugin mounts the host lists."""


def pod(job: str, task: str, index: int) -> str:
    """Return the name of a task's Pod, by its replica index (from 0)."""
    return f"{job}-{task}-{index}"


def host(job: str, task: Task, index: int) -> str:
    """Return the host name of a Pod: the template's hostname, or the name of the Pod."""
    hostname: str = task.pod_spec.get("hostname") or ""
    return hostname or pod(job, task.name or "", index)


def subdomain(job: str, task: Task) -> str:
    """Return the subdomain of a task's Pods: the template's subdomain, or the name of the headless Service."""
    template_subdomain: str = task.pod_spec.get("subdomain") or ""
    return template_subdomain or job


def address(job: str, task: Task, index: int) -> str:
    """Return the address of a Pod inside its namespace."""
    return f"{host(job, task, index)}.{subdomain(job, task)}"


def has_fixed_host(task: Task) -> bool:
    """Check whether all Pods of the task have the same hostname."""
    return bool(task.pod_spec.get("hostname"))


def all_addresses(job: str, task: Task) -> list[str]:
    """Return an address for each replica; a fixed hostname is repeated."""
    if has_fixed_host(task):
        return [address(job, task, 0)] * task.size
    domain, stem = subdomain(job, task), f"{job}-{task.name}"
    return [f"{stem}-{index}.{domain}" for index in range(task.size)]


def addresses(job: str, task: Task) -> list[str]:
    """Return the distinct addresses of a task: one if its hostname is fixed, none with 0 replicas."""
    return all_addresses(job, task)[:1] if has_fixed_host(task) else all_addresses(job, task)


def env_key(task: str) -> str:
    """Return a task's name as part of the name of a variable, which may not contain `-`."""
    return task.replace("-", "_")


def hosts_variable(task: str) -> str:
    """Return the name of the variable with the addresses of a task."""
    return f"VC_{env_key(task).upper()}_HOSTS"


def number_variable(task: str) -> str:
    """Return the name of the variable with the number of addresses of a task."""
    return f"VC_{env_key(task).upper()}_NUM"


POD_NAME, POD_ADDRESS = "VC_POD_NAME", "VC_POD_ADDRESS"
"""The variables with the Pod's name and address."""


def host_file(task: str) -> str:
    """Return the name of the file with the addresses of a task, below /etc/volcano."""
    return f"{env_key(task)}.host"


def pod_group(job: str) -> str:
    """Return the name of a job's PodGroup: the job's name and a digest of it.

    Volcano's job controller edits a PodGroup that has the name of a Job, so a Job of the same name in the cluster would
    change the gang. No Job has this name.
    """
    return f"{job}-{_digest(job)}"


def job_of(pod_group: str) -> str:
    """Return the name of the job that a PodGroup belongs to."""
    return pod_group.rpartition("-")[0]


def claim(job: str, mount_path: str) -> str:
    """Return the name of a new claim. It depends on the path, so that the order of the volumes does not change it."""
    name = _of_path(job, mount_path)
    is_valid = len(name) <= MAX_SUBDOMAIN and re.fullmatch(DNS_SUBDOMAIN, name)
    return name if is_valid else f"{job}-{_short(mount_path)}"


def volume(job: str, mount_path: str) -> str:
    """Return the name of the volume that Pods mount at a path of the job, whether or not the claim is new.

    It is the name of a new claim, unless a volume cannot have this name because of dots or its length.
    """
    name = claim(job, mount_path)
    return name if len(name) <= MAX_LABEL and re.fullmatch(DNS_LABEL, name) else _short(mount_path)


def _of_path(job: str, mount_path: str) -> str:
    plain = mount_path.strip("/")
    if plain and plain == _readable(mount_path):
        return f"{job}-pvc-{plain}"
    return f"{job}-{_short(mount_path)}".replace("--", "-")


def _short(mount_path: str) -> str:
    start = _readable(mount_path)[:20].strip("-")
    return f"pvc-{start}-{_digest(mount_path)}" if start else f"pvc-{_digest(mount_path)}"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _readable(mount_path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", mount_path.lower()).strip("-")


def ssh_secret(job: str) -> str:
    """Return the name of the ssh plugin's Secret."""
    return f"{job}-ssh"


def svc_config_map(job: str) -> str:
    """Return the name of the svc plugin's ConfigMap."""
    return f"{job}-svc"


def allow_policy(job: str, task: str) -> str:
    """Return the name of the svc plugin's NetworkPolicy that allows other Pods to connect, to all Pods or to a task."""
    return f"{job}-allow-{task}" if task else f"{job}-allow"


def mpi_config_map(job: str) -> str:
    """Return the name of the ConfigMap with the mpi plugin's host file."""
    return f"{job}-mpi"


def head_service(job: str) -> str:
    """Return the name of the ray plugin's Service."""
    return f"{job}-head-svc"
