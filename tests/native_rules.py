"""Pod specs that Volcano's webhook or CRD rejects in a Job, and the API server of Kubernetes 1.36 accepts in Pods."""

from __future__ import annotations

from tests.pod_rules import MAIN, container, main, pod, sidecar, tolerating
from tests.templates import Wire

EARLY = "spec.initContainers[0]"
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}

REJECTED: dict[str, tuple[Wire, list[tuple[str, str]]]] = {
    "a restart policy of a container": (
        main(restartPolicy="OnFailure"),
        [(f"{MAIN}.restartPolicy", "Forbidden")],
    ),
    "a restart policy of an init container": (
        sidecar(restartPolicy="Never"),
        [(f"{EARLY}.restartPolicy", "NotSupported")],
    ),
    "a restart rule of an init container": (
        sidecar(restartPolicy="OnFailure", restartPolicyRules=[RULE]),
        [(f"{EARLY}.restartPolicy", "NotSupported")],
    ),
    "a resize policy of an init container": (
        sidecar(restartPolicy="Always", resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
        [(f"{EARLY}.resizePolicy", "Invalid")],
    ),
    "a stop signal without an operating system": (
        main(lifecycle={"stopSignal": "SIGTERM"}),
        [(f"{MAIN}.lifecycle.stopSignal", "Forbidden")],
    ),
    "a stop signal that Linux lacks": (
        main(lifecycle={"stopSignal": "SIGSOON"}) | {"os": {"name": "linux"}},
        [(f"{MAIN}.lifecycle.stopSignal", "NotSupported")],
    ),
    "a stop signal that Windows lacks": (
        main(lifecycle={"stopSignal": "SIGUSR1"}) | {"os": {"name": "windows"}},
        [(f"{MAIN}.lifecycle.stopSignal", "NotSupported")],
    ),
    "hooks that do not sleep": (
        main(lifecycle={"postStart": {"sleep": {"seconds": 0}}, "preStop": {"sleep": {"seconds": 0}}}),
        [
            (f"{MAIN}.lifecycle.postStart.sleep.seconds", "Invalid"),
            (f"{MAIN}.lifecycle.preStop.sleep.seconds", "Invalid"),
        ],
    ),
    "names of variables that only newer Kubernetes accepts": (
        main(
            env=[{"name": name, "value": "x"} for name in ("1A", "a b", "..", "_a.b-C")],
            envFrom=[{"prefix": "1-", "secretRef": {"name": "s"}}],
        ),
        [
            (f"{MAIN}.envFrom[0].prefix", "Invalid"),
            (f"{MAIN}.env[0].name", "Invalid"),
            (f"{MAIN}.env[1].name", "Invalid"),
            (f"{MAIN}.env[2].name", "Invalid"),
        ],
    ),
    "searches that only newer Kubernetes accepts": (
        pod(dnsConfig={"searches": ["_tcp.example.org", "example.org", "."]}),
        [("spec.dnsConfig.searches[0]", "Invalid"), ("spec.dnsConfig.searches[2]", "Invalid")],
    ),
    "a scheduling group without a name": (
        pod(schedulingGroup={}),
        [("spec.schedulingGroup.podGroupName", "Invalid")],
    ),
    "a scheduling group with a wrong name": (
        pod(schedulingGroup={"podGroupName": "A"}),
        [("spec.schedulingGroup.podGroupName", "Invalid")],
    ),
    "a toleration that compares numbers": (
        tolerating(key="load", operator="Lt", value="3"),
        [("spec.tolerations[0].operator", "NotSupported")],
    ),
    "two variables of one name": (
        main(env=[{"name": "A", "value": "a"}, {"name": "A", "value": "b"}]),
        [(f"{MAIN}.env[1]", "Duplicate")],
    ),
    "two ports of one number and protocol": (
        main(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "protocol": "TCP", "name": "b"}]),
        [(f"{MAIN}.ports[1]", "Duplicate")],
    ),
    "two pull secrets of one name": (
        pod(imagePullSecrets=[{"name": "a"}, {"name": "b"}, {"name": "a"}]),
        [("spec.imagePullSecrets[2]", "Duplicate")],
    ),
    "two aliases of one address": (
        pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]),
        [("spec.hostAliases[1]", "Duplicate")],
    ),
    "two requests of one claim": (
        pod(
            containers=[
                container(resources={"claims": [{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}]})
            ],
            resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}],
        ),
        [(f"{MAIN}.resources.claims[1]", "Duplicate")],
    ),
}
"""The spec, and the messages for a native Job; TEMPLATE is a placeholder for the path of its template."""

OF_A_GATE = {"a toleration that compares numbers"}
"""Specs that the API server accepts only with a feature gate, which is off by default."""
