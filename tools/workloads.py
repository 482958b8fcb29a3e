"""Install the Debian packages and the Python environments of `tests/workloads`.

On the command line::

    python tools/workloads.py                  # everything
    python tools/workloads.py openssh openmpi  # for some frameworks

Missing packages are installed with apt-get, as root. An environment is created once, in
``${XDG_CACHE_HOME:-~/.cache}/pulumi-volcano-jobs/<name>-<key>``. The key is a digest of its packages.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pins  # a sibling

PACKAGES = {
    "player": ["crun", "curl", "dnsmasq-base", "iproute2", "nftables", "util-linux"],
    "network_policy": [],
    "openssh": ["openssh-client", "openssh-server"],
    "openmpi": ["openssh-client", "openssh-server", "openmpi-bin", "libopenmpi-dev", "mpich", "gcc"],
    "pytorch": ["netcat-openbsd", "python3-torch"],
    "ray": [],
    "tensorflow": [],
}
"""Debian packages for each framework. All frameworks need the packages of the player."""
ENVIRONMENTS = {"ray": ["ray[default]>=2.50,<3"], "tensorflow": ["tensorflow-cpu>=2.19,<3"]}
"""PyPI packages for each framework that Debian does not have."""
READY = ".ready"
"""A file that marks a complete environment."""


def environment(name: str) -> Path:
    """Return the folder of a framework's Python environment."""
    wanted = "\n".join([platform.python_version(), *ENVIRONMENTS.get(name, [])])
    key = hashlib.sha256(wanted.encode()).hexdigest()[:12]
    return pins.cache() / f"{name}-{key}"


def install(frameworks: Sequence[str]) -> None:
    """Install the missing packages and environments of frameworks."""
    for name in frameworks:
        if name not in PACKAGES:
            raise SystemExit(
                f"tools/workloads.py: unsupported framework {name!r}: supported frameworks: {', '.join(PACKAGES)}"
            )
    names = {package for name in ("player", *frameworks) for package in PACKAGES[name]}
    missing = sorted(name for name in names if not _is_installed(name))
    if missing:
        print(f"installing {', '.join(missing)}", flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _run(["apt-get", "update", "-qq"], quiet)
        _run(["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *missing], quiet)
    for name in frameworks:
        if name in ENVIRONMENTS and not (environment(name) / READY).exists():
            _make_environment(name)


def _make_environment(name: str) -> None:
    print(f"installing {', '.join(ENVIRONMENTS[name])} (only once, a few minutes)", flush=True)
    folder = environment(name)
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *ENVIRONMENTS[name]])
    (folder / READY).touch()


def _is_installed(package: str) -> bool:
    asked = ["dpkg-query", "--show", "--showformat=${Status}", package]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout == "install ok installed"


def _run(command: list[str], env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")


if __name__ == "__main__":
    install(sys.argv[1:] or list(PACKAGES))
