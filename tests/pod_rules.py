"""Pod templates that Kubernetes rejects, and near misses that it accepts: one table for unit tests and the API server.

`REFUSED` has the path and the type of each error, and the path of the API server if it is another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.core.errors import ErrorType
from tests.conftest import CLAIM
from tests.templates import IMAGE, Wire

MAIN = "spec.containers[0]"
FIRST = "spec.volumes[0]"
OF_CLAIM = f"{FIRST}.ephemeral.volumeClaimTemplate.spec"
AFFINITY = "spec.affinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class Mistake:
    """A template that is rejected, with its errors."""

    spec: Wire
    path: str
    type: ErrorType
    """The type of the error, as the API server has it."""
    server: str = ""
    """The path in the error of the API server, if it differs from ours."""
    reason: str = "Invalid"
    """The reason of the API server: it checks fields (BadRequest) and references (Forbidden) before validation."""
    labels: Wire | None = None
    """Labels of the Pod."""
    annotations: Wire | None = None
    """Annotations of the Pod."""


def pod(**spec: Any) -> Wire:
    """Build a Pod spec with some fields."""
    return {"containers": [container()], "restartPolicy": "OnFailure"} | spec


def container(name: str = "main", **fields: Any) -> Wire:
    """Build a container."""
    return {"name": name, "image": IMAGE} | fields


def main(**fields: Any) -> Wire:
    """Build a Pod spec whose container has some fields."""
    return pod(containers=[container(**fields)])


def variable(**source: Any) -> Wire:
    """Build a Pod spec by the source of a variable."""
    return main(env=[{"name": "A", "valueFrom": source}])


def file_variable(source: Wire | None = None, **file: Any) -> Wire:
    """Return the spec of a Pod with a variable from a file of its volume data, an emptyDir by default."""
    spec = variable(fileKeyRef={"volumeName": "data", "path": "a", "key": "A"} | file)
    return spec | {"volumes": [{"name": "data"} | (source or {"emptyDir": {}})]}


def asks(requests: Wire | None = None, limits: Wire | None = None, **more: Any) -> Wire:
    """Build a Pod spec by the resources of its container."""
    found = {"requests": requests, "limits": limits}
    return main(resources={kind: amounts for kind, amounts in found.items() if amounts is not None} | more)


def volume(**source: Any) -> Wire:
    """Build a Pod spec by its volume."""
    return pod(volumes=[{"name": "data"} | source])


def mounting(*mounts: Wire, **more: Any) -> Wire:
    """Build a Pod spec by the mounts of its container; the volumes are data and disk."""
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    mounted = [{"name": "data", "mountPath": f"/{index}"} | mount for index, mount in enumerate(mounts)]
    return main(volumeMounts=mounted, **more) | {"volumes": volumes}


def sidecar(**fields: Any) -> Wire:
    """Build a Pod spec by its init container."""
    return pod(initContainers=[container("early", **fields)])


def nodes(**expression: Any) -> Wire:
    """Build a Pod spec by its node affinity."""
    term = {"matchExpressions": [{"key": "pool"} | expression]}
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}})


def peers(**term: Any) -> Wire:
    """Build a Pod spec by its Pod affinity."""
    return pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": "zone"} | term]}})


def spread(**constraint: Any) -> Wire:
    """Build a Pod spec by its topology spread constraints."""
    usual = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return pod(topologySpreadConstraints=[usual | constraint])


def claim(**spec: Any) -> Wire:
    """Build a Pod spec by an ephemeral volume."""
    return volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM | spec}})


def secure(**context: Any) -> Wire:
    """Build a Pod spec by its security context."""
    return pod(securityContext=context)


def tolerating(**toleration: Any) -> Wire:
    """Build a Pod spec by its tolerations."""
    return pod(tolerations=[toleration])


def windows(**fields: Any) -> Wire:
    """Return the spec of a Pod for Windows."""
    return pod(os={"name": "windows"}, **fields)


def windows_options(**options: Any) -> Wire:
    """Return the spec of a Pod with options for Windows."""
    return pod(securityContext={"windowsOptions": options})


def annotated(key: str, value: str, path: str, error_type: ErrorType, spec: Wire | None = None) -> Mistake:
    """Return a mistake in the value of an annotation, or in a field that contradicts it."""
    return Mistake(spec or pod(), path or f"metadata.annotations.{key}", error_type, annotations={key: value})


SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF_MAIN = "container.seccomp.security.alpha.kubernetes.io/main"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
OLD_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
MIRROR = "kubernetes.io/config.mirror"
USER = "securityContext.windowsOptions.runAsUserName"

ISCSI: Wire = {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:disk", "lun": 0}
SCALE_IO: Wire = {"gateway": "a", "system": "b", "volumeName": "c", "secretRef": {"name": "d"}}


def lacking(kind: str, key: str, source: Wire, empty: Any = "") -> Mistake:
    """Return the mistake of an empty required field in a volume source."""
    return Mistake(volume(**{kind: source | {key: empty}}), f"{FIRST}.{kind}.{key}", "Required")


REFUSED: dict[str, Mistake] = {
    # Annotations
    "a deletion cost in words": annotated(DELETION_COST, "low", "", "Invalid"),
    "a deletion cost with a plus sign": annotated(DELETION_COST, "+1", "", "Invalid"),
    "a deletion cost of 33 bits": annotated(DELETION_COST, "2147483648", "", "Invalid"),
    "a deletion cost with a letter after many zeros": annotated(
        DELETION_COST,
        "-00000000000x",
        "",
        "Invalid",
    ),
    "a mirror without a node": annotated(MIRROR, "x", "", "Invalid"),
    "tolerations in an annotation": Mistake(
        pod(),
        f"metadata.annotations.{OLD_TOLERATIONS}",
        "Invalid",
        server="metadata.annotations",
        annotations={OLD_TOLERATIONS: "{}"},
    ),
    "deeply nested tolerations in an annotation": Mistake(
        pod(),
        f"metadata.annotations.{OLD_TOLERATIONS}",
        "Invalid",
        server="metadata.annotations",
        annotations={OLD_TOLERATIONS: "[" * 100_000},
    ),
    "a seccomp profile of the Pod": annotated(
        SECCOMP,
        "none",
        "",
        "Invalid",
    ),
    "a seccomp profile of a container": annotated(
        SECCOMP_OF_MAIN,
        "localhost/../a",
        "",
        "Invalid",
    ),
    "an AppArmor profile": annotated(
        f"{APP_ARMOR}/main",
        "strict",
        "",
        "Invalid",
    ),
    "an AppArmor profile of no container": annotated(
        f"{APP_ARMOR}/other",
        "unconfined",
        "",
        "Invalid",
    ),
    "annotations of 256 KiB": Mistake(
        pod(),
        "metadata.annotations",
        "TooLong",
        annotations={"a": "x" * 262144},
    ),
    "a seccomp type that contradicts its annotation": annotated(
        SECCOMP,
        "unconfined",
        "spec.securityContext.seccompProfile.type",
        "Forbidden",
        secure(seccompProfile={"type": "RuntimeDefault"}),
    ),
    "a seccomp profile that contradicts its annotation": annotated(
        SECCOMP_OF_MAIN,
        "localhost/a",
        f"{MAIN}.securityContext.seccompProfile.localhostProfile",
        "Forbidden",
        main(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "b"}}),
    ),
    "an AppArmor type that contradicts its annotation": annotated(
        f"{APP_ARMOR}/main",
        "runtime/default",
        f"{MAIN}.securityContext.appArmorProfile.type",
        "Forbidden",
        main(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}}),
    ),
    # Windows
    "a namespace of the host for Windows": Mistake(windows(hostPID=True), "spec.hostPID", "Forbidden"),
    "a user's number for Windows": Mistake(
        windows(securityContext={"runAsUser": 1}), "spec.securityContext.runAsUser", "Forbidden"
    ),
    "capabilities for Windows": Mistake(
        windows(containers=[container(securityContext={"capabilities": {}})]),
        f"{MAIN}.securityContext.capabilities",
        "Forbidden",
    ),
    "resources of a Pod for Windows": Mistake(
        windows(resources={"requests": {"cpu": "1"}}),
        "spec.resources",
        "Forbidden",
    ),
    "a user of Windows with a slash": Mistake(
        windows_options(runAsUserName="a/b"),
        f"spec.{USER}",
        "Invalid",
    ),
    "a user of a wrong domain": Mistake(
        windows_options(runAsUserName=".a\\b"),
        f"spec.{USER}",
        "Invalid",
    ),
    "an empty credential for Windows": Mistake(
        windows_options(gmsaCredentialSpec=""),
        "spec.securityContext.windowsOptions.gmsaCredentialSpec",
        "Invalid",
    ),
    "a process of the host without its network": Mistake(
        windows_options(hostProcess=True),
        "spec.hostNetwork",
        "Invalid",
    ),
    "an ordinary container next to a host process container": Mistake(
        pod(
            hostNetwork=True,
            containers=[container(securityContext={"windowsOptions": {"hostProcess": True}}), container("other")],
        ),
        "spec",
        "Invalid",
    ),
    "a process of the host, and not": Mistake(
        main(securityContext={"windowsOptions": {"hostProcess": True}})
        | {"hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": False}}},
        f"{MAIN}.securityContext.windowsOptions.hostProcess",
        "Invalid",
    ),
    "the old name of a service account": Mistake(
        pod(serviceAccount="A"), "spec.serviceAccount", "Invalid", server="spec.serviceAccountName"
    ),
    # Containers
    "no container": Mistake(pod(containers=[]), "spec.containers", "Required"),
    "no image": Mistake(pod(containers=[{"name": "main"}]), f"{MAIN}.image", "Required"),
    "an empty image": Mistake(main(image=""), f"{MAIN}.image", "Required"),
    "an init container without an image": Mistake(
        pod(initContainers=[{"name": "early"}]), "spec.initContainers[0].image", "Required"
    ),
    "a container's name in capitals": Mistake(pod(containers=[container("Main")]), f"{MAIN}.name", "Invalid"),
    "a container's name of 64 characters": Mistake(
        pod(containers=[container("x" * 64)]),
        f"{MAIN}.name",
        "Invalid",
    ),
    "an empty name of a container": Mistake(pod(containers=[container("")]), f"{MAIN}.name", "Required"),
    "two containers of one name": Mistake(
        pod(containers=[container(), container()]),
        "spec.containers[1].name",
        "Duplicate",
    ),
    "an init container named like a container": Mistake(
        pod(initContainers=[container()]),
        f"{MAIN}.name",
        "Duplicate",
        server="spec.initContainers[0].name",
    ),
    "a pull policy that is none": Mistake(
        main(imagePullPolicy="Maybe"),
        f"{MAIN}.imagePullPolicy",
        "NotSupported",
    ),
    "a policy of last words that is none": Mistake(
        main(terminationMessagePolicy="Logs"),
        f"{MAIN}.terminationMessagePolicy",
        "NotSupported",
    ),
    "a container's restart policy that is none": Mistake(
        main(restartPolicy="Sometimes"),
        f"{MAIN}.restartPolicy",
        "NotSupported",
    ),
    "a container's restart policy that is empty": Mistake(
        main(restartPolicy=""), f"{MAIN}.restartPolicy", "NotSupported"
    ),
    "rules for exit codes without a restart policy": Mistake(
        main(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]),
        f"{MAIN}.restartPolicy",
        "Required",
    ),
    "a rule's action that is none": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Stop", "exitCodes": {"operator": "In"}}]),
        f"{MAIN}.restartPolicyRules[0].action",
        "NotSupported",
    ),
    "a rule without exit codes": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart"}]),
        f"{MAIN}.restartPolicyRules[0].exitCodes",
        "Required",
    ),
    "a rule's operator that is none": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "Is"}}]),
        f"{MAIN}.restartPolicyRules[0].exitCodes.operator",
        "NotSupported",
    ),
    "21 rules for exit codes": Mistake(
        main(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In"}}] * 21),
        f"{MAIN}.restartPolicyRules",
        "TooMany",
    ),
    "256 exit codes": Mistake(
        main(
            restartPolicy="Never",
            restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1] * 256}}],
        ),
        f"{MAIN}.restartPolicyRules[0].exitCodes.values",
        "TooMany",
    ),
    "a policy of resizing for a device": Mistake(
        main(resizePolicy=[{"resourceName": "gpu", "restartPolicy": "NotRequired"}]),
        f"{MAIN}.resizePolicy[0].resourceName",
        "NotSupported",
        server=f"{MAIN}.resizePolicy",
    ),
    "a policy of resizing that is none": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "Never"}]),
        f"{MAIN}.resizePolicy[0].restartPolicy",
        "NotSupported",
        server=f"{MAIN}.resizePolicy",
    ),
    "two policies of resizing for one resource": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        f"{MAIN}.resizePolicy[1].resourceName",
        "Duplicate",
        server=f"{MAIN}.resizePolicy[1]",
    ),
    "a restart to resize where nothing restarts": Mistake(
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]) | {"restartPolicy": "Never"},
        f"{MAIN}.resizePolicy[0].restartPolicy",
        "Invalid",
        server=f"{MAIN}.resizePolicy",
    ),
    "a restart to resize what ends": Mistake(
        sidecar(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
        "spec.initContainers[0].resizePolicy[0].restartPolicy",
        "Invalid",
    ),
    "a probe of an init container that ends": Mistake(
        sidecar(livenessProbe={"exec": {"command": ["true"]}}),
        "spec.initContainers[0].livenessProbe",
        "Forbidden",
    ),
    "a hook of an init container that ends": Mistake(
        sidecar(lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
        "spec.initContainers[0].lifecycle",
        "Forbidden",
    ),
    # Ports
    "a port of 0": Mistake(main(ports=[{"containerPort": 0}]), f"{MAIN}.ports[0].containerPort", "Required"),
    "a negative port": Mistake(main(ports=[{"containerPort": -1}]), f"{MAIN}.ports[0].containerPort", "Invalid"),
    "a port beyond 16 bits": Mistake(
        main(ports=[{"containerPort": 65536}]), f"{MAIN}.ports[0].containerPort", "Invalid"
    ),
    "a node's port beyond 16 bits": Mistake(
        main(ports=[{"containerPort": 1}, {"containerPort": 2, "hostPort": 70000}]),
        f"{MAIN}.ports[1].hostPort",
        "Invalid",
    ),
    "a protocol that is none": Mistake(
        main(ports=[{"containerPort": 1, "protocol": "tcp"}]),
        f"{MAIN}.ports[0].protocol",
        "NotSupported",
    ),
    "a port's name of 16 characters": Mistake(
        main(ports=[{"containerPort": 1, "name": "x" * 16}]),
        f"{MAIN}.ports[0].name",
        "Invalid",
    ),
    "a port's name without a letter": Mistake(
        main(ports=[{"containerPort": 1, "name": "8080"}]), f"{MAIN}.ports[0].name", "Invalid"
    ),
    "a port's name in capitals": Mistake(
        main(ports=[{"containerPort": 1, "name": "Web"}]), f"{MAIN}.ports[0].name", "Invalid"
    ),
    "a port's name with two dashes together": Mistake(
        main(ports=[{"containerPort": 1, "name": "a--b"}]), f"{MAIN}.ports[0].name", "Invalid"
    ),
    "two ports of one name": Mistake(
        main(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        f"{MAIN}.ports[1].name",
        "Duplicate",
    ),
    "one port of the node for two containers": Mistake(
        pod(
            containers=[
                container(ports=[{"containerPort": 1, "hostPort": 8080}]),
                container("other", ports=[{"containerPort": 2, "hostPort": 8080}]),
            ]
        ),
        "spec.containers[1].ports[0].hostPort",
        "Duplicate",
    ),
    "another port of the node on its own network": Mistake(
        main(ports=[{"containerPort": 80, "hostPort": 8080}]) | {"hostNetwork": True},
        f"{MAIN}.ports[0].hostPort",
        "Invalid",
    ),
    # Variables
    "a variable without a name": Mistake(main(env=[{"name": ""}]), f"{MAIN}.env[0].name", "Required"),
    "a variable's name with an equals sign": Mistake(
        main(env=[{"name": "A"}, {"name": "A=B"}]),
        f"{MAIN}.env[1].name",
        "Invalid",
    ),
    "a variable's name that is not ASCII": Mistake(main(env=[{"name": "GRÖSSE"}]), f"{MAIN}.env[0].name", "Invalid"),
    "a variable with a value and a source": Mistake(
        main(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        f"{MAIN}.env[0]",
        "Invalid",
    ),
    "a variable with an empty source": Mistake(
        variable(),
        f"{MAIN}.env[0].valueFrom",
        "Invalid",
    ),
    "a variable with two sources": Mistake(
        variable(fieldRef={"fieldPath": "metadata.name"}, secretKeyRef={"name": "a", "key": "b"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef",
        "Invalid",
    ),
    "a field that a Pod has not": Mistake(
        variable(fieldRef={"fieldPath": "metadata.nmae"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        "Invalid",
    ),
    "all labels in a variable": Mistake(
        variable(fieldRef={"fieldPath": "metadata.labels"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        "NotSupported",
    ),
    "a label that there cannot be": Mistake(
        variable(fieldRef={"fieldPath": "metadata.labels['my team']"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
        "Invalid",
    ),
    "a field of another version": Mistake(
        variable(fieldRef={"apiVersion": "v2", "fieldPath": "metadata.name"}),
        f"{MAIN}.env[0].valueFrom.fieldRef.apiVersion",
        "Invalid",
        server=f"{MAIN}.env[0].valueFrom.fieldRef.fieldPath",
    ),
    "an amount that a container has not": Mistake(
        variable(resourceFieldRef={"resource": "limits.gpu"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.resource",
        "NotSupported",
    ),
    "a unit that CPUs do not have": Mistake(
        variable(resourceFieldRef={"resource": "limits.cpu", "divisor": "1k"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        "Invalid",
    ),
    "a unit that memory does not have": Mistake(
        variable(resourceFieldRef={"resource": "limits.memory", "divisor": "2Gi"}),
        f"{MAIN}.env[0].valueFrom.resourceFieldRef.divisor",
        "Invalid",
    ),
    "a variable of a Secret without a name": Mistake(
        variable(secretKeyRef={"name": "", "key": "token"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef.name",
        "Invalid",
    ),
    "a variable of a Secret with an underscore": Mistake(
        variable(secretKeyRef={"name": "my_hub", "key": "token"}),
        f"{MAIN}.env[0].valueFrom.secretKeyRef.name",
        "Invalid",
    ),
    "a variable of a ConfigMap without a key": Mistake(
        variable(configMapKeyRef={"name": "tuning", "key": ""}),
        f"{MAIN}.env[0].valueFrom.configMapKeyRef.key",
        "Required",
    ),
    "a key that no ConfigMap has": Mistake(
        variable(configMapKeyRef={"name": "tuning", "key": "a/b"}),
        f"{MAIN}.env[0].valueFrom.configMapKeyRef.key",
        "Invalid",
    ),
    "a variable from a file above the volume": Mistake(
        file_variable(path="../a", key="A") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.path",
        "Invalid",
    ),
    "a variable from a file of no key": Mistake(
        file_variable(path="a", key="") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.key",
        "Required",
    ),
    "a variable from a file of no path": Mistake(
        file_variable(path="", key="A") | {"volumes": [{"name": "data", "emptyDir": {}}]},
        f"{MAIN}.env[0].valueFrom.fileKeyRef.path",
        "Required",
    ),
    "variables with an empty source": Mistake(
        main(envFrom=[{"prefix": "A_"}]),
        f"{MAIN}.envFrom[0]",
        "Invalid",
        server=f"{MAIN}.envFrom",
    ),
    "variables with two sources": Mistake(
        main(envFrom=[{"secretRef": {"name": "a"}, "configMapRef": {"name": "b"}}]),
        f"{MAIN}.envFrom[0].secretRef",
        "Invalid",
        server=f"{MAIN}.envFrom",
    ),
    "a prefix with an equals sign": Mistake(
        main(envFrom=[{"prefix": "A=", "secretRef": {"name": "a"}}]),
        f"{MAIN}.envFrom[0].prefix",
        "Invalid",
    ),
    "variables of a ConfigMap without a name": Mistake(
        main(envFrom=[{"configMapRef": {"name": ""}}]),
        f"{MAIN}.envFrom[0].configMapRef.name",
        "Required",
    ),
    "variables of a Secret in capitals": Mistake(
        main(envFrom=[{"secretRef": {"name": "HUB"}}]), f"{MAIN}.envFrom[0].secretRef.name", "Invalid"
    ),
    # Mounts and devices
    "a mount of a volume that is not there": Mistake(
        mounting({"name": "nope"}), f"{MAIN}.volumeMounts[0].name", "NotFound"
    ),
    "a path mounted twice": Mistake(
        mounting({"mountPath": "/a"}, {"mountPath": "/a"}),
        f"{MAIN}.volumeMounts[1].mountPath",
        "Invalid",
    ),
    "a mount without a path": Mistake(mounting({"mountPath": ""}), f"{MAIN}.volumeMounts[0].mountPath", "Required"),
    "a mount's subPath that is absolute": Mistake(
        mounting({"subPath": "/runs"}),
        f"{MAIN}.volumeMounts[0].subPath",
        "Invalid",
        server=f"{MAIN}.volumeMounts.subPath",
    ),
    "a mount's subPath that leaves the volume": Mistake(
        mounting({"subPath": "runs/../.."}),
        f"{MAIN}.volumeMounts[0].subPath",
        "Invalid",
        server=f"{MAIN}.volumeMounts.subPath",
    ),
    "a mount's expression that leaves the volume": Mistake(
        mounting({"subPathExpr": "../$(RUN)"}),
        f"{MAIN}.volumeMounts[0].subPathExpr",
        "Invalid",
        server=f"{MAIN}.volumeMounts.subPathExpr",
    ),
    "a mount with a subPath and an expression": Mistake(
        mounting({"subPath": "a", "subPathExpr": "b"}),
        f"{MAIN}.volumeMounts[0].subPathExpr",
        "Invalid",
    ),
    "a propagation that is none": Mistake(
        mounting({"mountPropagation": "Both"}),
        f"{MAIN}.volumeMounts[0].mountPropagation",
        "NotSupported",
        server=f"{MAIN}.volumeMounts.mountPropagation",
    ),
    "a propagation to the node without privileges": Mistake(
        mounting({"mountPropagation": "Bidirectional"}),
        f"{MAIN}.volumeMounts[0].mountPropagation",
        "Forbidden",
        server=f"{MAIN}.volumeMounts.mountPropagation",
    ),
    "a kind of being read-only that is none": Mistake(
        mounting({"readOnly": True, "recursiveReadOnly": "Yes"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "NotSupported",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a mount that is only read-only below": Mistake(
        mounting({"recursiveReadOnly": "Enabled"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "Forbidden",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a read-only mount that is passed on": Mistake(
        mounting({"readOnly": True, "recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer"}),
        f"{MAIN}.volumeMounts[0].recursiveReadOnly",
        "Forbidden",
        server=f"{MAIN}.volumeMounts.recursiveReadOnly",
    ),
    "a device of a volume that is not there": Mistake(
        mounting(volumeDevices=[{"name": "nope", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "NotFound",
    ),
    "a device of a volume that is not a claim": Mistake(
        mounting(volumeDevices=[{"name": "data", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "Invalid",
    ),
    "a device without a path": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": ""}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "Required",
    ),
    "a device's path with backsteps": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/../a"}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "Invalid",
    ),
    "a device that is mounted too": Mistake(
        mounting({"name": "disk"}, volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}]),
        f"{MAIN}.volumeDevices[0].name",
        "Invalid",
    ),
    "a device where a mount is": Mistake(
        mounting({"mountPath": "/a"}, volumeDevices=[{"name": "disk", "devicePath": "/a"}]),
        f"{MAIN}.volumeDevices[0].devicePath",
        "Invalid",
    ),
    "a device of one volume twice": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}, {"name": "disk", "devicePath": "/dev/b"}]),
        f"{MAIN}.volumeDevices[1].name",
        "Invalid",
    ),
    # Resources
    "an amount that is none": Mistake(
        asks({"cpu": "two"}), f"{MAIN}.resources.requests.cpu", "Invalid", reason="BadRequest"
    ),
    "a negative amount": Mistake(asks(None, {"memory": "-1Gi"}), f"{MAIN}.resources.limits.memory", "Invalid"),
    "a request above the limit": Mistake(
        asks({"cpu": 2}, {"cpu": "1500m"}),
        f"{MAIN}.resources.requests.cpu",
        "Invalid",
    ),
    "a device's request without a limit": Mistake(
        asks({"example.org/device": 1}),
        f"{MAIN}.resources.requests.example.org/device",
        "Required",
        server=f"{MAIN}.resources.limits",
    ),
    "a device's request below the limit": Mistake(
        asks({"example.org/device": 1}, {"example.org/device": 2}),
        f"{MAIN}.resources.requests.example.org/device",
        "Invalid",
    ),
    "half a device": Mistake(
        asks(None, {"nvidia.com/gpu": "500m"}),
        f"{MAIN}.resources.limits.nvidia.com/gpu",
        "Invalid",
    ),
    "devices beyond 64 bits": Mistake(
        asks(None, {"example.org/a": "12345678901234567890"}),
        f"{MAIN}.resources.limits.example.org/a",
        "Invalid",
    ),
    "huge pages beyond 64 bits": Mistake(
        asks(None, {"memory": "1Gi", "hugepages-2Mi": "8Ei"}),
        f"{MAIN}.resources.limits.hugepages-2Mi",
        "Invalid",
    ),
    "requests beyond 63 bits above the limit": Mistake(
        asks({"cpu": "20E"}, {"cpu": "10E"}),
        f"{MAIN}.resources.requests.cpu",
        "Invalid",
    ),
    "a device without its domain": Mistake(
        asks(None, {"gpu": 1}),
        f"{MAIN}.resources.limits.gpu",
        "Invalid",
    ),
    "a resource with a capital letter": Mistake(
        asks({"Cpu": 1}),
        f"{MAIN}.resources.requests.Cpu",
        "Invalid",
    ),
    "an abbreviated resource": Mistake(
        asks(None, {"mem": "1Gi"}),
        f"{MAIN}.resources.limits.mem",
        "Invalid",
    ),
    "an abbreviated resource of the whole Pod": Mistake(
        pod(resources={"limits": {"mem": "1Gi"}}),
        "spec.resources.limits.mem",
        "Invalid",
    ),
    "a resource with a blank in its name": Mistake(
        asks({"my cpu": 1}),
        f"{MAIN}.resources.requests.my cpu",
        "Invalid",
    ),
    "a resource that is for quotas": Mistake(
        asks(None, {"requests.nvidia.com/gpu": 1}),
        f"{MAIN}.resources.limits.requests.nvidia.com/gpu",
        "Invalid",
    ),
    "huge pages that are not whole": Mistake(
        asks(None, {"hugepages-2Mi": "3Mi", "memory": "1Gi"}),
        f"{MAIN}.resources.limits.hugepages-2Mi",
        "Invalid",
    ),
    "huge pages without memory": Mistake(
        asks(None, {"hugepages-2Mi": "4Mi"}),
        f"{MAIN}.resources",
        "Forbidden",
    ),
    "a request of huge pages without a limit": Mistake(
        asks({"hugepages-2Mi": "4Mi", "memory": "1Gi"}),
        f"{MAIN}.resources.requests.hugepages-2Mi",
        "Required",
        server=f"{MAIN}.resources.limits",
    ),
    "a claim that the Pod has not": Mistake(
        asks(claims=[{"name": "gpu"}]),
        f"{MAIN}.resources.claims[0].name",
        "NotFound",
    ),
    "a claim used twice": Mistake(
        asks(claims=[{"name": "gpu"}, {"name": "gpu"}])
        | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        f"{MAIN}.resources.claims[1]",
        "Duplicate",
    ),
    "a claim without a source": Mistake(
        pod(resourceClaims=[{"name": "gpu"}]),
        "spec.resourceClaims[0]",
        "Invalid",
    ),
    "a claim with two sources": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]),
        "spec.resourceClaims[0].resourceClaimTemplateName",
        "Invalid",
    ),
    "a claim's name that is not a label": Mistake(
        pod(resourceClaims=[{"name": "my.gpu", "resourceClaimName": "gpu"}]),
        "spec.resourceClaims[0].name",
        "Invalid",
    ),
    "a claim of a name with an underscore": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "my_gpu"}]),
        "spec.resourceClaims[0].resourceClaimName",
        "Invalid",
    ),
    "two claims of one name": Mistake(
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "a"}, {"name": "gpu", "resourceClaimName": "b"}]),
        "spec.resourceClaims[1].name",
        "Duplicate",
    ),
    "a device for the whole Pod": Mistake(
        pod(resources={"limits": {"nvidia.com/gpu": 1}}),
        "spec.resources.limits.nvidia.com/gpu",
        "NotSupported",
    ),
    "a device as overhead": Mistake(
        pod(overhead={"gpu": 1}),
        "spec.overhead.gpu",
        "Invalid",
        server="spec.overhead.limits[gpu]",
    ),
    "a claim for the whole Pod": Mistake(
        pod(resources={"claims": [{"name": "gpu"}]})
        | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        "spec.resources.claims",
        "Forbidden",
    ),
    "a container's limit above the Pod's": Mistake(
        asks(None, {"memory": "4Gi"}) | {"resources": {"limits": {"memory": "2Gi"}}},
        f"{MAIN}.resources.limits.memory",
        "Invalid",
        server="spec.resources.containers[0][memory].limits",
    ),
    "containers that want more than the Pod": Mistake(
        asks({"cpu": 4}) | {"resources": {"requests": {"cpu": 2}}},
        "spec.resources.requests.cpu",
        "Invalid",
    ),
    "an init container that wants more than the Pod": Mistake(
        pod(
            initContainers=[container("first", resources={"requests": {"cpu": 4}})],
            resources={"requests": {"cpu": 2}},
        ),
        "spec.resources.requests.cpu",
        "Invalid",
    ),
    "a sidecar and a container that want more than the Pod": Mistake(
        asks({"cpu": 1})
        | {
            "initContainers": [container("side", restartPolicy="Always", resources={"requests": {"cpu": 2}})],
            "resources": {"requests": {"cpu": 2}},
        },
        "spec.resources.requests.cpu",
        "Invalid",
    ),
    "containers whose huge pages are more than the Pod's": Mistake(
        pod(
            containers=[
                container(name, resources={"limits": {"cpu": 1, "hugepages-2Mi": "2Mi"}}) for name in ("main", "other")
            ],
            resources={"limits": {"cpu": 2, "hugepages-2Mi": "2Mi"}},
        ),
        "spec.resources.limits.hugepages-2Mi",
        "Invalid",
    ),
    # Probes and hooks
    "a probe that asks nothing": Mistake(
        main(livenessProbe={"periodSeconds": 5}),
        f"{MAIN}.livenessProbe",
        "Required",
    ),
    "a probe that asks in two ways": Mistake(
        main(livenessProbe={"exec": {"command": ["true"]}, "tcpSocket": {"port": 80}}),
        f"{MAIN}.livenessProbe.tcpSocket",
        "Forbidden",
    ),
    "a probe without a command": Mistake(
        main(readinessProbe={"exec": {}}),
        f"{MAIN}.readinessProbe.exec.command",
        "Required",
    ),
    "a probe's port in quotes": Mistake(
        main(readinessProbe={"httpGet": {"port": "8080"}}),
        f"{MAIN}.readinessProbe.httpGet.port",
        "Invalid",
    ),
    "a probe's port beyond 16 bits": Mistake(
        main(readinessProbe={"tcpSocket": {"port": 70000}}),
        f"{MAIN}.readinessProbe.tcpSocket.port",
        "Invalid",
    ),
    "a probe's port that is not a name": Mistake(
        main(readinessProbe={"tcpSocket": {"port": "Web"}}),
        f"{MAIN}.readinessProbe.tcpSocket.port",
        "Invalid",
    ),
    "a probe's grpc port of 0": Mistake(
        main(readinessProbe={"grpc": {"port": 0}}), f"{MAIN}.readinessProbe.grpc.port", "Invalid"
    ),
    "a probe's scheme that is none": Mistake(
        main(readinessProbe={"httpGet": {"port": 80, "scheme": "https"}}),
        f"{MAIN}.readinessProbe.httpGet.scheme",
        "NotSupported",
    ),
    "a header with a blank": Mistake(
        main(readinessProbe={"httpGet": {"port": 80, "httpHeaders": [{"name": "X Run", "value": "1"}]}}),
        f"{MAIN}.readinessProbe.httpGet.httpHeaders[0].name",
        "Invalid",
        server=f"{MAIN}.readinessProbe.httpGet.httpHeaders",
    ),
    "a negative period": Mistake(
        main(startupProbe={"grpc": {"port": 80}, "periodSeconds": -1}),
        f"{MAIN}.startupProbe.periodSeconds",
        "Invalid",
    ),
    "a liveness probe that must succeed twice": Mistake(
        main(livenessProbe={"grpc": {"port": 80}, "successThreshold": 2}),
        f"{MAIN}.livenessProbe.successThreshold",
        "Invalid",
    ),
    "no time of grace after a probe": Mistake(
        main(livenessProbe={"grpc": {"port": 80}, "terminationGracePeriodSeconds": 0}),
        f"{MAIN}.livenessProbe.terminationGracePeriodSeconds",
        "Invalid",
    ),
    "a time of grace after a readiness probe": Mistake(
        main(readinessProbe={"grpc": {"port": 80}, "terminationGracePeriodSeconds": 5}),
        f"{MAIN}.readinessProbe.terminationGracePeriodSeconds",
        "Invalid",
    ),
    "a hook that does nothing": Mistake(
        main(lifecycle={"preStop": {}}),
        f"{MAIN}.lifecycle.preStop",
        "Required",
    ),
    "a hook that sleeps longer than the Pod has": Mistake(
        main(lifecycle={"preStop": {"sleep": {"seconds": 31}}}),
        f"{MAIN}.lifecycle.preStop.sleep.seconds",
        "Invalid",
    ),
    "a sidecar's probe that asks nothing": Mistake(
        sidecar(restartPolicy="Always", startupProbe={}),
        "spec.initContainers[0].startupProbe",
        "Required",
    ),
    # Volumes
    "a volume's name that is not a label": Mistake(
        pod(volumes=[{"name": "My_Data", "emptyDir": {}}]), f"{FIRST}.name", "Invalid"
    ),
    "two volumes of one name": Mistake(
        pod(volumes=[{"name": "data", "emptyDir": {}}, {"name": "data", "emptyDir": {}}]),
        "spec.volumes[1].name",
        "Duplicate",
    ),
    "a volume with two sources": Mistake(
        volume(emptyDir={}, secret={"secretName": "key"}),
        f"{FIRST}.secret",
        "Forbidden",
    ),
    "a size that is none": Mistake(
        volume(emptyDir={"sizeLimit": "lots"}),
        f"{FIRST}.emptyDir.sizeLimit",
        "Forbidden",
        reason="BadRequest",
    ),
    "a negative size": Mistake(
        volume(emptyDir={"sizeLimit": "-1Gi"}),
        f"{FIRST}.emptyDir.sizeLimit",
        "Forbidden",
    ),
    "a path of the node that is empty": Mistake(volume(hostPath={"path": ""}), f"{FIRST}.hostPath.path", "Required"),
    "a path of the node with backsteps": Mistake(
        volume(hostPath={"path": "/var/../etc"}),
        f"{FIRST}.hostPath.path",
        "Invalid",
    ),
    "a kind of path of the node that is none": Mistake(
        volume(hostPath={"path": "/var", "type": "Folder"}),
        f"{FIRST}.hostPath.type",
        "NotSupported",
    ),
    "a Secret without a name": Mistake(volume(secret={"defaultMode": 256}), f"{FIRST}.secret.secretName", "Required"),
    "a mode beyond 0777": Mistake(
        volume(secret={"secretName": "key", "defaultMode": 600}),
        f"{FIRST}.secret.defaultMode",
        "Invalid",
    ),
    "a mode of one file beyond 0777": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "a", "path": "b", "mode": 1000}]}),
        f"{FIRST}.secret.items[0].mode",
        "Invalid",
    ),
    "a file of no key": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "", "path": "b"}]}),
        f"{FIRST}.secret.items[0].key",
        "Required",
    ),
    "a file without a path": Mistake(
        volume(secret={"secretName": "key", "items": [{"key": "a", "path": ""}]}),
        f"{FIRST}.secret.items[0].path",
        "Required",
    ),
    "a file outside the volume": Mistake(
        volume(configMap={"name": "hosts", "items": [{"key": "a", "path": "/etc/b"}]}),
        f"{FIRST}.configMap.items[0].path",
        "Invalid",
    ),
    "a ConfigMap without a name": Mistake(volume(configMap={"name": ""}), f"{FIRST}.configMap.name", "Required"),
    "a claim's volume without a name": Mistake(
        volume(persistentVolumeClaim={"claimName": ""}),
        f"{FIRST}.persistentVolumeClaim.claimName",
        "Required",
    ),
    "a variable from a file of no volume": Mistake(
        file_variable(volumeName="other"),
        f"{MAIN}.env[0].valueFrom.fileKeyRef.volumeName",
        "NotFound",
    ),
    "a variable from a file of a ConfigMap": Mistake(
        file_variable({"configMap": {"name": "a"}}),
        f"{MAIN}.env[0].valueFrom.fileKeyRef.volumeName",
        "Invalid",
    ),
    "iSCSI without a portal": lacking("iscsi", "targetPortal", ISCSI),
    "iSCSI without a target": lacking("iscsi", "iqn", ISCSI),
    "iSCSI with another target": Mistake(
        volume(iscsi=ISCSI | {"iqn": "disk"}),
        f"{FIRST}.iscsi.iqn",
        "Invalid",
    ),
    "iSCSI with half a target": Mistake(
        volume(iscsi=ISCSI | {"iqn": "iqn.2001"}),
        f"{FIRST}.iscsi.iqn",
        "Invalid",
    ),
    "iSCSI with a half initiator": Mistake(
        volume(iscsi=ISCSI | {"initiatorName": "eui.1"}),
        f"{FIRST}.iscsi.initiatorName",
        "Invalid",
        server=f"{FIRST}.iscsi.initiatorname",
    ),
    "iSCSI with a line end after the initiator": Mistake(
        volume(iscsi=ISCSI | {"initiatorName": f"naa.{'a' * 32}\n"}),
        f"{FIRST}.iscsi.initiatorName",
        "Invalid",
        server=f"{FIRST}.iscsi.initiatorname",
    ),
    "iSCSI with unit 256": Mistake(
        volume(iscsi=ISCSI | {"lun": 256}),
        f"{FIRST}.iscsi.lun",
        "Invalid",
    ),
    "iSCSI with a login without a Secret": Mistake(
        volume(iscsi=ISCSI | {"chapAuthSession": True}),
        f"{FIRST}.iscsi.secretRef",
        "Required",
    ),
    "RBD without monitors": lacking("rbd", "monitors", {"monitors": [], "image": "a"}, []),
    "RBD without an image": lacking("rbd", "image", {"monitors": ["a"], "image": "a"}),
    "CephFS without monitors": lacking("cephfs", "monitors", {"monitors": []}, []),
    "GlusterFS without endpoints": lacking("glusterfs", "endpoints", {"endpoints": "a", "path": "b"}),
    "GlusterFS without a path": lacking("glusterfs", "path", {"endpoints": "a", "path": "b"}),
    "a disk of Google without a name": Mistake(
        volume(gcePersistentDisk={"pdName": ""}),
        f"{FIRST}.gcePersistentDisk.pdName",
        "Required",
        server=f"{FIRST}.persistentDisk.pdName",
    ),
    "a disk of Google with partition 256": Mistake(
        volume(gcePersistentDisk={"pdName": "a", "partition": 256}),
        f"{FIRST}.gcePersistentDisk.partition",
        "Invalid",
        server=f"{FIRST}.persistentDisk.partition",
    ),
    "a disk of AWS without an ID": lacking("awsElasticBlockStore", "volumeID", {"volumeID": "a"}),
    "a disk of Cinder without an ID": lacking("cinder", "volumeID", {"volumeID": "a"}),
    "a disk of Cinder without a Secret's name": Mistake(
        volume(cinder={"volumeID": "a", "secretRef": {}}),
        f"{FIRST}.cinder.secretRef.name",
        "Required",
    ),
    "a FlexVolume without a driver": lacking("flexVolume", "driver", {"driver": "a"}),
    "a FlexVolume with an option of Kubernetes": Mistake(
        volume(flexVolume={"driver": "a", "options": {"kubernetes.io/a": "b"}}),
        f"{FIRST}.flexVolume.options.kubernetes.io/a",
        "Invalid",
        server=f"{FIRST}.flexVolume.options",
    ),
    "an Azure share without a Secret": lacking("azureFile", "secretName", {"secretName": "a", "shareName": "b"}),
    "an Azure share without a name": lacking("azureFile", "shareName", {"secretName": "a", "shareName": "b"}),
    "an Azure disk without a name": lacking("azureDisk", "diskName", {"diskName": "a", "diskURI": "https://b"}),
    "an Azure disk of another kind": Mistake(
        volume(azureDisk={"diskName": "a", "diskURI": "https://b", "kind": "Big"}),
        f"{FIRST}.azureDisk.kind",
        "NotSupported",
    ),
    "a managed Azure disk at the address of a blob": Mistake(
        volume(azureDisk={"diskName": "a", "diskURI": "https://b", "kind": "Managed"}),
        f"{FIRST}.azureDisk.diskURI",
        "NotSupported",
    ),
    "a disk of vSphere without a path": lacking("vsphereVolume", "volumePath", {"volumePath": "a"}),
    "a disk of Photon without an ID": lacking("photonPersistentDisk", "pdID", {"pdID": "a"}),
    "a volume of Portworx without an ID": lacking("portworxVolume", "volumeID", {"volumeID": "a"}),
    "a volume of ScaleIO without a gateway": lacking("scaleIO", "gateway", SCALE_IO),
    "a volume of ScaleIO without a system": lacking("scaleIO", "system", SCALE_IO),
    "a volume of ScaleIO without a name": Mistake(
        volume(scaleIO={key: value for key, value in SCALE_IO.items() if key != "volumeName"}),
        f"{FIRST}.scaleIO.volumeName",
        "Required",
    ),
    "a volume of StorageOS without a name": Mistake(volume(storageos={}), f"{FIRST}.storageos.volumeName", "Required"),
    "Quobyte without a volume": lacking("quobyte", "volume", {"registry": "a:1", "volume": "b"}),
    "Quobyte without a port": Mistake(
        volume(quobyte={"registry": "a", "volume": "b"}),
        f"{FIRST}.quobyte.registry",
        "Invalid",
    ),
    "a repository without an address": lacking("gitRepo", "repository", {"repository": "a"}),
    "a repository in the directory above": Mistake(
        volume(gitRepo={"repository": "a", "directory": "../b"}),
        f"{FIRST}.gitRepo.directory",
        "Invalid",
    ),
    "Fibre Channel without a target": Mistake(
        volume(fc={}),
        f"{FIRST}.fc.targetWWNs",
        "Required",
    ),
    "Fibre Channel with two kinds of targets": Mistake(
        volume(fc={"targetWWNs": ["a"], "wwids": ["b"], "lun": 1}),
        f"{FIRST}.fc.targetWWNs",
        "Invalid",
    ),
    "Fibre Channel without a unit": Mistake(
        volume(fc={"targetWWNs": ["a"]}),
        f"{FIRST}.fc.lun",
        "Required",
    ),
    "Flocker without a dataset": Mistake(
        volume(flocker={}),
        f"{FIRST}.flocker",
        "Required",
    ),
    "Flocker with two datasets": Mistake(
        volume(flocker={"datasetName": "a", "datasetUUID": "b"}),
        f"{FIRST}.flocker",
        "Invalid",
    ),
    "a share without a server": Mistake(volume(nfs={"server": "", "path": "/a"}), f"{FIRST}.nfs.server", "Required"),
    "a share with a relative path": Mistake(
        volume(nfs={"server": "nfs.example.org", "path": "exports"}),
        f"{FIRST}.nfs.path",
        "Invalid",
    ),
    "a file of a field that a Pod has not": Mistake(
        volume(downwardAPI={"items": [{"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}),
        f"{FIRST}.downwardAPI.items[0].fieldRef.fieldPath",
        "NotSupported",
        server=f"{FIRST}.downwardAPI.fieldRef.fieldPath",
    ),
    "a file of no field": Mistake(
        volume(downwardAPI={"items": [{"path": "a"}]}),
        f"{FIRST}.downwardAPI.items[0]",
        "Required",
        server=f"{FIRST}.downwardAPI",
    ),
    "a file of an amount of no container": Mistake(
        volume(downwardAPI={"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}),
        f"{FIRST}.downwardAPI.items[0].resourceFieldRef.containerName",
        "Required",
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
        "Invalid",
    ),
    "two sources in one entry": Mistake(
        volume(projected={"sources": [{"secret": {"name": "a"}, "configMap": {"name": "b"}}]}),
        f"{FIRST}.projected.sources[0].configMap",
        "Forbidden",
    ),
    "a source without a name": Mistake(
        volume(projected={"sources": [{"secret": {}}]}),
        f"{FIRST}.projected.sources[0].secret.name",
        "Required",
    ),
    "a token for a minute": Mistake(
        volume(projected={"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 60}}]})
        | {"serviceAccountName": "trainer"},
        f"{FIRST}.projected.sources[0].serviceAccountToken.expirationSeconds",
        "Invalid",
    ),
    "a driver in two words": Mistake(
        volume(csi={"driver": "my driver"}),
        f"{FIRST}.csi.driver",
        "Invalid",
    ),
    "a driver's Secret without a name": Mistake(
        volume(csi={"driver": "csi.example.org", "nodePublishSecretRef": {"name": ""}}),
        f"{FIRST}.csi.nodePublishSecretRef.name",
        "Required",
    ),
    "a claim that comes with the Pod and is empty": Mistake(
        volume(ephemeral={}),
        f"{FIRST}.ephemeral.volumeClaimTemplate",
        "Required",
    ),
    "an access mode that is none": Mistake(
        claim(accessModes=["RWX"]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes[0]",
        "NotSupported",
    ),
    "no access mode": Mistake(
        claim(accessModes=[]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes",
        "Required",
    ),
    "an access mode that is alone": Mistake(
        claim(accessModes=["ReadWriteOncePod", "ReadOnlyMany"]),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.accessModes",
        "Forbidden",
    ),
    "a claim without a size": Mistake(
        claim(resources={}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.resources.requests.storage",
        "Required",
        server=f"{FIRST}.ephemeral.volumeClaimTemplate.spec.resources[storage]",
    ),
    "a kind of claim that is none": Mistake(
        claim(volumeMode="Disk"),
        f"{FIRST}.ephemeral.volumeClaimTemplate.spec.volumeMode",
        "NotSupported",
    ),
    "a storage class in capitals": Mistake(
        claim(storageClassName="Fast"),
        f"{OF_CLAIM}.storageClassName",
        "Invalid",
    ),
    "an attributes class in capitals": Mistake(
        claim(volumeAttributesClassName="Fast"),
        f"{OF_CLAIM}.volumeAttributesClassName",
        "Invalid",
    ),
    "a claim of less than nothing": Mistake(
        claim(resources={"requests": {"storage": "-1Gi"}}),
        f"{OF_CLAIM}.resources.requests.storage",
        "Invalid",
        server=f"{OF_CLAIM}.resources[storage]",
    ),
    "an amount of a claim that is none": Mistake(
        claim(resources=CLAIM["resources"] | {"limits": {"storage": "x"}}),
        f"{OF_CLAIM}.resources.limits.storage",
        "Invalid",
        reason="BadRequest",
    ),
    "a claim's selector": Mistake(
        claim(selector={"matchLabels": {"a": "b c"}}),
        f"{OF_CLAIM}.selector.matchLabels.a",
        "Invalid",
        server=f"{OF_CLAIM}.selector.matchLabels",
    ),
    "a source of another group": Mistake(
        claim(dataSource={"kind": "VolumeSnapshot", "name": "a"}),
        f"{OF_CLAIM}.dataSource",
        "Invalid",
    ),
    "a source of a claim without a name": Mistake(
        claim(dataSourceRef={"kind": "PersistentVolumeClaim", "name": ""}),
        f"{OF_CLAIM}.dataSourceRef.name",
        "Required",
    ),
    "a source that contradicts its reference": Mistake(
        claim(
            dataSource={"kind": "PersistentVolumeClaim", "name": "a"},
            dataSourceRef={"kind": "PersistentVolumeClaim", "name": "b"},
        ),
        f"{OF_CLAIM}.dataSource",
        "Invalid",
        server=OF_CLAIM,
    ),
    "annotations of 256 KiB of a claim that comes with the Pod": Mistake(
        volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM, "metadata": {"annotations": {"a": "x" * 262144}}}}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.metadata.annotations",
        "TooLong",
    ),
    "a name of a claim that comes with the Pod": Mistake(
        volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM, "metadata": {"name": "a"}}}),
        f"{FIRST}.ephemeral.volumeClaimTemplate.metadata.name",
        "Forbidden",
    ),
    "a pull policy of a volume that is none": Mistake(
        volume(image={"reference": IMAGE, "pullPolicy": "Maybe"}),
        f"{FIRST}.image.pullPolicy",
        "NotSupported",
    ),
    # The Pod
    "a restart policy that is none": Mistake(
        pod(restartPolicy="Sometimes"),
        "spec.restartPolicy",
        "NotSupported",
    ),
    "a DNS policy that is none": Mistake(
        pod(dnsPolicy="Mine"),
        "spec.dnsPolicy",
        "NotSupported",
    ),
    "a preemption policy that is none": Mistake(
        pod(preemptionPolicy="Always"),
        "spec.preemptionPolicy",
        "NotSupported",
        reason="Forbidden",
    ),
    "a deadline of 0": Mistake(
        pod(activeDeadlineSeconds=0),
        "spec.activeDeadlineSeconds",
        "Invalid",
    ),
    "a service account in capitals": Mistake(pod(serviceAccountName="Trainer"), "spec.serviceAccountName", "Invalid"),
    "a node's name with an underscore": Mistake(pod(nodeName="node_1"), "spec.nodeName", "Invalid"),
    "a priority class in two words": Mistake(
        pod(priorityClassName="very high"), "spec.priorityClassName", "Invalid", reason="Forbidden"
    ),
    "a runtime class in capitals": Mistake(
        pod(runtimeClassName="Nvidia"), "spec.runtimeClassName", "Invalid", reason="Forbidden"
    ),
    "a runtime class that is empty": Mistake(
        pod(runtimeClassName=""), "spec.runtimeClassName", "Invalid", reason="InternalError"
    ),
    "a system that is none": Mistake(
        pod(os={"name": "macos"}),
        "spec.os.name",
        "NotSupported",
        server="spec.os",
    ),
    "Windows options on linux": Mistake(
        secure(windowsOptions={"runAsUserName": "me"}) | {"os": {"name": "linux"}},
        "spec.securityContext.windowsOptions",
        "Forbidden",
    ),
    "an ephemeral container": Mistake(
        pod(ephemeralContainers=[container("debug")]),
        "spec.ephemeralContainers",
        "Forbidden",
    ),
    # Names and DNS
    "a hostname that is not a label": Mistake(pod(hostname="a.b"), "spec.hostname", "Invalid"),
    "a subdomain that is not a label": Mistake(pod(subdomain="-a"), "spec.subdomain", "Invalid"),
    "another name with hostNetwork": Mistake(
        pod(hostnameOverride="head", hostNetwork=True),
        "spec.hostnameOverride",
        "Forbidden",
    ),
    "another name of 65 characters": Mistake(
        pod(hostnameOverride="x" * 65),
        "spec.hostnameOverride",
        "TooLong",
    ),
    "another name in capitals": Mistake(pod(hostnameOverride="Head"), "spec.hostnameOverride", "Invalid"),
    "no nameserver": Mistake(
        pod(dnsPolicy="None"),
        "spec.dnsConfig.nameservers",
        "Required",
    ),
    "four nameservers": Mistake(
        pod(dnsConfig={"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]}),
        "spec.dnsConfig.nameservers",
        "Invalid",
    ),
    "a nameserver's name": Mistake(
        pod(dnsConfig={"nameservers": ["dns.example.org"]}),
        "spec.dnsConfig.nameservers[0]",
        "Invalid",
    ),
    "a domain in capitals": Mistake(
        pod(dnsConfig={"searches": ["Example.org"]}),
        "spec.dnsConfig.searches[0]",
        "Invalid",
    ),
    "33 domains to search": Mistake(
        pod(dnsConfig={"searches": ["example.org"] * 33}),
        "spec.dnsConfig.searches",
        "Invalid",
    ),
    "domains of 2195 characters in all": Mistake(
        pod(dnsConfig={"searches": [".".join(["x" * 60] * 4)] * 9}),
        "spec.dnsConfig.searches",
        "Invalid",
    ),
    "an option without a name": Mistake(
        pod(dnsConfig={"options": [{"value": "2"}]}), "spec.dnsConfig.options[0].name", "Required"
    ),
    "a host's address that is none": Mistake(
        pod(hostAliases=[{"ip": "storage", "hostnames": ["storage"]}]),
        "spec.hostAliases[0].ip",
        "Invalid",
    ),
    "a host's name with an underscore": Mistake(
        pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["my_storage"]}]),
        "spec.hostAliases[0].hostnames[0]",
        "Invalid",
    ),
    # Scheduling
    "a node's label in two words": Mistake(pod(nodeSelector={"pool": "gpu pool"}), "spec.nodeSelector.pool", "Invalid"),
    "a node's label of no key": Mistake(
        pod(nodeSelector={"my pool": "gpu"}),
        "spec.nodeSelector.my pool",
        "Invalid",
    ),
    "a toleration's operator": Mistake(
        tolerating(key="gpu", operator="In", value="a"),
        "spec.tolerations[0].operator",
        "NotSupported",
    ),
    "a toleration with Exists and a value": Mistake(
        tolerating(key="gpu", operator="Exists", value="a"),
        "spec.tolerations[0].value",
        "Invalid",
        server="spec.tolerations[0].operator",
    ),
    "a toleration without a key": Mistake(
        tolerating(value="a"),
        "spec.tolerations[0]",
        "Invalid",
    ),
    "a toleration of a key in two words": Mistake(
        tolerating(key="my gpu", operator="Exists"),
        "spec.tolerations[0].key",
        "Invalid",
    ),
    "a toleration of a value in two words": Mistake(
        tolerating(key="gpu", value="two words"),
        "spec.tolerations[0].value",
        "Invalid",
        server="spec.tolerations[0].operator",
    ),
    "a toleration that compares words": Mistake(
        tolerating(key="load", operator="Lt", value="low"),
        "spec.tolerations[0].value",
        "Invalid",
        server="spec.tolerations[0].operator",
    ),
    "a toleration's effect": Mistake(
        tolerating(key="gpu", effect="NoRun"),
        "spec.tolerations[0].effect",
        "NotSupported",
    ),
    "seconds without eviction": Mistake(
        tolerating(key="gpu", operator="Exists", effect="NoSchedule", tolerationSeconds=5),
        "spec.tolerations[0].effect",
        "Invalid",
    ),
    "an operator on nodes that is none": Mistake(
        nodes(operator="Equals", values=["gpu"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator",
        "Invalid",
    ),
    "no values for In": Mistake(
        nodes(operator="In"),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "Required",
    ),
    "values for Exists": Mistake(
        nodes(operator="Exists", values=["gpu"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "Forbidden",
    ),
    "two values for Gt": Mistake(
        nodes(operator="Gt", values=["1", "2"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "Required",
    ),
    "a value on nodes in two words": Mistake(
        nodes(operator="In", values=["gpu pool"]),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]",
        "Invalid",
    ),
    "no term on nodes": Mistake(
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}),
        f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        "Required",
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
        "Invalid",
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
        "Required",
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
        "Invalid",
    ),
    "a weight of 0": Mistake(
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {}}]}}),
        f"{AFFINITY}.nodeAffinity.{PREFERRED}[0].weight",
        "Invalid",
    ),
    "a weight of 101": Mistake(
        pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 101, "podAffinityTerm": {"topologyKey": "zone"}}]}}),
        f"{AFFINITY}.podAntiAffinity.{PREFERRED}[0].weight",
        "Invalid",
    ),
    "no topology": Mistake(
        peers(topologyKey=""),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].topologyKey",
        "Required",
    ),
    "a topology in two words": Mistake(
        peers(topologyKey="my zone"),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].topologyKey",
        "Invalid",
    ),
    "a label of Pods in two words": Mistake(
        peers(labelSelector={"matchLabels": {"app": "my app"}}),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].labelSelector.matchLabels.app",
        "Invalid",
    ),
    "an operator on Pods that is none": Mistake(
        peers(labelSelector={"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]}),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
        "Invalid",
    ),
    "a namespace in capitals": Mistake(
        peers(namespaces=["Research"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].namespaces[0]",
        "Invalid",
        server=f"{AFFINITY}.podAffinity.{REQUIRED}[0].namespace",
    ),
    "keys without a selector": Mistake(
        peers(matchLabelKeys=["run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys",
        "Forbidden",
    ),
    "a key that is to match and not to": Mistake(
        peers(labelSelector={}, matchLabelKeys=["run"], mismatchLabelKeys=["run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys[0]",
        "Invalid",
    ),
    "a key of labels in two words": Mistake(
        peers(labelSelector={}, matchLabelKeys=["my run"]),
        f"{AFFINITY}.podAffinity.{REQUIRED}[0].matchLabelKeys[0]",
        "Invalid",
    ),
    "no skew": Mistake(spread(maxSkew=0), "spec.topologySpreadConstraints[0].maxSkew", "Invalid"),
    "a spread over no topology": Mistake(
        spread(topologyKey=""),
        "spec.topologySpreadConstraints[0].topologyKey",
        "Required",
    ),
    "what to do that is none": Mistake(
        spread(whenUnsatisfiable="Wait"),
        "spec.topologySpreadConstraints[0].whenUnsatisfiable",
        "NotSupported",
    ),
    "domains that do not count": Mistake(
        spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2),
        "spec.topologySpreadConstraints[0].minDomains",
        "Invalid",
    ),
    "no domain": Mistake(
        spread(minDomains=0),
        "spec.topologySpreadConstraints[0].minDomains",
        "Invalid",
    ),
    "a policy of a spread that is none": Mistake(
        spread(nodeTaintsPolicy="Maybe"),
        "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
        "NotSupported",
    ),
    "a key of a spread in both labelSelector and matchLabelKeys": Mistake(
        spread(labelSelector={"matchLabels": {"run": "1"}}, matchLabelKeys=["run"]),
        "spec.topologySpreadConstraints[0].matchLabelKeys[0]",
        "Invalid",
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
        "Duplicate",
        server="spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
    ),
    "a gate in two words": Mistake(
        pod(schedulingGates=[{"name": "my gate"}]),
        "spec.schedulingGates[0].name",
        "Invalid",
    ),
    "one gate twice": Mistake(
        pod(schedulingGates=[{"name": "a"}, {"name": "a"}]),
        "spec.schedulingGates[1].name",
        "Duplicate",
    ),
    "a condition in two words": Mistake(
        pod(readinessGates=[{"conditionType": "my gate"}]),
        "spec.readinessGates[0].conditionType",
        "Invalid",
    ),
    # Security
    "a negative user": Mistake(secure(runAsUser=-1), "spec.securityContext.runAsUser", "Invalid"),
    "a group beyond 31 bits": Mistake(secure(fsGroup=2**31), "spec.securityContext.fsGroup", "Invalid"),
    "another group beyond 31 bits": Mistake(
        secure(supplementalGroups=[1, 2**31]), "spec.securityContext.supplementalGroups[1]", "Invalid"
    ),
    "a policy of groups that is none": Mistake(
        secure(fsGroupChangePolicy="Never"),
        "spec.securityContext.fsGroupChangePolicy",
        "NotSupported",
    ),
    "another policy of groups that is none": Mistake(
        secure(supplementalGroupsPolicy="None"),
        "spec.securityContext.supplementalGroupsPolicy",
        "NotSupported",
    ),
    "a policy of SELinux that is none": Mistake(
        secure(seLinuxChangePolicy="None"),
        "spec.securityContext.seLinuxChangePolicy",
        "NotSupported",
    ),
    "a container's negative user": Mistake(
        main(securityContext={"runAsUser": -1}), f"{MAIN}.securityContext.runAsUser", "Invalid"
    ),
    "a kernel setting that is none": Mistake(
        secure(sysctls=[{"name": "net..core", "value": "1"}]),
        "spec.securityContext.sysctls[0].name",
        "Invalid",
    ),
    "a kernel setting twice": Mistake(
        secure(sysctls=[{"name": "kernel.shmmax", "value": "1"}, {"name": "kernel.shmmax", "value": "2"}]),
        "spec.securityContext.sysctls[1].name",
        "Duplicate",
    ),
    "a setting of the node's network": Mistake(
        secure(sysctls=[{"name": "net.core.somaxconn", "value": "1"}]) | {"hostNetwork": True},
        "spec.securityContext.sysctls[0].name",
        "Invalid",
    ),
    "a setting of the node's memory": Mistake(
        secure(sysctls=[{"name": "kernel.shmmax", "value": "1"}]) | {"hostIPC": True},
        "spec.securityContext.sysctls[0].name",
        "Invalid",
    ),
    "a profile that is none": Mistake(
        secure(seccompProfile={"type": "Default"}),
        "spec.securityContext.seccompProfile.type",
        "NotSupported",
    ),
    "a profile of the node without a name": Mistake(
        secure(seccompProfile={"type": "Localhost"}),
        "spec.securityContext.seccompProfile.localhostProfile",
        "Required",
    ),
    "a profile of the node outside its folder": Mistake(
        secure(seccompProfile={"type": "Localhost", "localhostProfile": "/etc/a.json"}),
        "spec.securityContext.seccompProfile.localhostProfile",
        "Invalid",
    ),
    "a profile's name where there is none": Mistake(
        secure(appArmorProfile={"type": "RuntimeDefault", "localhostProfile": "a"}),
        "spec.securityContext.appArmorProfile.localhostProfile",
        "Invalid",
    ),
    "a profile's name with blanks": Mistake(
        main(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}),
        f"{MAIN}.securityContext.appArmorProfile.localhostProfile",
        "Invalid",
    ),
    "a view of processes that is none": Mistake(
        main(securityContext={"procMount": "All"}),
        f"{MAIN}.securityContext.procMount",
        "NotSupported",
    ),
    "all of a view of processes": Mistake(
        main(securityContext={"procMount": "Unmasked"}),
        f"{MAIN}.securityContext.procMount",
        "Invalid",
    ),
    "privileges that do not grow": Mistake(
        main(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        f"{MAIN}.securityContext.allowPrivilegeEscalation",
        "Invalid",
    ),
    "the node's processes and shared ones": Mistake(
        pod(hostPID=True, shareProcessNamespace=True),
        "spec.shareProcessNamespace",
        "Invalid",
        server="spec.securityContext.shareProcessNamespace",
    ),
    "a user namespace and the node's processes": Mistake(
        pod(hostUsers=False, hostPID=True),
        "spec.hostPID",
        "Forbidden",
        server="spec.HostPID",
    ),
    "a device with a user namespace": Mistake(
        mounting(volumeDevices=[{"name": "disk", "devicePath": "/dev/a"}]) | {"hostUsers": False},
        f"{MAIN}.volumeDevices",
        "Forbidden",
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
    "an empty value and a source": main(
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
    "containers with the same resources as the Pod": asks({"cpu": "500m"}, {"cpu": 2})
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
    "a topology of a spread that is not a key": spread(topologyKey="my zone"),
    "two spreads over one topology": pod(
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when}
            for when in ("DoNotSchedule", "ScheduleAnyway")
        ]
    ),
    "root": secure(runAsUser=0, fsGroup=2**31 - 1),
    "a profile of the node in a folder": secure(seccompProfile={"type": "Localhost", "localhostProfile": "a/b.json"}),
    "a setting of the Pod's own network": secure(sysctls=[{"name": "net/core/somaxconn", "value": "1"}]),
    "an unmasked view of processes with a user namespace": main(securityContext={"procMount": "Unmasked"})
    | {"hostUsers": False},
}
