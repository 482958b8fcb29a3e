"""Calls of public functions: wrong arguments are reported like wrong fields, and None means "not set"."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from pulumi_volcano_jobs.core.errors import Problem, attribute_error, raise_if_any
from pulumi_volcano_jobs.core.phrases import counted
from pulumi_volcano_jobs.core.suggestions import missing, suggestion

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


def checked_call(path: str, *, skip: int = 0) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that rejects calls with wrong arguments.

    An argument that is None has its default. Without the decorator, Python reports a wrong call with a traceback.

    Args:
        path: the name of the function, as programs write it.
        skip: the number of leading parameters that Python sets, such as `self`.

    Raises:
        JobError: when the decorated function is called, with a Problem for each wrong argument.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = _Signature.of(function, path, skip)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            bound, positional = args[:skip], args[skip:]
            raise_if_any(signature.problems(positional, kwargs))
            positional, named = signature.given(positional, kwargs)
            return function(*bound, *positional, **named)  # type: ignore[arg-type]  # they fit the signature

        return checked

    return decorate


def checked_constructor(kind: C) -> C:
    """Decorate a class whose constructor rejects calls with wrong arguments, as `checked_call` does."""
    kind.__init__ = checked_call(kind.__name__, skip=1)(kind.__init__)  # type: ignore[misc]  # of this class only
    return kind


@dataclass(frozen=True)
class _Signature:
    """The parameters of a function, without the ones that Python sets."""

    path: str
    parameters: Mapping[str, inspect.Parameter]
    takes_more_values: bool
    takes_more_names: bool

    @classmethod
    def of(cls, function: Callable[..., Any], path: str, skip: int) -> _Signature:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
        named = {item.name: item for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)}
        kinds = {item.kind for item in parameters}
        return cls(
            path,
            named,
            takes_more_values=inspect.Parameter.VAR_POSITIONAL in kinds,
            takes_more_names=inspect.Parameter.VAR_KEYWORD in kinds,
        )

    def problems(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the problems of a call."""
        by_position = self._by_name(args)
        if len(args) > len(by_position) and not self.takes_more_values:
            reason = f"takes at most {counted(len(by_position), 'positional argument')}"
            yield Problem(self.path, "Invalid", reason, f"write {self._usage()}")
        for name in kwargs:
            if name in by_position:
                yield Problem(f"{self.path}.{name}", "Duplicate", "also passed by position", "remove one of them")
            elif name not in self.parameters and not self.takes_more_names:
                hint = suggestion(name, self.parameters)
                yield Problem(f"{self.path}.{name}", "Forbidden", "unknown argument", hint)
        given = {**kwargs, **by_position}
        for name, parameter in self.parameters.items():
            if parameter.default is parameter.empty and given.get(name) is None:
                yield Problem(f"{self.path}.{name}", "Required", "", f"write {self._usage()}")

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a valid call without those that are None."""
        named = kwargs if self.takes_more_values else self._by_name(args) | kwargs
        given = {name: value for name, value in named.items() if value is not None or name not in self.parameters}
        return args if self.takes_more_values else (), given

    def _by_name(self, args: Sequence[Any]) -> dict[str, Any]:
        names = [name for name, item in self.parameters.items() if item.kind is not item.KEYWORD_ONLY]
        return dict(zip(names, args, strict=False))

    def _usage(self) -> str:
        shown = {
            name: item
            for name, item in self.parameters.items()
            if item.default is item.empty or not self.takes_more_names
        }
        names = [f"{name}=..." if item.kind is item.KEYWORD_ONLY else name for name, item in shown.items()]
        return f"{self.path}({', '.join([*names, *(['...'] if self.takes_more_names else [])])})"


def not_keywords(path: str, noun: str, call: str, names: Iterable[str]) -> Problem:
    """Return the problem of positional arguments of a class whose arguments are keywords.

    Args:
        path: the path of the object.
        noun: the arguments, such as `fields`.
        call: the name of the class.
        names: the names of its arguments.
    """
    known = ", ".join(names)
    hint = f"write {call}(name=value), with the names {known}" if known else "remove them"
    return Problem(path, "Invalid", f"{noun} must be keyword arguments", hint)


def unknown_attribute(noun: str, name: str, owner: type, known: Iterable[str]) -> AttributeError:
    """Return the error of a lookup of a field or setting that an object does not have."""
    return attribute_error(missing(noun, name, known, owner.__name__))


def not_assignable(path: str, name: str) -> Problem:
    """Return the problem of an assignment to a field or setting of an object that does not change."""
    return Problem(f"{path}.{name}", "Forbidden", "cannot be changed", f"use the copy that with_({name}=...) returns")
