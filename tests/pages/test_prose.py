"""The package, its messages and its documentation are written in plain English: a word list keeps it so.

A pattern matches a construction that the documentation of Kubernetes does not use. Some matches are good English, so
the limits are rates. `python tests/pages/test_prose.py FILES` lists the matches.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = {
    "a clause that starts with 'what' as a noun": (
        r"\b[Ww]hat (?:is|are|was|were|it|they|a|an|the|there|stands|this|that|each|no|users?|we|others?|only|one|"
        r"Volcano|Pulumi|Kubernetes|plugins?|must|may|can|cannot|decides?|makes?|follows?|runs?|jobs?)\b(?![^.]*\?)"
    ),
    "stand": r"\b(?:stands?|standing|stood)\b(?! alone)",
    "tell": r"\b(?:tells?|told|telling)\b",
    "is no": r"\b(?:is|are|was|were|be) no (?!longer|more than)\w+",
    "a final 'too'": r"\btoo[.,;:)]|, too\b",
    "behind": r"\bbehind\b",
    "beside": r"\bbesides?\b",
    "else": r"\b(?:all|or|nothing|nobody|everything|anything|somebody|who|what) else\b",
    "count": r"\bcounts? (?:as|for|before|behind|too|by)\b",
    "nobody": r"\b(?:[Nn]obody|[Ss]omebody|[Ee]verybody|[Ww]hoever|[Nn]owhere)\b",
    "those": r"\bthose (?:that|of|which|who|with|in|for|there|are|is)\b",
    "say": r"\b(?:says?|said|saying)\b",
    "bring": r"\b(?:brings?|brought|bringing)\b",
    "take": r"\b(?:takes?|took|taken) (?:for|it|them|this|what|part|along|over|place)\b|\b(?:is|are) taken\b",
    "made": r"\b(?:is|are|was|were|be|been) made\b|\bmade (?:of|by|from|anew|again)\b",
    "go": r"\bgo(?:es)? (?:with|by|behind|before|its)\b",
    "anew": r"\banew\b|\bfor ever\b",
    "of its own": r"\bof (?:its|their|your|his) own\b",
    "all that": r"\ball (?:that|of it|of them|there)\b",
    "there": r"\b(?:is|are) there\b(?!\?)(?=[.,:;)]| already| and| too| twice)",
    "meant": r"\bmeant\b",
    "let": r"\blets\b",
    "put": r"\bputs\b",
    "mend": r"\b(?:mends?|mended|heed|twins?|hand(?:s|ed)? (?:over|down))\b",
}
FIRST_WORDS = ("Give", "Tell", "Say", "Take", "Let", "Put", "Make", "What")
"""A docstring starts with a verb that says what the function does."""
LIMIT = 1.0
"""Matches in 1,000 words. In November 2026 the package had 34 of them, and has 0.4 since it was rewritten."""
_COMPILED = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}


def prose(path: Path) -> Iterator[str]:
    """Yield the texts of a page without code, or the docstrings, messages and comments of a module."""
    source = path.read_text("utf-8")
    if path.suffix == ".md":
        yield re.sub(r"```.*?```", "", source, flags=re.DOTALL)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def matches(path: Path) -> tuple[list[str], int]:
    """Return the odd constructions of a file, and the number of its words."""
    found, words = [], 0
    for text in (re.sub(r"`[^`\n]*`", "X", text) for text in prose(path)):
        words += len(text.split())
        for name, pattern in _COMPILED.items():
            found += [
                f"{path.name}: {name}: {text[max(m.start() - 30, 0) : m.end() + 30]!r}" for m in pattern.finditer(text)
            ]
        found += [
            f"{path.name}: docstring: {text[:60]!r}"
            for word in FIRST_WORDS
            if path.suffix == ".py" and text.startswith(f"{word} ")
        ]
    return found, words


AREAS = {
    "package": sorted((ROOT / "pulumi_volcano_jobs").rglob("*.py")),
    "documentation": [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    "tools": [*sorted((ROOT / "tools").glob("*.py")), *sorted((ROOT / "benchmarks").glob("*.py"))],
}


@pytest.mark.parametrize("area", AREAS)
def test_prose_has_few_odd_constructions(area: str) -> None:
    """The rate is that of libraries whose documentation reads well."""
    results = [matches(path) for path in AREAS[area]]
    found, words = [item for items, _ in results for item in items], sum(count for _, count in results)

    assert 1000 * len(found) <= LIMIT * words, "\n".join([f"{1000 * len(found) / words:.1f} in 1,000 words", *found])


@pytest.mark.parametrize(
    ("text", "expected"), [("what is there", True), ("What is a gang?", False), ("Volcano tells it", True)]
)
def test_a_pattern_matches_an_odd_construction(text: str, expected: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """And no plain question."""
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")

    assert bool(matches(page)[0]) is expected


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        items, count = matches(Path(argument))
        rate = f"{argument}: {len(items)} in {count} words"
        sys.stdout.write("\n".join([*items, rate, ""]))
