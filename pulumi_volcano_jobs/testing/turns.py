"""What a program asks of its engine is answered in turn: else it would register things in the order of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Of the thread that has the turn: what lets the next one begin.
_HELD = threading.local()
_IS_ASIDE: ContextVar[bool] = ContextVar("is_aside", default=False)


class Turns(ThreadPoolExecutor):
    """Threads that begin in the order of what they are given, each when the one before has ended or gives way."""

    def __init__(self) -> None:
        """Begin with the first turn free."""
        super().__init__()
        self._aside = ThreadPoolExecutor()
        self._last = threading.Event()
        self._last.set()

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Put a call in the line, or beside it if one in the line waits for it."""
        if _IS_ASIDE.get():
            return self._aside.submit(call, *args, **kwargs)
        before, after = self._last, threading.Event()
        self._last = after
        done = super().submit(_in_turn, before, after, partial(call, *args, **kwargs))
        # Also if it is cancelled before it begins.
        done.add_done_callback(lambda _: after.set())
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # Python's own
        """End all threads."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._aside.shutdown(wait, cancel_futures=cancel_futures)


def step_aside() -> None:
    """Say that what this asyncio task asks for is waited for by the thread that has the turn."""
    _IS_ASIDE.set(True)


def give_way() -> None:
    """Let the next one begin before this thread has ended."""
    _HELD.after.set()


def _in_turn(before: threading.Event, after: threading.Event, call: Callable[[], T]) -> T:
    before.wait()
    _HELD.after = after
    return call()
