"""Questions for targets, asked and answered without an engine."""

from __future__ import annotations

import asyncio

from steelyard.engine.prompts import build_prompt
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request, Target


def question(
    text: str = "When do you open?", *, record: str = "q1", repeat: int = 0, attempt: int = 1
) -> Request:
    """What a target is asked for a case with one user message."""
    case = Case(id=record, input_messages=(Message(role="user", content=text),))
    return Request(case, build_prompt(case), repeat, attempt)


async def ask_once(target: Target, request: Request | None = None) -> Trace:
    """One answer, after which the target is closed."""
    try:
        return await target.ask(request or question())
    finally:
        await target.close()


def answer(target: Target, request: Request | None = None) -> Trace:
    """The same for tests that are not async."""
    return asyncio.run(ask_once(target, request))


def failure(target: Target, request: Request | None = None) -> TargetError:
    """The error with which a call ends; one that succeeds is a failed test."""
    try:
        trace = answer(target, request)
    except TargetError as error:
        return error
    raise AssertionError(f"answered with {trace.response!r}")


def takes_case(case: Case) -> str:
    """A function that a `python` target calls with the case itself."""
    return case.id
