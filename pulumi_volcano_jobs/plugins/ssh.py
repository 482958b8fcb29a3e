"""The ssh plugin: login without a password among a job's Pods (upstream: pkg/controllers/job/plugins/ssh)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_volcano_jobs import names
from pulumi_volcano_jobs.context import JobContext
from pulumi_volcano_jobs.errors import Problem
from pulumi_volcano_jobs.keys import KeyPair
from pulumi_volcano_jobs.leaf import Text, is_given
from pulumi_volcano_jobs.manifest import Manifest, Pod, secret
from pulumi_volcano_jobs.model import Job, Task
from pulumi_volcano_jobs.plugins.base import MAX_PORT, JobUpdate, ObjectRef, Plugin, Stage, flag, port_problems

ROOT_PATH = "/root/.ssh"
DEFAULT_PORT = 22
# ssh refuses a private key that others can read; a user who is not root cannot read root's 0600 (volcano 1606, 1975).
ROOT_MODE, USER_MODE = 0o600, 0o644
PRIVATE, PUBLIC, AUTHORIZED, CONFIG = "id_rsa", "id_rsa.pub", "authorized_keys", "config"


class SshPlugin(Plugin):
    """Give every container, init containers too, one key pair for the whole job and a client configuration.

    The images bring and start sshd. Addresses need the svc plugin.
    """

    name = "ssh"
    stage = Stage.BASE
    ssh_key_file_path: str = flag("ssh-key-file-path", default=ROOT_PATH)
    """The directory of the keys: the `.ssh` of the user that the containers run as."""
    ssh_private_key: Text = flag("ssh-private-key", default="", placeholder="<private>", secret=True)
    """A private key in PEM to use instead of a generated one (may be an Output)."""
    ssh_public_key: Text = flag("ssh-public-key", default="", placeholder="<public>")
    """The public key of `ssh_private_key`, as an OpenSSH line."""
    ssh_port: int = flag("ssh-port", default=DEFAULT_PORT)
    """The port of sshd in the Pods."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield what is wrong with the path, the port and the given keys."""
        yield from super().validate(job)
        yield from port_problems(self, "ssh_port")
        path = self.ssh_key_file_path
        if isinstance(path, str) and (not path.startswith("/") or ":" in path):
            yield self.problem(
                "ssh_key_file_path", "this must be an absolute path without ':'", "for example /home/me/.ssh"
            )
        private, public = is_given(self.ssh_private_key), is_given(self.ssh_public_key)
        if public and not private:
            reason = "a public key alone is ignored; the job would get a generated pair"
            yield self.problem("ssh_public_key", reason, "give ssh_private_key too, or neither", shown=False)
        if private and not public:
            reason = "without its public key nobody can log in with this key"
            yield self.problem("ssh_private_key", reason, "give ssh_public_key too", shown=False)
        if private and public:
            fault = KeyPair(self.ssh_private_key, self.ssh_public_key).fault()
            if fault:
                yield self.problem(f"ssh_{fault.part}_key", fault.reason, fault.hint, shown=False)
        for index, task in enumerate(job.tasks or ()):
            yield from self._traps(task.pod_spec, f"spec.tasks[{index}].template.spec")

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the Secret with the keys and the client configuration."""
        pair = self._pair(ctx)
        contents = {PRIVATE: pair.private, PUBLIC: pair.public, AUTHORIZED: pair.public, CONFIG: self._config(ctx)}
        return [secret(names.ssh_secret(ctx.name), ctx.namespace, contents)]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Mount the keys and the configuration at the key path."""
        volume = names.ssh_secret(ctx.name)
        # Under .ssh and mounted by subPath: a whole volume is mounted with mode 1777, which sshd refuses.
        items = [{"key": key, "path": f".ssh/{key}"} for key in (PRIVATE, PUBLIC, AUTHORIZED, CONFIG)]
        mode = ROOT_MODE if self.ssh_key_file_path == ROOT_PATH else USER_MODE
        pod.set_volume(volume, {"secret": {"secretName": volume, "items": items, "defaultMode": mode}})
        for container in pod.all_containers:
            container.mount(self.ssh_key_file_path, volume, sub_path=".ssh")

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Let the Secret follow, since its configuration names every host; another given key replaces the Pods.

        A mount by subPath never follows its Secret (volcano 1420).
        """
        follows = frozenset({ObjectRef("Secret", names.ssh_secret(ctx.name))})
        return JobUpdate(follows=follows, restarts_on=(self.ssh_public_key,) if is_given(self.ssh_private_key) else ())

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Give the Secret's name and the keys; the public key is no secret."""
        pair = self._pair(ctx)
        secret_name = names.ssh_secret(ctx.name)
        return {"secret_name": secret_name, "public_key": pair.public, "private_key": pair.private}

    def _traps(self, spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
        if self.ssh_port == DEFAULT_PORT and spec.get("hostNetwork") is True:
            reason = "the Pods share the node's ports, and the node's own sshd has port 22"
            hint = "give ssh --ssh-port=2222 (mpi --port=2222 too), and start sshd with it"
            yield Problem(f"{path}.hostNetwork", reason, hint, warning=True, code="VJ106")
        group, users = _security(spec).get("fsGroup"), list(_users(spec))
        at_root = self.ssh_key_file_path == ROOT_PATH
        others = next((item for item in users if item[1] not in (0, None)), None)
        is_root = any(user == 0 for _, user in users)
        reason = hint = ""
        if at_root and others:
            reason = (
                f"the key in {ROOT_PATH} is root's alone (mode 0600), and the container {others[0]} runs as {others[1]}"
            )
            hint = "give ssh --ssh-key-file-path, the .ssh of that user's home"
        elif isinstance(group, int) and (is_root or at_root):
            reason = (
                f"fsGroup {group} lets a group read the key, and ssh then refuses it to root (unprotected private key)"
            )
            hint = "remove fsGroup, or run as another user with a key path of its own"
        elif is_root and not at_root:
            reason = (
                f"outside of {ROOT_PATH} the key has mode 0644, which ssh refuses to root (unprotected private key)"
            )
            hint = f"leave the key path at {ROOT_PATH}, or run as another user"
        if reason:
            yield Problem(f"{path}.securityContext", reason, hint, warning=True, code="VJ108")

    def _pair(self, ctx: JobContext) -> KeyPair:
        given = is_given(self.ssh_private_key)
        return KeyPair(self.ssh_private_key, self.ssh_public_key) if given else ctx.keys

    def _config(self, ctx: JobContext) -> str:
        port = self.ssh_port if 1 <= self.ssh_port <= MAX_PORT else DEFAULT_PORT
        lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
        for task in ctx.tasks:
            for host, address in _hosts(ctx, task):
                lines += [f"Host {host}", f"  HostName {address}", f"  Port {port}"]
        return "\n".join(lines) + "\n"


def _security(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    found = holder.get("securityContext")
    return found if isinstance(found, Mapping) else {}


def _users(spec: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Give the user of each container; None if the image decides, or if it is not known yet."""
    for container in spec.get("containers") or ():
        user = _security(container).get("runAsUser", _security(spec).get("runAsUser"))
        yield container.get("name", ""), user if isinstance(user, int) else None


def _hosts(ctx: JobContext, task: Task) -> Iterator[tuple[str, str]]:
    for index, address in enumerate(ctx.addresses(task)):
        yield names.host(ctx.name, task, index), address
