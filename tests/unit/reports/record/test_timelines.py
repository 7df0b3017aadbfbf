"""Calls on one time axis."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.reports.record.timelines import MOST_ROWS, attempt_timeline, span_timeline
from steelyard.results.attempts import Attempt


def attempt(second: float, **fields: Any) -> Attempt:
    """A try of the target that begins so many seconds after the first."""
    known = {"index": 0, "record_id": "a", "target": "live", "attempt": 1}
    at = f"2026-11-18T04:18:{second:06.3f}+00:00"
    return msgspec.convert({**known, "at": at, **fields}, Attempt)


def test_attempts_stand_where_they_began_with_the_pause_after_them() -> None:
    tries = [
        attempt(
            1,
            latency_ms=500,
            error_code="rate_limit",
            http_status=429,
            retry_in_s=1.5,
            message="slow down",
        ),
        attempt(3, attempt=2, latency_ms=1000),
    ]
    line = attempt_timeline(tries, None)
    assert line
    assert (line.length_s, line.axis) == (3.0, "0 to 3.0 s")
    first, second = line.rows
    assert (first.begin_s, first.took_s, first.wait_s, first.kind) == (0.0, 0.5, 1.5, "err")
    assert first.outcome == ("unscored", "rate_limit (HTTP 429)")
    assert first.message == "slow down"
    assert (second.begin_s, second.kind) == (2.0, "target")
    bar = line.bar(first)
    assert 'class="err" x="0.00%"' in bar
    assert 'width="16.67%"' in bar
    assert 'class="wait" x1="16.67%" x2="66.67%"' in bar
    assert "begins at 0 ms, for 500 ms, then a pause of 1.5 s" in bar


def test_judges_of_a_recorded_answer_come_after_it() -> None:
    asked = {"call": "judge/j@1", "key": "k", "check": "c", "item": "solved", "turn": 4}
    tries = [attempt(1, latency_ms=3000), attempt(1.1, **asked)]
    line = attempt_timeline(tries, "prefilled")
    assert line
    assert [row.name for row in line.rows] == ["live", "solved, turn 4"]
    assert line.rows[1].begin_s >= 3.0
    assert line.rows[1].took_s is None
    assert any("recorded earlier" in note for note in line.notes)
    assert "for a time that is not known" in line.bar(line.rows[1])


def test_without_a_call_there_is_no_timeline() -> None:
    assert attempt_timeline([], None) is None


def test_many_calls_are_counted_and_not_all_shown() -> None:
    line = attempt_timeline([attempt(1) for _ in range(MOST_ROWS + 5)], None)
    assert line
    assert (len(line.rows), line.total) == (MOST_ROWS, MOST_ROWS + 5)


def test_tool_calls_with_durations_stand_one_after_the_other() -> None:
    took = (("look", 200), ("add", 300))
    calls = [*({"tool": name, "duration_ms": ms} for name, ms in took), {"tool": "x"}]
    messages = [{"role": "assistant", "tool_calls": calls}]
    line = span_timeline({"messages": messages, "latency_ms": 1000})
    assert line
    assert [(row.name, row.begin_s, row.took_s) for row in line.rows] == [
        ("answer", 0.0, 1.0),
        ("look", 0.0, 0.2),
        ("add", 0.2, 0.3),
    ]
    assert any("in their order" in note for note in line.notes)


def test_tool_calls_with_times_stand_where_they_began() -> None:
    calls = [
        {"tool": "look", "duration_ms": 200, "timestamp": "2026-11-18T04:00:01+00:00"},
        {"tool": "add", "duration_ms": 300, "timestamp": "2026-11-18T04:00:01.100+00:00"},
    ]
    line = span_timeline({"messages": [{"tool_calls": calls}]})
    assert line
    assert [round(row.begin_s, 3) for row in line.rows] == [0.0, 0.1]
    assert line.notes == ()


def _times(start_ms: int, duration_ms: int) -> dict[str, int]:
    return {"start_ms": start_ms, "duration_ms": duration_ms}


def test_kept_spans_come_with_their_depth_and_errors() -> None:
    spans = [
        {"name": "agent desk", "kind": "agent", **_times(0, 900), "depth": 0},
        {"name": "chat m", "kind": "model", **_times(10, 300), "depth": 1},
        {"name": "look", "kind": "tool", **_times(320, 80), "depth": 2, "error": "gone"},
        {"name": "no times"},
        "text",
    ]
    line = span_timeline({"messages": [], "spans": spans, "latency_ms": 900})
    assert line
    found = [(row.kind, row.depth) for row in line.rows]
    assert found == [("target", 0), ("target", 1), ("err", 2)]
    assert line.rows[2].message == "gone"
    assert line.axis == "0 to 900 ms"


def test_a_trace_without_times_has_no_waterfall() -> None:
    untimed = {"messages": [{"tool_calls": [{"tool": "a"}]}]}
    for trace in (None, {}, {"messages": "redacted"}, untimed):
        assert span_timeline(trace) is None


def test_names_in_figures_are_escaped() -> None:
    line = attempt_timeline([attempt(1, target="<script>", error_code="<b>")], None)
    assert line
    assert "<script>" not in line.bar(line.rows[0])
