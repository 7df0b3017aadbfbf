"""Limits on what an answer took."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.engine.grading.execution_metrics import execution_metrics
from steelyard.model.case import Case
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace, Usage

CASE = Case(id="a", dataset="d", input_messages=(Message(role="user", content="Query"),))
CALLS = (ToolCall(tool="search"), ToolCall(tool="read"))
TRACE = Trace(
    messages=(
        Message(role="assistant", tool_calls=CALLS),
        Message(role="assistant", content="Done"),
    ),
    usage=Usage(input_tokens=30, output_tokens=20),
    latency_ms=400,
    extra={"cost_usd": 0.5},
)


@pytest.mark.parametrize(
    ("settings", "score"),
    [
        ({"max_tool_calls": 2, "max_llm_calls": 2, "max_tokens": 50}, 1.0),
        ({"max_tool_calls": 1}, 0.0),
        ({"max_llm_calls": 1}, 0.0),
        ({"max_tokens": 49, "max_tool_calls": 9}, 0.5),
        ({"max_cost_usd": 0.4, "max_duration_ms": 400}, 0.5),
    ],
)
def test_the_score_is_the_share_of_limits_that_hold(
    settings: dict[str, Any], score: float
) -> None:
    outcome = execution_metrics(settings, 0.7).check(TRACE, CASE)

    assert (outcome.score, outcome.passed) == (score, score >= 0.7)


def test_what_the_trace_does_not_say_is_left_out() -> None:
    bare = Trace(messages=TRACE.messages)

    assert execution_metrics({"max_tokens": 1}, 0.7).check(bare, CASE).status == "skipped"
    assert execution_metrics({"max_tokens": 1, "max_tool_calls": 2}, 0.7).check(bare, CASE).passed
