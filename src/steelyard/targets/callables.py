"""`python`: a callable, sync or async, that gets the prompt or the case."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import msgspec

from steelyard.contracts.importers.chat_messages import trace_messages
from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import ConfigError, ParseError, TargetError
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.json_text import parse_json_either_way
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.model.unsent import EVERYTHING, NOTHING
from steelyard.ports import Request
from steelyard.settings import TIMEOUT_S
from steelyard.targets.chat_reply import reply_of
from steelyard.targets.threads import Threads

_ROOTS: set[Path] = set()
"""The projects whose modules this process can import; Python keeps one module a name."""


class PythonTarget:
    """Calls a function of the user's and makes a trace of what it returns."""

    def __init__(
        self, name: str, function: Callable[..., Any], timeout_s: float = TIMEOUT_S
    ) -> None:
        self.name = name
        self._function = function
        self._timeout_s = timeout_s
        self.takes_case = _takes_case(function)
        """Whether it gets the case itself, and no prompt."""
        self._is_async = _is_async(function)
        self._threads = Threads(f"steelyard-{name}")

    @property
    def carries(self) -> frozenset[str]:
        """All that a case holds, where it gets the case."""
        return frozenset((EVERYTHING,)) if self.takes_case else NOTHING

    def described(self) -> JsonObject:
        """Its settings."""
        module = getattr(self._function, "__module__", "")
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        return {"provider": "python", "callable": f"{module}:{name}", "timeout_s": self._timeout_s}

    async def ask(self, request: Request) -> Trace:
        """The function's answer; an exception is a permanent failure of this record alone."""
        given = request.case if self.takes_case else request.prompt.text
        deadline = asyncio.timeout(self._timeout_s)
        try:
            async with deadline:
                answer = await self._answer(given)
        except TimeoutError as error:
            late = f"no answer within {self._timeout_s:g} s"
            raise TargetError("timeout", late if deadline.expired() else _text(error)) from None
        return trace_of(reply_of(answer))

    async def close(self) -> None:
        """Let go of the threads."""
        self._threads.close()

    async def _answer(self, given: Case | str) -> object:
        try:
            if self._is_async:
                return await self._function(given)
            answer = await self._threads.call(lambda: _called(self._function, given))
            return await answer if inspect.isawaitable(answer) else answer
        except (TargetError, TimeoutError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises is its answer
            raise TargetError("target_error", _text(error)) from None


def trace_of(answer: object) -> Trace:
    """A trace from a text, a trace's JSON object, or a trace; messages may be those of a chat."""
    if isinstance(answer, str):
        message = Message(role="assistant", content=without_surrogates(answer))
        return Trace(messages=(message,))
    if isinstance(answer, Trace):
        return _read(_row(answer))
    if isinstance(answer, dict):
        return _read(cast(JsonObject, answer))
    kind = type(answer).__name__
    raise TargetError("bad_response", f"a target returns a text or a trace, not {kind}")


def load_callable(path: str, root: Path) -> Callable[..., Any]:
    """The callable that `module:name` stands for; modules of the project are found last.

    A file of the project that is called as an installed package is never taken for it, nor is
    one of another project that this process has opened.
    """
    module_name, _, name = path.partition(":")
    if str(root) not in sys.path:
        sys.path.append(str(root))
    _ROOTS.add(root)
    try:
        module = importlib.import_module(module_name)
        found: object = reduce(getattr, name.split("."), module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module may raise anything while it is imported
        raise ConfigError(f"cannot load '{path}': {_text(error)}; write module:function") from None
    _require_of_project(module, root)
    if not callable(found):
        raise ConfigError(f"'{path}' cannot be called")
    return found


def _require_of_project(module: ModuleType, root: Path) -> None:
    """Refuse a module that Python has kept under this name from another project."""
    file = Path(getattr(module, "__file__", None) or root)
    # A package that is installed within the folder of another project belongs to no project.
    places = (Path(place) for place in sys.path if file.is_relative_to(place or root))
    place = max(places, key=lambda one: len(one.parts), default=root)
    if place in _ROOTS and not file.is_relative_to(root):
        raise ConfigError(
            f"this process has already loaded '{module.__name__}' from {file}, another project; "
            f"rename the module in {root}, or use a process for each project"
        )


def _called(function: Callable[..., Any], given: Case | str) -> object:
    try:
        return function(given)
    except StopIteration as error:
        # No future can carry this one.
        raise TargetError("target_error", _text(error)) from None


def _row(trace: Trace) -> JsonObject:
    try:
        return trace_row(trace)
    except (AttributeError, TypeError, ValueError) as error:
        raise TargetError("bad_response", f"not a trace: {_text(error)}") from None


def _read(row: JsonObject) -> Trace:
    """The trace of a row that can be written down as JSON, and so can be kept."""
    try:
        plain, _ = parse_json_either_way(msgspec.json.encode(row))
    except (TypeError, ValueError, RecursionError, ParseError) as error:
        raise TargetError("bad_response", f"the trace cannot be kept: {_text(error)}") from None
    listed = plain.get("messages") if isinstance(plain, dict) else None
    if isinstance(plain, dict) and isinstance(listed, list):
        plain["messages"] = trace_messages(listed)
    trace, findings = read_trace(plain)
    if trace is None:
        wrong = next(finding for finding in findings if finding.is_error)
        raise TargetError("bad_response", f"not a trace: {wrong.message}")
    return trace


def _text(error: BaseException) -> str:
    text = without_surrogates(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await; objects may be callable, too."""
    called = getattr(function, "__call__", None)  # noqa: B004 - its kind, not its presence
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _takes_case(function: Callable[..., Any]) -> bool:
    """Whether the first parameter is annotated as a Case."""
    try:
        signature = _signature(function)
    except (TypeError, ValueError):
        return False
    first = next(iter(signature.parameters.values()), None)
    annotation: object = first.annotation if first else None
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == Case.__name__
    return annotation is Case


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature; annotations that only a type checker can resolve stay as they are written."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return inspect.signature(function)
