"""Name resolution and reachability: headless Services, cluster IPs and NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.workloads.player import node
from tests.workloads.player.manifests import Manifest, UnplayableError, selects


@dataclass(frozen=True)
class Endpoint:
    """A Pod in the network."""

    manifest: Manifest
    address: str
    is_ready: bool
    """Whether all its containers are ready; a Pod that has ended or is terminating has no Endpoint."""

    @property
    def namespace(self) -> str:
        """Namespace of the Pod."""
        return str(self.manifest["metadata"].get("namespace", "default"))

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of the Pod."""
        labels: Mapping[str, str] = self.manifest["metadata"].get("labels", {})
        return labels

    def port(self, wanted: int | str) -> int | None:
        """Return the number of a port, which may be named."""
        if isinstance(wanted, int):
            return wanted
        ports = [port for container in self.manifest["spec"]["containers"] for port in container.get("ports", [])]
        return next((port["containerPort"] for port in ports if port.get("name") == wanted), None)


@dataclass(frozen=True)
class Network:
    """The objects that decide about names and packets at one moment."""

    services: Sequence[Manifest]
    cluster_ips: Mapping[tuple[str, str], str]
    """Addresses of Services that are not headless, by namespace and name."""
    policies: Sequence[Manifest]
    endpoints: Sequence[Endpoint]
    namespaces: Mapping[str, Mapping[str, str]]
    """Labels of namespaces."""

    def names(self) -> dict[str, list[str]]:
        """Return the records of https://github.com/kubernetes/dns/blob/master/docs/specification.md."""
        found: dict[str, list[str]] = {}
        for service in self.services:
            namespace, name = _place(service)
            full = f"{name}.{namespace}.svc.{node.DOMAIN}"
            if (namespace, name) in self.cluster_ips:
                found[full] = [self.cluster_ips[namespace, name]]
                continue
            for endpoint in self._behind(service):
                spec = endpoint.manifest["spec"]
                if spec.get("hostname") and spec.get("subdomain") == name:
                    found.setdefault(f"{spec['hostname']}.{full}", []).append(endpoint.address)
                found.setdefault(full, []).append(endpoint.address)
        return found

    def rules(self, endpoint: Endpoint) -> str:
        """Return the nftables rules for the network of a Pod."""
        chains = [
            _chain("input", "filter", self._admitted(endpoint, "Ingress", "saddr")),
            _chain("output", "filter", self._admitted(endpoint, "Egress", "daddr")),
            _chain("services", "nat", list(self._forwarded())),
        ]
        return f"table inet pod\ndelete table inet pod\ntable inet pod {{\n{''.join(chains)}}}\n"

    def _behind(self, service: Manifest) -> list[Endpoint]:
        namespace, _ = _place(service)
        spec = service["spec"]
        return [
            endpoint
            for endpoint in self.endpoints
            if endpoint.namespace == namespace
            and spec.get("selector")
            and selects({"matchLabels": spec["selector"]}, endpoint.labels)
            and (endpoint.is_ready or spec.get("publishNotReadyAddresses", False))
        ]

    def _forwarded(self) -> Iterable[str]:
        for service in self.services:
            address = self.cluster_ips.get(_place(service))
            for port in service["spec"].get("ports", []) if address else []:
                wanted = port.get("targetPort", port["port"])
                behind = [(one.address, one.port(wanted)) for one in self._behind(service)]
                targets = [f"{number} : {to} . {at}" for number, (to, at) in enumerate(behind) if at]
                match = f"ip daddr {address} {port.get('protocol', 'TCP').lower()} dport {port['port']}"
                if targets:
                    yield f"{match} dnat ip to numgen inc mod {len(targets)} map {{ {', '.join(targets)} }}"

    def _admitted(self, endpoint: Endpoint, direction: str, side: str) -> list[str]:
        policies = [policy for policy in self.policies if self._is_about(policy, endpoint, direction)]
        if not policies:
            return []
        rules = [
            'meta oifname "lo" accept' if direction == "Egress" else 'meta iifname "lo" accept',
            "ct state established,related accept",
            # The kubelet's probes and the name server are on the node.
            f"ip {side} {node.ADDRESS} accept",
        ]
        key, peers = ("ingress", "from") if direction == "Ingress" else ("egress", "to")
        for policy in policies:
            for rule in policy["spec"].get(key) or []:
                rules += self._rules_of(rule, rule.get(peers), policy, endpoint, side)
        return [*rules, "drop"]

    def _is_about(self, policy: Manifest, endpoint: Endpoint, direction: str) -> bool:
        namespace, _ = _place(policy)
        spec = policy["spec"]
        types = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
        return (
            namespace == endpoint.namespace
            and direction in types
            and selects(spec.get("podSelector", {}), endpoint.labels)
        )

    def _rules_of(
        self,
        rule: Mapping[str, Any],
        peers: Sequence[Mapping[str, Any]] | None,
        policy: Manifest,
        own: Endpoint,
        side: str,
    ) -> Iterable[str]:
        addresses = (
            [""] if not peers else [f"ip {side} {address} " for peer in peers for address in self._of(peer, policy)]
        )
        ports = [""]
        if rule.get("ports"):
            if side == "daddr":
                raise UnplayableError("a NetworkPolicy names ports of others")
            ports = [match for port in rule["ports"] for match in _port(port, own)]
        return [f"{address}{port}accept" for address in addresses for port in ports]

    def _of(self, peer: Mapping[str, Any], policy: Manifest) -> Iterable[str]:
        if "ipBlock" in peer:
            if peer["ipBlock"].get("except"):
                raise UnplayableError("an ipBlock has exceptions")
            yield peer["ipBlock"]["cidr"]
            return
        home, _ = _place(policy)
        for endpoint in self.endpoints:
            is_near = (
                selects(peer["namespaceSelector"], self._labels(endpoint.namespace))
                if "namespaceSelector" in peer
                else endpoint.namespace == home
            )
            if is_near and selects(peer.get("podSelector", {}), endpoint.labels):
                yield endpoint.address

    def _labels(self, namespace: str) -> Mapping[str, str]:
        return {"kubernetes.io/metadata.name": namespace, **self.namespaces.get(namespace, {})}


def _place(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata.get("namespace", "default"), metadata["name"]


def _port(port: Mapping[str, Any], endpoint: Endpoint) -> Iterable[str]:
    protocol = port.get("protocol", "TCP").lower()
    if "port" not in port:
        yield f"meta l4proto {protocol} "
        return
    number = endpoint.port(port["port"])
    if number is not None:
        last = f"-{port['endPort']}" if "endPort" in port else ""
        yield f"{protocol} dport {number}{last} "


def _chain(name: str, kind: str, rules: Sequence[str]) -> str:
    hook = "output" if name == "services" else name
    priority = "-100" if kind == "nat" else "0"
    lines = "".join(f"    {rule};\n" for rule in rules)
    return f"  chain {name} {{\n    type {kind} hook {hook} priority {priority}; policy accept;\n{lines}  }}\n"
