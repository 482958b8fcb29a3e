"""Pod specs that Volcano's webhook or CRD rejects in a Job, and the API server of Kubernetes 1.36 accepts in Pods."""

from __future__ import annotations

from tests.pod_rules import MAIN, SUBDOMAIN, container, main, pod, sidecar, tolerating
from tests.templates import Wire

ENV_NAME = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit"
)
EARLY = "spec.initContainers[0]"
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
NO_SIGNAL = "Forbidden: may not be set for containers with empty `spec.os.name`"
NO_SLEEP = "Invalid value: 0: must be greater than 0 and less than terminationGracePeriodSeconds"
GROUP = "remove schedulingGroup: Volcano makes the PodGroup"

REJECTED: dict[str, tuple[Wire, list[str]]] = {
    "a restart policy of a container": (
        main(restartPolicy="OnFailure"),
        [
            (
                f"{MAIN}.restartPolicy: Forbidden: may not be set for non-init containers: set the restartPolicy of the"
                ' Pod, or use managed_by="pulumi"'
            )
        ],
    ),
    "a restart policy of an init container": (
        sidecar(restartPolicy="Never"),
        [
            (
                f'{EARLY}.restartPolicy: Unsupported value: "Never": supported values: "Always": remove it, or use'
                ' managed_by="pulumi"'
            )
        ],
    ),
    "a restart rule of an init container": (
        sidecar(restartPolicy="OnFailure", restartPolicyRules=[RULE]),
        [
            (
                f'{EARLY}.restartPolicy: Unsupported value: "OnFailure": supported values: "Always": remove it, or use'
                ' managed_by="pulumi"'
            )
        ],
    ),
    "a resize policy of an init container": (
        sidecar(restartPolicy="Always", resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
        [
            (
                f"{EARLY}.resizePolicy: Invalid value: must not be set for init containers: remove it, or use"
                ' managed_by="pulumi"'
            )
        ],
    ),
    "a stop signal without an operating system": (
        main(lifecycle={"stopSignal": "SIGTERM"}),
        [f"{MAIN}.lifecycle.stopSignal: {NO_SIGNAL}: set spec.os.name of the Pod, or remove it"],
    ),
    "a stop signal that Linux lacks": (
        main(lifecycle={"stopSignal": "SIGSOON"}) | {"os": {"name": "linux"}},
        [f'{MAIN}.lifecycle.stopSignal: Unsupported value: "SIGSOON": use a signal of linux, such as SIGTERM'],
    ),
    "a stop signal that Windows lacks": (
        main(lifecycle={"stopSignal": "SIGUSR1"}) | {"os": {"name": "windows"}},
        [(f'{MAIN}.lifecycle.stopSignal: Unsupported value: "SIGUSR1": use a signal of windows, such as SIGTERM')],
    ),
    "hooks that do not sleep": (
        main(lifecycle={"postStart": {"sleep": {"seconds": 0}}, "preStop": {"sleep": {"seconds": 0}}}),
        [
            f'{MAIN}.lifecycle.postStart.sleep.seconds: {NO_SLEEP}: use at least 1, or use managed_by="pulumi"',
            f'{MAIN}.lifecycle.preStop.sleep.seconds: {NO_SLEEP}: use at least 1, or use managed_by="pulumi"',
        ],
    ),
    "names of variables that only newer Kubernetes accepts": (
        main(
            env=[{"name": name, "value": "x"} for name in ("1A", "a b", "..", "_a.b-C")],
            envFrom=[{"prefix": "1-", "secretRef": {"name": "s"}}],
        ),
        [
            f'{MAIN}.env[0].name: Invalid value: "1A": {ENV_NAME}: rename it, or use managed_by="pulumi"',
            f'{MAIN}.env[1].name: Invalid value: "a b": {ENV_NAME}: rename it, or use managed_by="pulumi"',
            f'{MAIN}.env[2].name: Invalid value: "..": {ENV_NAME}: rename it, or use managed_by="pulumi"',
            f'{MAIN}.envFrom[0].prefix: Invalid value: "1-": {ENV_NAME}: rename it, or use managed_by="pulumi"',
        ],
    ),
    "searches that only newer Kubernetes accepts": (
        pod(dnsConfig={"searches": ["_tcp.example.org", "example.org", "."]}),
        [
            (
                f'spec.dnsConfig.searches[0]: Invalid value: "_tcp.example.org": {SUBDOMAIN}: remove it, or use'
                ' managed_by="pulumi"'
            ),
            f'spec.dnsConfig.searches[2]: Invalid value: ".": {SUBDOMAIN}: remove it, or use managed_by="pulumi"',
        ],
    ),
    "a scheduling group without a name": (
        pod(schedulingGroup={}),
        [(f"spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`: {GROUP}")],
    ),
    "a scheduling group with a wrong name": (
        pod(schedulingGroup={"podGroupName": "A"}),
        [f'spec.schedulingGroup.podGroupName: Invalid value: "A": {SUBDOMAIN}: {GROUP}'],
    ),
    "a toleration that compares numbers": (
        tolerating(key="load", operator="Lt", value="3"),
        [
            (
                'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists": tolerate'
                ' single values, or use managed_by="pulumi"'
            )
        ],
    ),
    "two variables of one name": (
        main(env=[{"name": "A", "value": "a"}, {"name": "A", "value": "b"}]),
        [f'{MAIN}.env[1]: Duplicate value: {{"name":"A"}}: remove one (the first is TEMPLATE.{MAIN}.env[0])'],
    ),
    "two ports of one number and protocol": (
        main(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "protocol": "TCP", "name": "b"}]),
        [
            (
                f'{MAIN}.ports[1]: Duplicate value: {{"containerPort":80,"protocol":"TCP"}}: remove one'
                f" (the first is TEMPLATE.{MAIN}.ports[0])"
            )
        ],
    ),
    "two pull secrets of one name": (
        pod(imagePullSecrets=[{"name": "a"}, {"name": "b"}, {"name": "a"}]),
        [
            (
                'spec.imagePullSecrets[2]: Duplicate value: {"name":"a"}: remove one'
                " (the first is TEMPLATE.spec.imagePullSecrets[0])"
            )
        ],
    ),
    "two aliases of one address": (
        pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]),
        [
            (
                'spec.hostAliases[1]: Duplicate value: {"ip":"10.0.0.1"}: remove one'
                " (the first is TEMPLATE.spec.hostAliases[0])"
            )
        ],
    ),
    "two requests of one claim": (
        pod(
            containers=[
                container(resources={"claims": [{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}]})
            ],
            resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}],
        ),
        [
            (
                f'{MAIN}.resources.claims[1]: Duplicate value: {{"name":"gpu"}}: remove one'
                f" (the first is TEMPLATE.{MAIN}.resources.claims[0])"
            )
        ],
    ),
}
"""The spec, and the messages for a native Job; TEMPLATE stands for the path of its template."""

OF_A_GATE = {"a toleration that compares numbers"}
"""Specs that the API server accepts only with a feature gate, which is off by default."""
