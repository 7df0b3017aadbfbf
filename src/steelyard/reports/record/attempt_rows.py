"""Attempts of a call as rows of a table with one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from markupsafe import Markup

from steelyard.results.attempts import Attempt


class AttemptRow(NamedTuple):
    """One try, with its place in time."""

    number: int
    outcome: str
    is_failed: bool
    waited: str
    """How long the next try was delayed; a dash after the last one."""
    waited_s: float | None
    at: str
    """When it began."""
    took_ms: float | None
    figure: Markup


def attempt_rows(attempts: Sequence[Attempt]) -> list[AttemptRow]:
    """The tries of a record, in order."""
    if not attempts:
        return []
    times = [datetime.fromisoformat(one.at).timestamp() for one in attempts]
    begin, end = times[0], max(_end(one, at) for one, at in zip(attempts, times, strict=True))
    length = max(end - begin, 0.001)
    last = len(attempts) - 1
    return [
        AttemptRow(
            number=one.attempt,
            outcome=_outcome(one, is_last=place == last),
            is_failed=one.error_code is not None,
            waited="–" if one.retry_in_s is None else f"{one.retry_in_s:.3f} s",
            waited_s=one.retry_in_s,
            at=one.at,
            took_ms=one.latency_ms,
            figure=_figure(one, (times[place] - begin) / length, length),
        )
        for place, one in enumerate(attempts)
    ]


def span_text(attempts: Sequence[Attempt]) -> str:
    """From when to when, such as `21:31:41.3 to 21:31:42.4`."""
    if not attempts:
        return ""
    first, last = (datetime.fromisoformat(one.at) for one in (attempts[0], attempts[-1]))
    return f"{_clock(first)} to {_clock(last)}"


def _clock(at: datetime) -> str:
    return f"{at:%H:%M:%S}.{at.microsecond // 100_000}"


def _end(one: Attempt, at: float) -> float:
    return at + (one.latency_ms or 0) / 1000 + (one.retry_in_s or 0)


def _outcome(one: Attempt, *, is_last: bool) -> str:
    if one.error_code is None:
        return "answered"
    status = f" (HTTP {one.http_status})" if one.http_status else ""
    return f"{one.error_code}{status}{', given up' if is_last else ''}"


def _figure(one: Attempt, begin: float, length: float) -> Markup:
    """A mark where it began, as long as it took, and the wait after it."""
    took = (one.latency_ms or 0) / 1000 / length
    # A mark at the end would be cut off.
    x = min(begin, 0.985)
    kind = "ok" if one.error_code is None else "err"
    place, width = f"{100 * x:.2f}%", f"{max(100 * took, 1):.2f}%"
    parts = [
        '<line class="axis" x1="0" x2="100%" y1="7" y2="7"/>',
        f'<rect class="{kind}" x="{place}" y="2" width="{width}" height="10"/>',
    ]
    if one.retry_in_s:
        until = min(1.0, begin + took + one.retry_in_s / length)
        first = 100 * min(1.0, begin + took) + 1
        parts.append(
            f'<line class="wait" x1="{first:.2f}%" x2="{100 * until:.2f}%" y1="7" y2="7"/>'
        )
    said = f"Attempt {one.attempt} {1000 * begin * length:,.0f} ms after the first"
    return Markup(  # noqa: S704 - made of numbers
        f'<svg role="img" aria-label="{said}">{"".join(parts)}</svg>'
    )
