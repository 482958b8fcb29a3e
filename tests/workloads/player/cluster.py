"""Manifests that are applied, changed and deleted, and the Pods that are played from them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from tests.workloads.player.image import Image
from tests.workloads.player.manifests import Manifest, key, read
from tests.workloads.player.network import Endpoint, Network
from tests.workloads.player.node import Node
from tests.workloads.player.pod import PlayedPod

DELAY = 1.0
"""Pods start in any order, each up to so many seconds after the one before."""


class Cluster:
    """What `kubectl apply` and Volcano's scheduler would make of manifests."""

    def __init__(self, node: Node, images: Mapping[str, Image], seed: int) -> None:
        """Take the node that plays all Pods; `seed` says in which order they start."""
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
        """Give a namespace labels, which policies select by."""
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
        """Make what the manifests say; with `prune`, what they leave out goes, as with a program that Pulumi runs.

        A Pod that is the same as before goes on, another is deleted and made again; with `restart` all are, as by a
        `VolcanoJob` whose digest has changed, and with `keep` none is, as by one that is scaled with on_scale="keep".
        Pods start in any order, those in `first` before all others, one in `delays` so many seconds later.
        """
        wanted = {key(manifest): manifest for manifest in read(text)}
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

    def wait(self, tells: Callable[[], bool], what: str, timeout: float = 60) -> None:
        """Wait until something is so; if it does not come, say what all Pods are and printed."""
        end = time.monotonic() + timeout
        while not tells():
            problems = [pod.problem for pod in self.pods.values() if pod.problem]
            if problems:
                raise AssertionError("; ".join(problems))
            if time.monotonic() > end:
                raise AssertionError(f"no {what} in {timeout} s\n{self.tell()}")
            time.sleep(0.1)

    def wait_for(self, phase: str, *names: str, timeout: float = 60) -> None:
        """Wait until Pods have a phase; `Ready` is one too."""
        wanted = [self.pods[name] for name in names]
        self.wait(
            lambda: all(pod.is_ready if phase == "Ready" else pod.phase == phase for pod in wanted),
            f"{phase} of {', '.join(names)}",
            timeout,
        )

    def tell(self) -> str:
        """Say what Pods are, and the last that each container printed."""
        lines = []
        for pod in self.pods.values():
            lines.append(f"{pod.name}: {pod.phase} {pod.address}{' ready' if pod.is_ready else ''}")
            for one in [*pod.init, *pod.containers]:
                name = one.manifest["name"]
                lines.append(f"  {name}: running {one.is_running}, exit codes {one.exit_codes}")
                lines += [f"    {line}" for line in pod.log(name).splitlines()[-15:]]
        return "\n".join(lines)

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
        """Tell the name server and the Pods' networks what is so now."""
        with self._lock:
            network = self._network()
            self._node.tell_names(network.names())
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
