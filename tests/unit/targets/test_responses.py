"""`openai` with `api: responses`: what is sent, and what becomes of a good answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.notes import Notes
from servers.openai_server import Answer, says, serving
from servers.responses_server import RESPONSE
from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import ConfigError, TargetError
from steelyard.model.case import Case
from steelyard.model.message import ImageBlock, ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Judged, Prompt, Request, ToolUse, Turn
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import TargetMaker

PNG = ImageBlock(data={}, media_type="image/png", content=b"png", detail="low")
ELSEWHERE = ImageBlock(data={}, url="https://pictures.example.com/q3.png")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"value": {"enum": [0, 1]}}}
JUDGED = Judged(
    schema=SCHEMA,
    is_held=True,
    wants_logprobs=True,
    candidate="live",
    check="right",
    judge="judge/fair@1.2.0",
    item=None,
    turn=None,
    sample=0,
    round=0,
)


def target(url: str, **settings: Any) -> Any:
    given = {"provider": "openai", "api": "responses", "base_url": url, "model": "m-1", **settings}
    entry = TargetEntry.of(given)
    return TargetMaker(Path.cwd(), {"live": entry}, {}, SystemClock()).make("live").target


def answered(answer: Answer, request: Request | None = None, **settings: Any) -> Trace:
    async def main() -> Trace:
        async with serving(answer) as url:
            return await ask_once(target(url, **settings), request)

    return asyncio.run(main())


def sent(request: Request | None = None, **settings: Any) -> Any:
    notes = Notes(RESPONSE)
    answered(notes.answer, request, **settings)
    assert notes.line == "POST /v1/responses"
    return notes.body


def test_a_good_answer_becomes_a_trace() -> None:
    trace = answered(says(RESPONSE))

    assert (trace.response, trace.model, trace.finish_reason) == ("At nine.", "m-1-exact", "stop")
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (12, 3)
    assert trace.usage.extra == {
        "input_tokens_details": {"cached_tokens": 7},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    assert (trace.extra, trace.refusal) == ({"response_id": "resp_1"}, None)
    assert read_trace(trace_row(trace))[0] == replace(trace, served=None)


def test_asks_with_input_model_and_sampling_and_has_nothing_kept() -> None:
    prompt = Prompt((("system", "Be kind."), ("user", "Hé?")), "Hé?")
    body = sent(
        Request(Case(id="q"), prompt),
        temperature=0,
        max_new_tokens=5,
        extra={"reasoning": {"effort": "low"}, "text": {"verbosity": "low"}},
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "a", "strict": True, "schema": SCHEMA},
        },
        tools=[{"name": "hours", "description": "When"}, {"type": "web_search"}],
    )

    assert body == {
        "model": "m-1",
        "input": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hé?"},
        ],
        "store": False,
        "temperature": 0,
        "max_output_tokens": 5,
        "reasoning": {"effort": "low"},
        "text": {
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "a", "strict": True, "schema": SCHEMA},
        },
        "tools": [
            {
                "type": "function",
                "name": "hours",
                "description": "When",
                "strict": False,
                "parameters": {"type": "object", "properties": {}},
            },
            {"type": "web_search"},
        ],
    }
    assert sent(extra={"store": True})["store"] is True


def test_images_and_tools_of_a_conversation_are_items_of_their_own() -> None:
    used = ToolUse("c1", "hours", {"day": 7}, "nine")
    turns = (
        Turn("user", ("See", PNG, ELSEWHERE)),
        Turn("assistant", (), (used, ToolUse("c2", "fees", "{}", "none"))),
        Turn("assistant", ("One", "two")),
        Turn("user", ("And now?",)),
    )
    body = sent(Request(Case(id="q"), Prompt((("user", "See"),), "See", turns)))

    assert body["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See"},
                {
                    "type": "input_image",
                    "image_url": "data:image/png;base64,cG5n",
                    "detail": "low",
                },
                {"type": "input_image", "image_url": "https://pictures.example.com/q3.png"},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "hours", "arguments": '{"day": 7}'},
        {"type": "function_call", "call_id": "c2", "name": "fees", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "nine"},
        {"type": "function_call_output", "call_id": "c2", "output": "none"},
        {
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "One"},
                {"type": "output_text", "text": "two"},
            ],
        },
        {"role": "user", "content": "And now?"},
    ]


def test_a_judge_is_held_to_its_schema_and_asked_for_probabilities() -> None:
    body = sent(question("Is it right?")._replace(judged=JUDGED))

    assert body["text"] == {
        "format": {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}
    }
    assert (body["include"], body["top_logprobs"]) == (["message.output_text.logprobs"], 20)


def output(*items: dict[str, Any], **more: Any) -> Answer:
    return says({**RESPONSE, "output": list(items), **more})


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def test_probabilities_of_tokens_are_kept() -> None:
    token = {"token": "1", "logprob": -0.1, "top_logprobs": [{"token": "0", "logprob": -3}]}
    part = {"type": "output_text", "text": "1", "logprobs": [token]}
    trace = answered(output(said(part)), question()._replace(judged=JUDGED))

    assert trace.extra["logprobs"] == [{"token": "1", "logprobs": {"1": -0.1, "0": -3.0}}]


def test_calls_reasoning_and_refusal_are_kept() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text"}]}
    trace = answered(
        output(
            reasoning,
            {"type": "function_call", "call_id": "c1", "name": "hours", "arguments": '{"day": 7}'},
            {"type": "custom_tool_call", "call_id": "c2", "name": "run", "input": "{ls}"},
            said({"type": "output_text", "text": "At "}, {"type": "output_text", "text": "nine."}),
            said({"type": "refusal", "refusal": "No."}),
        )
    )

    assert trace.messages[0].tool_calls == (
        ToolCall(tool="hours", input={"day": 7}, id="c1"),
        ToolCall(tool="run", input="{ls}", id="c2"),
    )
    assert (trace.response, trace.refusal, trace.finish_reason) == (
        "At nine.",
        "No.",
        "tool_calls",
    )
    assert trace.extra["other_items"] == [reasoning]


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({}, "incomplete"),
    ],
)
def test_an_answer_that_was_stopped_says_why(ended: dict[str, Any], reason: str) -> None:
    assert answered(says({**RESPONSE, "status": "incomplete", **ended})).finish_reason == reason


def test_an_answer_of_nothing_is_empty() -> None:
    trace = answered(says({"output": []}))

    assert (trace.response, trace.messages[0].content, trace.usage) == ("", None, Usage())


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (
            {**RESPONSE, "status": "queued"},
            "bad_response",
            "the answer is 'queued', not completed",
        ),
        ({"output": "odd"}, "bad_response", "the answer has no list 'output'"),
        (
            {"status": "failed", "error": {"code": "server_error", "message": "later"}},
            "internal_error",
            "the endpoint answers with an error: later",
        ),
    ],
)
def test_what_is_no_answer_has_its_code(answer: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        answered(says(answer))

    assert (caught.value.code, str(caught.value)) == (code, message)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 7}, "the Responses API has no seed; remove 'seed', or use api: chat"),
        ({"extra": {"max_output_tokens": 9}}, "use 'max_new_tokens' of the target instead"),
        ({"extra": {"text": {"format": {}}}}, "use 'response_format' of the target instead"),
        ({"extra": {"previous_response_id": "r"}}, "the case and the prompt of the target say"),
        ({"extra": {"background": True}}, "a call waits for its answer"),
    ],
)
def test_what_would_change_the_meaning_of_a_call_is_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        target("http://127.0.0.1:1/v1", **settings)


def test_its_settings_say_which_protocol_it_speaks() -> None:
    described = target("http://127.0.0.1:1/v1", stream=True).described()

    assert (described["provider"], described["api"], described["stream"]) == (
        "openai",
        "responses",
        True,
    )
    assert json.dumps(described)
