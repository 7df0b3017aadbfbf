"""`openai` against a real endpoint: what is sent, and what becomes of a good answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fakes.asking import ask_once
from servers.notes import Notes
from servers.openai_server import COMPLETION, Answer, packs, says, sends, serving
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.message import ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Prompt, Request
from steelyard.store.clock import SystemClock
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import OpenAITarget

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
