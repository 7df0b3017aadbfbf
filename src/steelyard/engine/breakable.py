"""Waits that a stop may end, without ending the task that waits."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import cast

from steelyard.engine.budget import Stop


class BrokenOff(Exception):  # noqa: N818 - a signal, not a mistake
    """A stop has ended what a task was waiting for."""


def this_task() -> asyncio.Task[None]:
    """The task that asks; whoever waits often asks once, since the answer is not for nothing."""
    return cast("asyncio.Task[None]", asyncio.current_task())


class Breakable:
    """While a task waits in here, a stop may break it off."""

    __slots__ = ("_broken_off", "_task", "_waiting")

    def __init__(
        self,
        waiting: set[asyncio.Task[None]],
        broken_off: set[asyncio.Task[None]],
        task: asyncio.Task[None] | None = None,
    ) -> None:
        self._waiting = waiting
        self._broken_off = broken_off
        self._task = task or this_task()

    def __enter__(self) -> None:
        self._waiting.add(self._task)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._waiting.discard(self._task)
        if self._task not in self._broken_off:
            return
        self._broken_off.discard(self._task)
        # Somebody else may have cancelled the task as well, and means the whole run.
        is_ours_alone = self._task.uncancel() == 0
        if isinstance(error, asyncio.CancelledError) and is_ours_alone:
            raise BrokenOff from None


class Waiting:
    """The tasks that wait for a target or a judge, which a stop may break off."""

    def __init__(self) -> None:
        self.stopped: Stop | None = None
        self._entering: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._broken_off: set[asyncio.Task[None]] = set()

    def stop(self, stop: Stop) -> None:
        """Cancel all tasks waiting for a slot; if urgent, also those waiting for an answer."""
        if self.stopped and not stop.is_urgent:
            return
        self.stopped = stop
        waiting = self._entering | self._asking if stop.is_urgent else self._entering
        for task in waiting - self._broken_off:
            self._broken_off.add(task)
            task.cancel()

    def for_turn(self, task: asyncio.Task[None] | None = None) -> Breakable:
        """While a task waits until it may ask."""
        return Breakable(self._entering, self._broken_off, task)

    def for_answer(self, task: asyncio.Task[None] | None = None) -> Breakable:
        """While a task waits for what is answered."""
        return Breakable(self._asking, self._broken_off, task)
