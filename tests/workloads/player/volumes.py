"""Volumes with the modes and owners that the kubelet gives them.

Secrets and ConfigMaps are written as the kubelet's AtomicWriter does
(https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/volume/util/atomic_writer.go): files in a folder that
`..data` points to, so that a mount of the whole volume follows a change and one of a subPath does not. An fsGroup is
applied as in https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/volume/volume_linux.go.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.workloads.player.environment import data_of
from tests.workloads.player.manifests import Manifest, UnplayableError

Objects = Mapping[tuple[str, str, str], Manifest]
Files = dict[str, tuple[bytes, int]]
"""Contents and modes by path."""

READ_ONLY = {"configMap", "projected", "secret"}
CLAIM = "persistentVolumeClaim"
MODE = 0o644
ROOT_MODE = 0o1777
_versions = itertools.count(1)


def kind_of(volume: Mapping[str, Any]) -> str:
    """Return the type of a volume: `secret`, `configMap`, `projected`, `emptyDir` or `persistentVolumeClaim`."""
    (kind,) = volume.keys() - {"name"}
    if kind not in {*READ_ONLY, "emptyDir", CLAIM}:
        raise UnplayableError(f"the volume {volume['name']} is a {kind}")
    return kind


def write(
    volume: Mapping[str, Any],
    folder: Path,
    namespace: str,
    objects: Objects,
    fs_group: int | None,
) -> None:
    """Write a volume or its new content; a missing Secret, ConfigMap or claim raises KeyError."""
    kind = kind_of(volume)
    source = volume[kind] or {}
    if kind == CLAIM:
        if not folder.is_symlink():
            _link(folder, objects["PersistentVolumeClaim", namespace, source["claimName"]])
        return
    if kind == "emptyDir":
        if not folder.exists():
            _make_folder(folder, 0o777)
            _own(folder, fs_group, read_only=False)
        return
    mode = source.get("defaultMode", MODE)
    sources = source["sources"] if kind == "projected" else [{kind: source}]
    files: Files = {}
    for one in sources:
        files |= _files_of(one, namespace, objects, mode)
    if not folder.exists():
        _make_folder(folder, ROOT_MODE)
    if files != _files_in(folder, fs_group):
        _put(folder, files, fs_group)
    _own(folder, fs_group, read_only=True)


def source_of(folder: Path, sub_path: str) -> Path:
    """Return the source of a mount: a subPath is resolved once, when the container starts."""
    if not sub_path:
        return folder
    current = folder / "..data"
    if current.is_symlink():
        return folder / current.readlink() / sub_path
    found = folder / sub_path
    if not found.exists():
        _make_folder(found, 0o750)
    return found


def _files_of(source: Mapping[str, Any], namespace: str, objects: Objects, mode: int) -> Files:
    """Return the files of a Secret or ConfigMap in a volume."""
    ((kind, wanted),) = source.items()
    if kind not in {"configMap", "secret"}:
        raise UnplayableError(f"a projected volume has a {kind}")
    # A source of a projected volume has "name" instead of "secretName".
    name = wanted.get("secretName", wanted.get("name"))
    data = data_of(objects["Secret" if kind == "secret" else "ConfigMap", namespace, name])
    items = wanted.get("items", [{"key": key, "path": key} for key in data])
    return {item["path"]: (data[item["key"]], item.get("mode", mode)) for item in items}


def _files_in(folder: Path, fs_group: int | None) -> Files | None:
    """Return the files of the last write with the requested modes, or None for modes that an fsGroup changed."""
    current = folder / "..data"
    if not current.exists() or fs_group is not None:
        return None
    base = folder / current.readlink()
    found = [path for path in base.rglob("*") if path.is_file()]
    return {str(path.relative_to(base)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in found}


def _put(folder: Path, files: Files, fs_group: int | None) -> None:
    version = folder / f"..version-{next(_versions)}"
    _make_folder(version, 0o755)
    for path, (content, mode) in files.items():
        target = version / path
        for parent in reversed(target.relative_to(version).parents[:-1]):
            if not (version / parent).exists():
                _make_folder(version / parent, 0o755)
        target.write_bytes(content)
        target.chmod(mode)
    _own_tree(version, fs_group)
    fresh = folder / "..data_tmp"
    fresh.symlink_to(version.name)
    fresh.replace(folder / "..data")
    for name in {path.split("/")[0] for path in files}:
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(f"..data/{name}")


def _link(folder: Path, claim: Manifest) -> None:
    """Link the volume to the folder of a claim, which all its Pods share, as with ReadWriteMany."""
    # The link is relative, because the node sees the folder at another path: pods/POD/volumes/VOLUME.
    data = Path("..", "..", "..", "claims", claim["metadata"]["uid"])
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder.parent / data).exists():
        _make_folder(folder.parent / data, 0o777)
    folder.symlink_to(data)


def _make_folder(folder: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)


def _own_tree(folder: Path, fs_group: int | None) -> None:
    for path in [folder, *folder.rglob("*")]:
        _own(path, fs_group, read_only=True)


def _own(path: Path, fs_group: int | None, *, read_only: bool) -> None:
    if fs_group is None:
        return
    mask = 0o440 if read_only else 0o660
    if path.is_dir():
        mask |= stat.S_ISGID | 0o110
    mode = stat.S_IMODE(path.stat().st_mode)
    os.chown(path, -1, fs_group)
    path.chmod(mode | mask)
