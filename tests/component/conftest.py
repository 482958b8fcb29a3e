"""An event loop for each test of the component."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def event_loop_of_the_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """Provide the event loop for Outputs outside of a program. `asyncio.run` of another test removes the thread's."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()
