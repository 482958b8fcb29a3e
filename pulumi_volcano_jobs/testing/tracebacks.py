"""Tracebacks of failed programs, reduced to the frames of the program."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TypeVar

from pulumi_volcano_jobs.component.input_errors import OutputValueError
from pulumi_volcano_jobs.core.errors import JobError

E = TypeVar("E", bound=BaseException)
_LIBRARY = __name__.partition(".")[0]
# Pulumi's tasks and the thread of the program add more than fifty lines, which say nothing about the program.
_RUNTIME = ("asyncio", "concurrent", "contextlib", "pulumi", "runpy", "threading", f"{_LIBRARY}.testing")


def shortened(error: E) -> E:
    """Remove the frames of the runtime from the tracebacks of an error and its causes, and return the error.

    The mistakes of a job have their own paths, so the frames of this library are also removed.
    """
    for item in _chain(error):
        hidden = (*_RUNTIME, _LIBRARY) if isinstance(item, (JobError, OutputValueError)) else _RUNTIME
        item.__traceback__ = _without(item.__traceback__, hidden)
    return error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    # Pulumi raises some exceptions from themselves.
    seen: set[int] = set()
    while error and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _without(traceback: TracebackType | None, modules: tuple[str, ...]) -> TracebackType | None:
    entries: list[TracebackType] = []
    while traceback:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        if not f"{entry.tb_frame.f_globals.get('__name__', '')}.".startswith(tuple(f"{name}." for name in modules)):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept
