"""Values that the components of one program share."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pulumi.runtime import settings

T = TypeVar("T")


class PerProgram(Generic[T]):
    """A value for each program: a process may run several programs, one after another."""

    def __init__(self, create: Callable[[], T]) -> None:
        """Create the value of a program when it is first read."""
        self._create = create
        # The connection to the engine stands for the program.
        self._values: weakref.WeakKeyDictionary[Any, T] = weakref.WeakKeyDictionary()

    def get(self) -> T:
        """Return the value of the running program."""
        monitor = settings.get_monitor()
        if monitor not in self._values:
            self._values[monitor] = self._create()
        return self._values[monitor]
