"""Traces put together from stored spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.trace_sets import AGENT, CALL, batch, hexadecimal, sent_span, trace_ports
from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import InvalidError, NotFoundError
from steelyard.usecases.traces.assembled_traces import (
    every_trace,
    list_trace_sets,
    list_traces,
    show_trace,
    show_trace_set,
)
from steelyard.usecases.traces.ports import TracePorts
from steelyard.usecases.traces.receive_spans import receive_spans


@pytest.fixture
def ports(tmp_path: Path) -> TracePorts:
    made = trace_ports(tmp_path)
    conversation = {**CALL, "gen_ai.conversation.id": "c-1"}
    usage = {"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3}
    receive_spans(made, batch(sent_span(1, 2, {**conversation, **usage})), None)
    receive_spans(made, batch(sent_span(1, 1, AGENT, ms=900)), None)
    receive_spans(made, batch(sent_span(2, 1, {"http.method": "GET"})), None)
    receive_spans(made, batch(sent_span(3, 2)), None)
    return made


def test_a_trace_has_what_all_of_its_spans_say(ports: TracePorts) -> None:
    found = show_trace(ports, "desk", hexadecimal(1, 32).upper())

    assert (found.spans, found.has_root, found.conversation_id) == (2, True, "c-1")
    assert found.trace is not None
    row = trace_row(found.trace)
    spans = row.pop("spans")
    assert row == {
        "messages": [
            {"role": "user", "content": "Say a word."},
            {"role": "assistant", "content": "A word."},
        ],
        "usage": {"input_tokens": 7, "output_tokens": 3},
        "latency_ms": 900.0,
        "model": "m-1",
    }
    assert isinstance(spans, list)
    assert [(one["kind"], one["depth"]) for one in spans if isinstance(one, dict)] == [
        ("agent", 0),
        ("model", 1),
    ]


def test_the_verdict_of_an_evaluator_is_no_part_of_a_trace_and_is_named(tmp_path: Path) -> None:
    made = trace_ports(tmp_path)
    verdict = [{"role": "assistant", "content": "VERDICT: fail"}]
    receive_spans(made, batch(sent_span(1, 1, AGENT), sent_span(1, 2, CALL)), None)
    judged = {**CALL, "gen_ai.output.messages": verdict}
    evaluator = {"openinference.span.kind": "EVALUATOR"}
    asked = sent_span(1, 4, judged, parent=hexadecimal(3, 16))
    receive_spans(made, batch(sent_span(1, 3, evaluator), asked), None)
    found = show_trace(made, "desk", hexadecimal(1, 32))

    assert found.trace is not None
    assert [one.content for one in found.trace.messages] == ["Say a word.", "A word."]
    assert len(found.notes) == 1
    assert "beneath an evaluator" in found.notes[0]


def test_a_trace_that_cannot_be_reviewed_says_why(ports: TracePorts) -> None:
    other = show_trace(ports, "desk", hexadecimal(2, 32))
    rootless = show_trace(ports, "desk", hexadecimal(3, 32))

    assert other.trace is None
    assert other.left_out == "no span of a generative model"
    assert not rootless.has_root
    assert rootless.trace is not None


def test_traces_are_listed_page_by_page(ports: TracePorts) -> None:
    first = list_traces(ports, "desk", cursor=None, limit=2)
    second = list_traces(ports, "desk", cursor=first.next_cursor, limit=2)

    ids = [one.trace_id for page in (first, second) for one in page.traces]
    assert ids == [hexadecimal(number, 32) for number in (1, 2, 3)]
    assert second.next_cursor is None
    assert [one.trace_id for one in every_trace(ports, "desk")] == ids
    with pytest.raises(InvalidError):
        list_traces(ports, "desk", cursor="nonsense", limit=2)


def test_sets_are_listed_and_shown(ports: TracePorts) -> None:
    (only,) = list_trace_sets(ports)

    assert (only.name, only.traces, only.spans) == ("desk", 3, 4)
    assert show_trace_set(ports, "desk") == only
    for missing in (
        lambda: show_trace_set(ports, "x"),
        lambda: show_trace(ports, "x", "1"),
        lambda: list_traces(ports, "x", cursor=None, limit=1),
        lambda: every_trace(ports, "x"),
    ):
        with pytest.raises(NotFoundError, match="no trace set 'x'"):
            missing()
