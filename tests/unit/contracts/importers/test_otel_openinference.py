"""Spans of OpenInference as recorded responses."""

from __future__ import annotations

from typing import Any

from fakes.otel_spans import export, span
from steelyard.contracts.importers.otel_openinference import with_usual_names
from steelyard.contracts.importers.otel_spans import Span, spans_of
from steelyard.contracts.importers.otel_traces import conversation_of, import_trace
from steelyard.contracts.importers.source_row import Imported

MODEL: dict[str, Any] = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m-1",
    "llm.token_count.prompt": 12,
    "llm.token_count.completion": 5,
    "session.id": "s-7",
    "input.value": "ignored beside messages",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "text",
    "llm.input_messages.0.message.contents.0.message_content.text": "When do you open?",
}
CALLED: dict[str, Any] = {
    **MODEL,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call_1",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "hours",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"day": "Monday"}',
}
TOOL: dict[str, Any] = {
    "openinference.span.kind": "TOOL",
    "tool.name": "hours",
    "tool_call.id": "call_1",
    "input.value": '{"day": "Monday"}',
    "output.value": "9 to 5",
}
ANSWERED: dict[str, Any] = {
    **CALLED,
    **{
        name.replace("output", "input").replace("messages.0", "messages.1"): value
        for name, value in CALLED.items()
        if name.startswith("llm.output")
    },
    "llm.input_messages.2.message.role": "tool",
    "llm.input_messages.2.message.tool_call_id": "call_1",
    "llm.input_messages.2.message.content": "9 to 5",
    "llm.output_messages.0.message.content": "At nine.",
}
del ANSWERED["llm.output_messages.0.message.tool_calls.0.tool_call.id"]
del ANSWERED["llm.output_messages.0.message.tool_calls.0.tool_call.function.name"]
del ANSWERED["llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments"]


def spans(*named: dict[str, Any]) -> list[Span]:
    made = [span(one, span_id=str(at), start=10**9 + at) for at, one in enumerate(named, 1)]
    return list(spans_of(export(*made)))


def test_messages_tool_calls_and_usage_are_read() -> None:
    found = import_trace(spans(CALLED, TOOL, ANSWERED), {})

    assert isinstance(found, Imported)
    assert found.row["candidate_name"] == "m-1"
    trace: Any = found.row["trace"]
    assert trace["usage"] == {"input_tokens": 24, "output_tokens": 10}
    assert trace["messages"] == [
        {"role": "user", "content": "When do you open?"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "call_1", "tool": "hours", "input": {"day": "Monday"}, "output": "9 to 5"}
            ],
        },
        {"role": "assistant", "content": "At nine."},
    ]


def test_an_agent_that_tells_no_messages_apart_says_one_text_each() -> None:
    agent = {"openinference.span.kind": "AGENT", "input.value": "Why?", "output.value": "So."}
    found = import_trace(spans(agent), {})

    assert isinstance(found, Imported)
    assert found.row["trace"] == {
        "messages": [
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": "So."},
        ],
        "latency_ms": 250.0,
    }


def test_the_session_is_the_conversation() -> None:
    assert conversation_of(spans(CALLED)) == "s-7"
    assert conversation_of(spans({"gen_ai.conversation.id": "c-1"})) == "c-1"
    assert conversation_of(spans(TOOL)) is None


def test_a_usual_name_wins_and_other_spans_stay_as_they_are() -> None:
    (both,) = spans({**MODEL, "gen_ai.request.model": "m-2"})
    (other,) = spans({"http.method": "GET"})

    assert with_usual_names(both).attributes["gen_ai.request.model"] == "m-2"
    assert with_usual_names(other) is other


def test_an_image_comes_with_its_address() -> None:
    part = "llm.input_messages.0.message.contents.1.message_content"
    shown = {f"{part}.type": "image", f"{part}.image.image.url": "data:image/png;base64,iVBORw0K"}
    said = {"llm.output_messages.0.message.content": "A chart."}

    made = import_trace(spans({**MODEL, **shown, **said}), {})

    assert isinstance(made, Imported)
    trace: Any = made.row["trace"]
    assert trace["messages"][0]["content"] == [
        {"type": "text", "value": "When do you open?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
    ]
