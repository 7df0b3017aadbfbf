"""The response that a case brings with it."""

from __future__ import annotations

import asyncio

import pytest

from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.message import Message, Role, ToolCall
from steelyard.ports import Prompt, Request, Sought
from steelyard.targets.specs import ConversationTarget


def case(*said: tuple[Role, str]) -> Case:
    return Case(
        id="c1", input_messages=tuple(Message(role=role, content=text) for role, text in said)
    )


def answer(given: Case) -> str:
    target = ConversationTarget()
    trace = asyncio.run(target.ask(Request(given, Prompt((), ""), 0, 1)))
    asyncio.run(target.close())
    return trace.response


@pytest.mark.parametrize(
    ("said", "response"),
    [
        ([("user", "a?"), ("assistant", "b")], "b"),
        ([("assistant", "a"), ("user", "b?"), ("assistant", "c")], "c"),
        ([("assistant", "a"), ("user", "b?")], "a"),
        ([("user", "a?"), ("assistant", "")], ""),
    ],
)
def test_the_last_assistant_message_is_the_response(
    said: list[tuple[Role, str]], response: str
) -> None:
    given = case(*said)

    assert ConversationTarget().covers(Sought(given))
    assert answer(given) == response


def test_the_trace_is_the_whole_conversation_up_to_the_last_answer() -> None:
    given = case(
        ("user", "a?"), ("assistant", "b"), ("user", "c?"), ("assistant", "d"), ("user", "e")
    )
    request = Request(given, Prompt((), ""), 0, 1)
    trace = asyncio.run(ConversationTarget().ask(request))

    assert [message.text for message in trace.messages] == ["a?", "b", "c?", "d"]


def test_tool_calls_come_with_the_message() -> None:
    call = ToolCall(tool="search", input={"q": "x"})
    message = Message(role="assistant", content="found", tool_calls=(call,))
    request = Request(Case(id="c1", input_messages=(message,)), Prompt((), ""), 0, 1)
    trace = asyncio.run(ConversationTarget().ask(request))

    assert trace.messages == (message,)
    assert trace.latency_ms is None


def test_a_case_without_one_is_not_covered_and_neither_is_a_repeat() -> None:
    target = ConversationTarget()

    assert not target.covers(Sought(case(("user", "a?"))))
    assert not target.covers(Sought(case(("assistant", "a")), 1))
    with pytest.raises(TargetError, match="'c1' has no assistant message"):
        answer(case(("user", "a?")))
