"""Arguments are parsed as Go's flag package parses them (contract, section 2)."""

from __future__ import annotations

from typing import Any

import pytest

from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins import goflag
from pulumi_volcano_jobs.plugins.goflag import Kind

KINDS: dict[str, Kind] = {"text": "string", "number": "int", "switch": "bool", "t": "string"}
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


NEARLY: dict[str, tuple[str, Any, str]] = {
    "no dash": ("number=1", "", "--number=1"),
    "another dash": ("\u2014switch", "", "--switch"),
    "a blank": ("--number 1", "", "--number=1"),
    "a colon": ("number: 1", "", "--number=1"),
    "text, which may be secret": ("text=a", "", "--text=..."),
    "the value of a switch": ("false", "--switch", "--switch=false"),
    "the value after an unknown flag": ("true", "--nope", ""),
    "an unknown name": ("nope=1", "", ""),
    "a word": ("a b", Leaf("a"), ""),
}


@pytest.mark.parametrize(("argument", "previous", "right"), NEARLY.values(), ids=NEARLY)
def test_an_argument_that_is_nearly_a_flag_is_written_as_one(argument: str, previous: Any, right: str) -> None:
    """Text is not shown, because it may be a private key."""
    assert goflag.nearly_right(KINDS, argument, previous) == right


READ: dict[str, tuple[list[str], dict[str, Any]]] = {
    "no argument sets nothing": ([], {}),
    "one dash is as good as two": (["-text=a", "--number=1"], {"text": "a", "number": 1}),
    "a value follows the first equals sign": (["--text=a=b=c"], {"text": "a=b=c"}),
    "a value is the whole next argument": (["--text", "a b", "--number", "5"], {"text": "a b", "number": 5}),
    "a value may look like a flag": (["--text", "--number=5"], {"text": "--number=5"}),
    "a value may be the end of the flags": (["--text", "--", "--number=5"], {"text": "--", "number": 5}),
    "a value may be empty after the equals sign": (["--text="], {"text": ""}),
    "a value may be an empty argument": (["--text", ""], {"text": ""}),
    "a value may begin with an equals sign": (["--text==a"], {"text": "=a"}),
    "a value keeps its blanks and line breaks": (["--text= a\nb "], {"text": " a\nb "}),
    "a bare switch is true": (["--switch"], {"switch": True}),
    "a switch never takes the next argument": (["--switch", "--text=a"], {"switch": True, "text": "a"}),
    "the last of repeated flags wins": (["--number=1", "--number=2", "-number=3"], {"number": 3}),
    "a flag of one letter is a flag": (["-t", "a"], {"t": "a"}),
}


@pytest.mark.parametrize(("args", "values"), READ.values(), ids=READ)
def test_valid_arguments_are_parsed(args: list[str], values: dict[str, Any]) -> None:
    """Each rule has an example."""
    parsed = goflag.parse(KINDS, args)

    assert (parsed.values, parsed.errors) == (values, ())


@pytest.mark.parametrize("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_six_words_are_true(text: str) -> None:
    """Go parses them with strconv.ParseBool."""
    flags = (("switch", (f"--switch={text}",)),)
    assert goflag.parse(KINDS, [f"--switch={text}"]) == goflag.ParsedFlags({"switch": True}, (), flags)


@pytest.mark.parametrize("text", ["0", "f", "F", "false", "FALSE", "False"])
def test_six_words_are_false(text: str) -> None:
    """Go parses them with strconv.ParseBool."""
    flags = (("switch", (f"--switch={text}",)),)
    assert goflag.parse(KINDS, [f"--switch={text}"]) == goflag.ParsedFlags({"switch": False}, (), flags)


@pytest.mark.parametrize("text", ["", "yes", "no", "on", "tRUE", "truE", " true", "true ", "2", "-1", "00", "y"])
def test_a_wrong_boolean_is_false_and_an_error(text: str) -> None:
    """The flag does not keep its earlier value."""
    parsed = goflag.parse(KINDS, ["--switch=true", f"--switch={text}"])

    assert parsed.values == {"switch": False}
    assert [mistake.position for mistake in parsed.errors] == [1]


INTEGERS = {
    "0": 0,
    "-0": 0,
    "+7": 7,
    "-7": -7,
    "22": 22,
    "022": 18,
    "-022": -18,
    "0o22": 18,
    "0O22": 18,
    "0x16": 22,
    "0X1f": 31,
    "0xFF": 255,
    "0b101": 5,
    "0B1": 1,
    "2_222": 2222,
    "1_0_0": 100,
    "0_7": 7,
    "0x_1F": 31,
    "0b_1_0": 2,
    "00": 0,
    str(LARGEST): LARGEST,
    str(SMALLEST): SMALLEST,
    "-0x8000000000000000": SMALLEST,
}


@pytest.mark.parametrize(("text", "number"), INTEGERS.items(), ids=INTEGERS)
def test_an_integer_is_a_go_literal(text: str, number: int) -> None:
    """Base 0: the prefix decides, and underscores may separate digits or follow the prefix."""
    parsed = goflag.parse(KINDS, [f"--number={text}"])

    assert (parsed.values, parsed.errors) == ({"number": number}, ())


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "1.0", "1e3", " 1", "1 ", "+", "-", "--1", "+-1", "1_", "_1", "1__0", "08", "09", "0o8", "0o"),
        *("0x", "0xg", "0b2", "0b", "0_", "0x_", "1,000", "٣", "²", "1\n", "0x1_", "1L"),
    ],
    ids=repr,
)
def test_a_wrong_integer_is_0_and_an_error(text: str) -> None:
    """The flag does not keep its default or its earlier value."""
    parsed = goflag.parse(KINDS, ["--number=5", f"--number={text}"])

    assert parsed.values == {"number": 0}
    assert [mistake.position for mistake in parsed.errors] == [1]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (str(LARGEST + 1), LARGEST),
        (str(SMALLEST - 1), SMALLEST),
        ("99999999999999999999999", LARGEST),
        ("-99999999999999999999999", SMALLEST),
        ("0xFFFFFFFFFFFFFFFFFF", LARGEST),
    ],
)
def test_an_integer_out_of_range_is_the_nearest_limit_and_an_error(text: str, number: int) -> None:
    """A flag has 64 bits."""
    parsed = goflag.parse(KINDS, [f"--number={text}"])

    assert parsed.values == {"number": number}
    assert [mistake.position for mistake in parsed.errors] == [0]


STOPS: dict[str, tuple[list[str], dict[str, Any], int]] = {
    "an argument that is not a flag": (["--text=a", "word", "--number=1"], {"text": "a"}, 1),
    "an empty argument": (["", "--number=1"], {}, 0),
    "a lone dash": (["-", "--number=1"], {}, 0),
    "a lone letter": (["a", "--number=1"], {}, 0),
    "two dashes": (["--text=a", "--", "--number=1"], {"text": "a"}, 1),
    "an unknown flag": (["--text=a", "--nope=1", "--number=1"], {"text": "a"}, 1),
    "help": (["--help", "--number=1"], {}, 0),
    "h": (["-h", "--number=1"], {}, 0),
    "a third dash": (["---text=a", "--number=1"], {}, 0),
    "an empty name": (["--=a", "--number=1"], {}, 0),
    "an empty name after one dash": (["-=a", "--number=1"], {}, 0),
    "a missing value": (["--number=1", "--text"], {"number": 1}, 1),
    "a missing number": (["--number"], {}, 0),
    "a bad integer": (["--number=x", "--text=a"], {"number": 0}, 0),
    "a bad integer as the next argument": (["--number", "x", "--text=a"], {"number": 0}, 0),
    "a bad truth value": (["--switch=x", "--text=a"], {"switch": False}, 0),
    "a word after a boolean flag": (["--switch", "false", "--text=a"], {"switch": True}, 1),
    "a flag with its value in one string": (["--number 1", "--text=a"], {}, 0),
    "a name in other letters": (["--Number=1", "--text=a"], {}, 0),
    "blanks in front of a flag": ([" --number=1", "--text=a"], {}, 0),
}


@pytest.mark.parametrize(("args", "values", "position"), STOPS.values(), ids=STOPS)
def test_an_error_ends_the_parsing(args: list[str], values: dict[str, Any], position: int) -> None:
    """Earlier arguments apply, and later ones are ignored. The error has the position of its argument."""
    parsed = goflag.parse(KINDS, args)

    assert parsed.values == values
    assert [mistake.position for mistake in parsed.errors] == [position]
    assert all(mistake.reason for mistake in parsed.errors)


def test_parsing_to_the_end_finds_every_error_and_every_value() -> None:
    """Users want to correct all errors at once."""
    args = ["--nope", "--text=a", "word", "--number=x", "--switch=x", "--t", "b", "--text"]

    parsed = goflag.parse(KINDS, args, read_on=True)

    assert [mistake.position for mistake in parsed.errors] == [0, 2, 3, 4, 7]
    assert parsed.values == {"text": "a", "number": 0, "switch": False, "t": "b"}


def test_only_an_unknown_flag_is_called_unknown() -> None:
    """A message can then suggest a similar name."""
    parsed = goflag.parse(KINDS, ["--nope=1", "--number=x", "word"], read_on=True)

    assert [(mistake.flag, mistake.unknown) for mistake in parsed.errors] == [
        ("nope", True),
        ("number", False),
        ("", False),
    ]


def test_each_parsing_starts_with_the_defaults() -> None:
    """No value of an earlier use stays."""
    goflag.parse(KINDS, ["--number=5"])

    assert goflag.parse(KINDS, []) == goflag.ParsedFlags({}, (), ())


def test_a_leaf_can_be_the_value_of_a_flag() -> None:
    """Its value is not read."""
    leaf = Leaf("key")

    parsed = goflag.parse(KINDS, ["--text", leaf, "--number=1"])

    assert parsed.errors == ()
    assert (parsed.values["text"] is leaf, parsed.values["number"]) == (True, 1)


def test_a_leaf_cannot_be_an_argument_by_itself() -> None:
    """It could be a flag."""
    parsed = goflag.parse(KINDS, ["--number=1", Leaf("key")])

    assert parsed.values == {"number": 1}
    assert [(mistake.position, "Output" in mistake.reason) for mistake in parsed.errors] == [(1, True)]


@pytest.mark.parametrize(
    ("number", "cut"),
    [
        (0, 0),
        (65535, 65535),
        (2**31 - 1, 2**31 - 1),
        (2**31, -(2**31)),
        (2**32 + 80, 80),
        (-1, -1),
        (LARGEST, -1),
        (SMALLEST, 0),
    ],
)
def test_a_number_is_cut_to_32_bits_like_a_container_port(number: int, cut: int) -> None:
    """Two's complement, as in Go."""
    assert goflag.int32(number) == cut
