"""What Kubernetes refuses in a Pod template and what it just takes: one table for the unit tests and the API server.

`REFUSED` says of each mistake where it is, what we say of it, and where the API server sees it if that is elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.conftest import CLAIM
from tests.templates import IMAGE, Wire

MAIN = "spec.containers[0]"
FIRST = "spec.volumes[0]"
OF_CLAIM = f"{FIRST}.ephemeral.volumeClaimTemplate.spec"
AFFINITY = "spec.affinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LABEL = "this must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit"
DNS = (
    "this must be at most 253 lower-case letters, digits, '-' and '.', each part between dots beginning and ending with"
    " a letter or digit"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    " end with an alphanumeric character"
)
KEY = (
    "a key is at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, perhaps behind"
    " a DNS name and a '/'"
)
VALUE = "a label's value is at most 63 letters, digits, '-', '_' and '.', beginning and ending with the former"
DATA_KEY = "a key is at most 253 letters, digits, '-', '_' and '.', and does not begin with '..'"
PORT = "a port is a number from 1 to 65535"
PORT_NAME = "a port's name is at most 15 lower-case letters, digits and '-', with at least one letter"
AMOUNT = "this must be a quantity, at least 0, such as 500m, 2 or 4Gi"
EMPTY = "this must not be empty"
ID = "this must be a number from 0 to 2147483647"
MODE = "this must be a mode from 0 to 0777 (decimal 511)"
FILE = "this must be a relative path that does not begin with '..': it is in the volume"
INSIDE = "this must be a relative path without '..': it is in the volume"


@dataclass(frozen=True)
class Mistake:
    """A template that is refused, and how."""

    spec: Wire
    path: str
    says: str
    server: str = ""
    """Where the API server sees it, if it names another field than we do."""
    reason: str = "Invalid"
    """Why it refuses: it reads fields (BadRequest) and looks for what they name (Forbidden) before it judges them."""
    labels: Wire | None = None
    """Labels of the Pod, where they matter."""
    annotations: Wire | None = None
    """Annotations of the Pod, where they matter."""


def pod(**spec: Any) -> Wire:
    """Give a Pod's spec by some fields of it."""
    return {"containers": [container()], "restartPolicy": "OnFailure"} | spec


def container(name: str = "main", **fields: Any) -> Wire:
    """Give a container."""
    return {"name": name, "image": IMAGE} | fields


def main(**fields: Any) -> Wire:
    """Give a Pod's spec by some fields of its container."""
    return pod(containers=[container(**fields)])


def variable(**source: Any) -> Wire:
    """Give a Pod's spec by where a variable comes from."""
    return main(env=[{"name": "A", "valueFrom": source}])


def file_variable(source: Wire | None = None, **file: Any) -> Wire:
    """Return the spec of a Pod with a variable from a file of its volume data, an emptyDir by default."""
    spec = variable(fileKeyRef={"volumeName": "data", "path": "a", "key": "A"} | file)
    return spec | {"volumes": [{"name": "data"} | (source or {"emptyDir": {}})]}


def asks(requests: Wire | None = None, limits: Wire | None = None, **more: Any) -> Wire:
    """Give a Pod's spec by its container's resources."""
    found = {"requests": requests, "limits": limits}
    return main(resources={kind: amounts for kind, amounts in found.items() if amounts is not None} | more)


def volume(**source: Any) -> Wire:
    """Give a Pod's spec by its volume."""
    return pod(volumes=[{"name": "data"} | source])


def mounting(*mounts: Wire, **more: Any) -> Wire:
    """Give a Pod's spec by its container's mounts; it has the volumes data and disk."""
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    mounted = [{"name": "data", "mountPath": f"/{index}"} | mount for index, mount in enumerate(mounts)]
    return main(volumeMounts=mounted, **more) | {"volumes": volumes}


def sidecar(**fields: Any) -> Wire:
    """Give a Pod's spec by its init container."""
    return pod(initContainers=[container("early", **fields)])


def nodes(**expression: Any) -> Wire:
    """Give a Pod's spec by how it chooses its node."""
    term = {"matchExpressions": [{"key": "pool"} | expression]}
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}})


def peers(**term: Any) -> Wire:
    """Give a Pod's spec by the Pods that it is to be beside."""
    return pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": "zone"} | term]}})


def spread(**constraint: Any) -> Wire:
    """Give a Pod's spec by how its like are spread."""
    usual = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return pod(topologySpreadConstraints=[usual | constraint])


def claim(**spec: Any) -> Wire:
    """Give a Pod's spec by a claim that comes and goes with it."""
    return volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM | spec}})


def secure(**context: Any) -> Wire:
    """Give a Pod's spec by its security context."""
    return pod(securityContext=context)


def tolerating(**toleration: Any) -> Wire:
    """Give a Pod's spec by what it tolerates."""
    return pod(tolerations=[toleration])


def windows(**fields: Any) -> Wire:
    """Return the spec of a Pod for Windows."""
    return pod(os={"name": "windows"}, **fields)


def windows_options(**options: Any) -> Wire:
    """Return the spec of a Pod with options for Windows."""
    return pod(securityContext={"windowsOptions": options})


def annotated(key: str, value: str, path: str, problem: str, spec: Wire | None = None) -> Mistake:
    """Return a mistake in the value of an annotation, or in a field that contradicts it."""
    return Mistake(spec or pod(), path or f"metadata.annotations.{key}", problem, annotations={key: value})


SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF_MAIN = "container.seccomp.security.alpha.kubernetes.io/main"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
OLD_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
MIRROR = "kubernetes.io/config.mirror"
NO_LINUX = "Forbidden: cannot be set for a windows pod: remove it, or set os.name: linux"
USER = "securityContext.windowsOptions.runAsUserName"
ALL_OF_HOST = "If pod contains any hostProcess containers then all containers must be HostProcess containers"

ISCSI: Wire = {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}
SCALE_IO: Wire = {"gateway": "a", "system": "b", "volumeName": "c", "secretRef": {"name": "d"}}


def lacking(kind: str, key: str, source: Wire, empty: Any = "") -> Mistake:
    """Return the mistake of an empty required field in a volume source."""
    return Mistake(volume(**{kind: source | {key: empty}}), f"{FIRST}.{kind}.{key}", f"Required value: set {key}")


REFUSED: dict[str, Mistake] = {
    # Annotations
    "a deletion cost in words": annotated(
        DELETION_COST, "low", "", 'Invalid value: "low": must be a 32bit integer: for example "-100"'
    ),
    "a deletion cost with a plus sign": annotated(
        DELETION_COST, "+1", "", 'Invalid value: "+1": must be a 32bit integer: for example "-100"'
    ),
    "a deletion cost of 33 bits": annotated(
        DELETION_COST, "2147483648", "", 'Invalid value: "2147483648": must be a 32bit integer: for example "-100"'
    ),
    "a deletion cost with a letter after many zeros": annotated(
        DELETION_COST,
        "-00000000000x",
        "",
        'Invalid value: "-00000000000x": must be a 32bit integer: for example "-100"',
    ),
    "a mirror without a node": annotated(
        MIRROR, "x", "", 'Invalid value: "x": must set spec.nodeName if mirror pod annotation is set: remove it'
    ),
    "tolerations in an annotation": Mistake(
        pod(),
        f"metadata.annotations.{OLD_TOLERATIONS}",
        'Invalid value: "{}": must be a JSON list of tolerations: move them to spec.tolerations',
        server="metadata.annotations",
        annotations={OLD_TOLERATIONS: "{}"},
    ),
    "deeply nested tolerations in an annotation": Mistake(
        pod(),
        f"metadata.annotations.{OLD_TOLERATIONS}",
        (
            f'Invalid value: "{"[" * 100}… (100000 characters)": must be a JSON list of tolerations: move them to'
            " spec.tolerations"
        ),
        server="metadata.annotations",
        annotations={OLD_TOLERATIONS: "[" * 100_000},
    ),
    "a seccomp profile of the Pod": annotated(
        SECCOMP,
        "none",
        "",
        'Invalid value: "none": must be a valid seccomp profile: set securityContext.seccompProfile',
    ),
    "a seccomp profile of a container": annotated(
        SECCOMP_OF_MAIN,
        "localhost/../a",
        "",
        'Invalid value: "localhost/../a": must be a valid seccomp profile: set securityContext.seccompProfile',
    ),
    "an AppArmor profile": annotated(
        f"{APP_ARMOR}/main",
        "strict",
        "",
        'Invalid value: "strict": invalid AppArmor profile name: set securityContext.appArmorProfile',
    ),
    "an AppArmor profile of no container": annotated(
        f"{APP_ARMOR}/other",
        "unconfined",
        "",
        'Invalid value: "unconfined": container not found: set securityContext.appArmorProfile',
    ),
    "annotations of 256 KiB": Mistake(
        pod(),
        "metadata.annotations",
        "Too long: may not be more than 262144 bytes: the annotations have 262145 bytes: remove some",
        annotations={"a": "x" * 262144},
    ),
    "a seccomp type that contradicts its annotation": annotated(
        SECCOMP,
        "unconfined",
        "spec.securityContext.seccompProfile.type",
        f"Forbidden: seccomp type in annotation and field must match: remove the annotation {SECCOMP}",
        secure(seccompProfile={"type": "RuntimeDefault"}),
    ),
    "a seccomp profile that contradicts its annotation": annotated(
        SECCOMP_OF_MAIN,
        "localhost/a",
        f"{MAIN}.securityContext.seccompProfile.localhostProfile",
        f"Forbidden: seccomp profile in annotation and field must match: remove the annotation {SECCOMP_OF_MAIN}",
        main(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "b"}}),
    ),
    "an AppArmor type that contradicts its annotation": annotated(
        f"{APP_ARMOR}/main",
        "runtime/default",
        f"{MAIN}.securityContext.appArmorProfile.type",
        f"Forbidden: apparmor type in annotation and field must match: remove the annotation {APP_ARMOR}/main",
        main(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}}),
    ),
    # Windows
    "a namespace of the host for Windows": Mistake(windows(hostPID=True), "spec.hostPID", NO_LINUX),
    "a user's number for Windows": Mistake(
        windows(securityContext={"runAsUser": 1}), "spec.securityContext.runAsUser", NO_LINUX
    ),
    "capabilities for Windows": Mistake(
        windows(containers=[container(securityContext={"capabilities": {}})]),
        f"{MAIN}.securityContext.capabilities",
        NO_LINUX,
    ),
    "resources of a Pod for Windows": Mistake(
        windows(resources={"requests": {"cpu": "1"}}),
        "spec.resources",
        "Forbidden: may not be set for a windows pod: remove it",
    ),
    "a user of Windows with a slash": Mistake(
        windows_options(runAsUserName="a/b"),
        f"spec.{USER}",
        (
            'Invalid value: "a/b": runAsUserName\'s User cannot contain the following characters:'
            ' "/\\:;|=,+*?<>@[]: for example ContainerUser'
        ),
    ),
    "a user of a wrong domain": Mistake(
        windows_options(runAsUserName=".a\\b"),
        f"spec.{USER}",
        (
            "Invalid value: \".a\\b\": runAsUserName's Domain doesn't match the NetBios nor the DNS format: for example"
            " ContainerUser"
        ),
    ),
    "an empty credential for Windows": Mistake(
        windows_options(gmsaCredentialSpec=""),
        "spec.securityContext.windowsOptions.gmsaCredentialSpec",
        'Invalid value: "": gmsaCredentialSpec cannot be an empty string: remove it',
    ),
    "a process of the host without its network": Mistake(
        windows_options(hostProcess=True),
        "spec.hostNetwork",
        (
            "Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers: set"
            " hostNetwork: true"
        ),
    ),
    "a process of the host beside another": Mistake(
        pod(
            hostNetwork=True,
            containers=[container(securityContext={"windowsOptions": {"hostProcess": True}}), container("other")],
        ),
        "spec",
        f"Invalid value: {ALL_OF_HOST}: set securityContext.windowsOptions.hostProcess: true for the Pod",
    ),
    "a process of the host, and not": Mistake(
        main(securityContext={"windowsOptions": {"hostProcess": True}})
        | {"hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": False}}},
        f"{MAIN}.securityContext.windowsOptions.hostProcess",
        ("Invalid value: true: pod hostProcess value must be identical if both are specified: remove one of them"),
    ),
    "the old name of a service account": Mistake(
        pod(serviceAccount="A"), "spec.serviceAccount", f"{DNS} (given: 'A')", server="spec.serviceAccountName"
    ),
    # Containers
    "no container": Mistake(pod(containers=[]), "spec.containers", "a Pod needs at least one container"),
    "no image": Mistake(pod(containers=[{"name": "main"}]), f"{MAIN}.image", "a container needs an image"),
    "an empty image": Mistake(main(image=""), f"{MAIN}.image", "a container needs an image"),
    "an init container without an image": Mistake(
        pod(initContainers=[{"name": "early"}]), "spec.initContainers[0].image", "a container needs an image"
    ),
    "a container's name in capitals": Mistake(
        pod(containers=[container("Main")]), f"{MAIN}.name", f"{LABEL} (given: 'Main')"
    ),
    "a container's name of 64 characters": Mistake(
        pod(containers=[container("x" * 64)]),
        f"{MAIN}.name",
        f"{LABEL} (given: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')",
    ),
    "an empty name of a container": Mistake(pod(containers=[container("")]), f"{MAIN}.name", f"{LABEL} (given: '')"),
    "two containers of one name": Mistake(
        pod(containers=[container(), container()]),
        "spec.containers[1].name",
        "two containers have this name (given: 'main'): give each a name of its own",
    ),
    "an init container named like a container": Mistake(
        pod(initContainers=[container()]),
        f"{MAIN}.name",
        "two containers have this name (given: 'main'): give each a name of its own",
        server="spec.initContainers[0].name",
    ),
    "a pull policy that is none": Mistake(
        main(imagePullPolicy="Maybe"),
        f"{MAIN}.imagePullPolicy",
        "this must be one of Always, IfNotPresent, Never (given: 'Maybe')",
    ),
    "a policy of last words that is none": Mistake(
        main(terminationMessagePolicy="Logs"),
        f"{MAIN}.terminationMessagePolicy",
        "this must be one of File, FallbackToLogsOnError (given: 'Logs')",
    ),
    "a container's restart policy that is none": Mistake(
        main(restartPolicy="Sometimes"),
        f"{MAIN}.restartPolicy",
        "this must be one of Always, OnFailure, Never (given: 'Sometimes')",
    ),
    "a container's restart policy that is empty": Mistake(
        main(restartPolicy=""), f"{MAIN}.restartPolicy", "this must be one of Always, OnFailure, Never (given: '')"
    ),
    "rules for exit codes without a restart policy": Mistake(
        main(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]),
        f"{MAIN}.restartPolicy",
        (
            "with restartPolicyRules a container needs a restartPolicy too, for what no rule is about: add"
            " restartPolicy: Never"
        ),
    ),
    "a rule's action that is none": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Stop", "exitCodes": {"operator": "In"}}]),
        f"{MAIN}.restartPolicyRules[0].action",
        "this must be one of Restart, RestartAllContainers (given: 'Stop')",
    ),
    "a rule without exit codes": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart"}]),
        f"{MAIN}.restartPolicyRules[0].exitCodes",
        "a rule says for which exit codes it is: add exitCodes: {operator: In, values: [42]}",
    ),
    "a rule's operator that is none": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "Is"}}]),
        f"{MAIN}.restartPolicyRules[0].exitCodes.operator",
        "this must be one of In, NotIn (given: 'Is')",
    ),
    "21 rules for exit codes": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In"}}] * 21),
        f"{MAIN}.restartPolicyRules",
        "at most 20 rules can be here (given: 21): remove some",
    ),
    "256 exit codes": Mistake(
        main(
            restartPolicy="Never",
            restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1] * 256}}],
        ),
        f"{MAIN}.restartPolicyRules[0].exitCodes.values",
        "at most 255 codes can be here (given: 256): remove some",
    ),
    "a policy of resizing for a device": Mistake(
        main(resizePolicy=[{"resourceName": "gpu", "restartPolicy": "NotRequired"}]),
        f"{MAIN}.resizePolicy[0].resourceName",
        "this must be one of cpu, memory (given: 'gpu')",
        server=f"{MAIN}.resizePolicy",
    ),
    "a policy of resizing that is none": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "Never"}]),
        f"{MAIN}.resizePolicy[0].restartPolicy",
        "this must be one of NotRequired, RestartContainer (given: 'Never')",
        server=f"{MAIN}.resizePolicy",
    ),
    "two policies of resizing for one resource": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        f"{MAIN}.resizePolicy[1].resourceName",
        "this stands here twice (given: 'cpu'): remove one of them",
        server=f"{MAIN}.resizePolicy[1]",
    ),
    "a restart to resize where nothing restarts": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]) | {"restartPolicy": "Never"},
        f"{MAIN}.resizePolicy[0].restartPolicy",
        (
            "the Pod's restartPolicy is Never, so no container is restarted to be resized (given:"
            " 'RestartContainer'): set NotRequired"
        ),
        server=f"{MAIN}.resizePolicy",
    ),
    "a restart to resize what ends": Mistake(
        sidecar(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
        "spec.initContainers[0].resizePolicy[0].restartPolicy",
        (
            "an init container is only restarted to be resized if its restartPolicy is Always (given:"
            " 'RestartContainer'): set NotRequired"
        ),
    ),
    "a probe of an init container that ends": Mistake(
        sidecar(livenessProbe={"exec": {"command": ["true"]}}),
        "spec.initContainers[0].livenessProbe",
        (
            "only an init container with restartPolicy: Always has this; the others end before the Pod's begin:"
            " remove it, or set restartPolicy: Always"
        ),
    ),
    "a hook of an init container that ends": Mistake(
        sidecar(lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
        "spec.initContainers[0].lifecycle",
        (
            "only an init container with restartPolicy: Always has this; the others end before the Pod's begin:"
            " remove it, or set restartPolicy: Always"
        ),
    ),
    # Ports
    "a port of 0": Mistake(main(ports=[{"containerPort": 0}]), f"{MAIN}.ports[0].containerPort", f"{PORT} (given: 0)"),
    "a negative port": Mistake(
        main(ports=[{"containerPort": -1}]), f"{MAIN}.ports[0].containerPort", f"{PORT} (given: -1)"
    ),
    "a port beyond 16 bits": Mistake(
        main(ports=[{"containerPort": 65536}]), f"{MAIN}.ports[0].containerPort", f"{PORT} (given: 65536)"
    ),
    "a node's port beyond 16 bits": Mistake(
        main(ports=[{"containerPort": 1}, {"containerPort": 2, "hostPort": 70000}]),
        f"{MAIN}.ports[1].hostPort",
        f"{PORT} (given: 70000)",
    ),
    "a protocol that is none": Mistake(
        main(ports=[{"containerPort": 1, "protocol": "tcp"}]),
        f"{MAIN}.ports[0].protocol",
        "this must be one of TCP, UDP, SCTP (given: 'tcp'): did you mean TCP?",
    ),
    "a port's name of 16 characters": Mistake(
        main(ports=[{"containerPort": 1, "name": "x" * 16}]),
        f"{MAIN}.ports[0].name",
        f"{PORT_NAME} (given: 'xxxxxxxxxxxxxxxx')",
    ),
    "a port's name without a letter": Mistake(
        main(ports=[{"containerPort": 1, "name": "8080"}]), f"{MAIN}.ports[0].name", f"{PORT_NAME} (given: '8080')"
    ),
    "a port's name in capitals": Mistake(
        main(ports=[{"containerPort": 1, "name": "Web"}]), f"{MAIN}.ports[0].name", f"{PORT_NAME} (given: 'Web')"
    ),
    "a port's name with two dashes together": Mistake(
        main(ports=[{"containerPort": 1, "name": "a--b"}]), f"{MAIN}.ports[0].name", f"{PORT_NAME} (given: 'a--b')"
    ),
    "two ports of one name": Mistake(
        main(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        f"{MAIN}.ports[1].name",
        "this stands here twice (given: 'a'): give each a name of its own",
    ),
    "one port of the node for two containers": Mistake(
        pod(
            containers=[
                container(ports=[{"containerPort": 1, "hostPort": 8080}]),
                container("other", ports=[{"containerPort": 2, "hostPort": 8080}]),
            ]
        ),
        "spec.containers[1].ports[0].hostPort",
        "another port of the Pod has this one of the node too (given: 'TCP 8080'): leave it out, or give it another",
    ),
    "another port of the node on its own network": Mistake(
        main(ports=[{"containerPort": 80, "hostPort": 8080}]) | {"hostNetwork": True},
        f"{MAIN}.ports[0].hostPort",
        "with hostNetwork this must equal the containerPort (given: 8080): leave it out",
    ),
    # Variables
    "a variable without a name": Mistake(
        main(env=[{"name": ""}]), f"{MAIN}.env[0].name", "a variable's name is not empty and has no '=' (given: '')"
    ),
    "a variable's name with an equals sign": Mistake(
        main(env=[{"name": "A"}, {"name": "A=B"}]),
        f"{MAIN}.env[1].name",
        "a variable's name is not empty and has no '=' (given: 'A=…')",
    ),
    "a variable's name that is not ASCII": Mistake(
        main(env=[{"name": "GRÖSSE"}]), f"{MAIN}.env[0].name", "a variable's name is printable ASCII (given: 'GRÖSSE')"
    ),
    "a variable with a value and a source": Mistake(
        main(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        f"{MAIN}.env[0]",
        "a variable has either a value or a valueFrom (given: 'A')",
    ),
    "a variable from nowhere": Mistake(
        variable(),
        f"{MAIN}.env[0].valueFrom",
        (
            "there is nothing to take the value from: set one of fieldRef, resourceFieldRef, configMapKeyRef,"
            " secretKeyRef, fileKeyRef"
        ),
    ),
    "a variable with two sources": Mistake(
        variable(fieldRef={"fieldPath": "metadata.name"}, secretKeyRef={"name": "a", "key": "b"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef",
        "a value comes from one place, and fieldRef is there too: remove one of them",
    ),
    "a field that a Pod has not": Mistake(
        variable(fieldRef={"fieldPath": "metadata.nmae"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        (
            "this must be one of metadata.name, metadata.namespace, metadata.uid, spec.nodeName,"
            " spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP, status.podIPs,"
            " metadata.labels['KEY'], metadata.annotations['KEY'] (given: 'metadata.nmae'): did you mean"
            " metadata.name?"
        ),
    ),
    "all labels in a variable": Mistake(
        variable(fieldRef={"fieldPath": "metadata.labels"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        (
            "this must be one of metadata.name, metadata.namespace, metadata.uid, spec.nodeName,"
            " spec.serviceAccountName, status.hostIP, status.hostIPs, status.podIP, status.podIPs,"
            " metadata.labels['KEY'], metadata.annotations['KEY'] (given: 'metadata.labels'): did you mean"
            " metadata.name?"
        ),
    ),
    "a label that there cannot be": Mistake(
        variable(fieldRef={"fieldPath": "metadata.labels['my team']"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        "no key of labels can be this (given: \"metadata.labels['my team']\"): for example metadata.labels['team']",
    ),
    "a field of another version": Mistake(
        variable(fieldRef={"apiVersion": "v2", "fieldPath": "metadata.name"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.apiVersion",
        "this must be one of v1 (given: 'v2'): leave it out",
        server=f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
    ),
    "an amount that a container has not": Mistake(
        variable(resourceFieldRef={"resource": "limits.gpu"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.resource",
        (
            "this must be one of limits.cpu, limits.memory, limits.ephemeral-storage, requests.cpu, requests.memory,"
            " requests.ephemeral-storage (given: 'limits.gpu')"
        ),
    ),
    "a unit that CPUs do not have": Mistake(
        variable(resourceFieldRef={"resource": "limits.cpu", "divisor": "1k"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        "this must be one of 1, 1m (given: '1k')",
    ),
    "a unit that memory does not have": Mistake(
        variable(resourceFieldRef={"resource": "limits.memory", "divisor": "2Gi"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        "this must be one of 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei (given: '2Gi')",
    ),
    "a variable of a Secret without a name": Mistake(
        variable(secretKeyRef={"name": "", "key": "token"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef.name",
        f"{EMPTY}: name the Secret",
    ),
    "a variable of a Secret with an underscore": Mistake(
        variable(secretKeyRef={"name": "my_hub", "key": "token"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef.name",
        f"{DNS} (given: 'my_hub')",
    ),
    "a variable of a ConfigMap without a key": Mistake(
        variable(configMapKeyRef={"name": "tuning", "key": ""}),
        f"{MAIN}.env[0].valueFrom.configMapKeyRef.key",
        f"{EMPTY}: name the key of the ConfigMap",
    ),
    "a key that no ConfigMap has": Mistake(
        variable(configMapKeyRef={"name": "tuning", "key": "a/b"}),
        f"{MAIN}.env[0].valueFrom.configMapKeyRef.key",
        f"{DATA_KEY} (given: 'a/b')",
    ),
    "a variable from a file above the volume": Mistake(
        file_variable(path="../a", key="A") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.path",
        "a file is in its volume, so no part of this can be '..' (given: '../a')",
    ),
    "a variable from a file of no key": Mistake(
        file_variable(path="a", key="") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.key",
        "a variable's name is not empty and has no '=' (given: '')",
    ),
    "a variable from a file of no path": Mistake(
        file_variable(path="", key="A") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.path",
        f"{EMPTY}: name the file in the volume",
    ),
    "variables from nowhere": Mistake(
        main(envFrom=[{"prefix": "A_"}]),
        f"{MAIN}.envFrom[0]",
        "there is nothing to take variables from: set one of configMapRef, secretRef",
        server=f"{MAIN}.envFrom",
    ),
    "variables with two sources": Mistake(
        main(envFrom=[{"secretRef": {"name": "a"}, "configMapRef": {"name": "b"}}]),
        f"{MAIN}.envFrom[0].secretRef",
        "variables come from one of these, and configMapRef is there too: remove one of them",
        server=f"{MAIN}.envFrom",
    ),
    "a prefix with an equals sign": Mistake(
        main(envFrom=[{"prefix": "A=", "secretRef": {"name": "a"}}]),
        f"{MAIN}.envFrom[0].prefix",
        "a variable's name is not empty and has no '=' (given: 'A=…')",
    ),
    "variables of a ConfigMap without a name": Mistake(
        main(envFrom=[{"configMapRef": {"name": ""}}]),
        f"{MAIN}.envFrom[0].configMapRef.name",
        f"{EMPTY}: name the ConfigMap",
    ),
    "variables of a Secret in capitals": Mistake(
        main(envFrom=[{"secretRef": {"name": "HUB"}}]), f"{MAIN}.envFrom[0].secretRef.name", f"{DNS} (given: 'HUB')"
    ),
    # Mounts and devices
    "a mount of a volume that is not there": Mistake(
        mounting({"name": "nope"}), f"{MAIN}.volumeMounts[0].name", "the Pod has no volume of this name (given: 'nope')"
    ),
    "a path mounted twice": Mistake(
        mounting({"mountPath": "/a"}, {"mountPath": "/a"}),
        f"{MAIN}.volumeMounts[1].mountPath",
        "this stands here twice (given: '/a'): remove one of them",
    ),
    "a mount without a path": Mistake(
        mounting({"mountPath": ""}), f"{MAIN}.volumeMounts[0].mountPath", "a mount needs a path"
    ),
    "a mount's subPath that is absolute": Mistake(
        mounting({"subPath": "/runs"}),
        f"{MAIN}.volumeMounts[0].subPath",
        f"{INSIDE} (given: '/runs')",
        server=f"{MAIN}.volumeMounts.subPath",
    ),
    "a mount's subPath that leaves the volume": Mistake(
        mounting({"subPath": "runs/../.."}),
        f"{MAIN}.volumeMounts[0].subPath",
        f"{INSIDE} (given: 'runs/../..')",
        server=f"{MAIN}.volumeMounts.subPath",
    ),
    "a mount's expression that leaves the volume": Mistake(
        mounting({"subPathExpr": "../$(RUN)"}),
        f"{MAIN}.volumeMounts[0].subPathExpr",
        f"{INSIDE} (given: '../$(RUN)')",
        server=f"{MAIN}.volumeMounts.subPathExpr",
    ),
    "a mount with a subPath and an expression": Mistake(
        mounting({"subPath": "a", "subPathExpr": "b"}),
        f"{MAIN}.volumeMounts[0].subPathExpr",
        "a mount has a subPath or a subPathExpr (given: 'b'): remove one of them",
    ),
    "a propagation that is none": Mistake(
        mounting({"mountPropagation": "Both"}),
        f"{MAIN}.volumeMounts[0].mountPropagation",
        "this must be one of None, HostToContainer, Bidirectional (given: 'Both')",
        server=f"{MAIN}.volumeMounts.mountPropagation",
    ),
    "a propagation to the node without privileges": Mistake(
        mounting({"mountPropagation": "Bidirectional"}),
        f"{MAIN}.volumeMounts[0].mountPropagation",
        (
            "only a privileged container passes its mounts on to the node (given: 'Bidirectional'): set"
            " HostToContainer, or securityContext.privileged: true"
        ),
        server=f"{MAIN}.volumeMounts.mountPropagation",
    ),
    "a kind of being read-only that is none": Mistake(
        mounting({"readOnly": True, "recursiveReadOnly": "Yes"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "this must be one of Disabled, IfPossible, Enabled (given: 'Yes')",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a mount that is only read-only below": Mistake(
        mounting({"recursiveReadOnly": "Enabled"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "this is for mounts that are readOnly (given: 'Enabled'): set readOnly: true",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a read-only mount that is passed on": Mistake(
        mounting({"readOnly": True, "recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "this is for mounts without mountPropagation (given: 'Enabled'): remove mountPropagation",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a device of a volume that is not there": Mistake(
        mounting(volumeDevices=[{"name": "nope", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "the Pod has no volume of this name (given: 'nope')",
    ),
    "a device of what is no claim": Mistake(
        mounting(volumeDevices=[{"name": "data", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "only a claim's volume can be a device (given: 'data'): mount it with volumeMounts",
    ),
    "a device without a path": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": ""}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "a device needs a path: for example /dev/xvda",
    ),
    "a device's path with backsteps": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/../a"}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "no part of this can be '..' (given: '/dev/../a')",
    ),
    "a device that is mounted too": Mistake(
        mounting({"name": "disk"}, volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "this volume is in volumeMounts too (given: 'disk'): keep one of them",
    ),
    "a device where a mount is": Mistake(
        mounting({"mountPath": "/a"}, volumeDevices=[{"name": "disk", "devicePath": "/a"}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "this path is in volumeMounts too (given: '/a'): keep one of them",
    ),
    "a device that is there twice": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}, {"name": "disk", "devicePath": "/dev/b"}]),
        f"{MAIN}.volumeDevices[1].name",
        "this stands here twice (given: 'disk'): give each a name of its own",
    ),
    # Resources
    "an amount that is none": Mistake(
        asks({"cpu": "two"}), f"{MAIN}.resources.requests.cpu", f"{AMOUNT} (given: 'two')", reason="BadRequest"
    ),
    "a negative amount": Mistake(
        asks(None, {"memory": "-1Gi"}), f"{MAIN}.resources.limits.memory", f"{AMOUNT} (given: '-1Gi')"
    ),
    "a request above the limit": Mistake(
        asks({"cpu": 2}, {"cpu": "1500m"}),
        f"{MAIN}.resources.requests.cpu",
        "the request must not exceed the limit, which is 1500m (given: 2): raise the limit, or lower the request",
    ),
    "a device's request without a limit": Mistake(
        asks({"example.org/device": 1}),
        f"{MAIN}.resources.requests.example.org/device",
        "a device's limit must be set, and equal the request (given: 1): set it to 1",
        server=f"{MAIN}.resources.limits",
    ),
    "a device's request below the limit": Mistake(
        asks({"example.org/device": 1}, {"example.org/device": 2}),
        f"{MAIN}.resources.requests.example.org/device",
        "the request must equal the limit, which is 2 (given: 1): give one amount to both",
    ),
    "half a device": Mistake(
        asks(None, {"nvidia.com/gpu": "500m"}),
        f"{MAIN}.resources.limits.nvidia.com/gpu",
        "there are only whole devices (given: '500m'): give a whole number",
    ),
    "devices beyond 64 bits": Mistake(
        asks(None, {"example.org/a": "12345678901234567890"}),
        f"{MAIN}.resources.limits.example.org/a",
        (
            'Invalid value: "12345678901234567890": must be an integer: Kubernetes computes thousandths in 64 bits:'
            " give a smaller number"
        ),
    ),
    "huge pages beyond 64 bits": Mistake(
        asks(None, {"memory": "1Gi", "hugepages-2Mi": "8Ei"}),
        f"{MAIN}.resources.limits.hugepages-2Mi",
        "this must be a multiple of the size of a page, which is in the name (given: '8Ei')",
    ),
    "requests beyond 63 bits above the limit": Mistake(
        asks({"cpu": "20E"}, {"cpu": "10E"}),
        f"{MAIN}.resources.requests.cpu",
        ("the request must not exceed the limit, which is 10E (given: '20E'): raise the limit, or lower the request"),
    ),
    "a device without its domain": Mistake(
        asks(None, {"gpu": 1}),
        f"{MAIN}.resources.limits.gpu",
        (
            "a container can ask for cpu, memory, ephemeral-storage, hugepages-SIZE and devices, with their domain"
            " (given: 'gpu'): write its domain too: nvidia.com/gpu, or amd.com/gpu"
        ),
    ),
    "a resource with a capital letter": Mistake(
        asks({"Cpu": 1}),
        f"{MAIN}.resources.requests.Cpu",
        (
            "a container can ask for cpu, memory, ephemeral-storage, hugepages-SIZE and devices, with their domain"
            " (given: 'Cpu'): did you mean cpu?"
        ),
    ),
    "an abbreviated resource": Mistake(
        asks(None, {"mem": "1Gi"}),
        f"{MAIN}.resources.limits.mem",
        (
            "a container can ask for cpu, memory, ephemeral-storage, hugepages-SIZE and devices, with their domain"
            " (given: 'mem'): did you mean memory?"
        ),
    ),
    "an abbreviated resource of the whole Pod": Mistake(
        pod(resources={"limits": {"mem": "1Gi"}}),
        "spec.resources.limits.mem",
        "a Pod itself can ask for cpu, memory and hugepages-SIZE (given: 'mem'): did you mean memory?",
    ),
    "a resource with a blank in its name": Mistake(
        asks({"my cpu": 1}),
        f"{MAIN}.resources.requests.my cpu",
        "this is no name of a resource (given: 'my cpu'): it is cpu, memory or such as nvidia.com/gpu",
    ),
    "a resource that is for quotas": Mistake(
        asks(None, {"requests.nvidia.com/gpu": 1}),
        f"{MAIN}.resources.limits.requests.nvidia.com/gpu",
        (
            "a device's name does not begin with 'requests.', and its domain has at most 244 characters (given:"
            " 'requests.nvidia.com/gpu'): write nvidia.com/gpu"
        ),
    ),
    "huge pages that are not whole": Mistake(
        asks(None, {"hugepages-2Mi": "3Mi", "memory": "1Gi"}),
        f"{MAIN}.resources.limits.hugepages-2Mi",
        "this must be a multiple of the size of a page, which is in the name (given: '3Mi')",
    ),
    "huge pages without memory": Mistake(
        asks(None, {"hugepages-2Mi": "4Mi"}),
        f"{MAIN}.resources",
        "who asks for huge pages must ask for cpu or memory too: add memory",
    ),
    "a request of huge pages without a limit": Mistake(
        asks({"hugepages-2Mi": "4Mi", "memory": "1Gi"}),
        f"{MAIN}.resources.requests.hugepages-2Mi",
        "of huge pages the limit must be set, and equal the request (given: '4Mi'): set it to 4Mi",
        server=f"{MAIN}.resources.limits",
    ),
    "a claim that the Pod has not": Mistake(
        asks(claims=[{"name": "gpu"}]),
        f"{MAIN}.resources.claims[0].name",
        "the Pod has no claim of this name (given: 'gpu'): add it to spec.resourceClaims",
    ),
    "a claim used twice": Mistake(
        asks(claims=[{"name": "gpu"}, {"name": "gpu"}])
        | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        f"{MAIN}.resources.claims[1]",
        "this stands here twice (given: 'gpu'): remove one of them",
    ),
    "a claim without a source": Mistake(
        pod(resourceClaims=[{"name": "gpu"}]),
        "spec.resourceClaims[0]",
        "a claim is there already, or made by a template: set one of resourceClaimName, resourceClaimTemplateName",
    ),
    "a claim with two sources": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]),
        "spec.resourceClaims[0].resourceClaimTemplateName",
        "a claim has one source, and resourceClaimName is there too: remove one of them",
    ),
    "a claim's name that is no label": Mistake(
        pod(resourceClaims=[{"name": "my.gpu", "resourceClaimName": "gpu"}]),
        "spec.resourceClaims[0].name",
        f"{LABEL} (given: 'my.gpu')",
    ),
    "a claim of a name with an underscore": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "my_gpu"}]),
        "spec.resourceClaims[0].resourceClaimName",
        f"{DNS} (given: 'my_gpu')",
    ),
    "two claims of one name": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "a"}, {"name": "gpu", "resourceClaimName": "b"}]),
        "spec.resourceClaims[1].name",
        "this stands here twice (given: 'gpu'): give each a name of its own",
    ),
    "a device for the whole Pod": Mistake(
        pod(resources={"limits": {"nvidia.com/gpu": 1}}),
        "spec.resources.limits.nvidia.com/gpu",
        "a Pod itself can ask for cpu, memory and hugepages-SIZE (given: 'nvidia.com/gpu'): move it to a container",
    ),
    "a device as overhead": Mistake(
        pod(overhead={"gpu": 1}),
        "spec.overhead.gpu",
        (
            "a container can ask for cpu, memory, ephemeral-storage, hugepages-SIZE and devices, with their domain"
            " (given: 'gpu'): write its domain too: nvidia.com/gpu, or amd.com/gpu"
        ),
        server="spec.overhead.limits[gpu]",
    ),
    "a claim for the whole Pod": Mistake(
        pod(resources={"claims": [{"name": "gpu"}]})
        | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        "spec.resources.claims",
        "a Pod's own resources have no claims: move them to a container",
    ),
    "a container's limit above the Pod's": Mistake(
        asks(None, {"memory": "4Gi"}) | {"resources": {"limits": {"memory": "2Gi"}}},
        f"{MAIN}.resources.limits.memory",
        (
            "the limit must not exceed that of the whole Pod, which is 2Gi (given: '4Gi'): lower it, or raise"
            " spec.resources"
        ),
        server="spec.resources.containers[0][memory].limits",
    ),
    "containers that want more than the Pod": Mistake(
        asks({"cpu": 4}) | {"resources": {"requests": {"cpu": 2}}},
        "spec.resources.requests.cpu",
        "the containers ask for more than this together (given: 2): raise it, or lower theirs",
    ),
    "an init container that wants more than the Pod": Mistake(
        pod(
            initContainers=[container("first", resources={"requests": {"cpu": 4}})],
            resources={"requests": {"cpu": 2}},
        ),
        "spec.resources.requests.cpu",
        "the containers ask for more than this together (given: 2): raise it, or lower theirs",
    ),
    "a sidecar and a container that want more than the Pod": Mistake(
        asks({"cpu": 1})
        | {
            "initContainers": [container("side", restartPolicy="Always", resources={"requests": {"cpu": 2}})],
            "resources": {"requests": {"cpu": 2}},
        },
        "spec.resources.requests.cpu",
        "the containers ask for more than this together (given: 2): raise it, or lower theirs",
    ),
    "containers whose huge pages are more than the Pod's": Mistake(
        pod(
            containers=[
                container(name, resources={"limits": {"cpu": 1, "hugepages-2Mi": "2Mi"}}) for name in ("main", "other")
            ],
            resources={"limits": {"cpu": 2, "hugepages-2Mi": "2Mi"}},
        ),
        "spec.resources.limits.hugepages-2Mi",
        "the containers ask for more than this together (given: '2Mi'): raise it, or lower theirs",
    ),
    # Probes and hooks
    "a probe that asks nothing": Mistake(
        main(livenessProbe={"periodSeconds": 5}),
        f"{MAIN}.livenessProbe",
        "a probe asks in one way, and there is none: set one of exec, httpGet, tcpSocket, grpc",
    ),
    "a probe that asks in two ways": Mistake(
        main(livenessProbe={"exec": {"command": ["true"]}, "tcpSocket": {"port": 80}}),
        f"{MAIN}.livenessProbe.tcpSocket",
        "a probe asks in one way, and exec is there too: remove one of them",
    ),
    "a probe without a command": Mistake(
        main(readinessProbe={"exec": {}}),
        f"{MAIN}.readinessProbe.exec.command",
        f"{EMPTY}: for example [cat, /tmp/ready]",
    ),
    "a probe's port in quotes": Mistake(
        main(readinessProbe={"httpGet": {"port": "8080"}}),
        f"{MAIN}.readinessProbe.httpGet.port",
        "in quotes this is a port's name, and one has a letter (given: '8080'): write it without quotes",
    ),
    "a probe's port beyond 16 bits": Mistake(
        main(readinessProbe={"tcpSocket": {"port": 70000}}),
        f"{MAIN}.readinessProbe.tcpSocket.port",
        f"{PORT} (given: 70000)",
    ),
    "a probe's port that is no name": Mistake(
        main(readinessProbe={"tcpSocket": {"port": "Web"}}),
        f"{MAIN}.readinessProbe.tcpSocket.port",
        "this is neither a port's number nor the name of one (given: 'Web')",
    ),
    "a probe's grpc port of 0": Mistake(
        main(readinessProbe={"grpc": {"port": 0}}), f"{MAIN}.readinessProbe.grpc.port", f"{PORT} (given: 0)"
    ),
    "a probe's scheme that is none": Mistake(
        main(readinessProbe={"httpGet": {"port": 80, "scheme": "https"}}),
        f"{MAIN}.readinessProbe.httpGet.scheme",
        "this must be one of HTTP, HTTPS (given: 'https'): did you mean HTTPS?",
    ),
    "a header with a blank": Mistake(
        main(readinessProbe={"httpGet": {"port": 80, "httpHeaders": [{"name": "X Run", "value": "1"}]}}),
        f"{MAIN}.readinessProbe.httpGet.httpHeaders[0].name",
        "a header's name has only letters, digits and '-' (given: 'X Run')",
        server=f"{MAIN}.readinessProbe.httpGet.httpHeaders",
    ),
    "a negative period": Mistake(
        main(startupProbe={"grpc": {"port": 80}, "periodSeconds": -1}),
        f"{MAIN}.startupProbe.periodSeconds",
        "this must be at least 0 (given: -1): leave it out for the default",
    ),
    "a liveness probe that must succeed twice": Mistake(
        main(livenessProbe={"grpc": {"port": 80}, "successThreshold": 2}),
        f"{MAIN}.livenessProbe.successThreshold",
        "of a livenessProbe this must be 1 (given: 2): remove it",
    ),
    "no time of grace after a probe": Mistake(
        main(livenessProbe={"grpc": {"port": 80}, "terminationGracePeriodSeconds": 0}),
        f"{MAIN}.livenessProbe.terminationGracePeriodSeconds",
        "this must be at least 1 (given: 0): leave it out for that of the Pod",
    ),
    "a time of grace after a readiness probe": Mistake(
        main(readinessProbe={"grpc": {"port": 80}, "terminationGracePeriodSeconds": 5}),
        f"{MAIN}.readinessProbe.terminationGracePeriodSeconds",
        "a readinessProbe ends no container (given: 5): remove it",
    ),
    "a hook that does nothing": Mistake(
        main(lifecycle={"preStop": {}}),
        f"{MAIN}.lifecycle.preStop",
        "a hook does one thing, and there is none: set one of exec, httpGet, tcpSocket, sleep",
    ),
    "a hook that sleeps longer than the Pod has": Mistake(
        main(lifecycle={"preStop": {"sleep": {"seconds": 31}}}),
        f"{MAIN}.lifecycle.preStop.sleep.seconds",
        (
            "this must be from 0 to 30, the seconds that the Pod has to stop (given: 31): shorten it, or raise"
            " spec.terminationGracePeriodSeconds"
        ),
    ),
    "a sidecar's probe that asks nothing": Mistake(
        sidecar(restartPolicy="Always", startupProbe={}),
        "spec.initContainers[0].startupProbe",
        "a probe asks in one way, and there is none: set one of exec, httpGet, tcpSocket, grpc",
    ),
    # Volumes
    "a volume's name that is no label": Mistake(
        pod(volumes=[{"name": "My_Data", "emptyDir": {}}]), f"{FIRST}.name", f"{LABEL} (given: 'My_Data')"
    ),
    "two volumes of one name": Mistake(
        pod(volumes=[{"name": "data", "emptyDir": {}}, {"name": "data", "emptyDir": {}}]),
        "spec.volumes[1].name",
        "this stands here twice (given: 'data'): give each a name of its own",
    ),
    "a volume with two sources": Mistake(
        volume(emptyDir={}, secret={"secretName": "key"}),
        f"{FIRST}.secret",
        "a volume has one source, and emptyDir is there too: remove one of them",
    ),
    "a size that is none": Mistake(
        volume(emptyDir={"sizeLimit": "lots"}),
        f"{FIRST}.emptyDir.sizeLimit",
        f"{AMOUNT} (given: 'lots'): leave it out for no limit",
        reason="BadRequest",
    ),
    "a negative size": Mistake(
        volume(emptyDir={"sizeLimit": "-1Gi"}),
        f"{FIRST}.emptyDir.sizeLimit",
        f"{AMOUNT} (given: '-1Gi'): leave it out for no limit",
    ),
    "a path of the node that is empty": Mistake(
        volume(hostPath={"path": ""}), f"{FIRST}.hostPath.path", f"{EMPTY}: name a directory or file of the node"
    ),
    "a path of the node with backsteps": Mistake(
        volume(hostPath={"path": "/var/../etc"}),
        f"{FIRST}.hostPath.path",
        "no part of this can be '..' (given: '/var/../etc')",
    ),
    "a kind of path of the node that is none": Mistake(
        volume(hostPath={"path": "/var", "type": "Folder"}),
        f"{FIRST}.hostPath.type",
        (
            "this must be one of Directory, DirectoryOrCreate, File, FileOrCreate, Socket, CharDevice, BlockDevice"
            " (given: 'Folder'): leave it out to have nothing checked"
        ),
    ),
    "a Secret without a name": Mistake(
        volume(secret={"defaultMode": 256}), f"{FIRST}.secret.secretName", f"{EMPTY}: name the Secret"
    ),
    "a mode beyond 0777": Mistake(
        volume(secret={"secretName": "key", "defaultMode": 600}),
        f"{FIRST}.secret.defaultMode",
        f"{MODE} (given: 600): write 0600 in YAML, and 384 elsewhere",
    ),
    "a mode of one file beyond 0777": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "a", "path": "b", "mode": 1000}]}),
        f"{FIRST}.secret.items[0].mode",
        f"{MODE} (given: 1000): 0400 is 256, and 0644 is 420",
    ),
    "a file of no key": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "", "path": "b"}]}),
        f"{FIRST}.secret.items[0].key",
        f"{EMPTY}: name a key of it",
    ),
    "a file without a path": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "a", "path": ""}]}),
        f"{FIRST}.secret.items[0].path",
        f"{EMPTY}: name the file that is made",
    ),
    "a file outside the volume": Mistake(
        volume(configMap={"name": "hosts", "items": [{"key": "a", "path": "/etc/b"}]}),
        f"{FIRST}.configMap.items[0].path",
        f"{FILE} (given: '/etc/b')",
    ),
    "a ConfigMap without a name": Mistake(
        volume(configMap={"name": ""}), f"{FIRST}.configMap.name", f"{EMPTY}: name the ConfigMap"
    ),
    "a claim's volume without a name": Mistake(
        volume(persistentVolumeClaim={"claimName": ""}),
        f"{FIRST}.persistentVolumeClaim.claimName",
        f"{EMPTY}: name the PersistentVolumeClaim",
    ),
    "a variable from a file of no volume": Mistake(
        file_variable(volumeName="other"),
        f"{MAIN}.env[0].valueFrom.fileKeyRef.volumeName",
        'Not found: "other": add an emptyDir volume of this name to spec.volumes',
    ),
    "a variable from a file of a ConfigMap": Mistake(
        file_variable({"configMap": {"name": "a"}}),
        f"{MAIN}.env[0].valueFrom.fileKeyRef.volumeName",
        'Invalid value: "data": referenced volume must be of type emptyDir: name an emptyDir volume',
    ),
    "iSCSI without a portal": lacking("iscsi", "targetPortal", ISCSI),
    "iSCSI without a target": lacking("iscsi", "iqn", ISCSI),
    "iSCSI with another target": Mistake(
        volume(iscsi=ISCSI | {"iqn": "disk"}),
        f"{FIRST}.iscsi.iqn",
        'Invalid value: "disk": must be valid format starting with iqn, eui, or naa: correct the name',
    ),
    "iSCSI with half a target": Mistake(
        volume(iscsi=ISCSI | {"iqn": "iqn.2001"}),
        f"{FIRST}.iscsi.iqn",
        'Invalid value: "iqn.2001": must be valid format: for example iqn.2001-04.com.example:storage.disk1',
    ),
    "iSCSI with a half initiator": Mistake(
        volume(iscsi=ISCSI | {"initiatorName": "eui.1"}),
        f"{FIRST}.iscsi.initiatorName",
        'Invalid value: "eui.1": must be valid format: for example iqn.2001-04.com.example:storage.disk1',
        server=f"{FIRST}.iscsi.initiatorname",
    ),
    "iSCSI with a line end after the initiator": Mistake(
        volume(iscsi=ISCSI | {"initiatorName": f"naa.{'a' * 32}\n"}),
        f"{FIRST}.iscsi.initiatorName",
        (f'Invalid value: "naa.{"a" * 32} ": must be valid format: for example iqn.2001-04.com.example:storage.disk1'),
        server=f"{FIRST}.iscsi.initiatorname",
    ),
    "iSCSI with unit 256": Mistake(
        volume(iscsi=ISCSI | {"lun": 256}),
        f"{FIRST}.iscsi.lun",
        "Invalid value: 256: must be between 0 and 255, inclusive: set a number up to 255",
    ),
    "iSCSI with a login without a Secret": Mistake(
        volume(iscsi=ISCSI | {"chapAuthSession": True}),
        f"{FIRST}.iscsi.secretRef",
        "Required value: name the Secret for CHAP",
    ),
    "RBD without monitors": lacking("rbd", "monitors", {"monitors": [], "image": "a"}, []),
    "RBD without an image": lacking("rbd", "image", {"monitors": ["a"], "image": "a"}),
    "CephFS without monitors": lacking("cephfs", "monitors", {"monitors": []}, []),
    "GlusterFS without endpoints": lacking("glusterfs", "endpoints", {"endpoints": "a", "path": "b"}),
    "GlusterFS without a path": lacking("glusterfs", "path", {"endpoints": "a", "path": "b"}),
    "a disk of Google without a name": Mistake(
        volume(gcePersistentDisk={"pdName": ""}),
        f"{FIRST}.gcePersistentDisk.pdName",
        "Required value: set pdName",
        server=f"{FIRST}.persistentDisk.pdName",
    ),
    "a disk of Google with partition 256": Mistake(
        volume(gcePersistentDisk={"pdName": "a", "partition": 256}),
        f"{FIRST}.gcePersistentDisk.partition",
        "Invalid value: 256: must be between 1 and 255, inclusive: set a number up to 255",
        server=f"{FIRST}.persistentDisk.partition",
    ),
    "a disk of AWS without an ID": lacking("awsElasticBlockStore", "volumeID", {"volumeID": "a"}),
    "a disk of Cinder without an ID": lacking("cinder", "volumeID", {"volumeID": "a"}),
    "a disk of Cinder without a Secret's name": Mistake(
        volume(cinder={"volumeID": "a", "secretRef": {}}),
        f"{FIRST}.cinder.secretRef.name",
        "Required value: name the Secret",
    ),
    "a FlexVolume without a driver": lacking("flexVolume", "driver", {"driver": "a"}),
    "a FlexVolume with an option of Kubernetes": Mistake(
        volume(flexVolume={"driver": "a", "options": {"kubernetes.io/a": "b"}}),
        f"{FIRST}.flexVolume.options.kubernetes.io/a",
        'Invalid value: "kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved: remove it',
        server=f"{FIRST}.flexVolume.options",
    ),
    "an Azure share without a Secret": lacking("azureFile", "secretName", {"secretName": "a", "shareName": "b"}),
    "an Azure share without a name": lacking("azureFile", "shareName", {"secretName": "a", "shareName": "b"}),
    "an Azure disk without a name": lacking("azureDisk", "diskName", {"diskName": "a", "diskURI": "https://b"}),
    "an Azure disk of another kind": Mistake(
        volume(azureDisk={"diskName": "a", "diskURI": "https://b", "kind": "Big"}),
        f"{FIRST}.azureDisk.kind",
        'Unsupported value: "Big": supported values: "Dedicated", "Managed", "Shared": set one of them',
    ),
    "a managed Azure disk at the address of a blob": Mistake(
        volume(azureDisk={"diskName": "a", "diskURI": "https://b", "kind": "Managed"}),
        f"{FIRST}.azureDisk.diskURI",
        (
            'Unsupported value: "https://b": supported values begin with "/subscriptions/": set kind: Managed for a'
            " managed disk"
        ),
    ),
    "a disk of vSphere without a path": lacking("vsphereVolume", "volumePath", {"volumePath": "a"}),
    "a disk of Photon without an ID": lacking("photonPersistentDisk", "pdID", {"pdID": "a"}),
    "a volume of Portworx without an ID": lacking("portworxVolume", "volumeID", {"volumeID": "a"}),
    "a volume of ScaleIO without a gateway": lacking("scaleIO", "gateway", SCALE_IO),
    "a volume of ScaleIO without a system": lacking("scaleIO", "system", SCALE_IO),
    "a volume of ScaleIO without a name": Mistake(
        volume(scaleIO={key: value for key, value in SCALE_IO.items() if key != "volumeName"}),
        f"{FIRST}.scaleIO.volumeName",
        "Required value: name the volume",
    ),
    "a volume of StorageOS without a name": Mistake(
        volume(storageos={}), f"{FIRST}.storageos.volumeName", "Required value: name the volume"
    ),
    "Quobyte without a volume": lacking("quobyte", "volume", {"registry": "a:1", "volume": "b"}),
    "Quobyte without a port": Mistake(
        volume(quobyte={"registry": "a", "volume": "b"}),
        f"{FIRST}.quobyte.registry",
        (
            'Invalid value: "a": must be a host:port pair or multiple pairs separated by commas: for example'
            " registry.example.org:7861"
        ),
    ),
    "a repository without an address": lacking("gitRepo", "repository", {"repository": "a"}),
    "a repository in the directory above": Mistake(
        volume(gitRepo={"repository": "a", "directory": "../b"}),
        f"{FIRST}.gitRepo.directory",
        "Invalid value: \"../b\": must not contain '..': remove '..'",
    ),
    "Fibre Channel without a target": Mistake(
        volume(fc={}),
        f"{FIRST}.fc.targetWWNs",
        "Required value: must specify either targetWWNs or wwids, but not both: set one of them",
    ),
    "Fibre Channel with two kinds of targets": Mistake(
        volume(fc={"targetWWNs": ["a"], "wwids": ["b"], "lun": 1}),
        f"{FIRST}.fc.targetWWNs",
        "Invalid value: targetWWNs and wwids can not be specified simultaneously: remove one of them",
    ),
    "Fibre Channel without a unit": Mistake(
        volume(fc={"targetWWNs": ["a"]}),
        f"{FIRST}.fc.lun",
        "Required value: lun is required if targetWWNs is specified: set lun",
    ),
    "Flocker without a dataset": Mistake(
        volume(flocker={}),
        f"{FIRST}.flocker",
        "Required value: one of datasetName and datasetUUID is required: set one of them",
    ),
    "Flocker with two datasets": Mistake(
        volume(flocker={"datasetName": "a", "datasetUUID": "b"}),
        f"{FIRST}.flocker",
        "Invalid value: datasetName and datasetUUID can not be specified simultaneously: remove one of them",
    ),
    "a share without a server": Mistake(
        volume(nfs={"server": "", "path": "/a"}), f"{FIRST}.nfs.server", f"{EMPTY}: name the NFS server"
    ),
    "a share with a relative path": Mistake(
        volume(nfs={"server": "nfs.example.org", "path": "exports"}),
        f"{FIRST}.nfs.path",
        "this must be an absolute path (given: 'exports'): write /exports",
    ),
    "a file of a field that a Pod has not": Mistake(
        volume(downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}),
        f"{FIRST}.downwardAPI.items[0].fieldRef.fieldPath",
        (
            "this must be one of metadata.name, metadata.namespace, metadata.labels, metadata.annotations,"
            " metadata.uid (given: 'status.podIP')"
        ),
        server=f"{FIRST}.downwardAPI.fieldRef.fieldPath",
    ),
    "a file of no field": Mistake(
        volume(downwardAPI={"items": [{"path": "a"}]}),
        f"{FIRST}.downwardAPI.items[0]",
        "a file of the Pod's own fields comes from one of them: set one of fieldRef, resourceFieldRef",
        server=f"{FIRST}.downwardAPI",
    ),
    "a file of an amount of no container": Mistake(
        volume(downwardAPI={"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}),
        f"{FIRST}.downwardAPI.items[0].resourceFieldRef.containerName",
        f"{EMPTY}: name one of the Pod's containers",
        server=f"{FIRST}.downwardAPI.resourceFieldRef.containerName",
    ),
    "one file of two sources": Mistake(
        volume(
            projected={
                "sources": [
                    {"secret": {"name": "a", "items": [{"key": "a", "path": "x"}]}},
                    {"configMap": {"name": "b", "items": [{"key": "b", "path": "x"}]}},
                ]
            }
        ),
        f"{FIRST}.projected.sources[1].configMap.items[0].path",
        "another source of this volume makes this file (given: 'x'): remove one of them",
    ),
    "two sources in one entry": Mistake(
        volume(projected={"sources": [{"secret": {"name": "a"}, "configMap": {"name": "b"}}]}),
        f"{FIRST}.projected.sources[0].configMap",
        "an entry has one source, and secret is there too: remove one of them",
    ),
    "a source without a name": Mistake(
        volume(projected={"sources": [{"secret": {}}]}),
        f"{FIRST}.projected.sources[0].secret.name",
        f"{EMPTY}: name the Secret",
    ),
    "a token for a minute": Mistake(
        volume(projected={"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 60}}]})
        | {"serviceAccountName": "trainer"},
        f"{FIRST}.projected.sources[0].serviceAccountToken.expirationSeconds",
        "this must be from 600 to 4294967296 (given: 60): leave it out for an hour",
    ),
    "a driver in two words": Mistake(
        volume(csi={"driver": "my driver"}),
        f"{FIRST}.csi.driver",
        "a driver has a DNS name of at most 63 characters (given: 'my driver')",
    ),
    "a driver's Secret without a name": Mistake(
        volume(csi={"driver": "csi.example.org", "nodePublishSecretRef": {"name": ""}}),
        f"{FIRST}.csi.nodePublishSecretRef.name",
        f"{EMPTY}: name the Secret",
    ),
    "a claim that comes with the Pod and is empty": Mistake(
        volume(ephemeral={}),
        f"{FIRST}.ephemeral.volumeClaimTemplate",
        f"{EMPTY}: add it, with a spec of accessModes and resources",
    ),
    "an access mode that is none": Mistake(
        claim(accessModes=["RWX"]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes[0]",
        (
            'Unsupported value: "RWX": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",'
            ' "ReadWriteOncePod": write ReadWriteMany'
        ),
    ),
    "no access mode": Mistake(
        claim(accessModes=[]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes",
        "Required value: at least 1 access mode is required: for example [ReadWriteOnce]",
    ),
    "an access mode that is alone": Mistake(
        claim(accessModes=["ReadWriteOncePod", "ReadOnlyMany"]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes",
        "Forbidden: may not use ReadWriteOncePod with other access modes: remove one of them",
    ),
    "a claim without a size": Mistake(
        claim(resources={}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.resources.requests.storage",
        "Required value: for example 100Gi",
        server=f"{FIRST}.ephemeral.volumeClaimTemplate.spec.resources[storage]",
    ),
    "a kind of claim that is none": Mistake(
        claim(volumeMode="Disk"),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.volumeMode",
        'Unsupported value: "Disk": supported values: "Block", "Filesystem"',
    ),
    "a storage class in capitals": Mistake(
        claim(storageClassName="Fast"),
        f"{OF_CLAIM}.storageClassName",
        f'Invalid value: "Fast": {SUBDOMAIN}: name a class of the cluster',
    ),
    "an attributes class in capitals": Mistake(
        claim(volumeAttributesClassName="Fast"),
        f"{OF_CLAIM}.volumeAttributesClassName",
        f'Invalid value: "Fast": {SUBDOMAIN}: name a class of the cluster',
    ),
    "a claim of less than nothing": Mistake(
        claim(resources={"requests": {"storage": "-1Gi"}}),
        f"{OF_CLAIM}.resources.requests.storage",
        'Invalid value: "-1Gi": must be greater than zero: for example 100Gi',
        server=f"{OF_CLAIM}.resources[storage]",
    ),
    "an amount of a claim that is none": Mistake(
        claim(resources=CLAIM["resources"] | {"limits": {"storage": "x"}}),
        f"{OF_CLAIM}.resources.limits.storage",
        (
            'Invalid value: "x": quantities must match the regular expression'
            " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': for example 100Gi"
        ),
        reason="BadRequest",
    ),
    "a claim's selector": Mistake(
        claim(selector={"matchLabels": {"a": "b c"}}),
        f"{OF_CLAIM}.selector.matchLabels.a",
        f"{VALUE} (given: 'b c')",
        server=f"{OF_CLAIM}.selector.matchLabels",
    ),
    "a source of another group": Mistake(
        claim(dataSource={"kind": "VolumeSnapshot", "name": "a"}),
        f"{OF_CLAIM}.dataSource",
        (
            "Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' when referencing the default apiGroup:"
            " set apiGroup, such as snapshot.storage.k8s.io"
        ),
    ),
    "a source of a claim without a name": Mistake(
        claim(dataSourceRef={"kind": "PersistentVolumeClaim", "name": ""}),
        f"{OF_CLAIM}.dataSourceRef.name",
        f"{EMPTY}: name the object that the volume is filled from",
    ),
    "a source that contradicts its reference": Mistake(
        claim(
            dataSource={"kind": "PersistentVolumeClaim", "name": "a"},
            dataSourceRef={"kind": "PersistentVolumeClaim", "name": "b"},
        ),
        f"{OF_CLAIM}.dataSource",
        "Invalid value: must match dataSourceRef: remove one of them",
        server=OF_CLAIM,
    ),
    "annotations of 256 KiB of a claim that comes with the Pod": Mistake(
        volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM, "metadata": {"annotations": {"a": "x" * 262144}}}}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.metadata.annotations",
        "Too long: may not be more than 262144 bytes: the annotations have 262145 bytes: remove some",
    ),
    "a name of a claim that comes with the Pod": Mistake(
        volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM, "metadata": {"name": "a"}}}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.metadata.name",
        "Forbidden: cannot be set: remove it",
    ),
    "a pull policy of a volume that is none": Mistake(
        volume(image={"reference": IMAGE, "pullPolicy": "Maybe"}),
        f"{FIRST}.image.pullPolicy",
        "this must be one of Always, IfNotPresent, Never (given: 'Maybe')",
    ),
    # The Pod
    "a restart policy that is none": Mistake(
        pod(restartPolicy="Sometimes"),
        "spec.restartPolicy",
        "this must be one of Always, OnFailure, Never (given: 'Sometimes')",
    ),
    "a DNS policy that is none": Mistake(
        pod(dnsPolicy="Mine"),
        "spec.dnsPolicy",
        "this must be one of ClusterFirst, ClusterFirstWithHostNet, Default, None (given: 'Mine')",
    ),
    "a preemption policy that is none": Mistake(
        pod(preemptionPolicy="Always"),
        "spec.preemptionPolicy",
        "this must be one of PreemptLowerPriority, Never (given: 'Always')",
        reason="Forbidden",
    ),
    "a deadline of 0": Mistake(
        pod(activeDeadlineSeconds=0),
        "spec.activeDeadlineSeconds",
        "this must be a number from 1 to 2147483647 (given: 0): leave it out for no deadline",
    ),
    "a service account in capitals": Mistake(
        pod(serviceAccountName="Trainer"), "spec.serviceAccountName", f"{DNS} (given: 'Trainer')"
    ),
    "a node's name with an underscore": Mistake(pod(nodeName="node_1"), "spec.nodeName", f"{DNS} (given: 'node_1')"),
    "a priority class in two words": Mistake(
        pod(priorityClassName="very high"), "spec.priorityClassName", f"{DNS} (given: 'very high')", reason="Forbidden"
    ),
    "a runtime class in capitals": Mistake(
        pod(runtimeClassName="Nvidia"), "spec.runtimeClassName", f"{DNS} (given: 'Nvidia')", reason="Forbidden"
    ),
    "a runtime class that is empty": Mistake(
        pod(runtimeClassName=""), "spec.runtimeClassName", f"{DNS} (given: '')", reason="InternalError"
    ),
    "a system that is none": Mistake(
        pod(os={"name": "macos"}),
        "spec.os.name",
        "this must be one of linux, windows (given: 'macos')",
        server="spec.os",
    ),
    "Windows options on linux": Mistake(
        secure(windowsOptions={"runAsUserName": "me"}) | {"os": {"name": "linux"}},
        "spec.securityContext.windowsOptions",
        "the Pod's os is linux, where no Windows options can be set: remove them",
    ),
    "an ephemeral container": Mistake(
        pod(ephemeralContainers=[container("debug")]),
        "spec.ephemeralContainers",
        "a template has no ephemeral containers: kubectl debug adds one to a Pod that runs",
    ),
    # Names and DNS
    "a hostname that is no label": Mistake(pod(hostname="a.b"), "spec.hostname", f"{LABEL} (given: 'a.b')"),
    "a subdomain that is no label": Mistake(pod(subdomain="-a"), "spec.subdomain", f"{LABEL} (given: '-a')"),
    "another name with hostNetwork": Mistake(
        pod(hostnameOverride="head", hostNetwork=True),
        "spec.hostnameOverride",
        "with hostNetwork a Pod has its node's name (given: 'head'): remove it, or hostNetwork",
    ),
    "another name of 65 characters": Mistake(
        pod(hostnameOverride="x" * 65),
        "spec.hostnameOverride",
        (
            "this must be at most 64 characters (given:"
            " 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')"
        ),
    ),
    "another name in capitals": Mistake(
        pod(hostnameOverride="Head"), "spec.hostnameOverride", f"{DNS} (given: 'Head')"
    ),
    "no nameserver": Mistake(
        pod(dnsPolicy="None"),
        "spec.dnsConfig.nameservers",
        "with dnsPolicy: None a Pod needs a nameserver here: add one, or remove dnsPolicy",
    ),
    "four nameservers": Mistake(
        pod(dnsConfig={"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]}),
        "spec.dnsConfig.nameservers",
        "at most 3 addresses can be here (given: 4): remove some",
    ),
    "a nameserver's name": Mistake(
        pod(dnsConfig={"nameservers": ["dns.example.org"]}),
        "spec.dnsConfig.nameservers[0]",
        "this must be an IP address, such as 10.0.0.1 or fd00::1 (given: 'dns.example.org'): a name cannot stand here",
    ),
    "a domain in capitals": Mistake(
        pod(dnsConfig={"searches": ["Example.org"]}),
        "spec.dnsConfig.searches[0]",
        "this must be a domain of at most 253 lower-case letters, digits, '-', '_' and '.' (given: 'Example.org')",
    ),
    "33 domains to search": Mistake(
        pod(dnsConfig={"searches": ["example.org"] * 33}),
        "spec.dnsConfig.searches",
        "at most 32 domains can be here (given: 33): remove some",
    ),
    "domains of 2195 characters in all": Mistake(
        pod(dnsConfig={"searches": [".".join(["x" * 60] * 4)] * 9}),
        "spec.dnsConfig.searches",
        "at most 2048 characters in all can be here (given: 2195): remove some",
    ),
    "an option without a name": Mistake(
        pod(dnsConfig={"options": [{"value": "2"}]}), "spec.dnsConfig.options[0].name", f"{EMPTY}: for example ndots"
    ),
    "a host's address that is none": Mistake(
        pod(hostAliases=[{"ip": "storage", "hostnames": ["storage"]}]),
        "spec.hostAliases[0].ip",
        "this must be an IP address, such as 10.0.0.1 or fd00::1 (given: 'storage'): a name cannot stand here",
    ),
    "a host's name with an underscore": Mistake(
        pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["my_storage"]}]),
        "spec.hostAliases[0].hostnames[0]",
        f"{DNS} (given: 'my_storage')",
    ),
    # Scheduling
    "a node's label in two words": Mistake(
        pod(nodeSelector={"pool": "gpu pool"}), "spec.nodeSelector.pool", f"{VALUE} (given: 'gpu pool')"
    ),
    "a node's label of no key": Mistake(
        pod(nodeSelector={"my pool": "gpu"}),
        "spec.nodeSelector.my pool",
        f"{KEY} (given: 'my pool'): for example example.org/team",
    ),
    "a toleration's operator": Mistake(
        tolerating(key="gpu", operator="In", value="a"),
        "spec.tolerations[0].operator",
        "this must be one of Exists, Equal, Lt, Gt (given: 'In'): Equal, the default, compares the value",
    ),
    "a toleration with Exists and a value": Mistake(
        tolerating(key="gpu", operator="Exists", value="a"),
        "spec.tolerations[0].value",
        "with the operator Exists a toleration has no value (given: 'a'): remove it, or set operator: Equal",
        server="spec.tolerations[0].operator",
    ),
    "a toleration without a key": Mistake(
        tolerating(value="a"),
        "spec.tolerations[0]",
        (
            "a toleration without a key needs the operator Exists: name the taint's key, or set operator: Exists to"
            " tolerate all"
        ),
    ),
    "a toleration of a key in two words": Mistake(
        tolerating(key="my gpu", operator="Exists"),
        "spec.tolerations[0].key",
        f"{KEY} (given: 'my gpu'): for example example.org/team",
    ),
    "a toleration of a value in two words": Mistake(
        tolerating(key="gpu", value="two words"),
        "spec.tolerations[0].value",
        f"{VALUE} (given: 'two words')",
        server="spec.tolerations[0].operator",
    ),
    "a toleration that compares words": Mistake(
        tolerating(key="load", operator="Lt", value="low"),
        "spec.tolerations[0].value",
        "the operator Lt compares whole numbers (given: 'low'): write one in quotes",
        server="spec.tolerations[0].operator",
    ),
    "a toleration's effect": Mistake(
        tolerating(key="gpu", effect="NoRun"),
        "spec.tolerations[0].effect",
        (
            "this must be one of NoSchedule, PreferNoSchedule, NoExecute (given: 'NoRun'): leave it out to tolerate"
            " all of them"
        ),
    ),
    "seconds without eviction": Mistake(
        tolerating(key="gpu", operator="Exists", effect="NoSchedule", tolerationSeconds=5),
        "spec.tolerations[0].effect",
        (
            "with tolerationSeconds the effect must be NoExecute: only that evicts Pods (given: 'NoSchedule'): set"
            " effect: NoExecute, or remove tolerationSeconds"
        ),
    ),
    "an operator on nodes that is none": Mistake(
        nodes(operator="Equals", values=["gpu"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator",
        "this must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt (given: 'Equals')",
    ),
    "no values for In": Mistake(
        nodes(operator="In"),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        f"{EMPTY}: with In name at least one",
    ),
    "values for Exists": Mistake(
        nodes(operator="Exists", values=["gpu"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "with the operator Exists there are no values: remove them, or set operator: In",
    ),
    "two values for Gt": Mistake(
        nodes(operator="Gt", values=["1", "2"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "with the operator Gt there is one value",
    ),
    "a value on nodes in two words": Mistake(
        nodes(operator="In", values=["gpu pool"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]",
        f"{VALUE} (given: 'gpu pool')",
    ),
    "no term on nodes": Mistake(
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        "there must be at least one term",
    ),
    "a field that nodes have not": Mistake(
        pod(
            affinity={
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [{"matchFields": [{"key": "name", "operator": "In", "values": ["a"]}]}]
                    }
                }
            }
        ),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].key",
        "this must be one of metadata.name (given: 'name'): by its labels choose a node in matchExpressions",
    ),
    "two nodes by name": Mistake(
        pod(
            affinity={
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}
                        ]
                    }
                }
            }
        ),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values",
        "this must be the name of one node",
    ),
    "a node by a name in capitals": Mistake(
        pod(
            affinity={
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["Node"]}]}
                        ]
                    }
                }
            }
        ),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values[0]",
        "no node can have this name (given: 'Node')",
    ),
    "a weight of 0": Mistake(
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {}}]}}),
        f"{AFFINITY}.nodeAffinity.{PREFERRED}[0].weight",
        "this must be from 1 to 100 (given: 0)",
    ),
    "a weight of 101": Mistake(
        pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 101, "podAffinityTerm": {"topologyKey": "zone"}}]}}),
        f"{AFFINITY}.podAntiAffinity.{PREFERRED}[0].weight",
        "this must be from 1 to 100 (given: 101)",
    ),
    "no topology": Mistake(
        peers(topologyKey=""),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].topologyKey",
        f"{EMPTY}: for example kubernetes.io/hostname",
    ),
    "a topology in two words": Mistake(
        peers(topologyKey="my zone"),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].topologyKey",
        f"{KEY} (given: 'my zone'): for example example.org/team",
    ),
    "a label of Pods in two words": Mistake(
        peers(labelSelector={"matchLabels": {"app": "my app"}}),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].labelSelector.matchLabels.app",
        f"{VALUE} (given: 'my app')",
    ),
    "an operator on Pods that is none": Mistake(
        peers(labelSelector={"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]}),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
        "this must be one of In, NotIn, Exists, DoesNotExist (given: 'Gt')",
    ),
    "a namespace in capitals": Mistake(
        peers(namespaces=["Research"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].namespaces[0]",
        f"{LABEL} (given: 'Research')",
        server=f"{AFFINITY}.podAffinity.{REQUIRED}[0].namespace",
    ),
    "keys without a selector": Mistake(
        peers(matchLabelKeys=["run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys",
        "without a labelSelector there is nothing to narrow: add a labelSelector",
    ),
    "a key that is to match and not to": Mistake(
        peers(labelSelector={}, matchLabelKeys=["run"], mismatchLabelKeys=["run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys[0]",
        "this stands in mismatchLabelKeys too (given: 'run'): remove one of them",
    ),
    "a key of labels in two words": Mistake(
        peers(labelSelector={}, matchLabelKeys=["my run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys[0]",
        f"{KEY} (given: 'my run'): for example example.org/team",
    ),
    "no skew": Mistake(
        spread(maxSkew=0), "spec.topologySpreadConstraints[0].maxSkew", "this must be at least 1 (given: 0)"
    ),
    "a spread over no topology": Mistake(
        spread(topologyKey=""),
        "spec.topologySpreadConstraints[0].topologyKey",
        f"{EMPTY}: for example topology.kubernetes.io/zone",
    ),
    "what to do that is none": Mistake(
        spread(whenUnsatisfiable="Wait"),
        "spec.topologySpreadConstraints[0].whenUnsatisfiable",
        "this must be one of DoNotSchedule, ScheduleAnyway (given: 'Wait')",
    ),
    "domains that do not count": Mistake(
        spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2),
        "spec.topologySpreadConstraints[0].minDomains",
        "minDomains only counts with whenUnsatisfiable: DoNotSchedule (given: 2): set that, or remove it",
    ),
    "no domain": Mistake(
        spread(minDomains=0),
        "spec.topologySpreadConstraints[0].minDomains",
        "this must be at least 1 (given: 0): leave it out for 1",
    ),
    "a policy of a spread that is none": Mistake(
        spread(nodeTaintsPolicy="Maybe"),
        "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
        "this must be one of Honor, Ignore (given: 'Maybe')",
    ),
    "a key of a spread that stands twice": Mistake(
        spread(labelSelector={"matchLabels": {"run": "1"}}, matchLabelKeys=["run"]),
        "spec.topologySpreadConstraints[0].matchLabelKeys[0]",
        "this stands in the labelSelector too (given: 'run'): remove one of them",
        server="spec.topologySpreadConstraints[0][0]",
        labels={"run": "1"},
    ),
    "one spread twice": Mistake(
        pod(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ]
        ),
        "spec.topologySpreadConstraints[1]",
        (
            "another constraint has this topologyKey and whenUnsatisfiable (given: 'zone DoNotSchedule'): remove one"
            " of them"
        ),
        server="spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
    ),
    "a gate in two words": Mistake(
        pod(schedulingGates=[{"name": "my gate"}]),
        "spec.schedulingGates[0].name",
        "this must be a key such as example.org/ready (given: 'my gate')",
    ),
    "one gate twice": Mistake(
        pod(schedulingGates=[{"name": "a"}, {"name": "a"}]),
        "spec.schedulingGates[1].name",
        "this stands here twice (given: 'a'): give each a name of its own",
    ),
    "a condition in two words": Mistake(
        pod(readinessGates=[{"conditionType": "my gate"}]),
        "spec.readinessGates[0].conditionType",
        "this must be a key such as example.org/ready (given: 'my gate')",
    ),
    # Security
    "a negative user": Mistake(secure(runAsUser=-1), "spec.securityContext.runAsUser", f"{ID} (given: -1)"),
    "a group beyond 31 bits": Mistake(
        secure(fsGroup=2**31), "spec.securityContext.fsGroup", f"{ID} (given: 2147483648)"
    ),
    "another group beyond 31 bits": Mistake(
        secure(supplementalGroups=[1, 2**31]), "spec.securityContext.supplementalGroups[1]", f"{ID} (given: 2147483648)"
    ),
    "a policy of groups that is none": Mistake(
        secure(fsGroupChangePolicy="Never"),
        "spec.securityContext.fsGroupChangePolicy",
        "this must be one of OnRootMismatch, Always (given: 'Never')",
    ),
    "another policy of groups that is none": Mistake(
        secure(supplementalGroupsPolicy="None"),
        "spec.securityContext.supplementalGroupsPolicy",
        "this must be one of Merge, Strict (given: 'None')",
    ),
    "a policy of SELinux that is none": Mistake(
        secure(seLinuxChangePolicy="None"),
        "spec.securityContext.seLinuxChangePolicy",
        "this must be one of MountOption, Recursive (given: 'None')",
    ),
    "a container's negative user": Mistake(
        main(securityContext={"runAsUser": -1}), f"{MAIN}.securityContext.runAsUser", f"{ID} (given: -1)"
    ),
    "a kernel setting that is none": Mistake(
        secure(sysctls=[{"name": "net..core", "value": "1"}]),
        "spec.securityContext.sysctls[0].name",
        "this is no name of a kernel setting (given: 'net..core'): for example net.core.somaxconn",
    ),
    "a kernel setting twice": Mistake(
        secure(sysctls=[{"name": "kernel.shmmax", "value": "1"}, {"name": "kernel.shmmax", "value": "2"}]),
        "spec.securityContext.sysctls[1].name",
        "this stands here twice (given: 'kernel.shmmax'): give each a name of its own",
    ),
    "a setting of the node's network": Mistake(
        secure(sysctls=[{"name": "net.core.somaxconn", "value": "1"}]) | {"hostNetwork": True},
        "spec.securityContext.sysctls[0].name",
        "with hostNetwork this is the node's own setting (given: 'net.core.somaxconn'): remove it, or hostNetwork",
    ),
    "a setting of the node's memory": Mistake(
        secure(sysctls=[{"name": "kernel.shmmax", "value": "1"}]) | {"hostIPC": True},
        "spec.securityContext.sysctls[0].name",
        "with hostIPC this is the node's own setting (given: 'kernel.shmmax'): remove it, or hostIPC",
    ),
    "a profile that is none": Mistake(
        secure(seccompProfile={"type": "Default"}),
        "spec.securityContext.seccompProfile.type",
        "this must be one of RuntimeDefault, Localhost, Unconfined (given: 'Default')",
    ),
    "a profile of the node without a name": Mistake(
        secure(seccompProfile={"type": "Localhost"}),
        "spec.securityContext.seccompProfile.localhostProfile",
        "with type: Localhost a profile of the node is named here",
    ),
    "a profile of the node outside its folder": Mistake(
        secure(seccompProfile={"type": "Localhost", "localhostProfile": "/etc/a.json"}),
        "spec.securityContext.seccompProfile.localhostProfile",
        "this must be a relative path without '..' (given: '/etc/a.json')",
    ),
    "a profile's name where there is none": Mistake(
        secure(appArmorProfile={"type": "RuntimeDefault", "localhostProfile": "a"}),
        "spec.securityContext.appArmorProfile.localhostProfile",
        "only with type: Localhost this can be (given: 'a'): remove it",
    ),
    "a profile's name with blanks": Mistake(
        main(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}),
        f"{MAIN}.securityContext.appArmorProfile.localhostProfile",
        "this has at most 4095 characters, and no blanks around it (given: ' a')",
    ),
    "a view of processes that is none": Mistake(
        main(securityContext={"procMount": "All"}),
        f"{MAIN}.securityContext.procMount",
        "this must be one of Default, Unmasked (given: 'All')",
    ),
    "all of a view of processes": Mistake(
        main(securityContext={"procMount": "Unmasked"}),
        f"{MAIN}.securityContext.procMount",
        "only with the Pod's hostUsers: false this can be (given: 'Unmasked'): set that, or remove it",
    ),
    "privileges that do not grow": Mistake(
        main(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        f"{MAIN}.securityContext.allowPrivilegeEscalation",
        (
            "a container that is privileged, or has CAP_SYS_ADMIN, can always get more privileges (given: False):"
            " remove this, or the other"
        ),
    ),
    "the node's processes and shared ones": Mistake(
        pod(hostPID=True, shareProcessNamespace=True),
        "spec.shareProcessNamespace",
        (
            "with hostPID containers have the node's processes, so they share none of their own (given: True): remove"
            " one of them"
        ),
        server="spec.securityContext.shareProcessNamespace",
    ),
    "users of its own and the node's processes": Mistake(
        pod(hostUsers=False, hostPID=True),
        "spec.hostPID",
        "with hostUsers: false a Pod has none of the node's namespaces (given: True): remove one of them",
        server="spec.HostPID",
    ),
    "a device with users of its own": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}]) | {"hostUsers": False},
        f"{MAIN}.volumeDevices",
        "with hostUsers: false a Pod has no devices",
    ),
}
TAKEN: dict[str, Wire] = {
    "a variable from a file": file_variable(),
    "devices beyond 64 bits in exponent form": asks(None, {"example.org/a": "1e30"}),
    "huge pages beyond 64 bits in exponent form": asks(None, {"memory": "1Gi", "hugepages-2Mi": "1e19"}),
    "iSCSI": volume(iscsi=ISCSI | {"lun": 255, "initiatorName": f"naa.{'a' * 32}"}),
    "RBD": volume(rbd={"monitors": ["a"], "image": "b"}),
    "CephFS": volume(cephfs={"monitors": ["a"]}),
    "a managed Azure disk": volume(azureDisk={"diskName": "a", "diskURI": "/subscriptions/b", "kind": "Managed"}),
    "an Azure disk": volume(azureDisk={"diskName": "a", "diskURI": "https://b", "cachingMode": "None"}),
    "Quobyte": volume(quobyte={"registry": "a:1,[::1]:2,c:", "volume": "b"}),
    "Fibre Channel": volume(fc={"wwids": ["a"]}),
    "Flocker": volume(flocker={"datasetUUID": "a/b"}),
    "ScaleIO": volume(scaleIO=SCALE_IO),
    "StorageOS": volume(storageos={"volumeName": "a", "volumeNamespace": "b"}),
    "a FlexVolume": volume(flexVolume={"driver": "a", "options": {"akubernetes.io/a": "b"}}),
    "a disk of Google": volume(gcePersistentDisk={"pdName": "a", "partition": 0}),
    "a repository": volume(gitRepo={"repository": "a", "directory": "b/c"}),
    "init containers that each want as much as the Pod": pod(
        initContainers=[container(name, resources={"requests": {"cpu": 2}}) for name in ("first", "second")],
        resources={"requests": {"cpu": 2}},
    ),
    "a container's limit that is less than the Pod's, whose request is missing": asks({"cpu": 1}, {"cpu": 2})
    | {"resources": {"limits": {"cpu": 2}}},
    "a Pod for Windows": windows(
        securityContext={"windowsOptions": {"runAsUserName": "EXAMPLE\\user", "gmsaCredentialSpecName": "a.b"}},
        hostPID=False,
    ),
    "processes of the host": windows_options(hostProcess=True) | {"hostNetwork": True},
    "names of 63 characters": pod(containers=[container("x" * 63)], hostname="y" * 63),
    "one number with two protocols": main(ports=[{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]),
    "ports without names": main(ports=[{"containerPort": 1}, {"containerPort": 2}]),
    "a port's name of 15 characters": main(ports=[{"containerPort": 65535, "name": "a" * 15}]),
    "a node's port of 0": main(ports=[{"containerPort": 1, "hostPort": 0}]),
    "one port of the node with two protocols": main(
        ports=[{"containerPort": 1, "hostPort": 53}, {"containerPort": 2, "hostPort": 53, "protocol": "UDP"}]
    ),
    "one port of the node for an init container and another": sidecar(ports=[{"containerPort": 1, "hostPort": 80}])
    | {"containers": [container(ports=[{"containerPort": 1, "hostPort": 80}])]},
    "a node's port on its own network": main(ports=[{"containerPort": 80, "hostPort": 80}]) | {"hostNetwork": True},
    "a variable without a value": main(env=[{"name": "A"}]),
    "an empty value beside a source": main(
        env=[{"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "a variable's name that no shell could set": main(env=[{"name": "a.b-c d", "value": "x"}]),
    "a field by the name that it had once": variable(fieldRef={"fieldPath": "spec.host"}),
    "an annotation with capitals in its prefix": variable(
        fieldRef={"fieldPath": "metadata.annotations['Example.org/A']"}
    ),
    "huge pages in a variable": variable(resourceFieldRef={"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}),
    "a unit of 0, which is none": variable(resourceFieldRef={"resource": "limits.cpu", "divisor": "0"}),
    "one volume at two paths": mounting({"mountPath": "/a"}, {"mountPath": "/b"}),
    "a relative mount": mounting({"mountPath": "data"}),
    "a subPath with dots in a name": mounting({"subPath": "a..b/..c"}),
    "a propagation to the node with privileges": mounting(
        {"mountPropagation": "Bidirectional"}, securityContext={"privileged": True}
    ),
    "a request equal to the limit": asks({"cpu": "1000m"}, {"cpu": 1}),
    "a device's limit alone": asks(None, {"example.org/device": 1}),
    "a device's request equal to its limit": asks({"example.org/device": 1}, {"example.org/device": "1"}),
    "no amount at all": asks({}, {}),
    "a resource of Kubernetes' own domain above its request": asks(
        {"kubernetes.io/batch": 1}, {"kubernetes.io/batch": 2}
    ),
    "a claim in two parts": asks(claims=[{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}])
    | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
    "containers that want what the Pod has": asks({"cpu": "500m"}, {"cpu": 2})
    | {"resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": 2}}},
    "a probe's port by a name": main(readinessProbe={"httpGet": {"port": "web"}}),
    "a probe with zeros, which are the defaults": main(
        livenessProbe={"tcpSocket": {"port": 1}, "periodSeconds": 0, "successThreshold": 0}
    ),
    "a readiness probe that must succeed twice": main(readinessProbe={"tcpSocket": {"port": 1}, "successThreshold": 2}),
    "a hook that sleeps as long as the Pod has": main(lifecycle={"preStop": {"sleep": {"seconds": 30}}}),
    "a sidecar with a probe and a hook": sidecar(
        restartPolicy="Always", startupProbe={"grpc": {"port": 1}}, lifecycle={"preStop": {"sleep": {"seconds": 1}}}
    ),
    "a container's own restart policy": main(restartPolicy="Never"),
    "a volume without a source, which is an emptyDir": volume(),
    "a Secret of a name that none has": volume(secret={"secretName": "My Key"}),
    "a path of the node of no kind": volume(hostPath={"path": "/var", "type": ""}),
    "a mode of 0777": volume(configMap={"name": "a", "defaultMode": 0o777}),
    "a file in a folder of the volume": volume(configMap={"name": "a", "items": [{"key": "a", "path": "b/..c"}]}),
    "an empty entry of a projected volume": volume(projected={"sources": [{}]}),
    "a driver in capitals": volume(csi={"driver": "CSI.example.org"}),
    "a claim of no class": claim(storageClassName=""),
    "an empty DNS policy, which is the default": pod(dnsPolicy=""),
    "a domain with an underscore and a dot at its end": pod(dnsConfig={"searches": ["_tcp.example.org.", "."]}),
    "an address of the sixth version": pod(hostAliases=[{"ip": "fd00::1", "hostnames": ["a"]}]),
    "another name of 64 characters": pod(hostnameOverride=f"{'x' * 63}.y"[:64].rstrip(".")),
    "a toleration of all": tolerating(operator="Exists"),
    "a toleration of an empty value": tolerating(key="gpu"),
    "a preferred label of nodes in two words": pod(
        affinity={
            "nodeAffinity": {
                PREFERRED: [
                    {
                        "weight": 100,
                        "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["two words"]}]},
                    }
                ]
            }
        }
    ),
    "a topology of a spread that is no key": spread(topologyKey="my zone"),
    "two spreads over one topology": pod(
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when}
            for when in ("DoNotSchedule", "ScheduleAnyway")
        ]
    ),
    "root": secure(runAsUser=0, fsGroup=2**31 - 1),
    "a profile of the node in a folder": secure(seccompProfile={"type": "Localhost", "localhostProfile": "a/b.json"}),
    "a setting of the Pod's own network": secure(sysctls=[{"name": "net/core/somaxconn", "value": "1"}]),
    "all of a view of processes with users of its own": main(securityContext={"procMount": "Unmasked"})
    | {"hostUsers": False},
}
