"""`openai` against a real endpoint: what is sent, and what becomes of a good answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fakes.asking import ask_once
from servers.notes import Notes
from servers.openai_server import COMPLETION, Answer, packs, says, sends, serving
from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.message import ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Prompt, Request
from steelyard.store.clock import SystemClock
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import OpenAITarget, read_completion
from steelyard.targets.reply_json import refusal_text

KEY = "sk-canary-1234567890"


def target(base_url: str, **settings: Any) -> OpenAITarget:
    given: dict[str, Any] = {"model": "m-1", "headers": {}, "sampling": {}, **settings}
    return OpenAITarget("live", ModelSettings(base_url=base_url, **given), SystemClock())


def answered(answer: Answer, request: Request | None = None, **settings: Any) -> Trace:
    async def main() -> Trace:
        async with serving(answer) as url:
            return await ask_once(target(url, **settings), request)

    return asyncio.run(main())


def test_a_good_answer_becomes_a_trace() -> None:
    trace = answered(says(COMPLETION))

    assert (trace.response, trace.model, trace.finish_reason) == ("At nine.", "m-1-exact", "stop")
    assert trace.usage == Usage(input_tokens=12, output_tokens=3)
    assert trace.extra == {"response_id": "chatcmpl-1"}
    assert trace.latency_ms is not None
    assert 0 < trace.latency_ms < 10_000


@pytest.mark.parametrize(
    ("arguments", "given"), [('{"day": 7}', {"day": 7}), ('{"day": ', '{"day": ')]
)
def test_tool_calls_are_kept_even_when_their_arguments_are_broken(
    arguments: str, given: JsonValue
) -> None:
    call = {"id": "t1", "function": {"name": "hours", "arguments": arguments}}
    choice = {"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}
    trace = answered(says({"choices": [choice]}))

    assert trace.messages[0].tool_calls == (ToolCall(tool="hours", input=given, id="t1"),)
    assert trace.finish_reason == "tool_calls"


def test_a_refusal_is_an_answer() -> None:
    choice = {"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}
    trace = answered(says({"choices": [choice]}))

    assert (trace.refusal, trace.response) == ("No.", "")


@pytest.mark.parametrize(
    "answer",
    [
        packs(json.dumps(COMPLETION).encode()),
        sends(json.dumps(COMPLETION).encode(), kind="text/plain"),
        says(COMPLETION, status=201),
    ],
)
def test_packed_mislabelled_or_created_it_is_the_same_answer(answer: Answer) -> None:
    assert answered(answer).response == "At nine."


def test_asks_with_messages_model_and_sampling() -> None:
    notes = Notes(COMPLETION)
    request = Request(Case(id="q"), Prompt((("system", "Be kind."), ("user", "Hé?")), "Hé?"))
    answered(notes.answer, request, sampling={"temperature": 0, "max_tokens": 5})

    assert notes.line == "POST /v1/chat/completions"
    assert notes.headers["content-type"] == "application/json"
    assert notes.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hé?"},
        ],
        "temperature": 0,
        "max_tokens": 5,
    }


def test_sends_its_key_and_headers_each_once() -> None:
    notes = Notes(COMPLETION)
    headers = {"X-Team": "evals", "Content-Type": "text/other", "Authorization": "Basic other"}
    answered(notes.answer, api_key=KEY, headers=headers)

    assert notes.headers["authorization"] == f"Bearer {KEY}"
    assert notes.headers["content-type"] == "application/json"
    assert notes.headers["x-team"] == "evals"
    assert "cookie" not in notes.headers


def test_without_a_key_none_is_sent() -> None:
    notes = Notes(COMPLETION)
    answered(notes.answer)

    assert "authorization" not in notes.headers


def test_a_slash_at_the_end_of_the_address_does_not_matter() -> None:
    notes = Notes(COMPLETION)

    async def main() -> None:
        async with serving(notes.answer) as url:
            await ask_once(target(url + "/"))

    asyncio.run(main())

    assert notes.line == "POST /v1/chat/completions"


def test_a_target_that_was_never_asked_can_be_closed() -> None:
    asyncio.run(target("http://127.0.0.1:1/v1").close())


def test_its_settings_show_neither_key_nor_header_values() -> None:
    described = target(
        "http://127.0.0.1:1/v1",
        api_key=KEY,
        headers={"X-Secret": "hush-hush-hush"},
        sampling={"seed": 7},
    ).described()

    assert described == {
        "provider": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "m-1",
        "timeout_s": 60.0,
        "headers": ["X-Secret"],
        "seed": 7,
    }


def body(message: object = None, **fields: Any) -> bytes:
    said = {"role": "assistant", "content": "nine"} if message is None else message
    answer = {"choices": [{"message": said, "finish_reason": "stop"}], **fields}
    return json.dumps(answer).encode("utf-8")


def read(data: bytes) -> Trace:
    return read_completion(data, 12.346)


def test_text_reason_model_usage_and_id_are_read() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    trace = read(body(id="c-1", model="m-1", usage=usage))

    assert (trace.response, trace.finish_reason, trace.model) == ("nine", "stop", "m-1")
    assert trace.usage == Usage(input_tokens=5, output_tokens=2)
    assert trace.extra == {"response_id": "c-1"}
    assert trace.latency_ms == 12.346


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nine", "nine"),
        ("", ""),
        (None, ""),
        ([{"type": "text", "text": "ni"}, {"type": "text", "text": "ne"}], "nine"),
        ([{"type": "image"}, "loose", {"text": 5}], ""),
    ],
)
def test_content_is_a_text_or_parts_or_nothing(content: object, said: str) -> None:
    trace = read(body({"content": content}))

    assert trace.response == said


def test_a_refusal_is_kept() -> None:
    trace = read(body({"content": None, "refusal": "I would rather not."}))

    assert (trace.response, trace.refusal) == ("", "I would rather not.")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"day": "Sunday"}', {"day": "Sunday"}),
        ("[1, 2]", [1, 2]),
        ('{"day": "Sun', '{"day": "Sun'),
        ("", ""),
        ("[" * 5000, "[" * 5000),
        ({"day": 7}, {"day": 7}),
        (None, None),
    ],
)
def test_the_arguments_of_a_tool_call_are_json_or_kept_as_they_are(
    arguments: JsonValue, given: JsonValue
) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "hours", "arguments": arguments}}
    trace = read(body({"content": None, "tool_calls": [call]}))

    assert trace.messages[0].tool_calls == (ToolCall(id="t1", tool="hours", input=given),)


@pytest.mark.parametrize("calls", [None, {}, "x", [None, 5, {}, {"function": "hours"}]])
def test_tool_calls_of_another_shape_are_left_out(calls: object) -> None:
    assert read(body({"content": "nine", "tool_calls": calls})).messages[0].tool_calls == ()


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        ({"prompt_tokens": 5}, Usage(input_tokens=5)),
        ({"prompt_tokens": "5", "completion_tokens": -1}, Usage()),
        (
            {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
            Usage(input_tokens=20, output_tokens=603),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 198},
            Usage(input_tokens=20, output_tokens=198),
        ),
        ({"prompt_tokens": True, "completion_tokens": 2.5}, Usage()),
        (None, Usage()),
        ([5, 2], Usage()),
    ],
)
def test_usage_is_what_was_counted_and_no_count_is_unknown(usage: object, read_as: Usage) -> None:
    assert read(body(usage=usage)).usage == read_as


def test_an_answer_that_ends_within_a_character_is_still_an_answer() -> None:
    trace = read(b'{"choices": [{"message": {"content": "nine \\ud83d"}}]}')

    assert trace.response == "nine \ufffd"


@pytest.mark.parametrize(
    "data",
    [
        body(id="c-1", model="m-1", usage={"prompt_tokens": 1, "completion_tokens": 1}),
        body({"content": None}),
        body({"content": None, "tool_calls": [{"function": {"name": None}}]}),
        body({}),
    ],
)
def test_every_trace_can_be_read_back(data: bytes) -> None:
    trace = read(data)

    assert read_trace(trace_row(trace)) == (trace, [])


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", "internal_error", "not JSON"),
        (b"<html>Bad gateway</html>", "internal_error", "not JSON"),
        (body()[:-10], "internal_error", "not JSON"),
        (
            b'{"choices": "\xff"}',
            "internal_error",
            "the answer is not UTF-8: byte 0xff at offset 13",
        ),
        (b"[" * 100_000, "internal_error", "nested deeper"),
        (b"[]", "internal_error", "no JSON object"),
        (b'"nine"', "internal_error", "no JSON object"),
        (b"{}", "bad_response", "no choices[0].message"),
        (b'{"choices": []}', "bad_response", "no choices[0].message"),
        (b'{"choices": {"0": 1}}', "bad_response", "no choices[0].message"),
        (b'{"choices": [5]}', "bad_response", "no choices[0].message"),
        (b'{"choices": [{"message": "nine"}]}', "bad_response", "no choices[0].message"),
        (body({"content": 9}), "bad_response", "neither text nor parts"),
        (b'{"error": {"message": "no such model"}}', "bad_request", "error: no such model"),
        (b'{"error": "overloaded"}', "bad_request", "error: overloaded"),
        (b'{"error": {"code": 7}}', "bad_request", "error: {'code': 7}"),
    ],
)
def test_everything_else_is_an_error_with_its_code(data: bytes, code: str, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read(data)

    assert caught.value.code == code
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"error": {"message": " slow down "}}', "slow down"),
        (b'[{"error": {"code": 400, "message": "slow down"}}]', "slow down"),
        (b"[1]", "[1]"),
        (b'{"detail": "gone"}', "{'detail': 'gone'}"),
        (b"<h1>Bad\xff gateway</h1>\n", "<h1>Bad\ufffd gateway</h1>"),
        (b"", ""),
    ],
)
def test_the_body_of_an_http_error_is_told_in_short(data: bytes, said: str) -> None:
    assert refusal_text(data) == said
