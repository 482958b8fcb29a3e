"""The port of sshd, which the plugins mpi and ssh both set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin, SshPlugin
from pulumi_volcano_jobs.plugins.settings import since_of
from pulumi_volcano_jobs.spec.releases import is_older


def with_one_port(plugins: Mapping[str, Plugin], volcano_version: str) -> dict[str, Plugin]:
    """Use the port of sshd that is set in mpi or ssh for the other plugin, unless that sets its own.

    If the release of Volcano lacks ssh's flag, ssh does not get the port of mpi.
    """
    mpi, ssh = plugins.get(MpiPlugin.name), plugins.get(SshPlugin.name)
    if isinstance(mpi, MpiPlugin) and isinstance(ssh, SshPlugin):
        if "ssh_port" not in ssh.model_fields_set and not is_older(volcano_version, since_of(SshPlugin, "ssh-port")):
            return {**plugins, ssh.name: ssh.with_(ssh_port=mpi.port)}
        if "ssh_port" in ssh.model_fields_set and "port" not in mpi.model_fields_set:
            return {**plugins, mpi.name: mpi.with_(port=ssh.ssh_port)}
    return dict(plugins)


def warnings(plugins: Sequence[Plugin]) -> Iterator[Problem]:
    """Yield a warning if the ports of mpi and ssh differ."""
    by_name = {plugin.name: plugin for plugin in plugins}
    mpi, ssh = by_name.get(MpiPlugin.name), by_name.get(SshPlugin.name)
    if isinstance(mpi, MpiPlugin) and isinstance(ssh, SshPlugin) and mpi.port != ssh.ssh_port:
        reason = f"the ssh plugin's configuration connects to port {ssh.ssh_port}, and mpi declares another for sshd"
        hint = f"give ssh the same one (--ssh-port={mpi.port}), or mpi --port={ssh.ssh_port}"
        yield mpi.problem("port", reason, hint, code="VJ111")
