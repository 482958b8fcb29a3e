"""Init containers that wait for other Pods. The one for a master prints why it waits."""

from __future__ import annotations

from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes.manifest import Container, Manifest

NAME = "wait-for-master"
"""The name of the init container. Volcano's plugin does not add another one with this name."""
TIMED_OUT, NO_TOOL = 1, 2
"""The exit codes of the script for failures."""

# The arguments are the timeout, and an image that has the tools. The script classifies the errors that the various
# tools print. Its text is part of the Pods: an edit replaces the Pods of existing jobs.
SCRIPT = f"""\
say() {{ echo "{NAME}: $*"; }}
try() {{
  case $tool in
    nc) nc -v -z -w 5 "$MASTER_ADDR" "$MASTER_PORT" ;;
    bash) $bounded bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$MASTER_ADDR" "$MASTER_PORT" ;;
  esac
}}
trap 'exit 143' TERM
limit=$1 tool= bounded= before=
case $(nc -h 2>&1 </dev/null) in
  *-z*) tool=nc ;;
  *) if command -v bash >/dev/null 2>&1; then tool=bash; fi ;;
esac
if [ -z "$tool" ]; then
  say "this image has no bash, and no nc that knows -z: set the pytorch plugin's wait_master_image to one that has, \
such as $2" >&2
  exit {NO_TOOL}
fi
if command -v timeout >/dev/null 2>&1; then bounded="timeout 5"; fi
say "waiting for $MASTER_ADDR:$MASTER_PORT, at most $limit s"
start=$(date +%s)
until said=$(try 2>&1 </dev/null); do
  case $said in
    *refused*) why="the master's Pod is there, and nothing listens on its port $MASTER_PORT" ;;
    *"not known"* | *"bad address"* | *resol* | *"nknown host"* | *"No address"*)
      why="the name $MASTER_ADDR does not resolve: the master's Pod is not up yet, or has ended" ;;
    *) why="no answer: the master's Pod is gone, or a NetworkPolicy or a firewall keeps its port shut" ;;
  esac
  waited=$(($(date +%s) - start))
  if [ "$waited" -ge "$limit" ]; then
    say "gave up after $waited s: $why" >&2
    say "the last try said: ${{said:-nothing}}" >&2
    exit {TIMED_OUT}
  fi
  [ "$why" = "$before" ] || say "so far $why"
  before=$why
  sleep 2
done
say "the master answers after $(($(date +%s) - start)) s"
"""

# A namespace may require restricted containers with requests. Without the same amounts, a Pod would also lose the QoS
# class Guaranteed. Init containers run before the other containers, so they use the same resources.
_COPIED_FIELDS = ("resources", "securityContext")


def wait_for_master(
    like: Container, address: str, port: int, timeout: int, *, image: str, tool_image: str
) -> Container:
    """Build the init container that waits for the master, like the first container of the Pod.

    Args:
        like: the first container of the Pod.
        address: the address of the master.
        port: the port of the master.
        timeout: the timeout in seconds.
        image: the image; empty for the image of `like`.
        tool_image: an image with the tools that the script needs, for its error message.
    """
    result = init_container_like(like, NAME, image, ["sh", "-c", SCRIPT, "sh", str(timeout), tool_image])
    result.set_env("MASTER_ADDR", address)
    result.set_env("MASTER_PORT", str(port))
    return result


def init_container_like(like: Container, name: str, image: str, command: list[str]) -> Container:
    """Build an init container with the resources and the security context of `like`, and by default its image."""
    copied = _COPIED_FIELDS if is_given(image) else ("image", "imagePullPolicy", *_COPIED_FIELDS)
    wire: Manifest = {"name": name, "image": image} | {key: like.fields[key] for key in copied if key in like.fields}
    # `kubectl describe pod` then also shows why it waits.
    return Container(wire | {"command": command, "terminationMessagePolicy": "FallbackToLogsOnError"})
