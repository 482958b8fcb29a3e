"""README.md, the first page of docs/ and the platform example have one sentence about the package index."""

from __future__ import annotations

from tests.pages.blocks import ROOT, pages

SENTENCE = "Until pulumi-volcano-jobs is on PyPI, write the path of a checkout instead of its name."


def test_one_sentence_describes_the_installation_before_the_first_release() -> None:
    """The release removes it from these three pages."""
    mentioned = {str(page.relative_to(ROOT)): page.read_text("utf-8").count("on PyPI") for page in pages()}
    repeated = {str(page.relative_to(ROOT)): page.read_text("utf-8").count(SENTENCE) for page in pages()}

    expected = {"README.md": 1, "docs/start.md": 1, "examples/platform/README.md": 1}
    assert {name: count for name, count in mentioned.items() if count} == expected
    assert {name: count for name, count in repeated.items() if count} == expected
