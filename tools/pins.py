"""The programs that tools/build.py builds, each from a pinned Go module.

A new tool is a folder with go.mod and go.sum (and main.go, if its module lacks a package that builds), and an
entry in ``TOOLS``.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


class BuildError(Exception):
    """A tool could not be provided; the message says why and what to do."""


@dataclass(frozen=True)
class Tool:
    """A program that is built from a pinned Go module."""

    name: str
    """The file name of the program."""
    folder: Path
    """Where its go.mod, go.sum and perhaps main.go lie."""
    module: str
    """The Go module that it is made from; go.mod pins the version."""
    package: str = "."
    """What to compile: a package of the module, or the folder's own main.go."""
    stamps: tuple[str, ...] = ()
    """Go variables to set when linking, as "package.Name={version}"."""
    stamped_version: str | None = None
    """The version to put into the stamps, if it is not the one in go.mod."""
    embeds: tuple[str, ...] = ()
    """Files of the module that main.go embeds and that are copied beside it."""
    minimum: tuple[int, ...] | None = None
    """The oldest version that is taken from PATH; the program must have a command "version"."""

    @property
    def pins(self) -> list[Path]:
        """The files that say what is built."""
        return sorted(path for path in self.folder.iterdir() if path.suffix in {".go", ".mod", ".sum"})

    @property
    def version(self) -> str:
        """The version that the program is given."""
        return self.stamped_version or _search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._go_mod())

    @property
    def go(self) -> str:
        """The oldest version of Go that go.mod allows."""
        return _search(r"^go (\S+)", self._go_mod())

    @property
    def title(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"

    @property
    def flags(self) -> list[str]:
        """The flags of go build: those that make the result small and the same wherever it is built."""
        link = ["-s", "-w"]
        for stamp in self.stamps:
            link += ["-X", stamp.format(version=self.version)]
        return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", " ".join(link)]

    @property
    def key(self) -> str:
        """The name of the folder in the cache: the tool, and a digest of all that the result depends on.

        The platform is Python's name for this machine and not Go's, so that a filled cache is of use without Go.
        """
        pins = [[path.name, path.read_text(encoding="utf-8")] for path in self.pins]
        parts = [pins, self.package, self.embeds, self.flags, platform.system(), platform.machine()]
        return f"{self.name}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"

    @property
    def built(self) -> Path:
        """Where the program lies once it is built."""
        return cache() / self.key / "bin" / self.name

    def _go_mod(self) -> str:
        return (self.folder / "go.mod").read_text(encoding="utf-8")


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="pulumi",
            folder=HERE / "pulumi",
            module="github.com/pulumi/pulumi/pkg/v3",
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",),
            # Replacement triggers, which the components rely on, are broken before.
            minimum=(3, 226),
        ),
        Tool(
            name="pulumi-resource-kubernetes",
            folder=HERE / "kubernetes-provider",
            module="github.com/pulumi/pulumi-kubernetes/provider/v4",
            stamps=("github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={version}",),
            # The pin is a commit between two releases, and its pseudo-version v4.0.0-2026… would sort before all
            # of them. This is the release that its own go.mod names, written without the "v", as releases write
            # it. The engine warns where pulumi_kubernetes is newer than this, and rightly: do not raise it alone.
            stamped_version="4.24.0",
            embeds=(
                "cmd/pulumi-resource-kubernetes/schema.json",
                "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
            ),
        ),
        Tool(
            name="pulumi-language-yaml",
            folder=HERE / "pulumi-language-yaml",
            module="github.com/pulumi/pulumi-yaml",
            package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
        ),
        Tool(
            name="sdkgen",
            folder=HERE / "sdkgen",
            module="github.com/pulumi/pulumi/pkg/v3",
        ),
        Tool(
            name="kube-apiserver",
            folder=HERE / "kubernetes",
            module="k8s.io/kubernetes",
            package="k8s.io/kubernetes/cmd/kube-apiserver",
            stamps=("k8s.io/component-base/version.gitVersion={version}",),
        ),
        Tool(
            name="kube-controller-manager",
            folder=HERE / "kubernetes",
            module="k8s.io/kubernetes",
            package="k8s.io/kubernetes/cmd/kube-controller-manager",
            stamps=("k8s.io/component-base/version.gitVersion={version}",),
        ),
        Tool(
            name="etcd",
            folder=HERE / "etcd",
            module="go.etcd.io/etcd/server/v3",
            package="go.etcd.io/etcd/server/v3",
        ),
        Tool(
            name="kwok",
            folder=HERE / "kwok",
            module="sigs.k8s.io/kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
        ),
    )
}


def cache() -> Path:
    """Return the folder that holds what has been built."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore a relative path.
    base = configured if configured.is_absolute() else Path.home() / ".cache"
    return base / "pulumi-volcano-jobs"


def _search(pattern: str, text: str) -> str:
    """Return the first group of a pattern that go.mod must have."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        msg = f"go.mod has no line like {pattern}"
        raise BuildError(msg)
    return found.group(1)
