"""The host file of MPI launchers, and the init container that waits for the workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pulumi_volcano_jobs.core.leaf import derive
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.plugins.wait_containers import init_container_like

FILE = "hostfile"
SSHD_PORT = 22
WAIT_CONTAINER = "wait-for-workers"
# Container runtimes use this name in every Pod without hostNetwork.
_INTERFACE = "eth0"

# The errors of various tools for a name that does not resolve.
_UNKNOWN_NAME = "*'bad address'* | *'not known'* | *resol* | *lookup* | *getaddrinfo*"
# $1 is the file with the hosts, $2 the port of sshd, $3 the timeout in seconds. The script avoids $$ and $(NAME), which
# Kubernetes expands. Its text is part of the Pods: an edit replaces the Pods of existing jobs.
_WAIT_SCRIPT = f"""\
trap 'exit 143' TERM
export LC_ALL=C
file=$1 port=$2 timeout=$3
if nc -h 2>&1 | grep -q -e -z; then
  try() {{ nc -z -w 2 "$1" "$port" 2>&1; }}
elif command -v bash >/dev/null; then
  limit=$(command -v timeout) && limit="$limit 5"
  try() {{ $limit bash -c ': >"/dev/tcp/$0/$1"' "$1" "$port" 2>&1; }}
else
  echo "this image has neither nc -z nor bash to look for the workers with: give wait_for_workers_image another" >&2
  exit 1
fi
set -- $(cat "$file")
total=$# missing=-1 deadline=$(($(date +%s) + timeout))
while [ $# -gt 0 ]; do
  left= reasons=
  for host; do
    said=$(try "$host") && continue
    case $said in
      {_UNKNOWN_NAME}) reason="its name does not resolve: is its Pod running, and ready?" ;;
      *) reason="nothing answers on port $port: does sshd run there?" ;;
    esac
    left="$left $host" reasons="$reasons
$host: $reason"
  done
  set -- $left
  if [ $# -gt 0 ] && [ "$(date +%s)" -ge "$deadline" ]; then
    echo "$# of $total workers did not answer within $timeout s:$reasons" >&2
    exit 1
  fi
  [ $# -eq 0 ] || [ $# -eq "$missing" ] || echo "$# of $total workers do not answer yet:$reasons"
  missing=$#
  [ $# -eq 0 ] || sleep 2
done
echo "$total of $total workers answer"
"""


Launcher = Literal["openmpi", "intel", "mpich", "deepspeed"]


class HostfileFormat(NamedTuple):
    """The host file and the variables of a launcher."""

    line: str
    directory: str
    """The directory where the file is mounted."""
    path_variables: tuple[str, ...] = ()
    """Variables with the path of the file."""
    ssh_variables: tuple[str, ...] = ()
    """Variables with additional arguments for ssh."""
    slots_variables: tuple[str, ...] = ()
    """Variables with the number of processes for each host, for a launcher that ignores the slots in the file."""
    interface_variables: tuple[str, ...] = ()
    """Variables with the network interface to which the workers connect back. Without them, workers get the host name
    of the master, which resolves only in the master's Pod. The launcher starts processes on this host without ssh."""


# Open MPI 5 reads other variables than Open MPI 4. Intel MPI reads only the hosts in the file (tested with 2021.19).
HOSTFILE_FORMATS: Mapping[Launcher, HostfileFormat] = {
    "openmpi": HostfileFormat(
        "{host} slots={slots}",
        "/etc/mpi",
        ("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"),
        ("OMPI_MCA_plm_rsh_args", "PRTE_MCA_plm_ssh_args"),
    ),
    "intel": HostfileFormat(
        "{host}:{slots}",
        "/etc/mpi",
        ("I_MPI_HYDRA_HOST_FILE",),
        ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",),
        ("I_MPI_PERHOST",),
        ("I_MPI_HYDRA_IFACE",),
    ),
    "mpich": HostfileFormat(
        "{host}:{slots}",
        "/etc/mpi",
        ("HYDRA_HOST_FILE",),
        ("HYDRA_LAUNCHER_EXTRA_ARGS",),
        interface_variables=("HYDRA_IFACE",),
    ),
    "deepspeed": HostfileFormat("{host} slots={slots}", "/job"),
}
FQDN_VARIABLES = ("OMPI_MCA_orte_keep_fqdn_hostnames", "PRTE_MCA_prte_keep_fqdn_hostnames")


def text(hostfile_format: HostfileFormat, groups: Sequence[tuple[list[str], Any]]) -> Any:
    """Return the contents of the file for groups of hosts and the slots of each host, which may be a leaf."""
    return derive(_text, hostfile_format.line, list(groups))


def _text(line: str, groups: Sequence[tuple[list[str], int]]) -> str:
    return "".join(f"{line.format(host=host, slots=slots)}\n" for hosts, slots in groups for host in hosts)


def variables(hostfile_format: HostfileFormat, port: int, slots: Any, *, has_own_network: bool) -> dict[str, Any]:
    """Return the variables with which a launcher finds and uses the file."""
    values: dict[str, Any] = dict.fromkeys(hostfile_format.path_variables, f"{hostfile_format.directory}/{FILE}")
    values |= dict.fromkeys(hostfile_format.slots_variables, derive(str, slots))
    values |= dict.fromkeys(hostfile_format.interface_variables if has_own_network else (), _INTERFACE)
    return values | _ssh_arguments(hostfile_format, port)


def fqdn_variables(port: int) -> dict[str, Any]:
    """Return the variables with which Open MPI uses the full names of hosts."""
    return dict.fromkeys(FQDN_VARIABLES, "true") | _ssh_arguments(HOSTFILE_FORMATS["openmpi"], port)


def _ssh_arguments(hostfile_format: HostfileFormat, port: int) -> dict[str, Any]:
    """Return the variables with the port for ssh. The ssh configuration contains a custom port only for short names."""
    return dict.fromkeys(hostfile_format.ssh_variables if port != SSHD_PORT else (), f"-p {port}")


def wait_container(like: Container, image: str, hosts: str, port: int, timeout: int) -> Container:
    """Build the init container that waits until sshd answers on all hosts in a file.

    It copies its other fields from a container of the Pod, so that a namespace that accepts this container also accepts
    the init container.
    """
    command = ["sh", "-c", _WAIT_SCRIPT, WAIT_CONTAINER, hosts, str(port), str(timeout)]
    return init_container_like(like, WAIT_CONTAINER, image, command)
