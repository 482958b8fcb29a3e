"""docs/languages.md shows the examples that other tests run."""

from __future__ import annotations

import re

import packageschema
import pytest

PAGE = (packageschema.ROOT / "docs" / "languages.md").read_text("utf-8")
SHOWN = {"yaml": "yaml/Pulumi.yaml", "typescript": "typescript/index.ts", "go": "go/main.go"}


@pytest.mark.parametrize("language", SHOWN)
def test_the_page_shows_the_example(language: str) -> None:
    """The text is identical."""
    (shown,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)

    assert shown == (packageschema.ROOT / "examples" / SHOWN[language]).read_text("utf-8")


def test_no_other_program_is_on_the_page() -> None:
    """All other blocks are commands."""
    assert set(re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)) == {*SHOWN, "sh"}
