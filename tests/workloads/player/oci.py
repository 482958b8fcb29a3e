"""The configuration of a container for crun, with the rights and limits that containerd sets by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CAPABILITIES = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
]
# These folders are empty in a new image, whatever they contain on this machine.
EMPTY = ("/tmp", "/run", "/var/tmp")


@dataclass(frozen=True)
class Bind:
    """A folder or file of the node that is mounted into a container."""

    target: str
    source: Path
    read_only: bool = False


@dataclass(frozen=True)
class User:
    """The user of a container."""

    uid: int
    gid: int
    groups: Sequence[int] = ()


def config(
    root: Path,
    arguments: Sequence[str],
    env: Mapping[str, str],
    binds: Sequence[Bind],
    *,
    user: User,
    sandbox: int,
    folder: str,
    security: Mapping[str, Any],
) -> dict[str, Any]:
    """Return crun's config.json: https://github.com/opencontainers/runtime-spec/blob/v1.0.2/config.md."""
    wanted = security.get("capabilities", {})
    dropped = {f"CAP_{name}" for name in wanted.get("drop", [])}
    kept = [] if "CAP_ALL" in dropped else [name for name in CAPABILITIES if name not in dropped]
    bounding = [*kept, *(f"CAP_{name}" for name in wanted.get("add", []))]
    effective = bounding if user.uid == 0 else []
    return {
        "ociVersion": "1.0.0",
        "root": {"path": str(root)},
        "process": {
            "args": list(arguments),
            "cwd": folder,
            "env": [f"{name}={value}" for name, value in env.items()],
            "user": {"uid": user.uid, "gid": user.gid, "additionalGids": list(user.groups)},
            "capabilities": {"bounding": bounding, "effective": effective, "permitted": effective},
            "noNewPrivileges": security.get("allowPrivilegeEscalation") is False,
        },
        "mounts": [*_base(), *(_mount(bind) for bind in binds)],
        "linux": {
            "namespaces": [
                {"type": "mount"},
                {"type": "pid"},
                *({"type": kind, "path": f"/proc/{sandbox}/ns/{file}"} for kind, file in _SHARED.items()),
            ],
        },
    }


_SHARED = {"network": "net", "uts": "uts", "ipc": "ipc"}


def _base() -> list[dict[str, Any]]:
    shown = [
        ("/proc", "proc", ["nosuid", "noexec", "nodev"]),
        ("/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        ("/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]),
        ("/dev/mqueue", "mqueue", ["nosuid", "noexec", "nodev"]),
        ("/sys", "sysfs", ["nosuid", "noexec", "nodev", "ro"]),
        *((path, "tmpfs", ["mode=1777" if "tmp" in path else "mode=0755"]) for path in EMPTY),
    ]
    return [{"destination": path, "type": kind, "source": kind, "options": options} for path, kind, options in shown]


def _mount(bind: Bind) -> dict[str, Any]:
    options = ["rbind", "rprivate", "ro" if bind.read_only else "rw"]
    return {"destination": bind.target, "type": "bind", "source": str(bind.source), "options": options}
