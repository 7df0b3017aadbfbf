"""The one place where an event loop is started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Event
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def run_async(made: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """The one place where the engine's event loop is started.

    Where a loop runs already, as in a notebook, it gets a thread of its own.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(made)
    return _run_beside(made)


def _run(made: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.get_loop().set_exception_handler(_without_noise)
        return runner.run(made())


def _run_beside(made: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """The answer of another thread; an interrupt stops its work as it would stop ours."""
    from concurrent.futures import ThreadPoolExecutor

    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []
    is_stopped = Event()

    async def noted() -> Answer:
        begun.append((asyncio.get_running_loop(), asyncio.current_task()))
        if is_stopped.is_set():
            raise asyncio.CancelledError
        return await made()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="steelyard") as pool:
        # An interrupt may come at any line: whatever has begun by then must not be waited for.
        try:
            return pool.submit(_run, noted).result()
        except BaseException:
            is_stopped.set()
            for loop, task in begun:
                if task:
                    with suppress(RuntimeError):  # it has ended by itself
                        loop.call_soon_threadsafe(task.cancel)
            raise


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _without_noise(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of a connection that failed when nobody waited for it any more.

    Whoever waited first was told, as for the name of a host that nobody knows.
    """
    is_late = "never retrieved" in str(context.get("message"))
    if not (is_late and isinstance(context.get("exception"), OSError)):
        loop.default_exception_handler(context)
