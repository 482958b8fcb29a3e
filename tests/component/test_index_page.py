"""The picture of docs/index.md shows the objects that the program of the page creates."""

from __future__ import annotations

import re

from pulumi_volcano_jobs.testing import run
from tests.pages.blocks import blocks

(PROGRAM,) = (block.text for block in blocks() if block.key == ("docs/index.md", "python"))
(PICTURE,) = (block.text for block in blocks() if block.key == ("docs/index.md", "mermaid"))


def test_the_picture_shows_the_objects_of_the_program() -> None:
    """`{0..2}` is a range of Pods."""
    objects = run(lambda: exec(PROGRAM, {})).manifests()  # noqa: S102  # our own page

    shown = {f"{kind} {name}" for kind, name in re.findall(r'\["(\w+)<br/>([\w-]+)"\]', PICTURE)}
    for name, first, last in re.findall(r"<br/>([\w-]+-)(?:\{(\d)\.\.(\d)\}|0)\"", PICTURE):
        shown |= {f"Pod {name}{index}" for index in range(int(first or 0), int(last or 0) + 1)}
    assert shown == {f"{item['kind']} {item['metadata']['name']}" for item in objects.values()}
