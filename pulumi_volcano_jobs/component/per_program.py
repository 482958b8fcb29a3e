"""Values that the components of one program share."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pulumi.runtime import settings

T = TypeVar("T")


class PerProgram(Generic[T]):
    """A separate value for each program, because a process may run several programs in sequence."""

    def __init__(self, create: Callable[[], T]) -> None:
        """Store the factory, which is called when a program first reads its value."""
        self._create = create
        # The connection to the engine identifies the program.
        self._values: weakref.WeakKeyDictionary[Any, T] = weakref.WeakKeyDictionary()

    def get(self) -> T:
        """Return the value of the running program."""
        monitor = settings.get_monitor()
        if monitor not in self._values:
            self._values[monitor] = self._create()
        return self._values[monitor]
