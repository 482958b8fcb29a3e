"""A cluster to which manifests are applied, and the Pods that it runs."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from tests.deadlines import DEADLINE
from tests.workloads.player.image import Image
from tests.workloads.player.manifests import Manifest, key, read
from tests.workloads.player.network import Endpoint, Network
from tests.workloads.player.node import Node
from tests.workloads.player.pod import PlayedPod

DELAY = 1.0
"""Maximum delay in seconds between the starts of two Pods."""


class Cluster:
    """The parts of `kubectl apply` and Volcano's scheduler that tests need."""

    def __init__(self, node: Node, images: Mapping[str, Image], seed: int) -> None:
        """Use the node for all Pods; `seed` decides the order in which they start."""
        self._node, self._images = node, images
        self._random = random.Random(seed)  # noqa: S311  # an order of starts
        self._objects: dict[tuple[str, str, str], Manifest] = {}
        self._cluster_ips: dict[tuple[str, str], str] = {}
        self._namespaces: dict[str, dict[str, str]] = {}
        self._rules: dict[str, str] = {}
        self._lock = threading.RLock()
        self.pods: dict[str, PlayedPod] = {}

    def close(self) -> None:
        """Stop all Pods."""
        self._stop(list(self.pods))

    def label_namespace(self, name: str, labels: Mapping[str, str]) -> None:
        """Set labels of a namespace, for selectors of policies."""
        self._namespaces[name] = dict(labels)
        self._publish()

    def apply(
        self,
        text: bytes,
        *,
        first: Iterable[str] = (),
        delays: Mapping[str, float] | None = None,
        prune: bool = True,
        restart: bool = False,
        keep: bool = False,
    ) -> None:
        """Apply manifests; with `prune`, delete objects that they omit, as Pulumi does.

        An unchanged Pod keeps running, and a changed one is replaced. With `restart` all Pods are replaced, as
        for a `VolcanoJob` with another digest; with `keep` none is, as for on_scale="keep". Pods start in
        random order: those in `first` before the others, and those in `delays` later by that many seconds.
        """
        wanted = {key(manifest): self._stored(manifest) for manifest in read(text)}
        kept = {} if prune else self._objects
        gone = [name for kind, _, name in self._objects if kind == "Pod" and (kind, _, name) not in {**kept, **wanted}]
        other = [
            name
            for (kind, namespace, name), manifest in wanted.items()
            if kind == "Pod" and name in self.pods
            if restart or (self._objects[kind, namespace, name] != manifest and not keep)
        ]
        self._stop([*gone, *other])
        with self._lock:
            self._objects = {**kept, **wanted}
        self._publish()
        for pod in list(self.pods.values()):
            pod.follow()
        new = [manifest for (kind, _, name), manifest in wanted.items() if kind == "Pod" and name not in self.pods]
        self._random.shuffle(new)
        new.sort(key=lambda manifest: manifest["metadata"]["name"] not in first)
        for manifest in new:
            self._start(manifest, (delays or {}).get(manifest["metadata"]["name"], 0))
            time.sleep(self._random.uniform(0, DELAY))

    def wait(self, tells: Callable[[], bool], what: str) -> None:
        """Wait for a condition; on a timeout, show the state and the output of all Pods."""
        end = time.monotonic() + DEADLINE
        while not tells():
            problems = [pod.problem for pod in self.pods.values() if pod.problem]
            if problems:
                raise AssertionError("; ".join(problems))
            if time.monotonic() > end:
                raise AssertionError(f"no {what} in {DEADLINE} s\n{self.describe()}")
            time.sleep(0.1)

    def wait_for(self, phase: str, *names: str) -> None:
        """Wait until Pods have a phase or are `Ready`."""
        wanted = [self.pods[name] for name in names]
        self.wait(
            lambda: all(pod.is_ready if phase == "Ready" else pod.phase == phase for pod in wanted),
            f"{phase} of {', '.join(names)}",
        )

    def describe(self) -> str:
        """Return the state of all Pods, with the last output of each container."""
        lines = []
        for pod in self.pods.values():
            lines.append(f"{pod.name}: {pod.phase} {pod.address}{' ready' if pod.is_ready else ''}")
            for one in [*pod.init, *pod.containers]:
                name = one.manifest["name"]
                lines.append(f"  {name}: running {one.is_running}, exit codes {one.exit_codes}")
                lines += [f"    {line}" for line in pod.log(name).splitlines()[-15:]]
        return "\n".join(lines)

    def _stored(self, manifest: Manifest) -> Manifest:
        """Set the uid of a claim, which names the folder of its data: a claim that stays keeps it."""
        if manifest["kind"] != "PersistentVolumeClaim":
            return manifest
        stored = self._objects.get(key(manifest), {})
        uid = stored.get("metadata", {}).get("uid") or f"{manifest['metadata']['name']}-{time.monotonic_ns()}"
        return {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}

    def _start(self, manifest: Manifest, delay: float) -> None:
        pod = PlayedPod(manifest, self._node, lambda: self._objects, self._images, self._publish)
        self.pods[pod.name] = pod
        pod.start(delay)

    def _stop(self, names: Iterable[str]) -> None:
        pods = [self.pods[name] for name in names]
        threads = [threading.Thread(target=pod.stop) for pod in pods]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for pod in pods:
            del self.pods[pod.name]
        self._publish()

    def _publish(self) -> None:
        """Update the name server and the networks of the Pods."""
        with self._lock:
            network = self._network()
            self._node.set_names(network.names())
            for endpoint in network.endpoints:
                rules = network.rules(endpoint)
                if self._rules.get(endpoint.address) != rules:
                    self._node.run(["nft", "-f", "-"], self._sandboxes[endpoint.address], rules)
                    self._rules[endpoint.address] = rules

    @property
    def _sandboxes(self) -> dict[str, int]:
        return {pod.address: pod.sandbox for pod in self.pods.values()}

    def _network(self) -> Network:
        services = [manifest for (kind, _, _), manifest in self._objects.items() if kind == "Service"]
        for service in services:
            place = key(service)[1:]
            if service["spec"].get("clusterIP") != "None" and place not in self._cluster_ips:
                self._cluster_ips[place] = f"10.96.0.{len(self._cluster_ips) + 1}"
        return Network(
            services,
            self._cluster_ips,
            [manifest for (kind, _, _), manifest in self._objects.items() if kind == "NetworkPolicy"],
            [
                Endpoint(pod.manifest, pod.address, pod.is_ready)
                for pod in list(self.pods.values())
                if pod.address and not pod.has_ended
            ],
            self._namespaces,
        )
