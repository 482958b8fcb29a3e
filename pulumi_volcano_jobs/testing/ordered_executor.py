"""What a program asks of its engine is answered in turn: else it would register things in the order of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Turn: TypeAlias = threading.Event
"""A place in the line; set once the next one may begin."""
_OF_THREAD = threading.local()
_IS_ASIDE: ContextVar[bool] = ContextVar("is_aside", default=False)


class Turns(ThreadPoolExecutor):
    """Threads that begin in the order of what they are given, each when the one before has ended or gives way."""

    def __init__(self) -> None:
        """Begin with nobody in the line."""
        super().__init__()
        self._aside = ThreadPoolExecutor()
        self._last = Turn()
        self._last.set()

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Put a call into the line, or beside it if one in the line waits for it."""
        if _IS_ASIDE.get():
            return self._aside.submit(call, *args, **kwargs)
        before, mine = self._last, Turn()
        self._last = mine
        done = super().submit(_in_turn, before, mine, partial(call, *args, **kwargs))
        # Also if it is cancelled before it begins.
        done.add_done_callback(lambda _: mine.set())
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # Python's own
        """End all threads."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._aside.shutdown(wait, cancel_futures=cancel_futures)


def turn() -> Turn:
    """Give the turn that this thread has; beside the line nobody waits for it."""
    mine: Turn = getattr(_OF_THREAD, "turn", Turn())
    return mine


def step_aside() -> None:
    """Say that what this asyncio task asks for is waited for by a thread that has its turn."""
    _IS_ASIDE.set(True)


def _in_turn(before: Turn, mine: Turn, call: Callable[[], T]) -> T:
    before.wait()
    _OF_THREAD.turn = mine
    return call()
