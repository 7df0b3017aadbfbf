"""`anthropic` against a real endpoint: what is sent, and what becomes of a good answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.anthropic_server import MESSAGE
from servers.notes import Notes
from servers.openai_server import Answer, says, serving
from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Prompt, Request, ToolUse, Turn
from steelyard.store.clock import SystemClock
from steelyard.targets.anthropic import (
    OPENING,
    AnthropicTarget,
    called_tools,
    conversation,
    trace_of_message,
)
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.reply_json import reply_object

KEY = "sk-canary-1234567890"
SAMPLING = {"max_tokens": 64}


def target(base_url: str, **settings: Any) -> AnthropicTarget:
    given: dict[str, Any] = {"model": "m-1", "headers": {}, "sampling": SAMPLING, **settings}
    return AnthropicTarget("live", ModelSettings(base_url=base_url, **given), SystemClock())


def answered(
    answer: Answer, request: Request | None = None, path: str = "", **settings: Any
) -> Trace:
    async def main() -> Trace:
        async with serving(answer) as url:
            return await ask_once(target(url.removesuffix("/v1") + path, **settings), request)

    return asyncio.run(main())


def test_a_good_answer_becomes_a_trace() -> None:
    trace = answered(says(MESSAGE))

    assert (trace.response, trace.model) == ("At nine.", "m-1-exact")
    assert trace.finish_reason == "end_turn"
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (12, 3)
    assert trace.latency_ms is not None
    assert 0 < trace.latency_ms < 10_000


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_address_may_be_written_with_or_without_the_version(path: str) -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, path=path)

    assert notes.line == "POST /v1/messages"


def test_a_gateway_keeps_its_path() -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, path="/proxy/claude")

    assert notes.line == "POST /proxy/claude/v1/messages"


def test_asks_with_model_limit_and_conversation() -> None:
    notes = Notes(MESSAGE)
    messages = (("system", "Be kind."), ("user", "Hé?"))
    sampling = {"max_tokens": 5, "temperature": 0, "top_p": 0.5}
    answered(notes.answer, Request(Case(id="q"), Prompt(messages, "Hé?")), sampling=sampling)

    assert notes.body == {
        "model": "m-1",
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Hé?"}],
        "max_tokens": 5,
        "temperature": 0,
        "top_p": 0.5,
    }


def test_sends_its_key_and_version_each_once() -> None:
    notes = Notes(MESSAGE)
    headers = {"X-Api-Key": "another", "Anthropic-Beta": "b-1", "Content-Type": "text/other"}
    answered(notes.answer, api_key=KEY, headers=headers)

    assert notes.headers["x-api-key"] == KEY
    assert notes.headers["anthropic-version"] == "2023-06-01"
    assert notes.headers["anthropic-beta"] == "b-1"
    assert notes.headers["content-type"] == "application/json"
    assert "authorization" not in notes.headers


def test_another_version_of_the_protocol_may_be_named() -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, headers={"Anthropic-Version": "2030-01-01"})

    assert notes.headers["anthropic-version"] == "2030-01-01"
    assert "x-api-key" not in notes.headers


@pytest.mark.parametrize(
    ("messages", "system", "turns"),
    [
        ([("user", "a")], None, [("user", "a")]),
        ([("system", "s"), ("user", "a")], "s", [("user", "a")]),
        (
            [("system", "s"), ("user", "a"), ("system", "t"), ("user", "b")],
            "s\n\nt",
            [("user", "a\n\nb")],
        ),
        (
            [("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d")],
            None,
            [("user", "a"), ("assistant", "b\n\nc"), ("user", "d")],
        ),
        (
            [("assistant", "Hello!"), ("user", "a")],
            None,
            [("user", OPENING), ("assistant", "Hello!"), ("user", "a")],
        ),
        ([("user", "a"), ("assistant", "b")], None, [("user", "a"), ("assistant", "b")]),
        ([("system", "s")], None, [("user", "s")]),
    ],
    ids=["one", "system", "systems", "same role", "opened", "prefilled", "system alone"],
)
def test_the_conversation_takes_the_form_that_the_protocol_demands(
    messages: list[tuple[str, str]], system: str | None, turns: list[tuple[str, str]]
) -> None:
    made = conversation(Prompt(tuple(messages), ""))

    assert made.get("system") == system
    assert made["messages"] == [{"role": role, "content": text} for role, text in turns]


def test_its_settings_show_neither_key_nor_header_values() -> None:
    described = target(
        "http://127.0.0.1:1", api_key=KEY, headers={"X-Secret": "hush-hush-hush"}
    ).described()

    assert described == {
        "provider": "anthropic",
        "base_url": "http://127.0.0.1:1",
        "model": "m-1",
        "timeout_s": 60.0,
        "headers": ["X-Secret"],
        "max_tokens": 64,
    }


def test_the_id_of_a_request_is_found_in_its_own_header() -> None:
    with pytest.raises(TargetError) as caught:
        answered(
            says({"type": "error", "error": {"message": "Overloaded"}}, 529, request_id="req_7"),
            question(),
        )

    assert (caught.value.code, caught.value.request_id) == ("service_unavailable", "req_7")
    assert str(caught.value) == "HTTP 529: Overloaded"


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def body(*blocks: object, **fields: Any) -> bytes:
    return json.dumps({**MESSAGE, "content": list(blocks), **fields}).encode("utf-8")


def read(data: bytes) -> Trace:
    return trace_of_message(reply_object(data), 12.346)


def test_text_reason_model_usage_and_id_are_read() -> None:
    trace = read(json.dumps(MESSAGE).encode())

    assert (trace.response, trace.finish_reason, trace.model) == (
        "At nine.",
        "end_turn",
        "m-1-exact",
    )
    assert trace.usage == Usage(
        input_tokens=12,
        output_tokens=3,
        extra={"cache_creation_input_tokens": 0, "cache_read_input_tokens": 7},
    )
    assert (trace.extra, trace.latency_ms) == ({"response_id": "msg_1"}, 12.346)


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([text("At "), text("nine.")], "At nine."),
        ([text("")], ""),
        ([], ""),
        ([{"type": "text"}, "loose", None, text("nine")], "nine"),
    ],
)
def test_the_texts_of_all_blocks_are_one(blocks: list[object], said: str) -> None:
    assert read(body(*blocks)).response == said


def test_tool_calls_are_kept_with_their_input() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "hours", "input": {"day": 7}}
    trace = read(body(text("Let me see."), call, {"type": "tool_use"}, stop_reason="tool_use"))

    assert trace.messages[0].tool_calls == (
        ToolCall(id="t1", tool="hours", input={"day": 7}),
        ToolCall(tool=""),
    )
    assert (trace.response, trace.finish_reason) == ("Let me see.", "tool_use")


def test_blocks_of_other_types_are_kept_beside_the_answer() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    trace = read(body(thought, text("nine"), id=None))

    assert trace.response == "nine"
    assert trace.extra == {"other_blocks": [thought]}


@pytest.mark.parametrize(
    ("blocks", "details", "refusal"),
    [
        ([], None, "refusal"),
        ([text("I will not.")], None, "I will not."),
        ([text("I will not.")], {"type": "refusal", "explanation": "It harms."}, "It harms."),
        ([], {"type": "refusal", "explanation": None}, "refusal"),
        ([], "no object", "refusal"),
    ],
)
def test_a_refusal_is_kept(blocks: list[object], details: object, refusal: str) -> None:
    trace = read(body(*blocks, stop_reason="refusal", stop_details=details))

    assert (trace.refusal, trace.finish_reason) == (refusal, "refusal")
    assert trace.extra.get("stop_details") == details


def test_what_reads_like_a_refusal_is_none_without_its_reason() -> None:
    assert read(body(text("I will not."))).refusal is None


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        ({"input_tokens": 5}, Usage(input_tokens=5)),
        ({"input_tokens": "5", "output_tokens": -1}, Usage()),
        ({"input_tokens": 5, "service_tier": None}, Usage(input_tokens=5)),
        (None, Usage()),
        ([5, 2], Usage()),
    ],
)
def test_usage_that_is_no_count_is_unknown(usage: object, read_as: Usage) -> None:
    assert read(body(usage=usage)).usage == read_as


@pytest.mark.parametrize(
    "data", [body(), body(text("nine")), body({"type": "tool_use", "name": "a"}), body(usage=None)]
)
def test_every_trace_can_be_read_back(data: bytes) -> None:
    trace = read(data)

    assert read_trace(trace_row(trace)) == (trace, [])


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", "internal_error", "not JSON"),
        (b"[]", "internal_error", "no JSON object"),
        (b"{}", "bad_response", "no list 'content'"),
        (
            b'{"content": [{"type": ["text"]}]}',
            "bad_response",
            "a block in 'content' is not a text",
        ),
        (b'{"content": "nine"}', "bad_response", "no list 'content'"),
        (
            b'{"type": "error", "error": {"type": "x", "message": "no such model"}}',
            "bad_request",
            "error: no such model",
        ),
    ],
)
def test_everything_else_is_an_error_with_its_code(data: bytes, code: str, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read(data)

    assert caught.value.code == code
    assert said in str(caught.value)


TURNS = [
    Turn("assistant", (), (ToolUse("1", "a", {}, "x"), ToolUse("2", "b", {}, "y"))),
    Turn("assistant", (), (ToolUse("3", "a", {}, "z"),)),
]
A: JsonObject = {"name": "a", "input_schema": {"type": "object"}}
B: JsonObject = {"name": "b", "input_schema": {"type": "object"}}


def test_each_is_defined_once_and_none_may_be_called() -> None:
    assert called_tools(TURNS, {}) == {"tools": [A, B], "tool_choice": {"type": "none"}}


def test_definitions_of_the_project_stay() -> None:
    own: JsonObject = {"name": "a", "description": "Says a.", "input_schema": {"type": "object"}}

    assert called_tools(TURNS, {"tools": [own]}) == {"tools": [own, B]}
    assert called_tools(TURNS, {"tools": [own, B]}) == {}
    assert called_tools([], {}) == {}
