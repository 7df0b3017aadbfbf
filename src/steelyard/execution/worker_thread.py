"""Runs blocking work in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


async def in_thread(work: Callable[[], Answer]) -> Answer:
    """The result of a worker thread.

    A cancellation waits until the work is done, so that its resources are not released early.
    """
    working = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError as error:
            cancelled = error
    answer = working.result()
    if cancelled:
        raise cancelled
    return answer
