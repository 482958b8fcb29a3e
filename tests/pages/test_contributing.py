"""CONTRIBUTING.md lists each module of the package, in the order of the import contracts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pulumi_volcano_jobs.plugins import BUILT_IN
from tests.pages.blocks import ROOT

tomllib = pytest.importorskip("tomllib", reason="Python has it from 3.11 on")

PACKAGE = ROOT / "pulumi_volcano_jobs"
ROWS = [
    re.findall(r"`(\w+)(?:\.py|/)`", row)
    for row in re.findall(r"^\| (`[^|]*) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
]


def is_module(path: Path) -> bool:
    """Return whether a path in the package is a module."""
    return not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").exists())


def test_the_layout_lists_exactly_the_modules_of_the_package() -> None:
    """Removed modules must be deleted from the layout."""
    named = [name for row in ROWS for name in row if name not in {"tools", "benchmarks"}]

    assert sorted(named) == sorted(path.stem for path in PACKAGE.iterdir() if is_module(path))


def test_the_layout_has_the_order_of_the_import_contracts() -> None:
    """A module of a higher layer precedes those of lower layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    height = {name: -number for number, layer in enumerate(layers) for name in re.findall(r"\w+", layer)}

    told = [height[name] for row in ROWS for name in row if name in height]

    assert told == sorted(told)


def test_every_plugin_is_in_the_contract_of_plugins() -> None:
    """A plugin that is not in it could import another one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (row,) = next(contract["layers"] for contract in settings["contracts"] if "plugins" in contract["name"])
    named = [f"pulumi_volcano_jobs.plugins.{name}" for name in re.findall(r"\w+", row)]

    assert sorted(named) == sorted({plugin.__module__ for plugin in BUILT_IN})
