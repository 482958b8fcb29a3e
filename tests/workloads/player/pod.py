"""A running Pod: its sandbox, init containers and containers, restarts, probes and termination."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.deadlines import DEADLINE
from tests.workloads.player import node as nodes
from tests.workloads.player import oci, volumes
from tests.workloads.player.environment import expand, resolve
from tests.workloads.player.image import Image
from tests.workloads.player.manifests import Manifest, UnplayableError
from tests.workloads.player.node import Node

BACKOFF = 2.0
"""Seconds before a container restarts; a kubelet starts with 10."""
GRACE = 2.0
"""Seconds between TERM and KILL; 30 by default with a kubelet."""
MESSAGE = 2048
"""Number of log bytes in the error of a failed container."""
HOSTS = """127.0.0.1 localhost
{address} {names}
"""
RESOLVER = """search {namespace}.svc.{domain} svc.{domain} {domain}
nameserver {nameserver}
options ndots:5
"""


@dataclass
class Container:
    """State of a container."""

    manifest: Mapping[str, Any]
    log: Path
    restarts: int = 0
    exit_codes: list[int] = field(default_factory=list)
    is_created: bool = False
    """Whether its first run has begun, so that commands can be run in it."""
    is_running: bool = False
    is_ready: bool = False
    message: str = ""
    """Message of the last failed run, by terminationMessagePolicy, as in `kubectl describe pod`."""
    id: str = ""
    process: Mapping[str, Any] = field(default_factory=dict)
    """The process that crun runs in it."""


class PlayedPod:
    """A Pod from its start to its end."""

    def __init__(
        self,
        manifest: Manifest,
        node: Node,
        objects: Callable[[], Mapping[tuple[str, str, str], Manifest]],
        images: Mapping[str, Image],
        changed: Callable[[], None],
    ) -> None:
        """Use these objects; `changed` is called for each change of readiness or phase."""
        metadata, spec = manifest["metadata"], manifest["spec"]
        self.manifest = manifest
        self.name: str = metadata["name"]
        self.namespace: str = metadata.get("namespace", "default")
        self.phase = "Pending"
        self.problem = ""
        self.address = ""
        self._node, self._objects, self._images, self._changed = node, objects, images, changed
        self._folder = nodes.SCRATCH / "pods" / f"{self.namespace}_{self.name}_{time.monotonic_ns()}"
        self._files = node.files / self._folder.relative_to(nodes.SCRATCH)
        self._files.mkdir(parents=True)
        self.init = [self._container(one) for one in spec.get("initContainers", [])]
        self.containers = [self._container(one) for one in spec["containers"]]
        self._numbers = itertools.count()
        self.sandbox = 0
        """The process whose network, host name and shared memory its containers share."""
        self._is_going = threading.Event()
        self._delay = 0.0
        self._thread = threading.Thread(target=self._play, name=self.name, daemon=True)

    @property
    def is_ready(self) -> bool:
        """Whether the Pod runs and all its containers are ready."""
        return self.phase == "Running" and all(container.is_ready for container in self.containers)

    @property
    def has_ended(self) -> bool:
        """Whether the Pod has ended for good."""
        return self.phase in {"Succeeded", "Failed"} or self._is_going.is_set()

    def start(self, delay: float = 0) -> None:
        """Start the Pod after a delay, in its own thread."""
        self._delay = delay
        self._thread.start()

    def stop(self) -> None:
        """End the Pod as a deletion does."""
        self._is_going.set()
        self._changed()
        now = time.monotonic()
        grace, end = now + GRACE, now + DEADLINE
        asked = set()
        # A container may start after the first signal, if the Pod was about to restart it.
        while self._thread.is_alive():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name} did not end in {DEADLINE} s")
            has_time = time.monotonic() < grace
            for container in [*self.init, *self.containers]:
                if container.is_running and not (has_time and container.id in asked):
                    self._kill(container, "TERM" if has_time else "KILL")
                    asked.add(container.id)
            self._thread.join(0.1)

    def kill(self, container: str = "") -> None:
        """Kill the processes of a container (the first by default), as the node does when it runs out of memory."""
        self._kill(self._named(container), "KILL")

    def log(self, container: str = "") -> str:
        """Return the output of a container over all its runs; the default is the first one."""
        path = self._named(container).log
        return path.read_text(errors="replace") if path.exists() else ""

    def execute(
        self, *command: str, container: str = "", given: str = "", timeout: float = DEADLINE
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a running container, as `kubectl exec` does."""
        done = self._node.command(self._entering(self._named(container), command))
        return subprocess.run(done, input=given, capture_output=True, text=True, check=False, timeout=timeout)

    def follow(self) -> None:
        """Update its volumes, as the kubelet does for a changed Secret or ConfigMap."""
        if self.sandbox and not self.has_ended:
            self._write_volumes()

    def _container(self, manifest: Mapping[str, Any]) -> Container:
        return Container(manifest, self._files / f"{manifest['name']}.log")

    def _named(self, name: str) -> Container:
        if not name:
            return self.containers[0]
        return next(one for one in [*self.init, *self.containers] if one.manifest["name"] == name)

    def _crun(self, verb: str) -> list[str]:
        return ["crun", "--cgroup-manager=disabled", f"--root={nodes.SCRATCH}/crun", verb]

    def _entering(self, container: Container, command: Sequence[str]) -> list[str]:
        """Return the node's command that runs another one in a container, with its user and variables."""
        process = {**container.process, "args": list(command)}
        number = next(self._numbers)
        (self._files / f"exec-{number}.json").write_text(json.dumps(process))
        return [*self._crun("exec"), f"--process={self._folder}/exec-{number}.json", container.id]

    def _kill(self, container: Container, name: str) -> None:
        command = self._node.command([*self._crun("kill"), container.id, name])
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def _play(self) -> None:
        spec = self.manifest["spec"]
        if self._is_going.wait(self._delay):
            return
        try:
            with self._node.sandbox(spec.get("hostname") or self.name) as (self.sandbox, self.address):
                self._write_volumes()
                self._write_names()
                if self._play_init():
                    self._play_containers()
        except Exception as error:  # noqa: BLE001  # told by `Cluster.wait`, and by the end of the test
            self.problem = f"{self.name}: {type(error).__name__}: {error}"
            self._become("Failed")
        finally:
            self._changed()

    def _become(self, phase: str) -> None:
        self.phase = phase
        self._changed()

    def _play_init(self) -> bool:
        restarts = self.manifest["spec"].get("restartPolicy", "Always") != "Never"
        for container in self.init:
            while self._run(container) != 0:
                if self._is_going.is_set() or not restarts:
                    self._become("Failed")
                    return False
                container.restarts += 1
                self._is_going.wait(BACKOFF)
            if self._is_going.is_set():
                return False
        return True

    def _play_containers(self) -> None:
        with ThreadPoolExecutor(len(self.containers)) as pool:
            list(pool.map(self._keep, self.containers))
        failed = any(container.exit_codes[-1] != 0 for container in self.containers)
        self._become("Failed" if failed else "Succeeded")

    def _keep(self, container: Container) -> None:
        """Run a container, and restart it according to the restartPolicy of its Pod."""
        policy = self.manifest["spec"].get("restartPolicy", "Always")
        while True:
            code = self._run(container)
            again = policy == "Always" or (policy == "OnFailure" and code != 0)
            if self._is_going.is_set() or not again:
                return
            self._is_going.wait(BACKOFF)
            if self._is_going.is_set():
                return
            container.restarts += 1

    def _run(self, container: Container) -> int:
        bundle = self._prepare(container)
        with container.log.open("ab") as log:
            printed = log.tell()
            process = self._node.start(
                [*self._crun("run"), f"--bundle={bundle}", container.id], stdout=log.fileno(), stderr=subprocess.STDOUT
            )
        container.is_running = True
        probes = threading.Thread(target=self._probe, args=[container, process], daemon=True)
        probes.start()
        code = process.wait()
        container.is_running = container.is_ready = False
        container.exit_codes.append(code)
        by_log = container.manifest.get("terminationMessagePolicy") == "FallbackToLogsOnError"
        # No program here writes the first file that a kubelet reads, /dev/termination-log.
        said = container.log.read_bytes()[printed:] if by_log and code else b""
        container.message = said[-MESSAGE:].decode(errors="replace")
        probes.join()
        self._changed()
        return code

    def _prepare(self, container: Container) -> Path:
        manifest = container.manifest
        run = f"{manifest['name']}-{len(container.exit_codes)}"
        container.id = f"{self._folder.name}_{run}"
        image = self._images.get(manifest["image"], Image())
        bundle, files = self._folder / run, self._files / run
        for folder in ("upper", "work", "root"):
            (files / folder).mkdir(parents=True)
        lower = f"{self._node.layer(image.layer)}:/" if image.layer else "/"
        options = f"lowerdir={lower},upperdir={bundle}/upper,workdir={bundle}/work"
        self._node.run(["mount", "-t", "overlay", "overlay", "-o", options, str(bundle / "root")])
        env = {**image.env, **self._variables(manifest)}
        command = manifest.get("command") or image.entrypoint
        arguments = [expand(text, env) for text in [*command, *manifest.get("args", [])]]
        if not arguments:
            raise UnplayableError(f"{manifest['name']} has no command, and neither has its image {manifest['image']}")
        config = oci.config(
            bundle / "root",
            arguments,
            env,
            [*(oci.Bind(str(path), path, read_only=True) for path in image.folders), *self._binds(manifest)],
            user=self._user(manifest),
            sandbox=self.sandbox,
            folder=manifest.get("workingDir", "/"),
            security=manifest.get("securityContext", {}),
        )
        container.process = config["process"]
        (files / "config.json").write_text(json.dumps(config))
        return bundle

    def _variables(self, container: Mapping[str, Any]) -> dict[str, str]:
        status = {"status.podIP": self.address, "status.hostIP": nodes.ADDRESS, "spec.nodeName": "node"}
        hostname = self.manifest["spec"].get("hostname") or self.name
        return {"HOSTNAME": hostname, **resolve(container, self.manifest, self._objects(), status)}

    def _user(self, container: Mapping[str, Any]) -> oci.User:
        of_pod = self.manifest["spec"].get("securityContext", {})
        security = {**of_pod, **container.get("securityContext", {})}
        uid = security.get("runAsUser", 0)
        if uid == 0 and security.get("runAsNonRoot"):
            raise UnplayableError(f"{self.name}: runAsNonRoot, and the image's user is root")
        groups = [*of_pod.get("supplementalGroups", []), *([of_pod["fsGroup"]] if "fsGroup" in of_pod else [])]
        return oci.User(uid, security.get("runAsGroup", 0 if uid == 0 else uid), groups)

    def _binds(self, container: Mapping[str, Any]) -> list[oci.Bind]:
        kinds = {volume["name"]: volumes.kind_of(volume) for volume in self.manifest["spec"].get("volumes", [])}
        binds = [
            oci.Bind("/dev/shm", self._folder / "shm"),
            *(oci.Bind(f"/etc/{name}", self._folder / name) for name in ("hosts", "hostname", "resolv.conf")),
        ]
        # Mounts can be nested.
        for mount in sorted(container.get("volumeMounts", []), key=lambda mount: mount["mountPath"]):
            source = volumes.source_of(self._files / "volumes" / mount["name"], mount.get("subPath", ""))
            read_only = mount.get("readOnly", False) or kinds[mount["name"]] in volumes.READ_ONLY
            binds = [bind for bind in binds if bind.target != mount["mountPath"]]
            binds.append(oci.Bind(mount["mountPath"], nodes.SCRATCH / source.relative_to(self._node.files), read_only))
        return binds

    def _write_volumes(self) -> None:
        spec = self.manifest["spec"]
        group = spec.get("securityContext", {}).get("fsGroup")
        for volume in spec.get("volumes", []):
            folder = self._files / "volumes" / volume["name"]
            source = volume.get("emptyDir") or {}
            if source.get("medium") == "Memory" and not folder.exists():
                folder.mkdir(parents=True)
                size = f"size={_bytes(source['sizeLimit'])}," if "sizeLimit" in source else ""
                where = self._folder / "volumes" / volume["name"]
                self._node.run(["mount", "-t", "tmpfs", "-o", f"{size}mode=0777", "memory", str(where)])
            while True:
                try:
                    volumes.write(volume, folder, self.namespace, self._objects(), group)
                    break
                except KeyError:
                    # A kubelet waits for a missing Secret, ConfigMap or claim.
                    if self._is_going.wait(0.2):
                        raise

    def _write_names(self) -> None:
        spec = self.manifest["spec"]
        hostname = spec.get("hostname") or self.name
        full = f"{hostname}.{spec['subdomain']}.{self.namespace}.svc.{nodes.DOMAIN} " if "subdomain" in spec else ""
        (self._files / "hosts").write_text(HOSTS.format(address=self.address, names=f"{full}{hostname}"))
        (self._files / "hostname").write_text(f"{hostname}\n")
        text = RESOLVER.format(namespace=self.namespace, domain=nodes.DOMAIN, nameserver=nodes.NAMESERVER)
        (self._files / "resolv.conf").write_text(text)
        (self._files / "shm").mkdir()
        self._node.run(["mount", "-t", "tmpfs", "-o", "mode=1777,size=64m", "shm", str(self._folder / "shm")])

    def _probe(self, container: Container, process: subprocess.Popen[str]) -> None:
        """Run the probes while the container runs; without a readiness probe it is ready at once.

        The Pod is running when all its containers are created.
        """
        manifest = container.manifest
        # crun cannot enter it earlier.
        status = self._node.files / "crun" / container.id / "status"
        while process.poll() is None and not status.exists():
            time.sleep(0.01)
        container.is_created = True
        if self.phase == "Pending" and all(one.is_created for one in self.containers):
            self._become("Running")
        started = manifest.get("startupProbe") is None or self._until(manifest["startupProbe"], container, process)
        if not started:
            return
        watches = [("livenessProbe", self._watch_life), ("readinessProbe", self._watch_readiness)]
        threads = [
            threading.Thread(target=watch, args=[manifest[name], container, process], daemon=True)
            for name, watch in watches
            if name in manifest
        ]
        if "readinessProbe" not in manifest:
            self._tell_ready(container, process, ready=True)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _watch_readiness(self, probe: Mapping[str, Any], container: Container, process: subprocess.Popen[str]) -> None:
        for failures in self._failures(probe, container, process):
            if failures == 0 or failures >= probe.get("failureThreshold", 3):
                self._tell_ready(container, process, ready=failures == 0)

    def _watch_life(self, probe: Mapping[str, Any], container: Container, process: subprocess.Popen[str]) -> None:
        for failures in self._failures(probe, container, process):
            if failures >= probe.get("failureThreshold", 3):
                self._kill(container, "KILL")

    def _failures(
        self, probe: Mapping[str, Any], container: Container, process: subprocess.Popen[str]
    ) -> Iterator[int]:
        """Run a probe while the container runs, and yield the number of consecutive failures each time."""
        failures = 0
        delay = probe.get("initialDelaySeconds", 0)
        while _runs_for(delay, process):
            failures = 0 if self._asks(probe, container) else failures + 1
            yield failures
            delay = probe.get("periodSeconds", 10)

    def _until(self, probe: Mapping[str, Any], container: Container, process: subprocess.Popen[str]) -> bool:
        for _ in range(probe.get("failureThreshold", 3)):
            if not _runs_for(probe.get("periodSeconds", 10), process):
                return False
            if self._asks(probe, container):
                return True
        self._kill(container, "KILL")
        return False

    def _tell_ready(self, container: Container, process: subprocess.Popen[str], *, ready: bool) -> None:
        if container.is_ready != ready and process.poll() is None:
            container.is_ready = ready
            self._changed()

    def _asks(self, probe: Mapping[str, Any], container: Container) -> bool:
        """Run a probe once."""
        # A timeout of subprocess.run would only kill nsenter, and the command would go on.
        limit = ["/usr/bin/timeout", "--signal=KILL", str(probe.get("timeoutSeconds", 1))]
        if "exec" in probe:
            command = self._entering(container, [*limit, *probe["exec"]["command"]])
        elif "tcpSocket" in probe:
            command = [*limit, "curl", "-s", f"telnet://{self._at(probe['tcpSocket'], container)}"]
        elif "httpGet" in probe:
            wanted = probe["httpGet"]
            url = f"http://{self._at(wanted, container)}{wanted.get('path', '/')}"
            command = [*limit, "curl", "-sf", "-o", "/dev/null", url]
        else:
            raise UnplayableError(f"{self.name}: a probe of an unknown kind: {', '.join(probe)}")
        command = self._node.command(command)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=DEADLINE)
        # A TCP probe needs a connection that stays open until the end of the time.
        return done.returncode == (-signal.SIGKILL if "tcpSocket" in probe else 0)

    def _at(self, wanted: Mapping[str, Any], container: Container) -> str:
        port = wanted["port"]
        if isinstance(port, str):
            ports = container.manifest.get("ports", [])
            port = next(one["containerPort"] for one in ports if one.get("name") == port)
        return f"{self.address}:{port}"


def _runs_for(seconds: float, process: subprocess.Popen[str]) -> bool:
    """Return whether a process is still running after some seconds; return early if it ends."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _bytes(quantity: str) -> int:
    for suffix, size in (("Ki", 1024), ("Mi", 1024**2), ("Gi", 1024**3)):
        if quantity.endswith(suffix):
            return int(quantity.removesuffix(suffix)) * size
    return int(quantity)
