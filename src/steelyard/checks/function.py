"""A function of the user's as a check."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import math
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from steelyard.errors import InvalidError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.trace import Trace

RUN_LOOP: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("run_loop", default=None)
"""The event loop of the run, in the thread that carries a check out beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCheck:
    """Pass when a function says so: it gets the trace and the case.

    It returns a bool, a score in [0, 1] or an Outcome; anything else leaves the check unscored,
    and so does an exception.
    """

    # Carried out beside the event loop, since a function may take its time.
    runs_commands: ClassVar[bool] = True

    kind: str
    source_sha256: str
    """The hash of what the function does, so that runs by another version differ."""
    function: Callable[..., Any] = field(repr=False, compare=False)

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Call the function; what it raises is the caller's to note."""
        found = self.function(trace, case)
        if inspect.isawaitable(found):
            found = _awaited(found)
        return _outcome(found)


def function_check(function: Callable[..., Any]) -> FunctionCheck:
    """The check that a function stands for, named after it."""
    name = _name(function)
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as wrong:
        raise InvalidError(
            f"the check {name} cannot be called with (trace, case): {wrong}"
        ) from None
    except ValueError:
        pass  # a function of another language, which has no signature
    return FunctionCheck(kind=name, source_sha256=_source_sha256(function), function=function)


def _name(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else name


def _source_sha256(function: Callable[..., Any]) -> str:
    """The hash of the source, or of the name where there is none."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        module = getattr(function, "__module__", "")
        name = getattr(function, "__qualname__", type(function).__qualname__)
        text = f"{module}:{name}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _awaited(found: Awaitable[Any]) -> object:
    """What a coroutine gives, on the loop of the run where there is one."""

    async def waited() -> object:
        return await found

    loop = RUN_LOOP.get()
    if loop is None:
        return asyncio.run(waited())
    return asyncio.run_coroutine_threadsafe(waited(), loop).result()


def _outcome(found: object) -> Outcome:
    if isinstance(found, Outcome):
        return found
    item = getattr(found, "item", None)
    value = item() if callable(item) else found
    if isinstance(value, bool):
        reason = f"returned {value}"
        return Outcome.passing(reason) if value else Outcome.failing(reason)
    if not isinstance(value, int | float):
        kind = type(value).__name__
        return Outcome.unscored(f"returned {kind}, not a bool, a number or an Outcome")
    if not (math.isfinite(value) and 0 <= value <= 1):
        return Outcome.unscored(f"returned {value}, which is no score in [0, 1]")
    score = float(value)
    return Outcome(passed=score >= PASS_THRESHOLD, score=score, reason=f"returned {score:g}")
