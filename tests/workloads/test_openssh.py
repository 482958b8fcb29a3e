"""Each Pod logs in to every other Pod without a password, by the ssh plugin."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import yaml

from tests.conftest import PAIR
from tests.workloads.conftest import Render, job, task
from tests.workloads.player import Cluster

SERVER = "mkdir -p /run/sshd && exec /usr/sbin/sshd -D -e -p {port}"
# Other users than root have no host keys and cannot read the shadow file.
USERS_SERVER = """
ssh-keygen -q -t ed25519 -N '' -f /tmp/host_key
exec /usr/sbin/sshd -D -e -p 2222 -h /tmp/host_key -o UsePAM=no -o PidFile=none
"""
USERS_HOME = "/home/mpiuser/.ssh"
AS_USER = {"runAsUser": 1000, "runAsGroup": 1000}


def as_root(workers: int = 2, port: int = 22, **plugins: list[str]) -> dict[str, Any]:
    """Return a job whose Pods run sshd as root."""
    arguments = [] if port == 22 else [f"--ssh-port={port}"]
    command = ("sh", "-ec", SERVER.format(port=port))
    tasks = {"login": task(1, *command), "worker": task(workers, *command)}
    return job("train", {"ssh": arguments, "svc": [], **plugins}, **tasks)


def as_user(**security: int) -> dict[str, Any]:
    """Return a job whose Pods run sshd on port 2222 as the user mpiuser."""
    command = ("sh", "-ec", USERS_SERVER)
    tasks = {name: task(2, *command, securityContext={**AS_USER, **security}) for name in ("login", "worker")}
    return job("train", {"ssh": [f"--ssh-key-file-path={USERS_HOME}", "--ssh-port=2222"], "svc": []}, **tasks)


def pods(cluster: Cluster) -> list[str]:
    """Return the names of all Pods after they are ready."""
    names = sorted(cluster.pods)
    cluster.wait_for("Ready", *names)
    return names


def log_in(cluster: Cluster, source: str, target: str) -> str:
    """Log in from one Pod to another, and return the host name there, or the error of ssh."""
    done = cluster.pods[source].execute("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", target, "hostname")
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def all_log_in(cluster: Cluster, *suffixes: str) -> None:
    """Log in from each Pod to every other, by each form of its name."""
    names = pods(cluster)

    def everybody_serves() -> bool:
        return all(log_in(cluster, names[0], name) == name for name in names)

    cluster.wait(everybody_serves, "sshd everywhere")
    for source, target in itertools.permutations(names, 2):
        for suffix in suffixes:
            assert log_in(cluster, source, f"{target}{suffix}") == target


def test_root_logs_in_by_both_names(cluster: Cluster, render: Render) -> None:
    """The configuration is that of Volcano, with port 22."""
    cluster.apply(render(as_root()))

    all_log_in(cluster, "", ".train")


def test_root_logs_in_on_another_port(cluster: Cluster, render: Render) -> None:
    """Volcano's configuration has the port for the short name only; the recommended one has it for both."""
    cluster.apply(render(as_root(port=2222)))
    all_log_in(cluster, "")
    assert "port 22: Connection refused" in log_in(cluster, "train-login-0", "train-worker-0.train")

    cluster.apply(render(as_root(port=2222), "--defaults", "recommended"), restart=True)
    all_log_in(cluster, "", ".train")


def test_login_works_after_a_scale(cluster: Cluster, render: Render) -> None:
    """Running Pods do not see the new configuration, but the patterns in the old one match new Pods."""
    keys = [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public}"]
    small, large = (as_root(workers, ssh=[*keys, "--ssh-port=2222"], port=2222) for workers in (1, 3))
    cluster.apply(render(small))
    all_log_in(cluster, "")
    cluster.apply(render(large))
    pods(cluster)
    assert "Could not resolve hostname" in log_in(cluster, "train-login-0", "train-worker-2")

    cluster.apply(render(small, "--defaults", "recommended"), restart=True)
    all_log_in(cluster, "", ".train")
    before = dict(cluster.pods)
    cluster.apply(render(large, "--defaults", "recommended"))

    all_log_in(cluster, "", ".train")
    assert before.items() < cluster.pods.items()


@pytest.mark.parametrize("security", [{}, {"fsGroup": 1000}], ids=["no group", "fsGroup"])
def test_another_user_can_log_in(cluster: Cluster, render: Render, security: dict[str, int]) -> None:
    """The recommended file modes work with and without an fsGroup."""
    cluster.apply(render(as_user(**security), "--defaults", "recommended"))

    all_log_in(cluster, "", ".train")


@pytest.mark.parametrize("key_type", ["ed25519", "ecdsa"])
def test_other_key_types_work(cluster: Cluster, render: Render, key_type: str) -> None:
    """Ssh finds them under their default file names."""
    cluster.apply(render(as_root(1), "--set", f"ssh.key_type={key_type}"))

    all_log_in(cluster, "", ".train")


def test_a_pair_of_an_existing_secret_works(cluster: Cluster, render: Render) -> None:
    """`key_secret` refers to a pair from `kubectl create secret`."""
    data = {"ssh-privatekey": PAIR.private, "ssh-publickey": PAIR.public}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "team"}, "stringData": data}
    cluster.apply(render(as_root(1), "--set", "ssh.key_secret=team") + b"---\n" + yaml.safe_dump(secret).encode())

    all_log_in(cluster, "", ".train")
    assert cluster.pods["train-login-0"].execute("cat", "/root/.ssh/id_rsa").stdout == PAIR.private


def test_a_rotated_pair_replaces_the_old_one(cluster: Cluster, render: Render) -> None:
    """Each rendering generates a pair; the new Pods reject the old one."""
    cluster.apply(render(as_root(1)))
    all_log_in(cluster, "", ".train")
    old = cluster.pods["train-login-0"].execute("cat", "/root/.ssh/id_rsa").stdout

    cluster.apply(render(as_root(1)), restart=True)

    all_log_in(cluster, "", ".train")
    assert old.startswith("-----BEGIN RSA PRIVATE KEY-----")
    script = "cat > /tmp/old; chmod 600 /tmp/old; ssh -o BatchMode=yes -o IdentitiesOnly=yes -i /tmp/old -F /dev/null"
    refused = cluster.pods["train-login-0"].execute(
        "sh", "-c", f"{script} -o StrictHostKeyChecking=no train-worker-0.train true", given=old
    )
    assert "Permission denied (publickey" in refused.stderr
