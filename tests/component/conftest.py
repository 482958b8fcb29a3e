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
    # Outputs that no program awaits leave tasks.
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    asyncio.set_event_loop(None)
    loop.close()
