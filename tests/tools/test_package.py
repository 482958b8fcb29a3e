"""Checks of archives and lookup of Pythons in tools/package.py; `make package` runs the other parts."""

from __future__ import annotations

import ast
import io
import sys
import tarfile
import zipfile
from pathlib import Path

import package
import pytest

FILES = ("README.md", "pulumi_volcano_jobs/__init__.py", "pulumi_volcano_jobs/py.typed")
OURS = FILES[1:]
METADATA = tuple(
    f"a-1.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
)


def wheel(folder: Path, *names: str) -> Path:
    """Write a wheel of empty files."""
    path = folder / "a.whl"
    with zipfile.ZipFile(path, "w") as zipped:
        for name in names:
            zipped.writestr(name, "")
    return path


def archive(folder: Path, *names: str) -> Path:
    """Write a source archive of empty files."""
    path = folder / "a-1.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name in ("PKG-INFO", *names):
            packed.addfile(tarfile.TarInfo(f"a-1/{name}"), io.BytesIO())
    return path


def test_archives_with_the_files_of_git_are_accepted(tmp_path: Path) -> None:
    """The wheel has the package and its metadata."""
    assert [*package.faults(wheel(tmp_path, *OURS, *METADATA), archive(tmp_path, *FILES), FILES)] == []


def test_an_archive_file_that_is_not_in_git_is_an_error(tmp_path: Path) -> None:
    """It may be a private note."""
    added = "pulumi_volcano_jobs/notes.txt"

    found = [*package.faults(wheel(tmp_path, *OURS, added, *METADATA), archive(tmp_path, *FILES, ".env"), FILES)]

    assert found == [
        "a-1.tar.gz: .env is not in git: commit it, or add it to .gitignore",
        "a.whl: pulumi_volcano_jobs/notes.txt is not in git: commit it, or add it to .gitignore",
    ]


def test_a_file_missing_in_an_archive_is_an_error(tmp_path: Path) -> None:
    """Examples are py.typed, a page and the licence."""
    found = [*package.faults(wheel(tmp_path, *OURS[:1], *METADATA[:-1]), archive(tmp_path, *OURS), FILES)]

    assert found == [
        "a-1.tar.gz: README.md is missing",
        "a.whl: pulumi_volcano_jobs/py.typed is missing",
        "a.whl, .dist-info: licenses/LICENSE is missing",
    ]


def test_the_source_of_the_package_is_not_unpacked(tmp_path: Path) -> None:
    """The tests must import the installed package."""
    folder = package.unpack(archive(tmp_path, *FILES), tmp_path)

    assert sorted(path.name for path in folder.iterdir()) == ["PKG-INFO", "README.md"]


def test_this_python_is_found_by_its_version() -> None:
    """It runs the tests, so it is installed."""
    major, minor, *_ = sys.version_info
    found = package.interpreter(f"{major}.{minor}")

    assert found is not None
    assert Path(found).exists()


def test_a_python_of_pyenv_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not on PATH."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "versions" / "3" / "bin"
    folder.mkdir(parents=True)
    (folder / name).symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "")

    assert package.interpreter(name) == str(folder / name)


def test_a_missing_python_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version does not exist."""
    assert package.interpreter("3.98") is None


def imported(module: Path) -> set[str]:
    """Return the first part of each name that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_modules_that_import_another_package_are_tested_with_its_oldest_version() -> None:
    """Their unit tests are in the list, if they have any."""
    ours = {*sys.stdlib_module_names, package.PACKAGE}
    tests = {
        f"unit/{path.parent}/test_{path.name}"
        for module in (package.ROOT / package.PACKAGE).rglob("*.py")
        if imported(module) - ours
        for path in [module.relative_to(package.ROOT / package.PACKAGE)]
    }
    units = {name for name in tests if (package.ROOT / "tests" / name).exists()}

    assert "unit/plugins/test_ssh_keys.py" in units
    assert {name for name in units if not name.startswith(package.OLDEST_TESTS)} == set()
