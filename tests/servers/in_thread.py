"""A server for a command in another process: it answers from a thread of the test."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from threading import Event, Thread
from typing import TypeVar

Served = TypeVar("Served")


@contextmanager
def in_thread(serving: AbstractAsyncContextManager[Served]) -> Generator[Served]:
    """What a server yields, which serves until the test leaves."""
    loop, is_up, made = asyncio.new_event_loop(), Event(), list[Served]()

    async def serve() -> None:
        async with serving as served:
            made.append(served)
            is_up.set()
            await is_over.wait()

    is_over = asyncio.Event()
    thread = Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert is_up.wait(10)
    try:
        yield made[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(10)
        loop.close()
