"""Hints with the name that a wrong name resembles."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MIN_SIMILARITY = 0.6
_MOST_NAMES = 12


def closest(word: str, words: Iterable[str], min_similarity: float = _MIN_SIMILARITY) -> str:
    """Return the most similar word, ignoring case, '_' and '-'; empty if no word is similar."""
    known = sorted(words)
    folded = word.lower().replace("_", "").replace("-", "")
    same = [name for name in known if name.lower() in (word.lower(), folded)]
    return next(iter(same or difflib.get_close_matches(word, known, n=1, cutoff=min_similarity)), "")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return the hint "did you mean WORD?" if a value is nearly one of the supported ones, otherwise an empty text."""
    # Values are short: at a lower similarity, words of another meaning match.
    match = closest(word, words, 0.75)
    return f"did you mean {match}?" if match else ""


def missing(noun: str, name: object, known: Iterable[str], where: str = "") -> str:
    """Return the message for a missing item, with the existing names and the one that the name resembles."""
    listed = list(known)
    names = ", ".join(listed)
    known_text = f"there are {names}" if len(listed) > 1 else f"there is {names}" if listed else "there are none"
    hint = did_you_mean(str(name), listed)
    return f"no {noun} {name}{f' in {where}' if where else ''}{f' ({hint})' if hint else ''}; {known_text}"


def suggestion(word: str, words: Iterable[str]) -> str:
    """Return a hint with the most similar name, or with the supported names."""
    known = sorted(words)
    if match := closest(word, known):
        return f"did you mean {match}?"
    ellipsis = "…" if len(known) > _MOST_NAMES else ""
    return f"remove it (supported: {', '.join(known[:_MOST_NAMES])}{ellipsis})"
