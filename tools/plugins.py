"""Use the Kubernetes provider of a user who has Pulumi, so that the demo does not build one.

Pulumi keeps its plugins in ``${PULUMI_HOME:-~/.pulumi}/plugins``, and installs a missing one from its own server.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PROVIDER = "pulumi-resource-kubernetes"
MINIMUM = (4, 24)
"""The oldest version of the provider that is used. The components are tested with this one."""


def put_provider_on_path(progress: Callable[[str], None]) -> None:
    """Add the provider of Pulumi's own folder to PATH; let Pulumi install it if it is missing there.

    Without Pulumi, or if the installation fails, PATH does not change.
    """
    if shutil.which(PROVIDER):
        return
    folder = newest_installed()
    if folder is None and shutil.which("pulumi"):
        _install(metadata.version("pulumi_kubernetes"), progress)
        folder = newest_installed()
    if folder is not None:
        os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])


def newest_installed() -> Path | None:
    """Return the folder of the newest provider that Pulumi has installed, if it is new enough."""
    found = {}
    for path in _home().glob(f"plugins/resource-kubernetes-v*/{PROVIDER}*"):
        version = re.fullmatch(r"resource-kubernetes-v(\d+)\.(\d+)\.(\d+)", path.parent.name)
        # Pulumi marks an installation that was not completed.
        if version and not path.parent.with_name(f"{path.parent.name}.partial").exists():
            found[tuple(map(int, version.groups()))] = path.parent
    newest = max(found, default=())
    return found[newest] if newest >= MINIMUM else None


def _home() -> Path:
    configured = os.environ.get("PULUMI_HOME")
    return Path(configured) if configured else Path.home() / ".pulumi"


def _install(version: str, progress: Callable[[str], None]) -> None:
    progress(f"installing Pulumi's Kubernetes provider {version} (pulumi plugin install resource kubernetes {version})")
    command = ["pulumi", "plugin", "install", "resource", "kubernetes", version]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        progress(f"Pulumi could not install it ({reason}): it is built from its Go module instead")
