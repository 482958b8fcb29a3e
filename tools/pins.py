"""The tools that tools/build.py builds, each from a pinned Go module.

To add a tool, add a folder with go.mod and go.sum, and an entry in ``TOOLS``. The folder also needs main.go if the
module has no package that builds.
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
    """A tool could not be built. The message has the reason and the fix."""


@dataclass(frozen=True)
class Tool:
    """A program to build from a pinned Go module."""

    name: str
    """The file name of the program."""
    folder: Path
    """The folder with go.mod, go.sum and, if needed, main.go."""
    module: str
    """The Go module of the program. go.mod pins its version."""
    package: str = "."
    """The package to compile: a package of the module, or the folder itself."""
    stamps: tuple[str, ...] = ()
    """Go variables to set when linking, as "package.Name={version}"."""
    stamped_version: str | None = None
    """The version for the stamps, if it differs from the version in go.mod."""
    embeds: tuple[str, ...] = ()
    """Files of the module that main.go embeds. They are copied into its folder."""
    minimum: tuple[int, ...] | None = None
    """The oldest version on PATH that is accepted. The program must have a command "version"."""

    @property
    def pins(self) -> list[Path]:
        """The files that pin the build."""
        return sorted(path for path in self.folder.iterdir() if path.suffix in {".go", ".mod", ".sum"})

    @property
    def version(self) -> str:
        """The version of the program."""
        return self.stamped_version or _search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._go_mod())

    @property
    def go(self) -> str:
        """The oldest version of Go that go.mod supports."""
        return _search(r"^go (\S+)", self._go_mod())

    @property
    def title(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"

    @property
    def flags(self) -> list[str]:
        """The flags of go build, for a small and reproducible program."""
        link = ["-s", "-w"]
        for stamp in self.stamps:
            link += ["-X", stamp.format(version=self.version)]
        return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", " ".join(link)]

    @property
    def key(self) -> str:
        """The name of the folder in the cache: the name of the tool, and a digest of the inputs of the build.

        The digest has Python's name of the platform instead of Go's, so that a filled cache works without Go.
        """
        pins = [[path.name, path.read_text(encoding="utf-8")] for path in self.pins]
        parts = [pins, self.package, self.embeds, self.flags, platform.system(), platform.machine()]
        return f"{self.name}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"

    @property
    def built(self) -> Path:
        """The path of the built program."""
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
            # Older versions have bugs in replacement triggers, which the components use.
            minimum=(3, 226),
        ),
        Tool(
            name="pulumi-resource-kubernetes",
            folder=HERE / "kubernetes-provider",
            module="github.com/pulumi/pulumi-kubernetes/provider/v4",
            stamps=("github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={version}",),
            # The pin is a commit between two releases. Its pseudo-version v4.0.0-2026… would sort before all releases.
            # This is the release in its go.mod, without the "v", as in releases. The engine warns if
            # pulumi_kubernetes is newer, which is correct: do not raise this version without the pin.
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
    """Return the cache folder of the built tools."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore a relative path.
    base = configured if configured.is_absolute() else Path.home() / ".cache"
    return base / "pulumi-volcano-jobs"


def _search(pattern: str, text: str) -> str:
    """Return the first group of the match of a pattern in go.mod."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        msg = f"go.mod has no line that matches {pattern}"
        raise BuildError(msg)
    return found.group(1)
