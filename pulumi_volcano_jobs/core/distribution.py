"""The metadata of the installed distribution, which pyproject.toml declares."""

from __future__ import annotations

from importlib.metadata import metadata

NAME = "pulumi-volcano-jobs"


def urls() -> dict[str, str]:
    """Return the addresses of `[project.urls]` by label."""
    return dict(_label_and_address(entry) for entry in metadata(NAME).get_all("Project-URL") or ())


def _label_and_address(entry: str) -> tuple[str, str]:
    label, _, address = entry.partition(", ")
    return label, address.rstrip("/")
