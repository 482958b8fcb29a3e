"""The locks of `make setup` and of the TypeScript example pin tested versions with hashes; the package has ranges."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements-dev.txt").read_text("utf-8")
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def group(name: str) -> Iterator[str]:
    """Yield the requirements of a dependency group and of the groups that it includes."""
    for item in PROJECT["dependency-groups"][name]:
        if isinstance(item, dict):
            yield from group(item["include-group"])
        else:
            yield item


def entries() -> list[list[str]]:
    """Return the lock's requirements, each with its hashes."""
    text = re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).replace("\\\n", " ")
    return [re.split(r"\s+--hash=", line.strip()) for line in text.splitlines() if line]


def pins(python: str) -> dict[str, str]:
    """Return the version of each package that the lock installs with a Python on Linux."""
    environment: dict[str, Any] = {**default_environment()}
    environment |= {"python_version": python, "python_full_version": f"{python}.99"}
    found = [Requirement(requirement) for requirement, *_ in entries()]
    return {
        canonicalize_name(item.name): str(item.specifier).removeprefix("==")
        for item in found
        if item.marker is None or item.marker.evaluate(environment)
    }


def test_each_package_is_pinned_with_hashes() -> None:
    """With hashes, pip rejects any other file."""
    assert len(entries()) > 100
    for requirement, *hashes in entries():
        assert re.fullmatch(r"[a-z0-9-]+==[^ ;]+( ; .+)?", requirement)
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes)


def test_the_lock_has_no_registry_url() -> None:
    """A private index serves the same files."""
    assert "://" not in LOCK.replace("https://github.com/", "")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_satisfies_the_ranges_of_the_project(python: str) -> None:
    """After an edit of pyproject.toml, run `make lock`."""
    locked = pins(python)

    wanted = [Requirement(text) for text in (*PROJECT["project"]["dependencies"], *group("dev"))]
    missing = [
        str(item)
        for item in wanted
        if canonicalize_name(item.name) not in locked
        or not item.specifier.contains(locked[canonicalize_name(item.name)], prereleases=True)
    ]

    assert missing == []


def test_the_backend_that_builds_the_package_is_locked() -> None:
    """`make setup` builds without isolation, so pip installs nothing else."""
    assert set(PROJECT["build-system"]["requires"]) <= set(group("build"))


def test_the_package_metadata_has_ranges() -> None:
    """Pins would conflict with other packages of a user."""
    assert [text for text in PROJECT["project"]["dependencies"] if "==" in text] == []


def test_installed_packages_are_locked() -> None:
    """The tests run with the locked versions."""
    locked = pins(f"{sys.version_info.major}.{sys.version_info.minor}")

    names = [canonicalize_name(Requirement(text).name) for text in (*PROJECT["project"]["dependencies"], *group("dev"))]
    assert {name: version(name) for name in names} == {name: locked[name] for name in names}


def test_the_makefile_installs_only_from_the_lock() -> None:
    """Hashes are required."""
    setup = (ROOT / "Makefile").read_text("utf-8").partition("$(READY): ")[2].partition("\n\n")[0]

    assert "requirements-dev.txt" in setup.partition("\n")[0]
    assert re.findall(r"(?:pip install|\$\(INSTALL\)) (.*)", setup) == [
        "--quiet --require-hashes --requirement .venv/uv.txt",
        "--compile-bytecode --require-hashes --requirement requirements-dev.txt",
        "--no-deps --no-build-isolation --editable .",
    ]
    assert "requirements-dev.txt > .venv/uv.txt" in setup


def test_the_typescript_example_has_the_lock_of_the_tested_packages() -> None:
    """Versions and hashes are those that tests/languages uses."""

    def locked(folder: str) -> dict[str, Any]:
        return dict(json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))["packages"])

    def files(packages: dict[str, Any]) -> dict[str, tuple[str, str]]:
        return {name: (item["version"], item["integrity"]) for name, item in packages.items() if name}

    example, tested = locked("examples/typescript"), locked("tools/typescript")

    assert files(example) == files(tested)
    declared = json.loads((ROOT / "examples" / "typescript" / "package.json").read_text("utf-8"))
    assert example[""]["dependencies"] == declared["dependencies"]
    assert example[""]["devDependencies"] == declared["devDependencies"]
    assert [name for name, item in example.items() if "resolved" in item] == []
