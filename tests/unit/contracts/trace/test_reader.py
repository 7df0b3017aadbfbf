"""A value becomes a trace, or findings that say why not."""

from __future__ import annotations

import pytest

from steelyard.contracts.trace.reader import read_trace
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, OtherBlock, TextBlock, ToolCall
from steelyard.model.trace import Trace, Usage

SAID: JsonObject = {"role": "assistant", "content": "Hi"}
CALL: JsonObject = {"tool": "search"}


def message(**fields: JsonValue) -> JsonObject:
    return {"messages": [{"role": "assistant", **fields}]}


def read(value: JsonValue) -> Trace:
    trace, findings = read_trace(value)
    assert trace is not None
    assert findings == []
    return trace


def test_a_full_trace_is_read() -> None:
    """TR-01, TR-04, TR-05"""
    call: JsonObject = {"id": "1", "tool": "search", "input": {"q": "x"}, "output": ["y"]}
    trace = read(
        {
            "messages": [{"role": "assistant", "name": "bot", "tool_calls": [call]}, SAID],
            "usage": {"input_tokens": 12, "output_tokens": 3},
            "latency_ms": 120.5,
            "finish_reason": "stop",
            "refusal": "no",
            "model": "m-1",
        }
    )

    used = ToolCall(id="1", tool="search", input={"q": "x"}, output=["y"])
    assert trace == Trace(
        messages=(
            Message(role="assistant", name="bot", tool_calls=(used,)),
            Message(role="assistant", content="Hi"),
        ),
        usage=Usage(input_tokens=12, output_tokens=3),
        latency_ms=120.5,
        finish_reason="stop",
        refusal="no",
        model="m-1",
    )


def test_only_messages_are_needed() -> None:
    """TR-01, TR-06"""
    assert read({"messages": []}) == Trace()


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("Hi", "Hi"),
        (None, None),
        ({"a": [1]}, {"a": [1]}),
        ([], ()),
        (
            ["a", {"type": "text", "value": "b", "lang": "en"}],
            (TextBlock(text="a"), TextBlock(text="b", extra={"lang": "en"})),
        ),
        (
            [{"type": "file", "value": "x.md"}],
            (OtherBlock(data={"type": "file", "value": "x.md"}),),
        ),
        ([{"type": "text"}], (OtherBlock(data={"type": "text"}),)),
        ([{"type": "image", "url": "x"}], (OtherBlock(data={"type": "image", "url": "x"}),)),
    ],
)
def test_content_is_a_text_an_object_blocks_or_nothing(
    written: JsonValue, content: object
) -> None:
    """TR-02, TR-12"""
    assert read(message(content=written)).messages[0].content == content


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_there_are_four_roles(role: str) -> None:
    """TR-02"""
    assert read({"messages": [{**SAID, "role": role}]}).messages[0].role == role


@pytest.mark.parametrize(
    "nulls",
    [
        {"usage": None, "latency_ms": None, "finish_reason": None, "refusal": None, "model": None},
        {"usage": {}},
        {"usage": {"input_tokens": None, "output_tokens": None}},
    ],
)
def test_null_and_absent_both_mean_unknown(nulls: JsonObject) -> None:
    """TR-06"""
    assert read({"messages": [SAID], **nulls}) == read({"messages": [SAID]})


def test_null_fields_of_a_message_are_absent() -> None:
    """TR-06"""
    call: JsonObject = {**CALL, "id": None, "input": None, "output": None}
    fields: JsonObject = {"content": None, "name": None, "tool_calls": [call]}

    assert read(message(**fields)) == read(message(tool_calls=[CALL]))
    assert read(message(content="Hi", tool_calls=None)) == read(message(content="Hi"))


@pytest.mark.parametrize(("written", "count"), [(12, 12), (12.0, 12), (0, 0)])
def test_a_count_may_be_written_as_a_whole_float(written: float, count: int) -> None:
    """TR-05"""
    usage = read({"messages": [], "usage": {"input_tokens": written}}).usage

    assert (usage.input_tokens, usage.output_tokens) == (count, None)
    assert isinstance(usage.input_tokens, int)


WRONG: list[tuple[JsonValue, str, str]] = [
    (None, "invalid_field_type", ""),
    ([], "invalid_field_type", ""),
    ({}, "missing_required_field", "messages"),
    ({"messages": SAID}, "invalid_field_type", "messages"),
    ({"messages": ["Hi"]}, "invalid_field_type", "messages[0]"),
    ({"messages": [{"content": "Hi"}]}, "missing_required_field", "messages[0].role"),
    ({"messages": [{"role": "bot", "content": ""}]}, "invalid_enum_value", "messages[0].role"),
    (message(), "missing_required_field", "messages[0].content"),
    (message(tool_calls=[]), "missing_required_field", "messages[0].content"),
    (message(tool_calls=None), "missing_required_field", "messages[0].content"),
    (message(content=5), "invalid_field_type", "messages[0].content"),
    (message(content=[5]), "invalid_field_type", "messages[0].content[0]"),
    (message(content=[{}]), "missing_required_field", "messages[0].content[0].type"),
    (message(content="", name=5), "invalid_field_type", "messages[0].name"),
    (message(tool_calls=[{}]), "missing_required_field", "messages[0].tool_calls[0].tool"),
    (message(tool_calls=[{"tool": 5}]), "invalid_field_type", "messages[0].tool_calls[0].tool"),
    (
        message(tool_calls=[{**CALL, "id": 5}]),
        "invalid_field_type",
        "messages[0].tool_calls[0].id",
    ),
    ({"messages": [], "usage": 5}, "invalid_field_type", "usage"),
    (
        {"messages": [], "usage": {"input_tokens": -1}},
        "value_out_of_range",
        "usage.input_tokens",
    ),
    (
        {"messages": [], "usage": {"output_tokens": 1.5}},
        "invalid_field_type",
        "usage.output_tokens",
    ),
    ({"messages": [], "latency_ms": -1}, "value_out_of_range", "latency_ms"),
    ({"messages": [], "first_token_ms": -1}, "value_out_of_range", "first_token_ms"),
    ({"messages": [], "latency_ms": "5"}, "invalid_field_type", "latency_ms"),
    ({"messages": [], "finish_reason": 5}, "invalid_field_type", "finish_reason"),
    ({"messages": [], "refusal": True}, "invalid_field_type", "refusal"),
    ({"messages": [], "model": 5}, "invalid_field_type", "model"),
]


@pytest.mark.parametrize(("value", "code", "path"), WRONG)
def test_what_is_wrong_gives_no_trace_but_a_finding(
    value: JsonValue, code: str, path: str
) -> None:
    """TR-01, TR-02, TR-03, TR-04, TR-05, TR-09"""
    trace, findings = read_trace(value)

    assert trace is None
    assert [(found.severity, found.code, found.path) for found in findings] == [
        ("error", code, path)
    ]


@pytest.mark.parametrize(
    ("value", "path", "meant"),
    [
        ({"messages": [], "modle": "m"}, "modle", "model"),
        ({"messages": [], "latencyMs": 5}, "latencyMs", "latency_ms"),
        ({"messages": [], "usage": {"input_token": 5}}, "usage.input_token", "input_tokens"),
        (message(content="", toolcalls=[]), "messages[0].toolcalls", "tool_calls"),
        (
            message(tool_calls=[{**CALL, "ouput": 5}]),
            "messages[0].tool_calls[0].ouput",
            "output",
        ),
        (message(content=[{"type": "x", "vale": 5}]), "messages[0].content[0].vale", "value"),
    ],
)
def test_a_near_miss_is_a_warning(value: JsonObject, path: str, meant: str) -> None:
    """TR-08"""
    trace, (finding,) = read_trace(value)

    assert trace is not None
    assert (finding.severity, finding.code, finding.path) == ("warning", "unknown_field", path)
    assert finding.hint == f"did you mean '{meant}'?"


def test_other_fields_are_kept_where_they_stand() -> None:
    """TR-07"""
    trace = read(
        {
            "messages": [
                {**SAID, "at": 1, "tool_calls": [{**CALL, "timestamp": 2}]},
            ],
            "usage": {"cached": 3},
            "cost_usd": 0.5,
        }
    )

    (said,) = trace.messages
    assert (said.extra, said.tool_calls[0].extra) == ({"at": 1}, {"timestamp": 2})
    assert (trace.usage.extra, trace.extra) == ({"cached": 3}, {"cost_usd": 0.5})


@pytest.mark.parametrize(
    ("messages", "response"),
    [
        ([], ""),
        ([{"role": "user", "content": "Hi"}], ""),
        ([SAID, {"role": "tool", "content": "x"}], "Hi"),
        ([SAID, {"role": "assistant", "content": "Bye"}], "Bye"),
        ([{"role": "assistant", "content": ["a", "b"]}], "a\nb"),
    ],
)
def test_the_response_is_the_text_of_the_last_assistant_message(
    messages: JsonValue, response: str
) -> None:
    """TR-11"""
    assert read({"messages": messages}).response == response
