"""What is written reads back the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row
from steelyard.model.message import FileBlock, Message, ToolCall
from steelyard.model.trace import Trace, Usage
from strategies.effort import examples
from strategies.eval_cases import extras, json_values, labels, messages

counts = st.none() | st.integers(0, 10**9)


def traces() -> st.SearchStrategy[Trace]:
    """A trace as a reader would make it."""
    silent = st.builds(Message, role=st.just("assistant"), name=st.none() | labels)
    return st.builds(
        Trace,
        messages=st.lists(messages | silent, max_size=3).map(tuple),
        usage=st.builds(Usage, input_tokens=counts, output_tokens=counts, extra=extras),
        latency_ms=st.none() | st.floats(0, 1e9),
        first_token_ms=st.none() | st.floats(0, 1e9),
        finish_reason=st.none() | labels,
        refusal=st.none() | labels,
        model=st.none() | labels,
        extra=extras,
    )


@given(traces())
@settings(max_examples=examples(200))
def test_a_trace_reads_back_the_same(trace: Trace) -> None:
    """TR-07, TR-10"""
    written = json.loads(json.dumps(trace_row(trace)))
    read, findings = read_trace(written)

    assert read == trace
    assert not any(finding.is_error for finding in findings)


@given(json_values)
@settings(max_examples=examples(200))
def test_any_json_gives_a_trace_or_errors(value: object) -> None:
    """TR-09"""
    read, findings = read_trace(json.loads(json.dumps({"messages": [value], "usage": value})))

    assert (read is None) is any(finding.is_error for finding in findings)


@pytest.mark.parametrize(
    ("trace", "row"),
    [
        (Trace(), {"messages": []}),
        (
            Trace(messages=(Message(role="assistant"),)),
            {"messages": [{"role": "assistant", "content": None}]},
        ),
        (
            Trace(
                messages=(Message(role="assistant", tool_calls=(ToolCall(tool="search"),)),),
                usage=Usage(output_tokens=3),
                latency_ms=5,
                first_token_ms=2,
                extra={"cost_usd": 1},
            ),
            {
                "messages": [{"role": "assistant", "tool_calls": [{"tool": "search"}]}],
                "usage": {"output_tokens": 3},
                "latency_ms": 5,
                "first_token_ms": 2,
                "cost_usd": 1,
            },
        ),
    ],
)
def test_what_is_not_known_is_left_out(trace: Trace, row: object) -> None:
    """TR-03, TR-10"""
    assert trace_row(trace) == row


def test_a_file_that_was_shown_is_written_as_its_reference() -> None:
    """TR-10, TR-12"""
    shown = FileBlock(value="a.md", path="/project/a.md", text="A", extra={"lang": "en"})
    row = trace_row(Trace(messages=(Message(role="user", content=(shown,)),)))

    block = {"type": "file", "value": "a.md", "lang": "en"}
    assert row == {"messages": [{"role": "user", "content": [block]}]}
