"""What agents answer with: a trace, a response, or a plain text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import TargetError
from steelyard.model.json_value import JsonValue
from steelyard.model.trace import Trace
from steelyard.targets.agent_reply import read_output, read_reply, with_latency

ANSWER = {"role": "assistant", "content": "nine"}


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [ANSWER], "model": "m", "region": "eu"},
        {"response_text": "nine", "model": "m", "region": "eu"},
    ],
)
def test_a_trace_and_a_response_come_to_the_same(value: JsonValue) -> None:
    trace = read_reply(value)

    assert trace_row(trace) == {"messages": [ANSWER], "model": "m", "region": "eu"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "neither a trace (with 'messages') nor an object with 'response_text'"),
        ({"answer": "nine"}, "neither a trace"),
        ([ANSWER], "neither a trace"),
        ("nine", "neither a trace"),
        (None, "neither a trace"),
        ({"response_text": 9}, "'response_text' is no text"),
        ({"response_text": "nine", "usage": 7}, "not a trace"),
        ({"messages": "nine"}, "not a trace"),
        ({"messages": [{"role": "robot", "content": "nine"}]}, "not a trace"),
    ],
)
def test_anything_else_is_a_bad_response(value: JsonValue, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read_reply(value)

    assert caught.value.code == "bad_response"
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"nine", "nine"),
        (b"nine\n", "nine"),
        (b"nine\r\n\r\n", "nine"),
        (b"  nine  \n", "  nine  "),
        (b"", ""),
        (b"\xef\xbb\xbfnine", "nine"),
        (b'{"response_text": "nine"}\n', "nine"),
        (b'\xef\xbb\xbf \n{"messages": [{"role": "assistant", "content": "nine"}]}', "nine"),
        (b'{"response_text": "nine \\ud83d"}', "nine \ufffd"),
        (b'{"hours": 9}', '{"hours": 9}'),
        (b'{"hours": ', '{"hours": '),
        (b"{curly} nine", "{curly} nine"),
        (b'["response_text"]', '["response_text"]'),
        (b"9", "9"),
    ],
)
def test_output_is_json_of_an_agent_or_a_text(data: bytes, said: str) -> None:
    assert read_output(data).response == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"messages": [{"role": "assi', "begins like a trace, but is not JSON"),
        (b' { "response_text" : "nine', "begins like a trace, but is not JSON"),
        (b'{"messages": 5}', "not a trace"),
        (b"nine \xe9", "the output is not UTF-8: byte 0xe9 at offset 5"),
        (b'{"response_text": "\xff"}', "the output is not UTF-8"),
    ],
)
def test_broken_output_is_not_taken_for_an_answer(data: bytes, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        read_output(data)

    assert caught.value.code == "bad_response"
    assert said in str(caught.value)


@given(st.text())
def test_any_text_comes_through_as_a_response(said: str) -> None:
    said = said.encode("utf-8", "replace").decode("utf-8")

    assert read_output(json.dumps({"response_text": said}).encode()).response == said


@given(st.binary())
def test_any_output_is_a_trace_or_an_error(data: bytes) -> None:
    try:
        outcome: Trace | str = read_output(data)
    except TargetError as error:
        outcome = error.code

    assert outcome == "bad_response" or isinstance(outcome, Trace)


def test_a_latency_is_added_only_where_there_is_none() -> None:
    assert with_latency(Trace(), 5.0).latency_ms == 5.0
    assert with_latency(Trace(latency_ms=0.0), 5.0).latency_ms == 0.0
