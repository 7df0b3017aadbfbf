"""Work that may take seconds, done beside the event loop by threads that nobody waits for.

The loop's own executor will not do: Ctrl-C would not end a run before the last check has ended.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar

from steelyard.checks.function import RUN_LOOP

AT_ONCE = min(32, (os.cpu_count() or 1) + 4)
"""As many as the loop's own executor has."""
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class _Job(NamedTuple):
    work: Callable[[], Any]
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class _Helpers:
    """A few threads, started when there is work for them."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._started = 0

    def give(self, job: _Job) -> None:
        self._jobs.put(job)
        if self._started < AT_ONCE:
            self._started += 1
            threading.Thread(target=self._help, name="steelyard-apart", daemon=True).start()

    def _help(self) -> None:
        while True:
            work, answer, loop = self._jobs.get()
            if answer.cancelled():
                continue
            value, error = None, None
            try:
                value = work()
            except BaseException as raised:  # noqa: BLE001 - it belongs to the caller
                error = raised
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(_settle, answer, value, error)


_HELPERS = _Helpers()


async def in_thread(
    function: Callable[Given, Answer], *args: Given.args, **kwargs: Given.kwargs
) -> Answer:
    """Run a function in a helper thread; a cancelled call runs on unobserved."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()
    context = contextvars.copy_context()
    context.run(RUN_LOOP.set, loop)
    work = partial(context.run, partial(function, *args, **kwargs))
    _HELPERS.give(_Job(work, answer, loop))
    return await answer


def _settle(answer: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)
