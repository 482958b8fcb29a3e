"""The settings of a plugin, which are its fields: how they are declared, and what values they cannot have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from pulumi_volcano_jobs.core import errors
from pulumi_volcano_jobs.core.errors import Problem, Stage
from pulumi_volcano_jobs.core.leaf import Leaf, is_whole
from pulumi_volcano_jobs.kubernetes.schema import SURROGATE
from pulumi_volcano_jobs.plugins import goflag

T = TypeVar("T")

UNSET: Any = object()
"""What a setting has that is not recommended otherwise."""
FLAG_TYPES: dict[type, str] = {str: "a string", int: "a whole number", bool: "True or False"}
"""The types that one of Volcano's flags can have, in words."""
_TYPES = FLAG_TYPES | {
    float: "a number",
    list: "a list",
    tuple: "a list",
    dict: "a mapping",
    Mapping: "a mapping",
    type(None): "None",
}


class HasSettings(Protocol):
    """A plugin, of which only the settings are looked at."""

    name: ClassVar[str]


def flag(
    argument: str,
    *,
    default: T,
    recommended: T = UNSET,
    placeholder: str = "",
    secret: bool = False,
    since: str = "",
) -> T:
    """Declare a field that is also one of Volcano's arguments, `--argument`.

    Args:
        argument: the name of Volcano's flag, without dashes.
        default: Volcano's default; its type (str, int or bool) is the flag's.
        recommended: what it is with `defaults="recommended"`, unless it is given.
        placeholder: for key material, what is shown in its place (a secret has one anyway); the field is then left
            out of repr too.
        secret: whether Pulumi must keep the value encrypted.
        since: the first release of Volcano that has the flag; empty if the plugin has always had it.
    """
    placeholder = placeholder or ("<secret>" if secret else "")
    metadata = {
        "flag": argument,
        "placeholder": placeholder,
        "secret": secret,
        "since": since,
        "recommended": recommended,
        "kinds": (type(default),),
        "may_be_output": bool(placeholder),
    }
    made: T = dataclasses.field(default=default, repr=not placeholder, metadata=metadata)
    return made


def option(
    *,
    default: T,
    recommended: T = UNSET,
    kinds: tuple[type, ...] = (),
    choices: Sequence[T] = (),
    not_native: str = "",
    may_be_output: bool = False,
) -> T:
    """Declare a field for which Volcano has no argument.

    Args:
        default: what does as Volcano does.
        recommended: what it is with `defaults="recommended"`, unless it is given.
        kinds: the types of its values; that of the default if there are none.
        choices: the values that it may have, if they are few.
        not_native: why it cannot be had with `managed_by="volcano"`; empty if it can.
        may_be_output: whether it is a value that only stands somewhere, and decides nothing.
    """
    metadata = {
        "recommended": recommended,
        "kinds": kinds or (type(default),),
        "choices": tuple(choices),
        "not_native": not_native,
        "may_be_output": may_be_output,
    }
    made: T = dataclasses.field(default=default, metadata=metadata)
    return made


def place(plugin: type[HasSettings]) -> str:
    """Give the path of a plugin in the job."""
    return f"spec.plugins.{plugin.name}"


def fields_of(plugin: type[HasSettings]) -> tuple[dataclasses.Field[Any], ...]:
    """Give the fields that are a plugin's settings."""
    return dataclasses.fields(plugin)  # type: ignore[arg-type]  # see Plugin.__init_subclass__


def flags_of(plugin: type[HasSettings]) -> dict[str, dataclasses.Field[Any]]:
    """Give the settings that are Volcano's arguments, by these."""
    return {item.metadata["flag"]: item for item in fields_of(plugin) if "flag" in item.metadata}


def settings_of(plugin: type[HasSettings]) -> list[str]:
    """Give the names of a plugin's settings."""
    return [item.name for item in fields_of(plugin)]


def since_of(plugin: type[HasSettings], argument: str) -> str:
    """Return the first release of Volcano that has an argument; empty if the plugin has always had it."""
    since: str = flags_of(plugin)[argument].metadata["since"]
    return since


def flag_of(plugin: type[HasSettings], setting: str) -> str:
    """Give the name of Volcano's argument for a setting; empty if it has none."""
    return next((name for name, item in flags_of(plugin).items() if item.name == setting), "")


def secret_settings(plugin: type[HasSettings]) -> dict[str, str]:
    """Map Volcano's arguments that hold secrets to the settings."""
    return {name: item.name for name, item in flags_of(plugin).items() if item.metadata["secret"]}


def open_flags(plugin: type[HasSettings]) -> frozenset[str]:
    """Return the names of Volcano's arguments of a plugin whose values are not keys."""
    return frozenset(name for name, item in flags_of(plugin).items() if not item.metadata["placeholder"])


def kinds_of(plugin: type[HasSettings]) -> dict[str, goflag.Kind]:
    """Return the kind of each of Volcano's arguments of a plugin, by name."""
    kinds: dict[type, goflag.Kind] = {bool: "bool", int: "int", str: "string"}
    return {name: kinds[type(item.default)] for name, item in flags_of(plugin).items()}


def misfits(plugin: HasSettings) -> Iterator[Problem]:
    """Yield a Problem for each setting of a plugin whose value is of another type, or none of its choices."""
    for item in fields_of(type(plugin)):
        if "kinds" in item.metadata:
            yield from _misfit(getattr(plugin, item.name), item, f"{place(type(plugin))}.{item.name}")


def _misfit(value: Any, item: dataclasses.Field[Any], at: str) -> Iterator[Problem]:
    kinds, choices = item.metadata["kinds"], item.metadata.get("choices")
    if isinstance(value, Leaf):
        if not item.metadata["may_be_output"]:
            hint = "only keys may be Outputs" if "flag" in item.metadata else ""
            yield errors.not_plain(at, hint)
        return
    shown = "" if item.metadata.get("placeholder") else errors.shown(value)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        types = " or ".join(dict.fromkeys(_TYPES[kind] for kind in kinds))
        yield errors.wrong_type(at, types, "", shown)
    elif isinstance(value, str) and not is_whole(value):
        yield Problem(at, "Invalid", SURROGATE, stage=Stage.DECODE)
    elif isinstance(value, int) and not goflag.MIN <= value <= goflag.MAX:
        yield Problem(at, "Invalid", "this does not fit into 64 bits", value=shown, stage=Stage.DECODE)
    elif choices and value not in choices:
        yield errors.not_one_of(at, value, map(str, choices))
