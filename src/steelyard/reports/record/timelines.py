"""Calls on one time axis: the attempts for a record, and the spans of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias, cast

from markupsafe import Markup, escape
from msgspec import UNSET

from steelyard.model.json_value import JsonObject
from steelyard.reports.verdict_words import VerdictWord
from steelyard.results.attempts import Attempt

BarKind: TypeAlias = Literal["target", "ok", "err", "tool"]
MOST_ROWS = 200
"""The most rows of one timeline; a table with more helps nobody."""
_PREFILLED = "prefilled"
_DEEPEST = 8
_LEAST = 0.5
"""The least width of a bar in per cent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """A call with its place in time; seconds from the beginning of the axis."""

    name: str
    call: str
    kind: BarKind
    begin_s: float
    took_s: float | None = None
    """None where nobody measured it."""
    wait_s: float | None = None
    """The pause before the next attempt."""
    attempt: int | None = None
    outcome: VerdictWord | None = None
    message: str = ""
    tokens: str = ""
    depth: int = 0

    @property
    def end_s(self) -> float:
        """When it was over, with the pause after it."""
        return self.begin_s + (self.took_s or 0.0) + (self.wait_s or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Rows on one axis."""

    rows: tuple[TimelineRow, ...]
    length_s: float
    notes: tuple[str, ...] = ()
    total: int = 0
    """All rows, of which some may not be shown."""

    @property
    def axis(self) -> str:
        """What the axis reaches to, such as `0 to 4.0 s`."""
        if self.length_s < 1:
            return f"0 to {1000 * self.length_s:,.0f} ms"
        return f"0 to {self.length_s:,.1f} s"

    def bar(self, row: TimelineRow) -> Markup:
        """The row as a figure."""
        begin = 100 * min(1.0, row.begin_s / self.length_s)
        width = max(_LEAST, 100 * (row.took_s or 0.0) / self.length_s)
        begin = min(begin, 100 - width)
        parts = [
            '<line class="axis" x1="0" x2="100%" y1="7" y2="7"/>',
            f'<rect class="{row.kind}" x="{begin:.2f}%" y="2" width="{width:.2f}%" height="10"/>',
        ]
        if row.wait_s:
            until = 100 * min(1.0, row.end_s / self.length_s)
            parts.append(
                f'<line class="wait" x1="{begin + width:.2f}%" x2="{until:.2f}%" y1="7" y2="7"/>'
            )
        said = escape(_said(row))
        head = f'<svg role="img" aria-label="{said}">'
        return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, label escaped


def _said(row: TimelineRow) -> str:
    took = "for a time that is not known"
    if row.took_s is not None:
        took = f"for {1000 * row.took_s:,.0f} ms"
    wait = f", then a pause of {row.wait_s:g} s" if row.wait_s else ""
    return f"begins at {1000 * row.begin_s:,.0f} ms, {took}{wait}"


def attempt_timeline(attempts: Sequence[Attempt], response_source: str | None) -> Timeline | None:
    """Every call for a record; None where there was none."""
    if not attempts:
        return None
    times = [datetime.fromisoformat(one.at).timestamp() for one in attempts]
    first = min(times)
    rows = [_attempt_row(one, at - first) for one, at in zip(attempts, times, strict=True)]
    notes: list[str] = []
    if response_source == _PREFILLED and any(row.kind == "target" for row in rows):
        notes.append("The answer was recorded earlier; its latency is that of the recording.")
        rows = _after_recording(rows)
    if any(one.copied_from is not UNSET for one in attempts):
        notes.append("Some calls were made by an earlier run.")
    if any(row.took_s is None for row in rows):
        notes.append("Calls without a bar of their own length have no latency that was measured.")
    rows.sort(key=lambda row: row.begin_s)
    return _timeline(rows, notes)


def _after_recording(rows: list[TimelineRow]) -> list[TimelineRow]:
    """Judges begin after the recorded answer, however long that took when it was recorded."""
    took = max((row.took_s or 0.0 for row in rows if row.kind == "target"), default=0.0)
    return [
        row if row.kind == "target" else replace(row, begin_s=row.begin_s + took) for row in rows
    ]


def _attempt_row(one: Attempt, begin_s: float) -> TimelineRow:
    outcome = VerdictWord("pass", "answered")
    if one.error_code:
        status = f" (HTTP {one.http_status})" if one.http_status else ""
        outcome = VerdictWord("unscored", f"{one.error_code}{status}")
    kind: BarKind = "err" if one.error_code else "ok" if one.is_judging else "target"
    return TimelineRow(
        name=_about(one) if one.is_judging else one.target or "target",
        call=one.call,
        kind=kind,
        begin_s=begin_s,
        took_s=None if one.latency_ms is None else one.latency_ms / 1000,
        wait_s=one.retry_in_s,
        attempt=one.attempt,
        outcome=outcome,
        message=one.message or "",
        tokens=_tokens(one),
    )


def _about(one: Attempt) -> str:
    """What a judge was asked about, such as `turn_verdict, turn 4`."""
    item = None if one.item is UNSET else one.item
    check = None if one.check is UNSET else one.check
    parts = [item or check or "judge"]
    for name in ("turn", "sample", "round"):
        value = getattr(one, name)
        if value is not UNSET and value:
            parts.append(f"{name} {value}")
    return ", ".join(parts)


def _tokens(one: Attempt) -> str:
    counts = (one.input_tokens, one.output_tokens)
    if counts == (None, None):
        return ""
    return " / ".join("–" if count is None else f"{count:,}" for count in counts)


def span_timeline(trace: Mapping[str, Any] | None) -> Timeline | None:
    """The waterfall of a trace; None where the trace has no times.

    Spans that an import kept come first; else the tool calls with their durations. Without times
    of when they began, they stand one after the other.
    """
    if not trace:
        return None
    rows = list(_kept_spans(trace.get("spans")))
    notes: list[str] = []
    if not rows:
        calls = [
            call for call in _calls(trace) if isinstance(call.get("duration_ms"), int | float)
        ]
        rows = list(_call_spans(calls))
        if rows and not all(_time_of(call) is not None for call in calls):
            notes.append("The trace does not say when calls began: they stand in their order.")
    if not rows:
        return None
    whole = trace.get("latency_ms")
    if isinstance(whole, int | float) and all(row.depth for row in rows):
        rows.insert(
            0,
            TimelineRow(
                name="answer", call="whole trace", kind="target", begin_s=0.0, took_s=whole / 1000
            ),
        )
    return _timeline(rows, notes)


def _timeline(rows: list[TimelineRow], notes: Iterable[str]) -> Timeline:
    length = max((row.end_s for row in rows), default=0.0)
    return Timeline(
        rows=tuple(rows[:MOST_ROWS]),
        length_s=max(length, 0.001),
        notes=tuple(notes),
        total=len(rows),
    )


def _kept_spans(spans: object) -> Iterator[TimelineRow]:
    for span in _objects(spans):
        start, took, depth = span.get("start_ms"), span.get("duration_ms"), span.get("depth")
        if not isinstance(start, int | float) or not isinstance(took, int | float):
            continue
        error = span.get("error")
        kind: BarKind = "err" if error else "tool" if span.get("kind") == "tool" else "target"
        yield TimelineRow(
            name=str(span.get("name")),
            call=str(span.get("kind") or ""),
            kind=kind,
            begin_s=start / 1000,
            took_s=took / 1000,
            message=error if isinstance(error, str) else "",
            depth=min(depth, _DEEPEST) if isinstance(depth, int) else 0,
        )


def _call_spans(calls: Sequence[JsonObject]) -> Iterator[TimelineRow]:
    """Tool calls where they began, or one after the other."""
    times = [_time_of(call) for call in calls]
    known = [at for at in times if at is not None]
    first = min(known, default=0.0)
    after = 0.0
    is_placed = len(known) == len(times)
    for call, at in zip(calls, times, strict=True):
        took = cast(float, call["duration_ms"]) / 1000
        begin = cast(float, at) - first if is_placed else after
        after = begin + took
        name = str(call.get("tool"))
        yield TimelineRow(name=name, call="tool", kind="tool", begin_s=begin, took_s=took, depth=1)


def _time_of(call: JsonObject) -> float | None:
    at = call.get("timestamp")
    if isinstance(at, int | float):
        return float(at)
    try:
        return datetime.fromisoformat(at).timestamp() if isinstance(at, str) else None
    except ValueError:
        return None


def _calls(trace: Mapping[str, Any]) -> Iterator[JsonObject]:
    for message in _objects(trace.get("messages")):
        yield from _objects(message.get("tool_calls"))


def _objects(value: object) -> list[JsonObject]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast(JsonObject, one) for one in listed if isinstance(one, dict)]
