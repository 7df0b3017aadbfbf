"""Callbacks that ask the process to exit while asyncio runs."""

from __future__ import annotations

import asyncio
from typing import cast

from steelyard.execution.evaluating import OnResult
from steelyard.model.run import Result


class ExitRequests:
    """A callback of the current task, which a request to exit cancels, as Ctrl-C does.

    asyncio would leave its loop at once, and the run would keep its owner.
    """

    def __init__(self, on_result: OnResult) -> None:
        self.cause: BaseException | None = None
        """The SystemExit or KeyboardInterrupt that the callback has raised."""
        self._on_result = on_result
        self._task = cast("asyncio.Task[object]", asyncio.current_task())

    def __call__(self, result: Result) -> None:
        if self.cause:
            return
        try:
            self._on_result(result)
        except (SystemExit, KeyboardInterrupt) as cause:
            self.cause = cause
            self._task.cancel()
