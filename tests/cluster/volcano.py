"""Stand-ins for Volcano: a controller that opens Queues, and webhooks that look up the queue of an object."""

from __future__ import annotations

import base64
import datetime as dt
import http.server
import ipaddress
import json
import ssl
import threading
import time
import urllib.error
from pathlib import Path
from typing import Any

from cluster import HOST, Cluster
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from typing_extensions import Self

_QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_MANAGER = "vc-controller-manager"


class QueueController:
    """Sets the parent and the state of new Queues whose names have a prefix, as Volcano's queue controller does."""

    def __init__(self, cluster: Cluster, prefix: str, delay: float = 0) -> None:
        """Prepare the controller; a Queue gets its state after `delay` seconds."""
        self._cluster, self._prefix, self._delay = cluster, prefix, delay
        self._seen: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Start the controller."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the controller, and wait until it has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            for name, item in self._cluster.list("Queue").items():
                if name.startswith(self._prefix):
                    self._sync(name, item)

    def _sync(self, name: str, item: dict[str, Any]) -> None:
        try:
            if not item["spec"].get("parent"):
                edit = [{"op": "add", "path": "/spec/parent", "value": "root"}]
                path = f"{_QUEUES}/{name}?fieldManager={_MANAGER}"
                self._cluster.request("PATCH", path, edit, "application/json-patch+json")
            first = self._seen.setdefault(item["metadata"]["uid"], time.monotonic())
            if not (item.get("status") or {}).get("state") and time.monotonic() >= first + self._delay:
                self._cluster.set_status("Queue", name, state="Open")
        except urllib.error.HTTPError as error:
            if error.code != http.HTTPStatus.NOT_FOUND:
                raise


class QueueWebhook:
    """Rejects PodGroups, Jobs and Queues of a namespace whose queue does not exist or is not open."""

    def __init__(self, cluster: Cluster, name: str, folder: Path) -> None:
        """Prepare the webhook for a namespace and for Queues prefixed with its name; the key is stored in a folder."""
        self._cluster, self._name = cluster, name
        certificate, chain = _certificate(folder)
        self._bundle = base64.b64encode(certificate).decode()
        self._server = http.server.ThreadingHTTPServer((HOST, 0), _handler(cluster))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def __enter__(self) -> Self:
        """Start and register the webhook, and wait until the API server calls it."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._cluster.request("POST", _WEBHOOKS, self._configuration())
        self._cluster.wait(self._rejects, "the webhook to be called")
        return self

    def __exit__(self, *_: object) -> None:
        """Remove and stop the webhook."""
        self._cluster.request("DELETE", f"{_WEBHOOKS}/{self._name}")
        self._server.shutdown()
        self._server.server_close()

    def _rejects(self) -> bool:
        group = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "probe", "namespace": self._name},
            "spec": {"queue": f"{self._name}-missing"},
        }
        try:
            self._cluster.apply([group], dry=True)
        except urllib.error.HTTPError as error:
            return "unable to find queue" in error.read().decode()
        return False

    def _configuration(self) -> dict[str, Any]:
        port = self._server.server_address[1]
        rules = [
            {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": resources}
            for group, resources in (
                ("scheduling.volcano.sh", ["podgroups", "queues"]),
                ("batch.volcano.sh", ["jobs"]),
            )
        ]
        ours = f"request.namespace == '{self._name}' || request.name.startsWith('{self._name}-')"
        webhook = {
            "name": "queues.volcano.test",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": f"https://{HOST}:{port}/", "caBundle": self._bundle},
            "failurePolicy": "Fail",
            "matchConditions": [{"name": "ours", "expression": ours}],
            "rules": rules,
            "sideEffects": "None",
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self._name},
            "webhooks": [webhook],
        }


def _handler(cluster: Cluster) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # required by the base class
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            reason = _reason(cluster, request)
            status = {"status": {"message": reason}} if reason else {}
            response = {"uid": request["uid"], "allowed": not reason, **status}
            body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
            self.send_response(http.HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler


def _reason(cluster: Cluster, request: dict[str, Any]) -> str:
    """Return why Volcano's webhooks reject an object; empty if they accept it."""
    spec, is_new = request["object"]["spec"], request["operation"] == "CREATE"
    if request["kind"]["kind"] == "Queue":
        parent = spec.get("parent", "root")
        is_checked = parent != "root" and (is_new or parent != request["oldObject"]["spec"].get("parent"))
        is_missing = is_checked and not cluster.get("Queue", parent)
        return f"failed to get parent queue: {parent} not found" if is_missing else ""
    name = spec.get("queue", "default")
    if not is_new or name == "default":
        return ""
    queue = cluster.get("Queue", name)
    state = (queue.get("status") or {}).get("state", "")
    if not queue:
        return f"unable to find queue: {name} not found"
    return "" if state == "Open" else f"can only submit to queue with state `Open`, queue `{name}` status is `{state}`"


def _certificate(folder: Path) -> tuple[bytes, Path]:
    """Return a certificate of loopback that is valid for a day, and a file with it and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = dt.datetime.now(dt.timezone.utc)
    day = dt.timedelta(days=1)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    certificate = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "webhook.pem"
    path.touch(mode=0o600)
    path.write_bytes(certificate.public_bytes(pem) + secret)
    return certificate.public_bytes(pem), path
