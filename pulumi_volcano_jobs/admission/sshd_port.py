"""Set and check the port of sshd, which the plugins mpi and ssh share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pulumi_volcano_jobs.core.errors import Problem
from pulumi_volcano_jobs.plugins import MpiPlugin, Plugin, SshPlugin
from pulumi_volcano_jobs.plugins.settings import since_of
from pulumi_volcano_jobs.spec.releases import is_older


def with_one_port(plugins: Mapping[str, Plugin], volcano_version: str) -> dict[str, Plugin]:
    """Return the plugins with the sshd port of mpi or ssh copied to the other, unless the other sets a port.

    If the Volcano release does not support the flag of ssh, ssh does not get the port of mpi.
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
        reason = f"the ssh configuration connects to port {ssh.ssh_port}, but mpi declares a different port for sshd"
        hint = f"set --ssh-port={mpi.port} of ssh, or --port={ssh.ssh_port} of mpi"
        yield mpi.problem("port", reason, hint, code="VJ111")
