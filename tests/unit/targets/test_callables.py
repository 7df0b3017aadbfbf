"""`python`: whatever a user's function does becomes a trace or a failure of its record."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest

from fakes.asking import answer, ask_once, failure, question
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.targets.callables import PythonTarget

if TYPE_CHECKING:
    from steelyard.model import case as cases
    from steelyard.results.attempts import Attempt

ROW = {"messages": [{"role": "assistant", "content": "nine"}], "finish_reason": "stop"}


def says(given: object) -> str:
    return f"{type(given).__name__}: {getattr(given, 'id', given)}"


def plain(prompt: str) -> str:
    return says(prompt)


async def asynchronous(prompt: str) -> str:
    await asyncio.sleep(0)
    return says(prompt)


def of_a_case(case: Case) -> str:
    return says(case)


def of_a_case_by_a_name_for_type_checkers(case: cases.Case) -> str:
    return says(case)


def of_a_text_beside_such_a_name(prompt: str, _before: Attempt | None = None) -> str:
    return says(prompt)


async def of_a_case_later(case: Case) -> str:
    return says(case)


class Agent:
    """Objects may be called as well."""

    def __call__(self, case: Case) -> str:
        return says(case)

    def method(self, case: Case) -> str:
        return says(case)


class SlowAgent:
    async def __call__(self, prompt: str) -> str:
        return says(prompt)


def returning(value: object) -> Callable[[str], object]:
    def function(_prompt: str) -> object:
        return value

    return function


def gives_an_awaitable(prompt: str) -> Any:
    return asynchronous(prompt)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (plain, "str: open?"),
        (asynchronous, "str: open?"),
        (of_a_case, "Case: q1"),
        (of_a_case_later, "Case: q1"),
        (of_a_case_by_a_name_for_type_checkers, "Case: q1"),
        (of_a_text_beside_such_a_name, "str: open?"),
        (Agent(), "Case: q1"),
        (Agent().method, "Case: q1"),
        (SlowAgent(), "str: open?"),
        (functools.partial(of_a_case), "Case: q1"),
        (functools.partial(asynchronous), "str: open?"),
        (gives_an_awaitable, "str: open?"),
        (str, "open?"),
    ],
)
def test_gets_the_prompt_or_the_case_when_annotated_so(
    function: Callable[..., Any], said: str
) -> None:
    target = PythonTarget("agent", function)

    assert answer(target, question("open?")).response == said


@pytest.mark.parametrize(
    "returned",
    [
        "nine",
        ROW,
        {**ROW, "messages": tuple(ROW["messages"])},
        Trace(messages=(Message(role="assistant", content="nine"),)),
    ],
)
def test_a_text_a_trace_or_its_object_is_an_answer(returned: object) -> None:
    target = PythonTarget("agent", returning(returned))

    assert answer(target).response == "nine"


def test_all_that_a_returned_trace_says_is_kept() -> None:
    row: dict[str, Any] = {**ROW, "usage": {"input_tokens": 3, "output_tokens": 1}, "steps": [1]}
    trace = answer(PythonTarget("agent", returning(row)))

    assert (trace.usage.total_tokens, trace.finish_reason) == (4, "stop")
    assert trace.extra == {"steps": [1]}


def test_half_a_character_in_a_text_is_replaced() -> None:
    target = PythonTarget("agent", returning("nine \ud83d"))

    assert answer(target).response == "nine \ufffd"


def endless() -> dict[str, Any]:
    row: dict[str, Any] = {**ROW}
    row["again"] = row
    return row


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "a target returns a text or a trace, not NoneType"),
        (b"nine", "not bytes"),
        (["nine"], "not list"),
        ({}, "not a trace: missing messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "not a trace: messages[0].role"),
        ({**ROW, "latency_ms": "fast"}, "not a trace: latency_ms"),
        ({**ROW, "by": object()}, "the trace cannot be kept: TypeError"),
        ({**ROW, "note": "\ud83d"}, "the trace cannot be kept: UnicodeEncodeError"),
        (endless(), "the trace cannot be kept: RecursionError"),
        (Trace(messages=cast(Any, ({"role": "assistant"},))), "not a trace: AttributeError"),
        (Trace(latency_ms=-1.0), "not a trace: latency_ms"),
    ],
)
def test_anything_else_is_a_bad_response(returned: object, said: str) -> None:
    error = failure(PythonTarget("agent", returning(returned)))

    assert error.code == "bad_response"
    assert said in str(error)


def raising(error: BaseException) -> Callable[[str], str]:
    def function(_prompt: str) -> str:
        raise error

    return function


def raising_later(error: BaseException) -> Callable[[str], Any]:
    async def function(_prompt: str) -> str:
        raise error

    return function


@pytest.mark.parametrize("made", [raising, raising_later])
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyError("x"), "target_error", "KeyError: 'x'"),
        (ValueError(), "target_error", "ValueError"),
        (StopIteration(), "target_error", "StopIteration"),
        (SystemExit(3), "target_error", "SystemExit: 3"),
        (TimeoutError("peer is slow"), "timeout", "TimeoutError: peer is slow"),
        (TargetError("rate_limited", "slower"), "rate_limited", "slower"),
    ],
)
def test_what_a_function_raises_is_the_failure_of_its_record(
    made: Callable[[BaseException], Callable[..., Any]],
    error: BaseException,
    code: str,
    said: str,
) -> None:
    found = failure(PythonTarget("agent", made(error)))

    assert found.code == code
    assert said in str(found)


def test_a_ctrl_c_is_not_swallowed() -> None:
    target = PythonTarget("agent", raising_later(KeyboardInterrupt()))

    with pytest.raises(KeyboardInterrupt):
        answer(target)


async def never(_prompt: str) -> str:
    await asyncio.Event().wait()
    return "never"


def blocks(_prompt: str) -> str:
    time.sleep(600)
    return "late"


@pytest.mark.parametrize("function", [never, blocks])
def test_a_function_that_takes_too_long_is_a_timeout(function: Callable[..., Any]) -> None:
    began = time.monotonic()
    error = failure(PythonTarget("agent", function, timeout_s=0.05))

    assert (error.code, str(error)) == ("timeout", "no answer within 0.05 s")
    assert time.monotonic() - began < 120


def test_functions_that_block_run_at_once_however_many_they_are() -> None:
    together = threading.Barrier(40, timeout=120)

    def meets(_prompt: str) -> str:
        together.wait()
        return "met"

    target = PythonTarget("agent", meets)

    async def ask_forty() -> set[str]:
        traces = await asyncio.gather(*(target.ask(question()) for _ in range(40)))
        await target.close()
        return {trace.response for trace in traces}

    assert asyncio.run(ask_forty()) == {"met"}


def test_a_cancelled_call_stays_cancelled() -> None:
    async def cancel_it() -> bool:
        task = asyncio.create_task(ask_once(PythonTarget("agent", never)))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(cancel_it())


def counting() -> Callable[[str], str]:
    numbers: Iterator[int] = iter(range(100))
    return lambda _prompt: str(next(numbers))


def test_one_function_answers_many_calls_one_after_the_other() -> None:
    target = PythonTarget("agent", counting())

    async def ask_thrice() -> list[str]:
        said = [(await target.ask(question())).response for _ in range(3)]
        await target.close()
        return said

    assert asyncio.run(ask_thrice()) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("function", "name"),
    [(plain, f"{__name__}:plain"), (Agent(), f"{__name__}:Agent")],
)
def test_its_settings_name_the_callable(function: Callable[..., Any], name: str) -> None:
    described = PythonTarget("agent", function, timeout_s=5).described()

    assert described == {"provider": "python", "callable": name, "timeout_s": 5}
