"""What judges a conversation gives nothing away to whoever reads it before they answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.otel_spans import export, span
from steelyard.contracts.importers.otel_spans import spans_of
from steelyard.contracts.importers.otel_traces import import_trace
from steelyard.contracts.importers.source_row import Imported

CALL: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.input.messages": [{"role": "user", "content": "Hello?"}],
    "gen_ai.output.messages": [{"role": "assistant", "content": "Good day."}],
}
KINDS: list[tuple[dict[str, Any], str]] = [
    ({"openinference.span.kind": "EVALUATOR"}, "evaluate"),
    ({"openinference.span.kind": "GUARDRAIL"}, "guardrail"),
    ({"gen_ai.operation.name": "evaluate"}, "evaluate"),
    ({"langfuse.observation.type": "evaluator"}, "span"),
    ({"gen_ai.evaluation.name": "SECRET fail"}, "span"),
]


def imported(*spans: dict[str, Any]) -> Imported:
    found = import_trace([*spans_of(export(*spans))], {})
    assert isinstance(found, Imported)
    return found


def trace_of(*spans: dict[str, Any]) -> dict[str, Any]:
    trace: Any = imported(*spans).row["trace"]
    return trace


@pytest.mark.parametrize(("about", "name"), KINDS)
def test_neither_name_nor_error_of_a_verdict_is_in_the_trace(
    about: dict[str, Any], name: str
) -> None:
    failed = {"code": 2, "message": "SECRET incorrect"}
    found = trace_of(
        span({"gen_ai.operation.name": "invoke_agent"}, span_id="r", ms=900),
        span(CALL, span_id="1", parent="r"),
        span(about, span_id="e", parent="r", name="evaluate: SECRET", status=failed),
        span(
            {**CALL, "gen_ai.operation.name": "SECRET", "gen_ai.request.model": "SECRET"},
            span_id="2",
            parent="e",
            name="SECRET",
            status=failed,
        ),
    )
    rows = {(one["name"], one["kind"], one.get("error")) for one in found["spans"]}

    assert "SECRET" not in json.dumps(found)
    assert len(found["spans"]) == 4
    assert (name, "other" if name == "span" else name, None) in rows


def test_the_trace_does_not_fail_where_its_evaluator_does() -> None:
    found = imported(
        span(
            {"openinference.span.kind": "EVALUATOR"},
            span_id="e",
            start=1,
            status={"code": 2, "message": "SECRET"},
        ),
        span(CALL, span_id="1"),
    )

    assert "SECRET" not in json.dumps(found.row)
    assert "error_code" not in found.row


def test_a_span_of_the_conversation_keeps_its_name_and_why_it_failed() -> None:
    found = trace_of(
        span(CALL, span_id="1", name="answer"),
        span({}, span_id="2", parent="1", name="look up", status={"code": 2, "message": "gone"}),
    )

    assert [(one["name"], one.get("error")) for one in found["spans"]] == [
        ("answer", None),
        ("look up", "gone"),
    ]
