"""Invalid input of all kinds: changed text of jobs, jobs with unusual values, arguments and keys."""

from __future__ import annotations

import dataclasses
import decimal
import enum
import pathlib
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

from hypothesis import strategies as st

from pulumi_volcano_jobs import Plugin
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import flags_of
from tests.property import strategies as sound

TESTS = pathlib.Path(__file__).parent.parent
FILES = sorted([*TESTS.glob("documents/jobs/*.yaml"), *TESTS.glob("golden/cases/*.yaml")])
SOURCES = [file.read_bytes() for file in FILES]
TOKENS = [
    b"null", b"~", b"true", b"1", b"-1", b"1.5", b"1e400", b".nan", b".inf", b"0x", b"017", b"9" * 5000, b"1000000000",
    b"''", b'"\\ud800"', b'"\\0"', b"[]", b"{}", b"[[[[", b"{{ .Values.x }}", b"{% if x %}", b"&a", b"*a", b"<<: *a",
    b"<<", b"!!binary aGk=", b"!!set {a}", b"!!timestamp 2026-01-01", b"!Ref x", b"!!python/object:os.system x",
    b"? [a]", b"1: x", b"null: x", b"---", b"...", b"%YAML 1.2", b"|", b">-", b"#", b"\t", b"\r", b"\0", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xed\xa0\x80", b": ", b"- ", b"'", b'"', b"@", b"`", b"2026-01-01", b"a" * 300,
    b"List", b"Deployment", b"apps/v1", b"\xf0\x9f\x98\x80",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw the text of a real file with a few bytes, lines or tokens changed."""
    text = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from([_bytes, _lines, _token]))(draw, text)
    return text


def _bytes(draw: st.DrawFn, text: bytes) -> bytes:
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 8)))
    return text[:start] + draw(st.binary(max_size=3) | st.sampled_from(TOKENS)) + text[end:]


def _lines(draw: st.DrawFn, text: bytes) -> bytes:
    lines = text.split(b"\n")
    index = draw(st.integers(0, len(lines) - 1))
    other = draw(st.integers(0, len(lines) - 1))
    change = draw(st.sampled_from(["drop", "double", "move", "indent", "outdent", "cut"]))
    line = lines[index]
    if change == "drop":
        del lines[index]
    elif change == "double":
        lines.insert(other, line)
    elif change == "move":
        lines[index], lines[other] = lines[other], line
    elif change == "cut":
        lines = lines[:index]
    else:
        lines[index] = b"  " + line if change == "indent" else line.removeprefix(b"  ")
    return b"\n".join(lines)


def _token(draw: st.DrawFn, text: bytes) -> bytes:
    tokens = text.split(b" ")
    index = draw(st.integers(0, len(tokens) - 1))
    rest = b"\n" if tokens[index].endswith(b"\n") else b""
    tokens[index] = draw(st.sampled_from(TOKENS)) + rest
    return b" ".join(tokens)


class Colour(str, enum.Enum):
    """A string enum."""

    RED = "red"


class Size(enum.IntEnum):
    """An integer enum."""

    TWO = 2


@dataclasses.dataclass
class Thing:
    """An object of a program."""

    name: str = "thing"


class Number:
    """A number of another library, which Python accepts as an index."""

    def __index__(self) -> int:
        """Return two."""
        return 2


ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 1, 2**31, 2**63, 10**9]),
    # Python cannot write it, and neither can hypothesis.
    st.just(5000).map(lambda digits: 10**digits),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "a" * 300, "A_b", "x.y", "{{ x }}", "\ud800", "\0", "\n", "<<", "1e3", "9" * 5000]),
    st.binary(max_size=4),
    st.sampled_from([Colour.RED, Size.TWO, Thing(), Thing, Number(), decimal.Decimal("1.5"), date(2026, 1, 1), 1j]),
    st.sampled_from([{1, 2}, frozenset({"a"}), bytearray(b"a"), range(3), object(), len, pathlib.Path("a"), ...]),
)
odd = st.recursive(
    ODD,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=2).map(tuple),
        st.dictionaries(
            st.one_of(
                st.text(max_size=4),
                st.sampled_from([1, None, True, 1.5, b"a", ("a",), Colour.RED]),
                st.sampled_from(["name", "replicas", "template", "spec", "metadata", "containers", "labels", "env"]),
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value of a tree, including nested ones."""
    if path:
        yield path
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield from places(value, (*path, key))


@st.composite
def spoiled(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a job in which one to three values are replaced or added."""
    document = draw(sound.jobs())
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(sorted(places(document), key=repr)))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        key = path[-1]
        if isinstance(holder, dict) and draw(st.integers(0, 4)) == 0:
            key = draw(st.one_of(st.text(max_size=5), st.sampled_from(KEYS), st.sampled_from([1, None, True, ("a",)])))
        holder[key] = draw(odd)
    return document


# Fields that valid jobs do not have.
KEYS = (
    "policies", "dependsOn", "partitionPolicy", "networkTopology", "minSuccess", "ttlSecondsAfterFinished",
    "schedulerName",
    "lifecycle", "livenessProbe", "envFrom", "valueFrom", "tolerations", "affinity", "securityContext", "hostAliases",
    "apiVersion", "kind", "status", "name", "replicas", "overhead", "topologyPolicy", "runningEstimate", "maxRetry",
)  # fmt: skip
FLAGS = sorted({name for plugin in BUILT_IN for name in [*flags_of(plugin), *plugin.aliases]})
_values = st.one_of(
    st.sampled_from(
        ["", "master", "worker", "22", "0", "-1", "99999", "0x16", "1_0", "true", "maybe", "9" * 5000, "a b"]
    ),
    st.text(max_size=6),
)
_argument = st.one_of(
    st.tuples(
        st.sampled_from(["-", "--", "---", ""]), st.sampled_from(FLAGS), st.sampled_from(["=", " ", ""]), _values
    ).map("".join),
    _values,
    st.sampled_from(["-", "--", "=", "--=", "-=a", "--help", "-h"]),
    ODD,
)
uses = st.dictionaries(
    st.sampled_from([plugin.name for plugin in BUILT_IN]) | st.text(max_size=3),
    st.lists(_argument, max_size=4) | ODD,
    min_size=1,
    max_size=4,
)
typed: st.SearchStrategy[list[Callable[[], Plugin]]] = st.lists(
    st.sampled_from(sorted(BUILT_IN, key=lambda plugin: plugin.name)).flatmap(
        lambda kind: st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(kind.model_fields, _values | ODD),
        ).map(lambda settings: partial(kind, **settings))
    ),
    max_size=3,
)

SECRET = "QlVUVEVSQ1VQU0FORERBSVNJRVNBUkVTRUNSRVRLRVlT"
_KINDS = (
    "RSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "DSA PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "CERTIFICATE",
    "PRIVATE KEY",
)
keys = st.one_of(
    st.builds(
        lambda kind, before, after, cut: f"-----BEGIN {kind}-----\n{before}{SECRET}{after}\n-----END {kind}-----\n"[
            :cut
        ],
        st.sampled_from(_KINDS),
        st.sampled_from(["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", "A" * 64 + "\n", "A" * 1_000_000]),
        st.text(max_size=5) | st.just("=="),
        st.sampled_from([None, -10, -30]),
    ),
    st.text(max_size=4).map(lambda text: text + SECRET),
    st.just(SECRET),
    st.just(f"ssh-rsa {SECRET} me@here"),
)
