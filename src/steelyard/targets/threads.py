"""Calls of functions that block, each in a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple


class _Call(NamedTuple):
    function: Callable[[], Any]
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Threads:
    """As many threads as there are calls at once; used inside one event loop.

    The loop's own executor will not do: it has few threads, so that a call's deadline could pass
    before it begins, and the program would not end before a call that hangs.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[SimpleQueue[_Call | None]] = []

    async def call(self, function: Callable[[], Any]) -> Any:
        """What the function returns or raises; a call that is cancelled is left to itself."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        calls = self._idle.pop() if self._idle else self._start()
        calls.put(_Call(lambda: context.run(function), answer, loop))
        return await answer

    def close(self) -> None:
        """End the threads that have nothing to do."""
        while self._idle:
            self._idle.pop().put(None)

    def _start(self) -> SimpleQueue[_Call | None]:
        calls: SimpleQueue[_Call | None] = SimpleQueue()
        threading.Thread(target=self._work, args=(calls,), name=self._name, daemon=True).start()
        return calls

    def _work(self, calls: SimpleQueue[_Call | None]) -> None:
        while call := calls.get():
            value, error = None, None
            try:
                value = call.function()
            except BaseException as raised:  # noqa: BLE001 - it belongs to the caller
                error = raised
            try:
                call.loop.call_soon_threadsafe(self._settle, call, value, error, calls)
            except RuntimeError:  # the loop has ended: nobody waits for the answer any more
                return

    def _settle(
        self,
        call: _Call,
        value: object,
        error: BaseException | None,
        calls: SimpleQueue[_Call | None],
    ) -> None:
        self._idle.append(calls)
        if call.answer.done():
            return
        if error is None:
            call.answer.set_result(value)
        else:
            call.answer.set_exception(error)
