"""The commands that a container runs, as far as its command, args and shell scripts show them.

Programs and scripts inside the image are not known. Checks that use this module warn only of what they see.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pulumi_volcano_jobs.core.leaf import is_given

FIELDS = ("command", "args")
"""The fields of a container that are its command."""
_SHELL = re.compile(r"(?:ba|da|z|k|a)?sh")
# Options such as `-euo`, whose value is the next word, and `-lc`, which has a script.
_NAMED_OPTION, _SCRIPT_OPTION = re.compile(r"[-+][a-zA-Z]*[oO]"), re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")
# Programs that run their arguments as a command.
_WRAPPER = re.compile(
    r"exec|env|nohup|time|timeout|command|sudo|nice|ionice|stdbuf|numactl|taskset|setsid|tini|dumb-init|catchsegv|xvfb-run"
    r"|gosu|su-exec|eval|nsys|ncu|uv|poetry|pipenv|conda|micromamba|\S*entrypoint(?:\.sh)?"
)
# Programs that checks look for behind a wrapper, whose own options are not parsed.
_KNOWN = re.compile(
    rf"{_SHELL.pattern}|torchrun|python[\d.]*|sshd|ray|tail|sleep|accelerate|deepspeed|mpirun|mpiexec|horovodrun"
)
_WORD = r"""(?:
    \\. | '[^']*' | "(?:\\.|[^"\\])*" | `[^`]*` | \$\(\([^()]*\)\) | \$\([^()]*\) | [<>]& | &>
    | [^\s;&|()\\'"`] | ['"`\\]
)+"""
_TOKEN = re.compile(
    rf"""
    (?P<blank>(?:[ \t\r]|\\\n)+) | (?P<comment>\#[^\n]*) | (?P<end>&&|\|\||;;|&(?!>)|[;|\n()]) | (?P<word>{_WORD})
    """,
    re.DOTALL | re.VERBOSE,
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)""", re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<(?!<)-?[ \t]*(['\"]?)(\w+)\1")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_DECLARING = frozenset({"declare", "export", "local", "readonly"})
_OPENING, _CLOSING = (
    frozenset({"if", "while", "until", "for", "case", "select", "{"}),
    frozenset({"fi", "done", "esac", "}"}),
)
_MIDDLE = frozenset({"then", "else", "elif", "do", "!"})
_NO_COMMAND = frozenset({"for", "case", "select"})
_MOST_NESTED = 4


class ShellCommand(NamedTuple):
    """A command of a script, without its variables and wrappers."""

    words: tuple[str, ...]
    """Name and arguments, without quotes."""
    is_certain: bool = True
    """Whether the script always reaches this command, unless an earlier one ends it."""
    in_background: bool = False
    """Whether the script does not wait for this command."""
    has_timeout: bool = False
    """Whether `timeout` ends the command."""

    @property
    def program(self) -> str:
        """The name of the program without its folder."""
        return base_name(self.words[0]) if self.words else ""


def base_name(path: str) -> str:
    """Return a path without its folders."""
    return path.rpartition("/")[2]


def texts_of(container: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the texts in command and args of a container, each with its field and its index."""
    for field in FIELDS:
        items = container.get(field)
        for index, item in enumerate(items if isinstance(items, (list, tuple)) else ()):
            if isinstance(item, str):
                yield field, index, item


def arguments_of(container: Mapping[str, Any]) -> list[str] | None:
    """Return command and args of a container, or None if a part of them is unknown or none is set."""
    parts = [container[field] for field in FIELDS if is_given(container.get(field))]
    if not all(isinstance(part, (list, tuple)) for part in parts):
        return None
    items = [item for part in parts for item in part]
    return items if items and all(isinstance(item, str) for item in items) else None


def script_of(words: Sequence[str]) -> str | None:
    """Return the script of a command such as `bash -c SCRIPT`, or None if the command is not a shell with a script."""
    if not words or not _SHELL.fullmatch(base_name(words[0])):
        return None
    rest = [word for previous, word in itertools.pairwise(words) if not _NAMED_OPTION.fullmatch(previous)]
    options = list(itertools.takewhile(lambda word: word.startswith(("-", "+")), rest))
    has_script = any(map(_SCRIPT_OPTION.fullmatch, options))
    return next(iter(rest[len(options) :]), None) if has_script else None


def run_by(arguments: Sequence[str]) -> Sequence[ShellCommand]:
    """Return the commands that an argument list runs: the commands of its script, or the list itself."""
    return _run_by(tuple(arguments))


# Several checks read the same command, and the tasks of a job often have the same.
@functools.lru_cache(maxsize=64)
def _run_by(arguments: tuple[str, ...]) -> tuple[ShellCommand, ...]:
    return tuple(_commands(arguments, 0))


def _commands(arguments: Sequence[str], nested: int) -> Iterator[ShellCommand]:
    words = _without_wrapper(arguments)
    has_timeout = "timeout" in map(base_name, arguments[: len(arguments) - len(words)])
    script = script_of(words)
    if script is None:
        yield ShellCommand(tuple(words), has_timeout=has_timeout)
    elif nested < _MOST_NESTED:
        commands = list(parse(script))
        values = _constants(commands)
        for command in commands:
            expanded = [part for word in command.words for part in _expanded(word, values)]
            for inner in _commands(expanded, nested + 1):
                yield ShellCommand(
                    inner.words,
                    inner.is_certain and command.is_certain,
                    inner.in_background or command.in_background,
                    inner.has_timeout or has_timeout,
                )


def _constants(commands: Sequence[ShellCommand]) -> dict[str, str]:
    """Return the variables that a script assigns exactly once and always, with their values."""
    assigned: list[tuple[str, str, bool]] = []
    for command in commands:
        is_declared = command.program in _DECLARING
        words = command.words[1:] if is_declared else command.words
        for word in itertools.takewhile(_ASSIGNMENT.match, words):
            name, _, value = word.partition("=")
            is_whole = is_declared or all(map(_ASSIGNMENT.match, words))
            assigned.append((name.rstrip("+"), value, command.is_certain and is_whole and not name.endswith("+")))
    counts = Counter(name for name, _, _ in assigned)
    # An array begins with an empty value.
    return {name: value for name, value, is_certain in assigned if is_certain and value and counts[name] == 1}


def _expanded(word: str, values: Mapping[str, str]) -> Sequence[str]:
    """Return the words of a variable whose value is known, or the word itself."""
    variable = _VARIABLE.fullmatch(word)
    value = values.get(variable[1] or variable[2]) if variable else None
    return [word] if value is None else value.replace("\\\n", " ").split()


def parse(script: str) -> Iterator[ShellCommand]:
    """Yield the simple commands of a shell script, in their order. Loops and conditions are not evaluated."""
    words: list[str] = []
    depth, before = 0, ""
    for match in _TOKEN.finditer(f"{_without_heredocs(script)}\n"):
        if match.lastgroup == "word":
            words.append(match["word"])
        if match.lastgroup != "end":
            continue
        keyword = ""
        while words and words[0] in _OPENING | _CLOSING | _MIDDLE:
            keyword = words.pop(0)
            depth += (keyword in _OPENING) - (keyword in _CLOSING)
        if keyword in {"while", "until"}:
            words = [keyword, *words]
        if words and keyword not in _NO_COMMAND:
            is_loop = keyword in {"while", "until"}
            is_certain = depth == is_loop and before not in {"||", "[", "[["}
            yield ShellCommand(tuple(map(_unquoted, words)), is_certain, match["end"] == "&")
        # A command after a test and && may not run.
        is_test = words[:1] in (["["], ["[["], ["test"]) and match["end"] == "&&"
        before = "[" if is_test else match["end"]
        words = []


def _without_heredocs(script: str) -> str:
    """Return a script without the texts that it passes to programs (`cat <<END`)."""
    lines, end = [], ""
    for line in script.split("\n") if "<<" in script else (script,):
        if not end:
            heredoc = _HEREDOC.search(line)
            end = heredoc[2] if heredoc else ""
            lines.append(_HEREDOC.sub("", line))
        elif line.strip() == end:
            end = ""
    return "\n".join(lines)


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda match: match[1] or re.sub(r'\\([\\"$`])', r"\1", match[2] or "") or match[3] or "", word)


def _without_wrapper(words: Sequence[str]) -> list[str]:
    """Return a command without the variables and programs before it."""
    start = next((index for index, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    rest = list(words[start:])
    if not rest or not _WRAPPER.fullmatch(base_name(rest[0])):
        return rest
    known = (index for index, word in enumerate(rest) if _KNOWN.fullmatch(base_name(word)))
    return rest[next(known, 0) :]
