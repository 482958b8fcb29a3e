"""Valid Pod templates with many fields, in the form that validators receive."""

from __future__ import annotations

from typing import Any

Wire = dict[str, Any]
IMAGE = "example.org/image:1"

_ENV: list[Wire] = [
    {"name": "PLAIN", "value": "text"},
    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "TEAM", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['example.org/team']"}}},
    {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
    {"name": "RATE", "valueFrom": {"configMapKeyRef": {"name": "tuning", "key": "rate.txt"}}},
    {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
]
_PROBE: Wire = {"periodSeconds": 5, "timeoutSeconds": 1, "initialDelaySeconds": 0, "failureThreshold": 3}
TRAINING: Wire = {
    "restartPolicy": "OnFailure",
    "terminationGracePeriodSeconds": 60,
    "activeDeadlineSeconds": 3600,
    "serviceAccountName": "trainer",
    "initContainers": [
        {
            "name": "fetch",
            "image": IMAGE,
            "command": ["true"],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        },
        {
            "name": "metrics",
            "image": IMAGE,
            "restartPolicy": "Always",
            "startupProbe": {**_PROBE, "tcpSocket": {"port": "web"}},
            "ports": [{"name": "web", "containerPort": 9400, "hostPort": 9400}],
        },
    ],
    "containers": [
        {
            "name": "train",
            "image": IMAGE,
            "imagePullPolicy": "IfNotPresent",
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "env": _ENV,
            "envFrom": [{"prefix": "HUB_", "secretRef": {"name": "hub"}}, {"configMapRef": {"name": "tuning"}}],
            "ports": [{"name": "rendezvous", "containerPort": 23456, "protocol": "TCP"}, {"containerPort": 53}],
            "resources": {
                "requests": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": 1, "hugepages-2Mi": "4Mi"},
                "limits": {"cpu": "8", "memory": "8Gi", "nvidia.com/gpu": 1, "hugepages-2Mi": "4Mi"},
            },
            "volumeMounts": [
                {"name": "data", "mountPath": "/data", "readOnly": True, "recursiveReadOnly": "IfPossible"},
                {"name": "shm", "mountPath": "/dev/shm"},
                {"name": "data", "mountPath": "/out", "subPath": "runs/1", "mountPropagation": "None"},
            ],
            "livenessProbe": {**_PROBE, "exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 5},
            "readinessProbe": {**_PROBE, "httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}},
            "startupProbe": {**_PROBE, "grpc": {"port": 9000}, "successThreshold": 1},
            "lifecycle": {
                "postStart": {"httpGet": {"port": 80, "httpHeaders": [{"name": "X-Run", "value": "1"}]}},
                "preStop": {"sleep": {"seconds": 10}},
            },
        },
    ],
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
    ],
}
VOLUMES: Wire = {
    "containers": [
        {
            "name": "train",
            "image": IMAGE,
            "volumeDevices": [{"name": "disk", "devicePath": "/dev/xvda"}],
            "volumeMounts": [{"name": "host", "mountPath": "/host"}],
        },
    ],
    "volumes": [
        {"name": "host", "hostPath": {"path": "/var/log", "type": "Directory"}},
        {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}},
        {"name": "key", "secret": {"secretName": "key", "defaultMode": 0o400}},
        {"name": "hosts", "configMap": {"name": "hosts", "items": [{"key": "a", "path": "b/c", "mode": 0o644}]}},
        {"name": "share", "nfs": {"server": "nfs.example.org", "path": "/exports"}},
        {
            "name": "self",
            "downwardAPI": {
                "defaultMode": 0o644,
                "items": [
                    {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                    {"path": "memory", "resourceFieldRef": {"containerName": "train", "resource": "limits.memory"}},
                ],
            },
        },
        {
            "name": "all",
            "projected": {
                "defaultMode": 0o600,
                "sources": [
                    {"secret": {"name": "key", "items": [{"key": "a", "path": "a"}]}},
                    {"configMap": {"name": "hosts", "items": [{"key": "b", "path": "b"}]}},
                    {"downwardAPI": {"items": [{"path": "c", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 600, "audience": "hub"}},
                ],
            },
        },
        {"name": "bucket", "csi": {"driver": "csi.example.org", "nodePublishSecretRef": {"name": "bucket"}}},
        {
            "name": "scratch",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "metadata": {"labels": {"team": "research"}},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "fast",
                        "volumeMode": "Filesystem",
                        "resources": {"requests": {"storage": "100Gi"}},
                    },
                },
            },
        },
        {"name": "model", "image": {"reference": "example.org/model:1", "pullPolicy": "Always"}},
    ],
    "serviceAccountName": "trainer",
}
_EXPRESSION: Wire = {"key": "example.org/pool", "operator": "In", "values": ["gpu"]}
_PEERS: Wire = {
    "topologyKey": "kubernetes.io/hostname",
    "namespaces": ["research"],
    "labelSelector": {"matchLabels": {"app": "train"}, "matchExpressions": [{"key": "phase", "operator": "Exists"}]},
}
SCHEDULING: Wire = {
    "containers": [{"name": "train", "image": IMAGE}],
    "nodeSelector": {"example.org/pool": "gpu"},
    "priorityClassName": "system-node-critical",
    "preemptionPolicy": "PreemptLowerPriority",
    "tolerations": [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {
            "key": "example.org/drain",
            "operator": "Equal",
            "value": "soon",
            "effect": "NoExecute",
            "tolerationSeconds": 5,
        },
    ],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [_EXPRESSION, {"key": "cores", "operator": "Gt", "values": ["8"]}],
                        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}],
                    },
                ],
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": {"matchExpressions": [_EXPRESSION]}},
            ],
        },
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_PEERS]},
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": _PEERS}],
        },
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": 2,
            "nodeAffinityPolicy": "Honor",
            "nodeTaintsPolicy": "Ignore",
            "matchLabelKeys": ["run"],
            "labelSelector": {"matchLabels": {"app": "train"}},
        },
    ],
    "schedulingGates": [{"name": "example.org/quota"}],
    "readinessGates": [{"conditionType": "example.org/ready"}],
}
SECURITY: Wire = {
    "hostname": "head",
    "subdomain": "train",
    "dnsPolicy": "None",
    "dnsConfig": {
        "nameservers": ["10.0.0.10"],
        "searches": ["train.default.svc.cluster.local"],
        "options": [{"name": "ndots", "value": "2"}],
    },
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["storage.example.org"]}],
    "os": {"name": "linux"},
    "securityContext": {
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "fsGroup": 1000,
        "fsGroupChangePolicy": "OnRootMismatch",
        "supplementalGroups": [2000],
        "supplementalGroupsPolicy": "Merge",
        "seLinuxChangePolicy": "Recursive",
        "seccompProfile": {"type": "Localhost", "localhostProfile": "profiles/train.json"},
        "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}],
    },
    "containers": [
        {
            "name": "train",
            "image": IMAGE,
            "securityContext": {
                "privileged": False,
                "allowPrivilegeEscalation": False,
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "runAsGroup": 1000,
                "procMount": "Default",
                "capabilities": {"add": ["IPC_LOCK"], "drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
                "appArmorProfile": {"type": "Localhost", "localhostProfile": "train"},
            },
        },
    ],
}
NODE: Wire = {
    "hostNetwork": True,
    "hostIPC": True,
    "hostPID": True,
    "shareProcessNamespace": False,
    "dnsPolicy": "ClusterFirstWithHostNet",
    "restartPolicy": "Never",
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
    "resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "8", "memory": "16Gi"}},
    "containers": [
        {
            "name": "train",
            "image": IMAGE,
            "ports": [{"containerPort": 22, "hostPort": 22, "hostIP": "10.0.0.1"}],
            "resources": {
                "requests": {"cpu": "2"},
                "limits": {"cpu": "8", "memory": "8Gi"},
                "claims": [{"name": "gpu", "request": "first"}],
            },
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
            "restartPolicy": "Never",
            "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
            "securityContext": {"privileged": True},
            "volumeMounts": [{"name": "fuse", "mountPath": "/fuse", "mountPropagation": "Bidirectional"}],
        },
        {"name": "other", "image": IMAGE, "resources": {"requests": {"cpu": "2"}}},
    ],
    "volumes": [{"name": "fuse", "emptyDir": {}}],
}
RICH: dict[str, Wire] = {
    "training": TRAINING,
    "volumes": VOLUMES,
    "scheduling": SCHEDULING,
    "security": SECURITY,
    "the node's own": NODE,
}
"""Pod specs with many fields that Kubernetes accepts."""
