"""Init containers that wait for other Pods; the one that waits for a master says why it does."""

from __future__ import annotations

from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.kubernetes.manifest import Container, Manifest

NAME = "wait-for-master"
"""Volcano's plugin adds no container where one of this name is."""
TIMED_OUT, NO_TOOL = 1, 2
"""The script's exit codes beside 0."""

# Its arguments are the timeout and an image that can ask. What it asks with says on its standard error what is wrong,
# in words of its own.
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

# What lets a Pod in: a namespace may want each container to be restricted, and to have requests; and without the same
# amounts a Pod would lose its guaranteed class. Init containers use what the others use later.
_COPIED_FIELDS = ("resources", "securityContext")


def wait_for_master(
    like: Container, address: str, port: int, timeout: int, *, image: str, tool_image: str
) -> Container:
    """Make the init container of a Pod whose first container is `like`; without an image it has that one's too.

    `tool_image` is an image that has what the script needs.
    """
    result = init_container_like(like, NAME, image, ["sh", "-c", SCRIPT, "sh", str(timeout), tool_image])
    result.set_env("MASTER_ADDR", address)
    result.set_env("MASTER_PORT", str(port))
    return result


def init_container_like(like: Container, name: str, image: str, command: list[str]) -> Container:
    """Make an init container that goes where a Pod's container `like` goes; without an image it has that one's too."""
    copied = _COPIED_FIELDS if is_given(image) else ("image", "imagePullPolicy", *_COPIED_FIELDS)
    wire: Manifest = {"name": name, "image": image} | {key: like.fields[key] for key in copied if key in like.fields}
    # So that `kubectl describe pod` says why it waits, too.
    return Container(wire | {"command": command, "terminationMessagePolicy": "FallbackToLogsOnError"})
