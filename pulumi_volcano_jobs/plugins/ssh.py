"""The ssh plugin: login without a password among a job's Pods (upstream: pkg/controllers/job/plugins/ssh)."""

from __future__ import annotations

from collections.abc import Iterator
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


def _hosts(ctx: JobContext, task: Task) -> Iterator[tuple[str, str]]:
    for index, address in enumerate(ctx.addresses(task)):
        yield names.host(ctx.name, task, index), address
