"""One machine of the cluster: namespaces of its own, in which the Pods' lie; all of it ends with this process."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

ADDRESS = "10.244.0.1"
NAMESERVER = ADDRESS
HARDWARE_ADDRESS = "02:00:00:00:00:01"
"""The bridge's. It would else take the lowest of its Pods', so that a new Pod may change it, and older ones ask for
names at the old one until their tables forget it, half a minute later."""
DOMAIN = "cluster.local"
NAMESPACES = ("cgroup", "ipc", "mount", "net", "pid", "uts")
SCRATCH = Path("/mnt")
"""Where the node keeps its files: a tmpfs, seen by the node alone."""
# crun wants one hierarchy of control groups; this one is the namespace's own and is never written to.
SETUP = f"""
mount --make-rprivate /
umount --recursive --lazy /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs -o mode=0755 node {SCRATCH}
ip link set lo up
ip link add pods address {HARDWARE_ADDRESS} type bridge
ip address add {ADDRESS}/16 dev pods
ip link set pods up
echo up
exec cat
"""
UNSHARE = ["unshare", *(f"--{name}" for name in NAMESPACES), "--mount-proc", "--fork", "--kill-child"]
# Names that it does not know do not exist: nobody else is asked.
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
    """A bridge, a name server and room for Pods."""

    def __init__(self) -> None:
        """Start it."""
        # When this process ends, however it ends, the pipe closes, cat ends, and the kernel kills all that is inside.
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
        # Written when it listens; before that a signal would end it.
        while not (self.files / "dnsmasq.pid").exists():
            if self._dns.poll() is not None:
                raise RuntimeError(f"the name server has ended: {self._dns.returncode}")
            time.sleep(0.01)

    def close(self) -> None:
        """End it, and all that runs in it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait(10)
        self._dns.wait(10)

    def command(self, command: list[str], sandbox: int | None = None) -> list[str]:
        """Give the command that runs one in the node's namespaces, or in the network of a Pod's sandbox."""
        entered = ["nsenter", f"--target={self.pid}", *(f"--{name}" for name in NAMESPACES)]
        if sandbox is not None:
            entered += ["nsenter", f"--target={sandbox}", "--net"]
        return [*entered, *command]

    def start(self, command: list[str], env: Mapping[str, str] | None = None, **pipes: int) -> subprocess.Popen[str]:
        """Start a command in the node."""
        pipes = {"stdin": subprocess.DEVNULL, **pipes}
        return subprocess.Popen(self.command(command), env=env, text=True, **pipes)  # type: ignore[call-overload,no-any-return]

    def run(self, command: list[str], sandbox: int | None = None, given: str = "") -> str:
        """Run a command in the node and give what it prints; it must succeed."""
        done = subprocess.run(
            self.command(command, sandbox), input=given, capture_output=True, text=True, check=False, timeout=60
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}{done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def sandbox(self, hostname: str) -> Iterator[tuple[int, str]]:
        """Make the network, host name and shared memory of a Pod; give its process and its address."""
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
            # The sandbox has the node's process namespace: its own number there ends it, nsenter here then ends too.
            with contextlib.suppress(RuntimeError):
                self.run(["kill", "-KILL", str(pid)])
            if made.stdout:
                made.stdout.close()
            made.wait(10)

    def layer(self, folder: Path) -> Path:
        """Take a layer of an image: it must not lie in the root that it comes above."""
        number = len(self._layers)
        if folder not in self._layers:
            self.run(["cp", "--archive", str(folder), f"{SCRATCH}/layer-{number}"])
            self._layers[folder] = SCRATCH / f"layer-{number}"
        return self._layers[folder]

    def tell_names(self, records: Mapping[str, list[str]]) -> None:
        """Let the name server answer with these addresses; nothing else has one."""
        lines = [f"{address} {name}\n" for name, addresses in records.items() for address in addresses]
        text = "".join(sorted(lines))
        if text == self._names.read_text():
            return
        fresh = self._names.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self._names)
        self.run(["sh", "-c", f"kill -HUP $(cat {SCRATCH}/dnsmasq.pid)"])
