"""Run a control plane on loopback: etcd, kube-apiserver, kube-controller-manager, and kwok as a fake kubelet.

No scheduler runs: `Cluster.bind` binds Pods to the node. As a program, this module starts a control plane, prints
the path of the kubeconfig, and waits for Ctrl-C.
"""

from __future__ import annotations

import http
import io
import json
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.message import Message
from functools import partial
from pathlib import Path
from typing import Any

import urllib3
import yaml
from typing_extensions import Self

sys.path.insert(0, str(Path(__file__).parent))

import build
import definitions
import pins
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

HOST = "127.0.0.1"
NODE = "fake-node"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok")
STAGES = Path(__file__).with_name("stages.yaml")
# The controllers that create and delete what Pods, Services and namespaces need. No scheduler, no service accounts.
CONTROLLERS = (
    "endpointslice-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
)
# Only tests of permissions use service accounts.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}
TIMEOUT = 600.0
"""Seconds to wait for a state. A busy machine can take minutes for what takes a second on a quiet one."""
PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "Job": "jobs",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkpolicies",
    "Node": "nodes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "Pod": "pods",
    "PodGroup": "podgroups",
    "Queue": "queues",
    "ResourceQuota": "resourcequotas",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Secret": "secrets",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
GROUPS = {
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    # The Job of Volcano, not of batch/v1.
    "Job": "batch.volcano.sh/v1alpha1",
    "MutatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodGroup": "scheduling.volcano.sh/v1beta1",
    "Queue": "scheduling.volcano.sh/v1beta1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ValidatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1",
}
CLUSTER_WIDE = {
    "ClusterRole",
    "ClusterRoleBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "Namespace",
    "Node",
    "Queue",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}


class Cluster:
    """A control plane, as a context manager: `with Cluster(folder) as cluster`."""

    def __init__(self, folder: Path, crds: Iterable[Mapping[str, Any]] = ()) -> None:
        """Create a cluster with all its files in a folder, and with these CRDs. It does not start yet."""
        self.folder = folder
        self._crds = crds
        self.kubeconfig = folder / "kubeconfig"
        self._token = secrets.token_urlsafe(24)
        self._ports = {name: _free_port() for name in ("etcd", "peer", "api", "manager", "kwok")}
        self._programs: dict[str, str] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        # The API server creates its certificate when it starts.
        certificate = str(folder / "certs" / "apiserver.crt")
        self._api = urllib3.HTTPSConnectionPool(
            HOST, self._ports["api"], timeout=30, maxsize=8, retries=False, ca_certs=certificate
        )

    def __enter__(self) -> Self:
        """Start the control plane, and wait until the fake node is ready."""
        folders = build.ensure(PROGRAMS, lambda message: print(message, file=sys.stderr, flush=True))
        path = ":".join(map(str, folders))
        self._programs = {name: shutil.which(name, path=path) or name for name in PROGRAMS}
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._write_files()
            self._start_etcd()
            self.start_api_server()
            # The garbage collector looks for new CRDs only every 30 seconds. A foreground deletion of a custom resource
            # waits for it.
            for crd in self._crds:
                self.install(crd)
            self._start_manager()
            self._start_kwok()
            self.apply([_node(NODE)])
            self.wait(lambda: _is_ready(self.get("Node", NODE)), "the fake node to be ready")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the control plane."""
        self.stop()

    def stop(self) -> None:
        """Stop all programs in reverse order."""
        for name in reversed(list(self._processes)):
            self.stop_program(name)

    def stop_program(self, name: str) -> None:
        """Kill a program. Data that it has not stored yet is lost."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def start_api_server(self) -> None:
        """Start the API server and wait until it answers."""
        self._start(
            "kube-apiserver",
            f"--etcd-servers=http://{HOST}:{self._ports['etcd']}",
            f"--secure-port={self._ports['api']}",
            f"--bind-address={HOST}",
            f"--cert-dir={self.folder / 'certs'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            f"--audit-policy-file={self.folder / 'audit.yaml'}",
            f"--audit-log-path={self.folder / 'audit.log'}",
            # Pods have no service account, because no controller creates one.
            "--disable-admission-plugins=ServiceAccount",
            # kubeadm and cloud providers also set this flag.
            "--allow-privileged=true",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.folder / 'accounts.pem'}",
            f"--service-account-signing-key-file={self.folder / 'accounts.pem'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            # The caches and metrics of more than a hundred resources take most of the CPU time of an idle server.
            "--watch-cache=false",
            "--etcd-count-metric-poll-period=0",
            "--etcd-db-metric-poll-interval=0",
        )
        self.wait(lambda: self.request("GET", "/readyz") == "ok", "the API server to be ready")

    def request(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        """Send a request to the API server, and return the response, decoded if it is JSON.

        Raises:
            urllib.error.HTTPError: if the API server rejects the request.
            OSError: if the API server does not respond.
        """
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content}
        data = None if body is None else json.dumps(body).encode()
        text = self._answer(method, path, data, headers)
        return json.loads(text) if text.startswith(("{", "[")) else text

    def _answer(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> str:
        """Send a request, and repeat it while the server is too busy, as after a start. kubectl also does this."""
        end = time.monotonic() + TIMEOUT
        while True:
            try:
                answer = self._api.request(method, path, data, headers=headers)
            except urllib3.exceptions.HTTPError as error:
                raise ConnectionError(str(error)) from error
            if answer.status < http.HTTPStatus.BAD_REQUEST:
                return answer.data.decode()
            if answer.status != http.HTTPStatus.TOO_MANY_REQUESTS or time.monotonic() > end:
                content = io.BytesIO(answer.data)
                raise urllib.error.HTTPError(path, answer.status, answer.reason or "", Message(), content)
            time.sleep(0.5)

    def get(self, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
        """Return an object as it is stored, or an empty dict if it does not exist."""
        try:
            found: dict[str, Any] = self.request("GET", f"{_path(kind, namespace)}/{name}")
        except urllib.error.HTTPError as error:
            if error.code == 404:  # noqa: PLR2004  # HTTP status Not Found
                return {}
            raise
        return found

    def list(self, kind: str, namespace: str = "default") -> dict[str, dict[str, Any]]:
        """Return all objects of a kind by name."""
        items = self.request("GET", _path(kind, namespace)).get("items") or []
        return {item["metadata"]["name"]: item for item in items}

    def apply(self, manifests: Iterable[Mapping[str, Any]], *, dry: bool = False) -> Sequence[dict[str, Any]]:
        """Create or update objects with server-side apply, and return the results. A dry run stores nothing."""
        query = "?fieldManager=cluster&force=true" + ("&dryRun=All" if dry else "")
        content = "application/apply-patch+yaml"
        made = []
        for manifest in manifests:
            metadata = manifest["metadata"]
            path = f"{_path(manifest['kind'], metadata.get('namespace', 'default'))}/{metadata['name']}{query}"
            made.append(self.request("PATCH", path, manifest, content))
        return made

    def annotate(self, kind: str, name: str, namespace: str = "default", **annotations: str) -> None:
        """Set annotations of an object. The first `_` in a key is replaced by `/`."""
        changed = {key.replace("_", "/", 1): value for key, value in annotations.items()}
        self._merge(f"{_path(kind, namespace)}/{name}", {"metadata": {"annotations": changed}})

    def set_status(self, kind: str, name: str, namespace: str = "default", **status: Any) -> None:
        """Set fields of an object's status, as a controller does."""
        self._merge(f"{_path(kind, namespace)}/{name}/status", {"status": status})

    def _merge(self, path: str, body: Any) -> None:
        self.request("PATCH", path, body, "application/merge-patch+json")

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete an object without waiting for its end."""
        self.request("DELETE", f"{_path(kind, namespace)}/{name}")

    def bind(self, names: Iterable[str], namespace: str = "default", node: str = NODE) -> None:
        """Bind Pods to a node, as the scheduler does. The default is the fake node."""
        for name in names:
            target = {"apiVersion": "v1", "kind": "Node", "name": node}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            self.request("POST", f"{_path('Pod', namespace)}/{name}/binding", binding)

    def install(self, definition: Mapping[str, Any]) -> None:
        """Apply a CRD, and wait until the API server serves it."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        name, spec = definition["metadata"]["name"], definition["spec"]
        query = "?fieldManager=cluster&force=true"
        self.request("PATCH", f"{path}/{name}{query}", definition, "application/apply-patch+yaml")
        served = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        self.wait(partial(self.request, "GET", served), f"{name} to be served")

    def requests_of(self, user: str) -> Sequence[dict[str, Any]]:
        """Return the requests of a service account that the API server has logged, by its full name."""
        lines = (self.folder / "audit.log").read_text("utf-8").splitlines()
        return [event for event in map(json.loads, lines) if event["user"]["username"] == user]

    def log_in(self, account: str, namespace: str, kubeconfig: Path) -> None:
        """Write a kubeconfig with a token of a service account."""
        path = f"{_path('ServiceAccount', namespace)}/{account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        self._write_kubeconfig(kubeconfig, account, self.request("POST", path, request)["status"]["token"])

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition is true. Errors of the API server do not end the wait.

        Raises:
            TimeoutError: after ten minutes, or if a program ends; the message has the end of its log.
        """
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise TimeoutError(f"{name} ended during the wait for {what}:\n{self.log(name)}")
            try:
                if condition():
                    return
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.1)
        raise TimeoutError(f"timed out after {TIMEOUT:.0f} s while waiting for {what}")

    def log(self, name: str, lines: int = 15) -> str:
        """Return the last lines of a program's log."""
        text = (self.folder / f"{name}.log").read_text("utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _start_etcd(self) -> None:
        client, peer = (f"http://{HOST}:{self._ports[name]}" for name in ("etcd", "peer"))
        self._start(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",  # the data is not needed after the process ends
            "--log-level=warn",
        )

    def _start_manager(self) -> None:
        self._start(
            "kube-controller-manager",
            f"--kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            f"--controllers={','.join(CONTROLLERS)}",
            "--leader-elect=false",
            f"--bind-address={HOST}",
            f"--secure-port={self._ports['manager']}",
            f"--cert-dir={self.folder / 'manager-certs'}",
        )

    def _start_kwok(self) -> None:
        self._start(
            "kwok",
            f"--kubeconfig={self.kubeconfig}",
            "--manage-all-nodes=true",
            f"--config={STAGES}",
            f"--server-address={HOST}:{self._ports['kwok']}",
            "--node-lease-duration-seconds=40",
        )

    def _start(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [self._programs[name], *arguments]
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def _write_files(self) -> None:
        (self.folder / "tokens.csv").write_text(f"{self._token},admin,admin,system:masters\n", "utf-8")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        (self.folder / "accounts.pem").write_bytes(pem)
        (self.folder / "audit.yaml").write_text(yaml.safe_dump(AUDIT_POLICY), "utf-8")
        self._write_kubeconfig(self.kubeconfig, "admin", self._token)

    def _write_kubeconfig(self, path: Path, user: str, token: str) -> None:
        server = f"https://{HOST}:{self._ports['api']}"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config), "utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _path(kind: str, namespace: str) -> str:
    group = GROUPS.get(kind)
    root = f"/apis/{group}" if group else "/api/v1"
    scope = "" if kind in CLUSTER_WIDE else f"/namespaces/{namespace}"
    return f"{root}{scope}/{PLURALS[kind]}"


def _node(name: str) -> dict[str, Any]:
    amounts = {"cpu": "1k", "memory": "1Ti", "pods": "10k"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _is_ready(node: Mapping[str, Any]) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def main() -> int:
    """Start a cluster with the generated resource definitions of Volcano, and keep it until Ctrl-C."""
    with (
        tempfile.TemporaryDirectory(prefix="volcano-jobs-cluster-") as folder,
        Cluster(Path(folder), definitions.definitions()) as cluster,
    ):
        print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
        print("Ctrl-C stops it", file=sys.stderr, flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except pins.BuildError as error:
        sys.exit(f"tools/cluster.py: {error}")
