"""The body of a message becomes a trace, or the error that it stands for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from servers.anthropic_server import MESSAGE
from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import TargetError
from steelyard.model.message import ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.targets.anthropic_message import read_message


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def body(*blocks: object, **fields: Any) -> bytes:
    return json.dumps({**MESSAGE, "content": list(blocks), **fields}).encode("utf-8")


def read(data: bytes) -> Trace:
    return read_message(data, 12.346)


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
