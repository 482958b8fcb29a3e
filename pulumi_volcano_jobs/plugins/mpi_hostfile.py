"""What an MPI master is given beside MPI_HOST: a host file in the form of its launcher, and a wait for the workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pulumi_volcano_jobs.core.leaf import derive
from pulumi_volcano_jobs.kubernetes.manifest import Container
from pulumi_volcano_jobs.plugins.wait_containers import init_container_like

FILE = "hostfile"
SSHD_PORT = 22
WAIT_CONTAINER = "wait-for-workers"
# So container runtimes call it in every Pod that has a network of its own.
_INTERFACE = "eth0"

# In a worker's name that does not resolve, each tool finds something else to say.
_UNKNOWN_NAME = "*'bad address'* | *'not known'* | *resol* | *lookup* | *getaddrinfo*"
# $1 is the file with the hosts, $2 sshd's port, $3 the seconds to wait; $$ and $(NAME) would be Kubernetes' to expand.
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
    """How a launcher takes its hosts."""

    line: str
    directory: str
    """Where the file is mounted."""
    path_variables: tuple[str, ...] = ()
    """The variables that tell the launcher of the file."""
    ssh_variables: tuple[str, ...] = ()
    """The variables with further arguments of its ssh."""
    slots_variables: tuple[str, ...] = ()
    """The variables with the processes of each host, where the file's own count for nothing."""
    interface_variables: tuple[str, ...] = ()
    """The variables with the network interface whose address the workers call back; else they are told the master's
    host name, which resolves in its own Pod alone. A host of that name is where the launcher runs: it needs no ssh."""


# Open MPI 5 reads none of Open MPI 4's variables. Of Intel MPI's file only the hosts count (tried with 2021.19).
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
    """Write the file of groups of hosts, each with the slots of one of them (a leaf, maybe)."""
    return derive(_text, hostfile_format.line, list(groups))


def _text(line: str, groups: Sequence[tuple[list[str], int]]) -> str:
    return "".join(f"{line.format(host=host, slots=slots)}\n" for hosts, slots in groups for host in hosts)


def variables(hostfile_format: HostfileFormat, port: int, slots: Any, *, has_own_network: bool) -> dict[str, Any]:
    """Give the variables by which a launcher uses the file."""
    values: dict[str, Any] = dict.fromkeys(hostfile_format.path_variables, f"{hostfile_format.directory}/{FILE}")
    values |= dict.fromkeys(hostfile_format.slots_variables, derive(str, slots))
    values |= dict.fromkeys(hostfile_format.interface_variables if has_own_network else (), _INTERFACE)
    return values | _ssh_arguments(hostfile_format, port)


def fqdn_variables(port: int) -> dict[str, Any]:
    """Give the variables by which Open MPI takes the whole names of hosts."""
    return dict.fromkeys(FQDN_VARIABLES, "true") | _ssh_arguments(HOSTFILE_FORMATS["openmpi"], port)


def _ssh_arguments(hostfile_format: HostfileFormat, port: int) -> dict[str, Any]:
    """Give the port to a launcher's ssh: the ssh plugin's configuration has another than 22 for short names only."""
    return dict.fromkeys(hostfile_format.ssh_variables if port != SSHD_PORT else (), f"-p {port}")


def wait_container(like: Container, image: str, hosts: str, port: int, timeout: int) -> Container:
    """Make the init container that waits until all hosts of a file can be logged in to.

    What it has not been given it has like another container, so that a namespace takes it where it takes that one.
    """
    command = ["sh", "-c", _WAIT_SCRIPT, WAIT_CONTAINER, hosts, str(port), str(timeout)]
    return init_container_like(like, WAIT_CONTAINER, image, command)
