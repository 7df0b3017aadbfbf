"""SVG figures with positions in per cent: they stretch with the page and need no style attribute.

Colours come from the style sheet; the numbers of every figure stand beside it as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from steelyard.reports.numbers import percent, signed_points

_POINT = 3.4
_LEAD_POINT = 5


class Axis(NamedTuple):
    """The ends of an axis."""

    low: float = 0.0
    high: float = 1.0

    def place(self, value: float) -> str:
        """Where a value stands on the axis, in per cent."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(1.0, max(0.0, share)):.2f}%"


RATE = Axis()


def interval_figure(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    style: str = "",
    scale: Axis = RATE,
    is_open: bool = True,
) -> Markup:
    """A value with its interval on an axis: bar, whiskers and point; hollow if it is raw."""
    middle = 12 if style == "lead" else 8
    said = _said(value, low, high, scale)
    parts = [f'<line class="axis" x1="0" x2="100%" y1="{middle}" y2="{middle}"/>']
    if scale.low < 0 < scale.high:
        parts.append(_vertical("zero", scale.place(0), 0, 2 * middle))
    if low is not None and high is not None:
        ends = f'x1="{scale.place(low)}" x2="{scale.place(high)}" y1="{middle}" y2="{middle}"'
        parts += [f'<line class="body" {ends}/>', f'<line class="stem" {ends}/>']
        reach = 7 if style == "lead" else 4
        parts += [
            _vertical("cap", scale.place(end), middle - reach, middle + reach)
            for end in (low, high)
        ]
    if value is not None:
        radius = _LEAD_POINT if style == "lead" else _POINT
        kind = "pt open" if is_open else "pt"
        place = scale.place(value)
        parts.append(f'<circle class="{kind}" cx="{place}" cy="{middle}" r="{radius}"/>')
    head = f'<svg class="iv {style}" role="img" aria-label="{escape(said)}">'.replace(' "', '"')
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, label escaped


def _vertical(kind: str, x: str, top: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'


def _said(value: float | None, low: float | None, high: float | None, scale: Axis) -> str:
    text = percent if scale.low >= 0 else signed_points
    unit = "" if scale.low >= 0 else " points"
    known = "no value" if value is None else f"{text(value)}{unit}"
    if low is None or high is None:
        return f"{known}, no interval"
    return f"{known}, 95 % interval {text(low)} to {text(high)}{unit}"


def axis_figure(ticks: Sequence[tuple[float, str]], scale: Axis = RATE) -> Markup:
    """The axis below several intervals; the first and the last label stay inside."""
    parts: list[str] = []
    for number, (value, label) in enumerate(ticks):
        x = scale.place(value)
        anchor = "start" if number == 0 else "end" if number == len(ticks) - 1 else "middle"
        parts.append(f'<line x1="{x}" x2="{x}" y1="0" y2="4"/>')
        parts.append(f'<text x="{x}" y="16" text-anchor="{anchor}">{escape(label)}</text>')
    return Markup(f'<svg aria-hidden="true">{"".join(parts)}</svg>')  # noqa: S704 - escaped


RATE_TICKS = ((0.0, "0 %"), (0.25, "25"), (0.5, "50"), (0.75, "75"), (1.0, "100 %"))
RATE_ENDS = ((0.0, "0"), (0.5, "50"), (1.0, "100 %"))
"""The same where there is little room."""


def histogram_figure(counts: Sequence[int], label: str) -> Markup:
    """The distribution of scores over equal bins of [0, 1]."""
    most, width = max(counts, default=0) or 1, 100 / max(1, len(counts))
    parts: list[str] = []
    for place, count in enumerate(counts):
        height = round(count / most * 40, 1)
        x, middle = place * width + width * 0.06, (place + 0.5) * width
        parts.append(
            f'<rect class="fill" x="{x:.2f}%" y="{54 - height}" width="{width * 0.88:.2f}%" '
            f'height="{height}"/>'
        )
        if count:
            y = 50 - height
            parts.append(
                f'<text x="{middle:.2f}%" y="{y}" text-anchor="middle">{_short(count)}</text>'
            )
    parts.append('<line class="axis" x1="0" x2="100%" y1="54" y2="54"/>')
    parts.append('<text x="0" y="69">0</text><text x="100%" y="69" text-anchor="end">1</text>')
    said = escape(f"{label}: {', '.join(map(str, counts))}")
    head = f'<svg class="chart histogram" role="img" aria-label="{said}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, label escaped


def _short(count: int) -> str:
    """A count, rounded, in at most four characters."""
    if count < 10_000:
        return str(count)
    if count < 999_500:
        return f"{(count + 500) // 1000}k"
    return f"{(count + 500_000) // 1_000_000}M"


class Share(NamedTuple):
    """A part of a whole: `up`, `down`, `same` or `new`, its number, and its label."""

    kind: str
    number: int
    label: str


def stack_figure(shares: Sequence[Share]) -> Markup:
    """Parts of a whole side by side; a label only where it has room."""
    whole = sum(share.number for share in shares) or 1
    parts, begin = list[str](), 0.0
    for share in shares:
        width = 100 * share.number / whole
        parts.append(
            f'<rect class="{share.kind}" x="{begin:.2f}%" y="1" width="{width:.2f}%" height="24"/>'
        )
        if width >= 14:
            middle = begin + width / 2
            parts.append(
                f'<text x="{middle:.2f}%" y="17" text-anchor="middle">{escape(share.label)}</text>'
            )
        begin += width
    said = escape(", ".join(share.label for share in shares))
    head = f'<svg class="stack" role="img" aria-label="{said}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, labels escaped


class TrendMark(NamedTuple):
    """One run of a trend; `change` names what makes it incomparable with the one before."""

    raw: tuple[float | None, float | None, float | None]
    """Value, low and high."""
    corrected: tuple[float | None, float | None, float | None] | None
    change: str
    said: str


_TREND_TOP, _TREND_FOOT = 22.0, 172.0


def trend_figure(marks: Sequence[TrendMark], label: str) -> Markup:
    """Rates with their intervals in order of time; a line joins those that are comparable."""
    parts = [_trend_grid(share, text) for share, text in RATE_TICKS]
    for number, mark in enumerate(marks):
        if mark.change:
            x = f"{100 * number / len(marks):.2f}%"
            parts.append(_vertical("change", x, 4, _TREND_FOOT))
            parts.append(
                f'<svg x="{x}" class="at"><text x="5" y="13">{escape(mark.change)}</text></svg>'
            )
    has_both = any(mark.corrected for mark in marks)
    parts.append(_trend_series("raw", [mark.raw for mark in marks], marks, -6 if has_both else 0))
    if has_both:
        corrected = [mark.corrected or (None, None, None) for mark in marks]
        parts.append(_trend_series("lead", corrected, marks, 6))
    said = escape(f"{label}: {'; '.join(mark.said for mark in marks)}")
    head = f'<svg class="chart trend" role="img" aria-label="{said}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, texts escaped


def _trend_grid(share: float, text: str) -> str:
    y = _trend_height(share)
    line = f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
    return f'{line}<text x="0" y="{y - 3}">{escape(text)}</text>'


def _trend_height(share: float) -> float:
    return round(_TREND_FOOT - share * (_TREND_FOOT - _TREND_TOP), 1)


def _trend_series(
    kind: str,
    values: Sequence[tuple[float | None, float | None, float | None]],
    marks: Sequence[TrendMark],
    shift: int,
) -> str:
    """One series, shifted by some pixels so that two do not hide each other."""
    parts: list[str] = []
    places = [f"{100 * (number + 0.5) / len(values):.2f}%" for number in range(len(values))]
    for number, (value, low, high) in enumerate(values):
        if value is None:
            continue
        y, x = _trend_height(value), places[number]
        before = values[number - 1][0] if number else None
        if before is not None and not marks[number].change:
            start = f'x1="{places[number - 1]}" y1="{_trend_height(before)}"'
            parts.append(f'<line class="line" {start} x2="{x}" y2="{y}"/>')
        parts.append(f'<svg x="{x}" class="at">{_whiskers(low, high)}')
        parts.append(f'<circle class="pt" cx="0" cy="{y}" r="4"/></svg>')
    return f'<svg class="at {kind}" x="{shift}" width="100%" height="100%">{"".join(parts)}</svg>'


def _whiskers(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    ends = [_trend_height(end) for end in (low, high)]
    caps = "".join(f'<line class="cap" x1="-4" x2="4" y1="{y}" y2="{y}"/>' for y in ends)
    return f"{_vertical('stem', '0', *ends)}{caps}"
