"""The player behaves like a kubelet, a CNI plugin and cluster DNS, and cleans up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deadlines import DEADLINE
from tests.workloads.player import Cluster, Image, Node, UnplayableError, read
from tests.workloads.player.pod import Container, PlayedPod

ROOT = Path(__file__).parents[2]
LEFT = """
import sys, time
sys.path.insert(0, {root!r})
from tests.workloads.player import Cluster, Node
cluster = Cluster(Node(), {{}}, 0)
cluster.apply(sys.stdin.buffer.read())
cluster.wait_for("Ready", "mine")
print("ready", flush=True)
time.sleep(3600)
"""


def pod(name: str, *command: str, container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Pod with one container in the domain `train`."""
    one = {"name": "main", "image": "machine", "command": list(command), **(container or {})}
    metadata = {"name": name, "labels": {"job": "train"}, "annotations": {"note": "text"}}
    defaults = {"hostname": name, "subdomain": "train", "restartPolicy": "Never"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**defaults, "containers": [one], **spec}}


def service(**spec: Any) -> dict[str, Any]:
    """Return the headless Service `train`."""
    base = {"clusterIP": "None", "selector": {"job": "train"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "train"}, "spec": {**base, **spec}}


def secret() -> dict[str, Any]:
    """Return a Secret with one key."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"id": "abc"}}


def claim() -> dict[str, Any]:
    """Return a claim that all nodes share."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}


def text(*manifests: dict[str, Any]) -> bytes:
    """Return manifests as YAML, as `volcano-jobs render` prints them."""
    return yaml.safe_dump_all(manifests).encode()


def output(cluster: Cluster, *manifests: dict[str, Any], name: str = "mine") -> str:
    """Run manifests to the end of a Pod, and return its output."""
    cluster.apply(text(*manifests))
    cluster.wait_for("Succeeded", name)
    return cluster.pods[name].log()


def test_variables_are_resolved_and_expanded(cluster: Cluster) -> None:
    """Order matters; unknown references are kept, and `$$` is a dollar sign."""
    env = [
        {"name": "A", "value": "$(B) $$(B) $(C)"},
        {"name": "B", "value": "b"},
        {"name": "D", "value": "$(B)$(B)"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "id"}}},
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "NOTE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['note']"}}},
    ]
    container = {"env": env, "args": ["$(D)", "$(X)", "$$(D)"]}
    command = ("sh", "-c", 'echo "$A|$B|$D|$KEY|$NAME|$NOTE|$HOSTNAME|$1|$2|$3"', "sh")

    assert output(cluster, secret(), pod("mine", *command, container=container)) == (
        "$(B) $(B) $(C)|b|bb|abc|mine|text|mine|bb|$(X)|$(D)\n"
    )


@pytest.mark.parametrize("parent", ["/tmp", "/var/tmp", "/opt"])
def test_an_image_has_its_folders_wherever_they_are(node: Node, parent: str) -> None:
    """The cache can be below /tmp, which is otherwise empty in an image. A container cannot change the folder."""
    with tempfile.TemporaryDirectory(dir=parent) as name:
        Path(name, "file").write_text("text")
        with contextlib.closing(Cluster(node, {"machine": Image(folders=[Path(name)])}, 0)) as cluster:
            assert output(cluster, pod("mine", "sh", "-c", f"cat {name}/file; touch {name}/file || true")) == (
                f"texttouch: cannot touch '{name}/file': Read-only file system\n"
            )


def test_the_bridge_keeps_its_hardware_address(cluster: Cluster, node: Node) -> None:
    """Otherwise it would use that of a Pod that starts later, and Pods would lose the name server."""
    addresses = []
    for count in (1, 4):
        cluster.apply(text(*(pod(f"mine-{index}", "sleep", "infinity") for index in range(count))))
        cluster.wait_for("Ready", *cluster.pods)
        addresses.append(json.loads(node.run(["ip", "-json", "link", "show", "pods"]))[0]["address"])

    assert addresses == ["02:00:00:00:00:01"] * 2


@pytest.mark.parametrize(
    ("security", "mode", "seen"),
    [
        ({}, 0o600, "600 0:0 root"),
        ({"fsGroup": 1000}, 0o600, "640 0:1000 root"),
        ({"fsGroup": 1000}, 0o400, "440 0:1000 root"),
        ({"runAsUser": 1000}, 0o644, "644 0:0 mpiuser"),
    ],
)
def test_files_of_secrets_have_modes_and_owners(
    cluster: Cluster, security: dict[str, int], mode: int, seen: str
) -> None:
    """Root owns them; an fsGroup becomes their group and can read them."""
    volume = {"name": "keys", "secret": {"secretName": "keys", "items": [{"key": "id", "path": ".ssh/id"}]}}
    volume["secret"]["defaultMode"] = mode  # type: ignore[index]
    mounts = [
        {"name": "keys", "mountPath": "/whole"},
        {"name": "keys", "mountPath": "/part", "subPath": ".ssh"},
    ]
    command = "stat -c '%a %u:%g' /part/id | tr '\\n' ' '; id -un; stat -Lc %a /whole; touch /part/x 2>&1 | tail -c 22"
    found = output(
        cluster,
        secret(),
        pod(
            "mine", "sh", "-c", command, container={"volumeMounts": mounts}, securityContext=security, volumes=[volume]
        ),
    )

    whole = "3777" if "fsGroup" in security else "1777"
    assert found == f"{seen}\n{whole}\nRead-only file system\n"


@pytest.mark.parametrize("is_published", [True, False])
def test_names_resolve_when_pods_are_ready(cluster: Cluster, is_published: bool) -> None:  # noqa: FBT001  # a table's column
    """With publishNotReadyAddresses they resolve at once."""
    probe = {"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1}
    other = pod("other", "sleep", "1000", container={"readinessProbe": probe})
    mine = pod("mine", "sleep", "1000")
    cluster.apply(text(service(publishNotReadyAddresses=is_published), other, mine))
    cluster.wait_for("Ready", "mine")
    cluster.wait_for("Running", "other")

    def resolves() -> bool:
        return cluster.pods["mine"].execute("getent", "hosts", "other.train").returncode == 0

    assert not cluster.pods["other"].is_ready
    if not is_published:
        assert not resolves()
        assert cluster.pods["other"].execute("touch", "/tmp/ready").returncode == 0
        cluster.wait_for("Ready", "other")
    cluster.wait(resolves, "address")
    assert cluster.pods["mine"].execute("getent", "hosts", "else.train").returncode == 2
    assert cluster.pods["mine"].execute("getent", "hosts", "example.org").returncode == 2


def test_a_pod_is_running_when_commands_can_be_run_in_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy node creates the container a second after the sandbox."""
    prepare = PlayedPod._prepare

    def late(self: PlayedPod, container: Container) -> Path:
        time.sleep(1)
        return prepare(self, container)

    monkeypatch.setattr(PlayedPod, "_prepare", late)
    cluster.apply(text(pod("mine", "sleep", "1000")))
    cluster.wait_for("Running", "mine")

    assert cluster.pods["mine"].execute("true").returncode == 0


@pytest.mark.parametrize(
    ("policy", "phase", "codes"),
    [("Never", "Failed", [3]), ("OnFailure", "Succeeded", [3, 0])],
)
def test_containers_restart_by_the_restart_policy(cluster: Cluster, policy: str, phase: str, codes: list[int]) -> None:
    """Files in a volume survive a restart, other files do not."""
    command = "test -e /tmp/seen && exit 9; touch /tmp/seen; test -e /kept/seen && exit 0; touch /kept/seen; exit 3"
    container = {"volumeMounts": [{"name": "kept", "mountPath": "/kept"}]}
    volumes = [{"name": "kept", "emptyDir": {}}]
    cluster.apply(text(pod("mine", "sh", "-c", command, container=container, volumes=volumes, restartPolicy=policy)))
    cluster.wait_for(phase, "mine")

    assert cluster.pods["mine"].containers[0].exit_codes == codes


def test_probes_run_independently(cluster: Cluster) -> None:
    """A delayed liveness probe delays neither readiness nor the end; a failed one kills the container."""
    probes = {
        "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1},
        "livenessProbe": {"exec": {"command": ["test", "!", "-e", "/tmp/hangs"]}, "periodSeconds": 1},
    }
    late = {**probes, "livenessProbe": {"exec": {"command": ["false"]}, "initialDelaySeconds": 600}}
    pods = {"mine": probes, "late": late}
    cluster.apply(
        text(*(pod(name, "sleep", "1000", container=one, restartPolicy="OnFailure") for name, one in pods.items()))
    )
    cluster.wait_for("Ready", "mine", "late")

    assert cluster.pods["mine"].execute("touch", "/tmp/hangs").returncode == 0
    cluster.pods["late"].kill()

    cluster.wait(lambda: all(one.containers[0].restarts == 1 for one in cluster.pods.values()), "restarts")
    cluster.wait_for("Ready", "mine", "late")
    assert [one.containers[0].exit_codes for one in cluster.pods.values()] == [[137], [137]]


def test_a_container_that_starts_while_its_pod_is_stopped_ends(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Pod was about to restart it."""
    prepare = PlayedPod._prepare
    stops = []

    def stop_at_the_restart(played: PlayedPod, container: Container) -> Path:
        if container.exit_codes and not stops:
            stops.append(threading.Thread(target=played.stop))
            stops[0].start()
            # Long enough for the first signal.
            time.sleep(0.5)
        return prepare(played, container)

    monkeypatch.setattr(PlayedPod, "_prepare", stop_at_the_restart)
    cluster.apply(text(pod("mine", "sleep", "1000", restartPolicy="OnFailure")))
    cluster.wait_for("Ready", "mine")
    mine = cluster.pods["mine"]

    mine.kill()

    cluster.wait(lambda: len(mine.containers[0].exit_codes) == 2, "end")
    stops[0].join()


def test_the_node_removes_ended_processes(node: Node) -> None:
    """When crun runs a command in a container that is killed, it leaves a process, and the container would not end."""
    node.run(["sh", "-c", "sleep 0.1 &"])

    assert [words for words in _processes(node) if words[0] == "1" and words[1].startswith("Z")] == []


def test_probes_ask_a_port(cluster: Cluster) -> None:
    """A TCP probe needs a listener, and an HTTP probe a page that exists."""
    probes = {
        "listens": {"tcpSocket": {"port": 8080}},
        "listens-elsewhere": {"tcpSocket": {"port": 8081}},
        "has-page": {"httpGet": {"port": 8080, "path": "/etc/hosts"}},
        "has-no-page": {"httpGet": {"port": 8080, "path": "/missing"}},
    }
    serve = ("python3", "-um", "http.server", "8080")
    cluster.apply(
        text(
            *(
                pod(name, *serve, container={"readinessProbe": {**one, "periodSeconds": 1}})
                for name, one in probes.items()
            )
        )
    )
    cluster.wait_for("Ready", "listens", "has-page")
    cluster.wait(lambda: cluster.pods["has-no-page"].log().count('"GET /missing') > 1, "second probe")

    assert {name for name, played in cluster.pods.items() if played.is_ready} == {"listens", "has-page"}


def test_a_probe_that_is_too_slow_is_killed(cluster: Cluster, node: Node) -> None:
    """It does not stay in its container."""
    probe = {"exec": {"command": ["sleep", "1234567"]}, "periodSeconds": 1}
    cluster.apply(text(pod("mine", "sleep", "1000", container={"readinessProbe": probe})))
    cluster.wait_for("Running", "mine")

    started = cluster.pods["mine"]._files
    cluster.wait(lambda: len(list(started.glob("exec-*.json"))) > 2, "third probe")

    # The last probe may still run.
    assert sum(words[2] == "sleep 1234567" for words in _processes(node)) <= 1
    assert not cluster.pods["mine"].is_ready


def test_init_containers_run_first_one_by_one(cluster: Cluster) -> None:
    """A failed one is restarted, or ends the Pod if its policy is Never."""
    volumes = [{"name": "kept", "emptyDir": {}}]
    mounts = [{"name": "kept", "mountPath": "/kept"}]
    first = "test -e /kept/seen || { touch /kept/seen; exit 1; }; echo first >> /kept/order"
    init = [
        {"name": name, "image": "machine", "command": ["sh", "-c", script], "volumeMounts": mounts}
        for name, script in (("first", first), ("second", "echo second >> /kept/order"))
    ]
    parts: dict[str, Any] = {"container": {"volumeMounts": mounts}, "volumes": volumes, "initContainers": init}

    assert output(cluster, pod("mine", "cat", "/kept/order", restartPolicy="OnFailure", **parts)) == "first\nsecond\n"

    cluster.apply(text(pod("mine", "cat", "/kept/order", **parts)))
    cluster.wait_for("Failed", "mine")
    assert cluster.pods["mine"].containers[0].exit_codes == []


def test_only_mounts_of_a_whole_volume_are_updated(cluster: Cluster) -> None:
    """A kubelet does the same."""
    volumes = [{"name": "hosts", "configMap": {"name": "hosts"}}]
    mounts = [{"name": "hosts", "mountPath": "/whole"}, {"name": "hosts", "mountPath": "/a", "subPath": "a"}]
    one = pod("mine", "sleep", "1000", container={"volumeMounts": mounts}, volumes=volumes)
    for value in ("1", "2"):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hosts"}, "data": {"a": value}}
        cluster.apply(text(config, one))
        cluster.wait_for("Ready", "mine")

    assert cluster.pods["mine"].execute("cat", "/whole/a", "/a").stdout == "21"


def test_pods_share_the_data_of_a_claim_until_it_is_deleted(cluster: Cluster) -> None:
    """The data survives the Pods, and a new claim of the same name is empty."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    container = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}

    def with_claim(name: str, command: str) -> dict[str, Any]:
        return pod(name, "sh", "-c", command, container=container, volumes=volumes)

    reader = with_claim("mine", "until cat /data/words; do sleep 0.1; done")
    first = output(cluster, claim(), with_claim("other", "echo kept > /data/words"), reader)
    again = output(cluster, claim(), with_claim("third", "cat /data/words"), name="third")
    cluster.apply(b"")

    assert (first.splitlines()[-1], again) == ("kept", "kept\n")
    assert output(cluster, claim(), with_claim("mine", "ls /data")) == ""


def test_unsupported_fields_are_rejected() -> None:
    """No part of a manifest is ignored."""
    with pytest.raises(UnplayableError, match="mine: this player does not know hostPID"):
        read(text(pod("mine", "true", hostPID=True)))
    with pytest.raises(UnplayableError, match="mine: main: this player does not know lifecycle"):
        read(text(pod("mine", "true", container={"lifecycle": {}})))


def test_killing_the_player_ends_all_processes() -> None:
    """Pods, mounts and networks are in namespaces that end with it."""
    mark = f"{os.getpid()}1000"
    left = subprocess.Popen(
        [sys.executable, "-c", LEFT.format(root=str(ROOT))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with left:
        assert left.stdin is not None
        assert left.stdout is not None
        left.stdin.write(text(pod("mine", "sleep", mark)))
        left.stdin.close()
        assert left.stdout.readline() == b"ready\n"
        assert _runs(mark)
        left.send_signal(signal.SIGKILL)

    end = time.monotonic() + DEADLINE
    while _runs(mark) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _runs(mark)
    assert "overlay /mnt" not in Path("/proc/self/mounts").read_text("utf-8")


def _processes(node: Node) -> list[list[str]]:
    """Return the parent, the state and the command of each process of a node."""
    return [line.split(maxsplit=2) for line in node.run(["ps", "-eo", "ppid=,stat=,args="]).splitlines()]


def _runs(mark: str) -> bool:
    """Return whether a process sleeps for this duration."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == f"sleep\0{mark}\0".encode():
                return True
        except OSError:
            continue
    return False
