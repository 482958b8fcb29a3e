"""The ssh plugin, for logins without a password between a job's Pods (upstream: pkg/controllers/job/plugins/ssh)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.core.leaf import Text, is_given
from pulumi_volcano_jobs.kubernetes import processes, run_as, validation
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Pod, secret
from pulumi_volcano_jobs.kubernetes.validation.ports import is_port
from pulumi_volcano_jobs.plugins.base import JobUpdate, Plugin, Stage, port_problems
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import Setting, flag, option
from pulumi_volcano_jobs.plugins.ssh_keys import KeyPair, KeyType
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Job, Task

FileModes = Literal["volcano", "by-user"]

ROOT_PATH = "/root/.ssh"
DEFAULT_PORT = 22
# The owner of the mounted files is always root. For the owner, ssh rejects a private key that other users can read.
# Other users cannot read a file with mode 0600 (volcano 1606, 1975). With an fsGroup, Kubernetes makes the files
# readable for this group.
ROOT_MODE, GROUP_MODE, USER_MODE = 0o600, 0o640, 0o644
AUTHORIZED, CONFIG = "authorized_keys", "config"
_NOT_OURS = "Volcano's controllers mount another Secret at the key path"


class SshPlugin(Plugin):
    """Mount the job's key pair and a client configuration in every container and init container.

    The images must contain and start sshd. The svc plugin provides the addresses.
    """

    name = "ssh"
    stage = Stage.BASE
    ssh_key_file_path: Setting[str] = flag("ssh-key-file-path", default=ROOT_PATH)
    """The directory of the keys: `.ssh` in the home of the user that runs the containers."""
    ssh_private_key: Setting[Text] = flag("ssh-private-key", default="", placeholder="<private>", secret=True)
    """A private key in PEM format, instead of a generated key. It may be an Output."""
    ssh_public_key: Setting[Text] = flag("ssh-public-key", default="", placeholder="<public>")
    """The public key of `ssh_private_key`, as an OpenSSH line."""
    ssh_port: Setting[int] = flag("ssh-port", default=DEFAULT_PORT, since="1.15")
    """The port of sshd in the Pods. With `defaults="recommended"`, the default is the port of mpi."""
    key_type: Setting[KeyType] = option(
        default="rsa",
        not_native="Volcano's controllers always generate an RSA key pair",
    )
    """The type of the generated key pair. Its files are `id_rsa`, `id_ed25519` or `id_ecdsa`."""
    key_secret: Setting[Text] = option(
        default="",
        not_native=_NOT_OURS,
        may_be_output=True,
    )
    """A Secret in the job's namespace with the key pair. It may be an Output. Pulumi does not read the Secret."""
    key_secret_private: Setting[str] = option(default="ssh-privatekey", not_native=_NOT_OURS)
    """The key of the private key in `key_secret`. The default is the key in Secrets of type kubernetes.io/ssh-auth."""
    key_secret_public: Setting[str] = option(default="ssh-publickey", not_native=_NOT_OURS)
    """The key of the public key (an OpenSSH line) in `key_secret`."""
    file_modes: Setting[FileModes] = option(
        default="volcano",
        recommended="by-user",
        not_native="Volcano's controllers mount the files and set their modes",
    )
    """The modes of the key files. `volcano`: 0600 in /root/.ssh, and 0644 in other directories. `by-user`: depending on
    the users of the containers, if all users are known."""
    address_aliases: Setting[bool] = option(
        default=False, recommended=True, not_native="Volcano's controllers write the ssh configuration"
    )
    """Whether the configuration, and with it the port, also applies to addresses (`train-worker-0.train`), and to Pods
    that are added later. Running Pods, whose configuration never changes, then reach new Pods by both names."""

    def validate(self, job: Job) -> Iterator[Problem]:
        """Yield problems of the path, the port and the source of the keys, and warnings about file modes."""
        yield from super().validate(job)
        yield from port_problems(self, "ssh_port")
        path = self.ssh_key_file_path
        if isinstance(path, str) and (not path.startswith("/") or ":" in path):
            hint = "use a path such as /home/me/.ssh"
            yield self.problem("ssh_key_file_path", "must be an absolute path without ':'", hint)
        elif isinstance(path, str) and path != ROOT_PATH and posixpath.normpath(path) == ROOT_PATH:
            reason = (
                f"Volcano does not recognize {ROOT_PATH} in this spelling, and sets a mode that ssh rejects for root"
            )
            yield self.problem("ssh_key_file_path", reason, f"use {ROOT_PATH}")
        yield from self._secret_problems(job) if is_given(self.key_secret) else self._pair_problems()
        if self.key_type != "rsa" and (is_given(self.key_secret) or is_given(self.ssh_private_key)):
            yield self.problem(
                "key_type",
                "may not be set together with a key pair, because no pair is generated",
                "remove it, or the key pair",
                error_type="Forbidden",
            )
        for index, task in enumerate(job.tasks or ()):
            yield from self._pod_warnings(task.pod_spec, f"spec.tasks[{index}].template.spec")

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:
        """Return the Secret with the client configuration, and with the keys unless another Secret contains them."""
        contents: dict[str, Any] = {}
        if not is_given(self.key_secret):
            pair = self._pair(ctx)
            contents = {self._private: pair.private, self._public: pair.public, AUTHORIZED: pair.public}
        return [secret(naming.ssh_secret(ctx.name), ctx.namespace, {**contents, CONFIG: self._config(ctx)})]

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Mount the keys and the configuration at the key path."""
        volume = naming.ssh_secret(ctx.name)
        pod.set_volume(volume, self._source(volume, self._mode(pod)))
        for container in pod.all_containers:
            container.mount(self.ssh_key_file_path, volume, sub_path=".ssh")

    def on_job_update(self, ctx: JobContext) -> JobUpdate:
        """Update the Secret with the replicas, because its configuration lists every host.

        Other configured keys, host names and ports replace the Pods, because a mount with subPath does not update
        (volcano 1420).
        """
        follows = frozenset({ObjectRef("Secret", naming.ssh_secret(ctx.name))})
        given_key = (self.ssh_public_key,) if is_given(self.ssh_private_key) else ()
        aliases = ("address_aliases",) if self.address_aliases else ()
        port = (self._port,) if self._port != DEFAULT_PORT else ()
        return JobUpdate(follows=follows, restart_triggers=(*given_key, *aliases, *port))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:
        """Return the name of the Secret, and the keys if Pulumi knows them. The public key is not a secret."""
        if is_given(self.key_secret):
            return {"secret_name": self.key_secret, "public_key": None, "private_key": None}
        pair = self._pair(ctx)
        secret_name = naming.ssh_secret(ctx.name)
        return {"secret_name": secret_name, "public_key": pair.public, "private_key": pair.private}

    @property
    def _private(self) -> str:
        # ssh finds keys by these names, and reads the type from the file, so a configured key may have any type.
        return f"id_{self.key_type}"

    @property
    def _public(self) -> str:
        return f"{self._private}.pub"

    def _source(self, own_secret: str, mode: int) -> Manifest:
        """Return the source of the volume: the job's Secret, or `key_secret` and the job's configuration."""
        private, public = self._private, self._public
        if not is_given(self.key_secret):
            items = [_item(key, key) for key in (private, public, AUTHORIZED, CONFIG)]
            return {"secret": {"secretName": own_secret, "items": items, "defaultMode": mode}}
        pair = ((self.key_secret_private, private), (self.key_secret_public, public))
        items = [_item(key, file) for key, file in (*pair, (self.key_secret_public, AUTHORIZED))]
        sources = [{"name": self.key_secret, "items": items}, {"name": own_secret, "items": [_item(CONFIG, CONFIG)]}]
        return {"projected": {"sources": [{"secret": source} for source in sources], "defaultMode": mode}}

    def _mode(self, pod: Pod) -> int:
        """Return the mode of the files. It ignores init containers, which rarely log in and often run as root."""
        if self.file_modes == "by-user":
            users = run_as.container_users(pod.fields, (container.fields for container in pod.containers))
            kinds = {user.is_root for user in users}
            if kinds == {True}:
                return ROOT_MODE
            if kinds == {False}:
                return USER_MODE if run_as.fs_group(pod.fields) is None else GROUP_MODE
        return ROOT_MODE if self.ssh_key_file_path == ROOT_PATH else USER_MODE

    def _pair_problems(self) -> Iterator[Problem]:
        private, public = is_given(self.ssh_private_key), is_given(self.ssh_public_key)
        if public and not private:
            reason = "ssh_private_key is also required: a public key alone is ignored, and a key pair is generated"
            yield self.problem(
                "ssh_public_key", reason, "set ssh_private_key, or remove ssh_public_key", error_type="Required"
            )
        if private and not public:
            reason = "ssh_public_key is also required for logins with this key"
            yield self.problem("ssh_private_key", reason, "set ssh_public_key", error_type="Required")
        yield from self.known_problems()
        for setting in ("key_secret_private", "key_secret_public"):
            if setting in self.beyond():
                yield self.problem(
                    setting,
                    "key_secret is also required",
                    f"set ssh.key_secret, or remove {setting}",
                    error_type="Required",
                )

    def known_problems(self) -> Iterator[Problem]:
        """Yield the problem of a key pair that cannot be used, and a warning about DSA keys."""
        pair = KeyPair(self.ssh_private_key, self.ssh_public_key)
        fault = pair.fault() if is_given(pair.private) and is_given(pair.public) else None
        if fault:
            yield self.problem(f"ssh_{fault.part}_key", fault.reason, fault.hint)
        if pair.is_dsa:
            reason = "sshd rejects DSA keys since OpenSSH 7.0, and newer releases do not support them"
            hint = "generate another key pair: ssh-keygen -t ed25519 -f FILE"
            yield self.problem("ssh_private_key", reason, hint, code="VJ126")

    def _secret_problems(self, job: Job) -> Iterator[Problem]:
        name = self.key_secret
        if isinstance(name, str) and not validation.is_subdomain(name):
            reason = (
                "must be at most 253 lower-case letters, digits, '-' and '.', and must begin and end with a letter or"
                " digit"
            )
            yield self.problem("key_secret", reason)
        elif isinstance(name, str) and name == naming.ssh_secret(job.name):
            reason = "the job creates a Secret with this name for the ssh configuration"
            yield self.problem("key_secret", reason, "use a Secret with another name", error_type="Duplicate")
        for setting in ("key_secret_private", "key_secret_public"):
            if not validation.is_data_key(getattr(self, setting)):
                reason = "must be at most 253 letters, digits, '-', '_' and '.', and may not be '.' or begin with '..'"
                yield self.problem(setting, reason)
        if is_given(self.ssh_private_key) or is_given(self.ssh_public_key):
            reason = "may not be set together with ssh_private_key or ssh_public_key"
            yield self.problem("key_secret", reason, "remove one of them", shown=False, error_type="Forbidden")

    def _pod_warnings(self, spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
        if self.ssh_port == DEFAULT_PORT and spec.get("hostNetwork") is True and _runs_sshd_on_default_port(spec):
            reason = "the Pods share the ports of the node, where sshd of the node usually uses port 22"
            hint = "set --ssh-port=2222 of ssh (and --port=2222 of mpi), and start sshd on this port"
            yield Problem(f"{path}.hostNetwork", "Warning", reason, hint, code="VJ106")
        reason, hint = self._key_file_warning(spec)
        if reason:
            yield Problem(f"{path}.securityContext", "Warning", reason, hint, code="VJ108")

    def _key_file_warning(self, spec: Mapping[str, Any]) -> tuple[str, str]:
        """Return why the user of a container cannot use the key, and a hint. Unknown users are ignored."""
        users, group = list(run_as.container_users(spec, containers_in(spec))), run_as.fs_group(spec)
        other = next((user for user in users if user.is_root is False), None)
        is_root, at_root = any(user.is_root for user in users), self.ssh_key_file_path == ROOT_PATH
        is_mended = self.file_modes == "by-user"
        reason = hint = ""
        if is_mended and is_root and other:
            reason = (
                f"some containers run as root, but the container {other.container} runs as {other}: no file mode works"
                " for both, because for root, ssh rejects a key that other users can read"
            )
            hint = "run all containers of the Pod as one user"
        elif at_root and other:
            holder, mode = ("the directory", "") if is_mended else ("the key in", " (mode 0600)")
            reason = (
                f"only root can read {holder} {ROOT_PATH}{mode}, but the container {other.container} runs as {other}"
            )
            hint = "set --ssh-key-file-path of ssh to the .ssh directory in the home of this user"
        elif group is not None and (is_root or at_root):
            reason = (
                f"fsGroup {group} makes the key readable for a group, and ssh rejects such a key for root (unprotected"
                " private key)"
            )
            hint = "remove fsGroup, or run as another user with another key path"
        elif is_root and not at_root and not (is_mended and all(user.is_root for user in users)):
            reason = f"outside {ROOT_PATH}, the key has mode 0644, which ssh rejects for root (unprotected private key)"
            hint = f'use the key path {ROOT_PATH}, run as another user, or set file_modes="by-user"'
        return reason, hint

    def _pair(self, ctx: JobContext) -> KeyPair:
        has_private = is_given(self.ssh_private_key)
        return KeyPair(self.ssh_private_key, self.ssh_public_key) if has_private else ctx.keys

    @property
    def _port(self) -> int:
        return self.ssh_port if is_port(self.ssh_port) else DEFAULT_PORT

    def _config(self, ctx: JobContext) -> str:
        lines = ["StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
        longer_names = _longer_names(ctx.tasks)
        for task in ctx.tasks:
            if self.address_aliases and not naming.has_fixed_host(task):
                lines += _patterns(ctx, task, self._port, longer_names.get(task.name or "", ()))
                continue
            for host, address in _hosts(ctx, task):
                known_as = f"{host} {address}" if self.address_aliases else host
                lines += [f"Host {known_as}", f"  HostName {address}", f"  Port {self._port}"]
        return "\n".join(lines) + "\n"


def _item(key: str, file: str) -> Manifest:
    # The files are in .ssh and mounted with subPath, because a whole volume has mode 1777, which sshd rejects.
    return {"key": key, "path": f".ssh/{file}"}


def _longer_names(tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Return the tasks with each prefix that ends before a `-`: `worker-late` for `worker`."""
    longer_names: dict[str, list[str]] = {}
    for name in (task.name or "" for task in tasks):
        for end in (place for place, character in enumerate(name) if character == "-"):
            longer_names.setdefault(name[:end], []).append(name)
    return longer_names


def _patterns(ctx: JobContext, task: Task, port: int, longer_names: Sequence[str]) -> list[str]:
    """Return the lines that apply to all Pods of a task, regardless of their number.

    ssh uses the first value of each option. The pattern excludes the Pods of tasks with longer names (`worker-late`),
    which may have another domain.
    """
    any_host = f"{ctx.name}-{task.name}-*"
    excluded = [f"!{ctx.name}-{other}-*" for other in longer_names]
    return [
        f"Host {' '.join([any_host, *excluded, '!*.*'])}",
        f"  HostName %h.{naming.subdomain(ctx.name, task)}",
        f"Host {any_host}",
        f"  Port {port}",
    ]


def _hosts(ctx: JobContext, task: Task) -> Iterator[tuple[str, str]]:
    for index, address in enumerate(ctx.addresses(task)):
        yield naming.host(ctx.name, task, index), address


def _runs_sshd_on_default_port(spec: Mapping[str, Any]) -> bool:
    """Check whether a container starts sshd, and no container shows another port of sshd."""
    containers = containers_in(spec)
    return any(map(processes.starts_sshd, containers)) and not any(map(processes.sets_sshd_port, containers))
