"""Traces of OpenTelemetry as recorded responses."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given

from fakes.otel_spans import TRACE, event, export, span
from steelyard.contracts.importers.otel_spans import spans_of
from steelyard.contracts.importers.otel_traces import import_trace
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import ParseError
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonValue
from strategies.json_values import spoilt

CALL: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m-1",
    "gen_ai.response.model": "m-1-2026",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 5,
}
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "When do you open?"}]}]
SAID = [
    {
        "role": "assistant",
        "parts": [{"type": "text", "content": "At nine."}],
        "finish_reason": "stop",
    }
]
PLAIN = [
    {"role": "user", "content": "When do you open?"},
    {"role": "assistant", "content": "At nine."},
]
NEW: dict[str, Any] = {**CALL, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": SAID}
AS_JSON: dict[str, Any] = {
    **CALL,
    "gen_ai.input.messages": json.dumps(ASKED),
    "gen_ai.output.messages": json.dumps(SAID),
}
INDEXED: dict[str, Any] = {
    **CALL,
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "When do you open?",
    "gen_ai.completion.0.content": "At nine.",
    "gen_ai.completion.0.finish_reason": "stop",
}
ONE_TEXT: dict[str, Any] = {
    **CALL,
    "gen_ai.prompt": "When do you open?",
    "gen_ai.completion": "At nine.",
}
MESSAGES = [
    event("gen_ai.user.message", content="When do you open?"),
    event("gen_ai.choice", index=0, finish_reason="stop", message={"content": "At nine."}),
]
BODIES = [
    event("gen_ai.user.message", gen_ai__event__content='{"content": "When do you open?"}'),
    event(
        "gen_ai.choice",
        gen_ai__event__content='{"message": {"role": "assistant", "content": "At nine."}}',
    ),
]
OLDEST = [
    event("gen_ai.content.prompt", gen_ai__prompt=json.dumps(PLAIN[:1])),
    event("gen_ai.content.completion", gen_ai__completion=json.dumps(PLAIN[1:])),
]
DETAILS = [
    event(
        "gen_ai.client.inference.operation.details",
        gen_ai__input__messages=ASKED,
        gen_ai__output__messages=SAID,
    )
]


def imported(*spans: dict[str, Any], **names: str) -> Import:
    return import_trace(list(spans_of(export(*spans))), names)


def row(*spans: dict[str, Any], **names: str) -> dict[str, Any]:
    made = imported(*spans, **names)
    assert isinstance(made, Imported), made
    return cast(dict[str, Any], made.row)


def messages(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    return row(*spans)["trace"]["messages"]


@pytest.mark.parametrize(
    ("named", "events"),
    [
        (NEW, []),
        (AS_JSON, []),
        (CALL, DETAILS),
        (CALL, MESSAGES),
        (CALL, BODIES),
        (CALL, OLDEST),
        (INDEXED, []),
        (ONE_TEXT, []),
    ],
    ids=["new", "json", "details", "events", "bodies", "oldest", "indexed", "text"],
)
def test_messages_are_read_in_every_spelling(
    named: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    assert messages(span(named, events=events)) == PLAIN


def test_a_call_is_a_recorded_response() -> None:
    made = row(span(NEW))

    assert made == {
        "record_id": TRACE,
        "candidate_name": "m-1",
        "trace": {
            "messages": PLAIN,
            "usage": {"input_tokens": 12, "output_tokens": 5},
            "latency_ms": 250.0,
            "finish_reason": "stop",
            "model": "m-1-2026",
        },
    }
    assert read_trace(made["trace"])[1] == []


def test_token_counts_had_other_names() -> None:
    named = {
        **ONE_TEXT,
        "gen_ai.usage.prompt_tokens": 3,
        "gen_ai.usage.completion_tokens": 2,
    }
    for name in ("input_tokens", "output_tokens"):
        del named[f"gen_ai.usage.{name}"]

    assert row(span(named))["trace"]["usage"] == {"input_tokens": 3, "output_tokens": 2}


def test_instructions_come_first() -> None:
    parts = [{"type": "text", "content": "Be brief."}]

    assert messages(span({**NEW, "gen_ai.system_instructions": parts}))[0] == {
        "role": "system",
        "content": "Be brief.",
    }
    assert messages(span({**NEW, "gen_ai.system_instructions": "Be kind."}))[0] == {
        "role": "system",
        "content": "Be kind.",
    }


CALLS = [
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "I must look."},
            {"type": "tool_call", "id": "c1", "name": "hours", "arguments": '{"day": "Monday"}'},
        ],
        "finish_reason": "tool_call",
    }
]
RESULT = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": {"open": 9}}],
}


def agent() -> list[dict[str, Any]]:
    """An agent that asks its model, uses a tool, and asks again with all that was said."""
    first = {**CALL, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": CALLS}
    history = [*ASKED, {name: CALLS[0][name] for name in ("role", "parts")}, RESULT]
    last = {**CALL, "gen_ai.input.messages": history, "gen_ai.output.messages": SAID}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "hours",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"day": "Monday"}',
        "gen_ai.tool.call.result": '{"open": 9}',
    }
    return [
        span({"gen_ai.operation.name": "invoke_agent"}, span_id="0", ms=900, start=1_000),
        span(last, span_id="3", parent="0", start=3_000),
        span(first, span_id="1", parent="0", start=1_000),
        span(tool, span_id="2", parent="0", start=2_000),
        span({"http.method": "GET"}, span_id="4", parent="0", start=4_000),
    ]


def test_an_agent_is_one_conversation_with_its_tools() -> None:
    made = row(*agent())

    assert made["trace"]["messages"] == [
        PLAIN[0],
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "content": "I must look."}],
            "tool_calls": [
                {"id": "c1", "tool": "hours", "input": {"day": "Monday"}, "output": {"open": 9}}
            ],
        },
        PLAIN[1],
    ]
    assert made["trace"]["usage"] == {"input_tokens": 24, "output_tokens": 10}
    assert made["trace"]["latency_ms"] == 900.0
    assert [
        (one["kind"], one["start_ms"], one["duration_ms"], one["depth"])
        for one in made["trace"]["spans"]
    ] == [
        ("agent", 0.0, 900.0, 0),
        ("model", 0.0, 250.0, 1),
        ("tool", 0.001, 250.0, 1),
        ("model", 0.002, 250.0, 1),
        ("other", 0.003, 250.0, 1),
    ]
    assert read_trace(made["trace"])[1] == []


def test_spans_that_hold_each_other_in_a_circle_have_a_depth() -> None:
    made = row(span(NEW, span_id="1", parent="2"), span(NEW, span_id="2", parent="1"))

    assert [one["depth"] for one in made["trace"]["spans"]] == [1, 1]


def test_a_span_that_failed_says_why() -> None:
    wrong = {"code": 2, "message": "no such book"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    made = row(span(NEW, span_id="1"), span(tool, span_id="2", parent="1", status=wrong))

    assert [one.get("error") for one in made["trace"]["spans"]] == [None, "no such book"]


def test_the_span_of_a_tool_says_what_the_calls_do_not() -> None:
    made = {
        **CALL,
        "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": [
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "hours"}]}
        ],
    }
    found = messages(span(made), agent()[3])

    assert found[1]["tool_calls"] == [
        {"id": "c1", "tool": "hours", "input": {"day": "Monday"}, "output": '{"open": 9}'}
    ]


def test_calls_with_histories_of_their_own_stand_one_after_the_other() -> None:
    other = [{"role": "user", "parts": [{"type": "text", "content": "And on Sunday?"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Never."}]}]
    second = {**CALL, "gen_ai.input.messages": other, "gen_ai.output.messages": answer}
    found = messages(span(NEW, start=1), span(second, span_id="2", start=2))

    assert [message["content"] for message in found] == [
        *("When do you open?", "At nine.", "And on Sunday?", "Never."),
    ]


def test_the_messages_of_an_agent_count_where_its_calls_have_none() -> None:
    agent_span = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": SAID,
    }
    found = row(span(agent_span, span_id="0"), span(CALL, span_id="1", parent="0"))
    alone = row(span(agent_span))

    assert found["trace"]["messages"] == alone["trace"]["messages"] == PLAIN
    assert (found["candidate_name"], alone["candidate_name"]) == ("m-1", "desk")


@pytest.mark.parametrize(
    ("named", "outcome", "told"),
    [
        ({"http.method": "GET"}, "skipped", "no span of a generative model"),
        ({"gen_ai.operation.name": "embeddings"}, "skipped", "no span of a generative model"),
        (CALL, "left_out", "hold no messages"),
    ],
)
def test_a_trace_without_messages_is_said(named: dict[str, Any], outcome: str, told: str) -> None:
    made = imported(span(named))

    assert isinstance(made, Refusal)
    assert made.outcome == outcome
    assert told in made.reason


@pytest.mark.parametrize(
    ("status", "named", "message"),
    [
        ({"code": 2, "message": "rate limited"}, {}, "rate limited"),
        ({"code": "STATUS_CODE_ERROR"}, {"error.type": "timeout"}, "timeout"),
        ({"code": 2}, {}, "the operation failed"),
    ],
)
def test_a_trace_that_failed_is_a_recorded_failure(
    status: dict[str, Any], named: dict[str, Any], message: str
) -> None:
    made = row(span({**CALL, **named}, status=status))

    assert (made["error_code"], made["message"]) == ("target_error", message)


def test_attributes_tell_the_record_and_the_candidate() -> None:
    named = {**NEW, "steelyard.record_id": "q1", "case": 7}

    assert row(span(named))["record_id"] == "q1"
    made = row(span(named), record_id="case", candidate_name="service.name")
    assert (made["record_id"], made["candidate_name"]) == ("7", "desk")
    assert row(span(named), record_id="nowhere")["record_id"] == TRACE


def test_without_a_model_the_service_is_the_candidate() -> None:
    named = {"gen_ai.operation.name": "chat", "gen_ai.prompt": "?", "gen_ai.completion": "!"}

    assert row(span(named))["candidate_name"] == "desk"


def test_an_old_span_without_an_operation_is_a_call() -> None:
    named = {name: given for name, given in ONE_TEXT.items() if "operation" not in name}

    assert messages(span(named)) == PLAIN


def test_tool_calls_have_been_indexed_and_written_as_openai_does() -> None:
    indexed = {
        **CALL,
        "gen_ai.prompt.0.content": "?",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "hours",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"day": "Monday"}',
        "gen_ai.completion.0.tool_calls.9999.name": "no such place",
    }
    function = {"name": "hours", "arguments": '{"day": "Monday"}'}
    events = [
        event("gen_ai.user.message", content="?"),
        event("gen_ai.choice", message={"tool_calls": [{"id": "c1", "function": function}]}),
    ]
    expected = [{"id": "c1", "tool": "hours", "input": {"day": "Monday"}}]

    assert messages(span(indexed))[1]["tool_calls"] == expected
    assert messages(span(CALL, events=events))[1]["tool_calls"] == expected


def test_a_tools_message_stands_with_its_call_or_for_itself() -> None:
    events = [
        event("gen_ai.user.message", content="?"),
        event("gen_ai.assistant.message", tool_calls=[{"id": "c1", "function": {"name": "f"}}]),
        event("gen_ai.tool.message", id="c1", content="nine"),
        event("gen_ai.tool.message", content="unasked", name="g"),
        event("gen_ai.choice", message={"content": "At nine."}),
    ]

    assert messages(span(CALL, events=events))[1:3] == [
        {"role": "assistant", "tool_calls": [{"id": "c1", "tool": "f", "output": "nine"}]},
        {"role": "tool", "content": "unasked", "name": "g"},
    ]


@pytest.mark.parametrize("said", ['{"answer": 42}', "[1, 2]", "[broken", '["a"]'])
def test_an_answer_that_is_json_stays_a_text(said: str) -> None:
    one_text = messages(span({**ONE_TEXT, "gen_ai.completion": said}))
    indexed = messages(span({**INDEXED, "gen_ai.completion.0.content": said}))

    assert one_text[1]["content"] == indexed[1]["content"] == said


def test_content_in_parts_is_kept_in_blocks() -> None:
    parts = '[{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": "x"}]'

    assert messages(span({**INDEXED, "gen_ai.prompt.0.content": parts}))[0]["content"] == [
        {"type": "text", "value": "See:"},
        {"type": "image_url", "image_url": "x"},
    ]


def test_of_several_choices_the_first_counts_and_that_is_told() -> None:
    made = imported(span({**NEW, "gen_ai.output.messages": [*SAID, *SAID]}))

    assert isinstance(made, Imported)
    assert [change.field for change in made.changes] == ["choices"]


def test_a_time_that_is_unknown_gives_no_latency() -> None:
    made = row(span(NEW, endTimeUnixNano=None, startTimeUnixNano="soon"))

    assert "latency_ms" not in made["trace"]


def test_exports_had_other_names() -> None:
    whole = export(span(NEW))
    group = whole["resourceSpans"][0]
    old: dict[str, Any] = {
        "resource_spans": [{"instrumentationLibrarySpans": group["scopeSpans"]}]
    }

    assert [one.trace_id for one in spans_of(old)] == [TRACE]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, "no 'resourceSpans'"),
        ({"resourceSpans": 7}, "no 'resourceSpans'"),
        (export({"name": "x"}), "no 'traceId'"),
    ],
)
def test_what_is_no_export_is_said(value: dict[str, Any], told: str) -> None:
    with pytest.raises(ParseError, match=told):
        list(spans_of(value))


@given(spoilt(cast(JsonValue, export(*agent(), span(INDEXED, events=MESSAGES)))))
def test_whatever_an_export_holds_is_read_or_refused(value: JsonValue) -> None:
    if not isinstance(value, dict):
        return
    with suppress(ParseError):
        spans = list(spans_of(value))
        assert not spans or import_trace(spans, {}) is not None


VERDICT: dict[str, Any] = {
    **CALL,
    "gen_ai.input.messages": [{"role": "user", "content": "Is that right?"}],
    "gen_ai.output.messages": [{"role": "assistant", "content": "VERDICT: fail"}],
}
EVALUATOR: dict[str, Any] = {"openinference.span.kind": "EVALUATOR"}


@pytest.mark.parametrize(
    "about",
    [
        EVALUATOR,
        {"openinference.span.kind": "evaluator"},
        {**EVALUATOR, "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-2"},
        {"openinference.span.kind": "GUARDRAIL"},
        {"openinference.span.kind": "RERANKER"},
        {"gen_ai.operation.name": "evaluate"},
        {"gen_ai.evaluation.name": "correct", "gen_ai.evaluation.score.value": 0.0},
    ],
)
@pytest.mark.parametrize("is_deep", [False, True])
def test_what_is_said_beneath_an_evaluator_is_no_part_of_the_trace(
    about: dict[str, Any], is_deep: bool
) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    found = imported(
        span({"app": "desk"}, span_id="r", ms=900),
        span(NEW, span_id="1", parent="r"),
        span(about, span_id="e", parent="r", start=2 * 10**9),
        span({}, span_id="d", parent="e", start=2 * 10**9),
        span(VERDICT, span_id="2", parent="d" if is_deep else "e", start=3 * 10**9),
        span(tool, span_id="3", parent="2", start=3 * 10**9),
    )

    assert isinstance(found, Imported)
    trace: Any = found.row["trace"]
    assert trace["messages"] == PLAIN
    assert trace["usage"] == {"input_tokens": 12, "output_tokens": 5}
    assert len(trace["spans"]) == 6
    assert read_trace(trace)[1] == []
    assert [change.field for change in found.changes] == ["verdicts"]


def test_scores_noted_at_a_call_leave_it_in_the_trace() -> None:
    found = imported(span({**NEW, "gen_ai.evaluation.score.value": 1.0}, span_id="1"))

    assert isinstance(found, Imported)
    assert cast(Any, found.row["trace"])["messages"] == PLAIN
    assert found.changes == ()


def test_an_evaluator_that_asks_no_model_leaves_nothing_out() -> None:
    found = imported(span(NEW, span_id="1"), span(EVALUATOR, span_id="e", parent="1"))

    assert isinstance(found, Imported)
    assert found.changes == ()


def test_a_trace_of_an_evaluator_alone_is_no_conversation() -> None:
    found = imported(span(EVALUATOR, span_id="e"), span(VERDICT, span_id="1", parent="e"))

    assert isinstance(found, Refusal)
    assert found.outcome == "skipped"
    assert "beneath an evaluator" in found.reason


def test_parents_in_a_circle_hold_no_evaluator() -> None:
    found = imported(span(NEW, span_id="1", parent="2"), span({}, span_id="2", parent="1"))

    assert isinstance(found, Imported)
