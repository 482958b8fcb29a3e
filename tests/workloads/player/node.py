"""A machine of the cluster: namespaces that contain those of the Pods, and that end with this process."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.deadlines import DEADLINE

ADDRESS = "10.244.0.1"
NAMESERVER = ADDRESS
HARDWARE_ADDRESS = "02:00:00:00:00:01"
"""Hardware address of the bridge. Without it the bridge uses the lowest address of its Pods, so a new Pod can change
it, and older Pods lose the name server until their ARP entries expire, half a minute later."""
DOMAIN = "cluster.local"
NAMESPACES = ("cgroup", "ipc", "mount", "net", "pid", "uts")
SCRATCH = Path("/mnt")
"""Folder of the node's files: a tmpfs that only the node sees."""
# crun needs one cgroup hierarchy; this one belongs to the namespace and is never written to.
# cat, the first process of the node, becomes the parent of the processes that crun leaves. It ignores CHLD, so that the
# kernel removes them at their end: the end of a container waits for each process in it.
SETUP = f"""
mount --make-rprivate /
umount --recursive --lazy /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs -o mode=0755 node {SCRATCH}
ip link set lo up
ip link add pods address {HARDWARE_ADDRESS} type bridge
ip address add {ADDRESS}/16 dev pods
ip link set pods up
echo up
exec env --ignore-signal=CHLD cat
"""
UNSHARE = ["unshare", *(f"--{name}" for name in NAMESPACES), "--mount-proc", "--fork", "--kill-child"]
# Unknown names do not exist: no upstream server is asked.
DNSMASQ = (
    "dnsmasq --keep-in-foreground --user=root --conf-file=/dev/null --no-resolv --no-hosts"
    f" --pid-file={SCRATCH}/dnsmasq.pid"
    f" --listen-address={NAMESERVER} --bind-interfaces --cache-size=0 --addn-hosts={SCRATCH}/names --address=/#/"
).split()
POD = """
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
hostname "$0"
ip link set lo up
echo $$
exec sleep infinity
"""


class Node:
    """A bridge, a name server and the Pods."""

    def __init__(self) -> None:
        """Start the node."""
        # When this process ends for any reason, the pipe closes, cat ends, and the kernel kills all processes inside.
        self._process = subprocess.Popen(
            [*UNSHARE, "sh", "-ec", SETUP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stdout = self._process.stdout
        if stdout is None or stdout.readline() != "up\n":
            raise RuntimeError("no namespaces: this needs root, and util-linux and iproute2")
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text("ascii")
        self.pid = int(children.split()[0])
        self.files = Path(f"/proc/{self.pid}/root{SCRATCH}")
        """The node's files as this process sees them."""
        self._addresses = itertools.count(2)
        self._layers: dict[Path, Path] = {}
        self._names = self.files / "names"
        self._names.write_text("")
        self._dns = self.start(DNSMASQ)
        # Written when it listens; an earlier signal would end it.
        while not (self.files / "dnsmasq.pid").exists():
            if self._dns.poll() is not None:
                raise RuntimeError(f"the name server has ended: {self._dns.returncode}")
            time.sleep(0.01)

    def close(self) -> None:
        """Stop the node and all processes in it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait(DEADLINE)
        self._dns.wait(DEADLINE)

    def command(self, command: list[str], sandbox: int | None = None) -> list[str]:
        """Return the command that runs another one in the node's namespaces, or in the network of a Pod sandbox."""
        entered = ["nsenter", f"--target={self.pid}", *(f"--{name}" for name in NAMESPACES)]
        if sandbox is not None:
            entered += ["nsenter", f"--target={sandbox}", "--net"]
        return [*entered, *command]

    def start(self, command: list[str], env: Mapping[str, str] | None = None, **pipes: int) -> subprocess.Popen[str]:
        """Start a command in the node."""
        pipes = {"stdin": subprocess.DEVNULL, **pipes}
        return subprocess.Popen(self.command(command), env=env, text=True, **pipes)  # type: ignore[call-overload,no-any-return]

    def run(self, command: list[str], sandbox: int | None = None, given: str = "") -> str:
        """Run a command in the node, check that it succeeds, and return its output."""
        done = subprocess.run(
            self.command(command, sandbox), input=given, capture_output=True, text=True, check=False, timeout=DEADLINE
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}{done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def sandbox(self, hostname: str) -> Iterator[tuple[int, str]]:
        """Create the network, host name and shared memory of a Pod, and return its process and its address."""
        number = next(self._addresses)
        address = f"10.244.{number // 250}.{number % 250 + 2}"
        made = self.start(["unshare", "--net", "--uts", "--ipc", "sh", "-ec", POD, hostname], stdout=subprocess.PIPE)
        pid = int(made.stdout.readline()) if made.stdout else 0
        try:
            self.run(["ip", "link", "add", f"pod{number}", "type", "veth", "peer", "name", "eth0", "netns", str(pid)])
            self.run(["ip", "link", "set", f"pod{number}", "master", "pods", "up"])
            self.run(["ip", "address", "add", f"{address}/16", "dev", "eth0"], pid)
            self.run(["ip", "link", "set", "eth0", "up"], pid)
            self.run(["ip", "route", "add", "default", "via", ADDRESS], pid)
            yield pid, address
        finally:
            # The sandbox shares the process namespace of the node: killing its process there also ends nsenter here.
            with contextlib.suppress(RuntimeError):
                self.run(["kill", "-KILL", str(pid)])
            if made.stdout:
                made.stdout.close()
            made.wait(DEADLINE)

    def layer(self, folder: Path) -> Path:
        """Set a layer of an image, whose folder must be outside the root below it."""
        number = len(self._layers)
        if folder not in self._layers:
            self.run(["cp", "--archive", str(folder), f"{SCRATCH}/layer-{number}"])
            self._layers[folder] = SCRATCH / f"layer-{number}"
        return self._layers[folder]

    def set_names(self, records: Mapping[str, list[str]]) -> None:
        """Configure the name server with these addresses only."""
        lines = [f"{address} {name}\n" for name, addresses in records.items() for address in addresses]
        text = "".join(sorted(lines))
        if text == self._names.read_text():
            return
        fresh = self._names.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self._names)
        self.run(["sh", "-c", f"kill -HUP $(cat {SCRATCH}/dnsmasq.pid)"])
