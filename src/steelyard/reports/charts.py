"""SVG charts from pure functions; colours come from CSS, numbers are in a table nearby."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from steelyard.reports.numbers import signed

_WIDTH = 220
_HEIGHT = 18
_BIN_WIDTH = 26
_BINS_HEIGHT = 84


def interval_bar(value: float | None, low: float | None, high: float | None, label: str) -> str:
    """A rate in [0, 1] as a bar, with whiskers for its interval."""
    head = f'<svg class="bar" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
    if value is None:
        return f'{head}aria-label="{escape(label)}: no value"></svg>'
    x = round(value * (_WIDTH - 2), 1) + 1
    known = "no interval" if low is None or high is None else f"from {low:.3f} to {high:.3f}"
    return (
        f'{head}aria-label="{escape(label)}: {value:.3f}, {known}">'
        f'<rect class="ground" x="1" y="5" width="{_WIDTH - 2}" height="8" rx="2"/>'
        f'<rect class="fill" x="1" y="5" width="{max(0.0, x - 1):.1f}" height="8" rx="2"/>'
        f"{_whiskers(low, high)}</svg>"
    )


def _whiskers(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    left, right = (round(number * (_WIDTH - 2), 1) + 1 for number in (low, high))
    middle = _HEIGHT / 2
    return (
        f'<line class="whisker" x1="{left}" y1="{middle}" x2="{right}" y2="{middle}"/>'
        f'<line class="whisker" x1="{left}" y1="3" x2="{left}" y2="{_HEIGHT - 3}"/>'
        f'<line class="whisker" x1="{right}" y1="3" x2="{right}" y2="{_HEIGHT - 3}"/>'
    )


def difference_bar(value: float | None, low: float | None, high: float | None, label: str) -> str:
    """A difference in [-1, 1] as a mark with whiskers, zero in the middle."""
    head = f'<svg class="bar" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
    if value is None or low is None or high is None:
        return f'{head}aria-label="{escape(label)}: no value"></svg>'
    x = round((value + 1) / 2 * (_WIDTH - 2), 1) + 1
    middle, zero = _HEIGHT / 2, _WIDTH / 2
    known = f"{signed(value)}, from {signed(low)} to {signed(high)}"
    return (
        f'{head}aria-label="{escape(label)}: {known}">'
        f'<rect class="ground" x="1" y="5" width="{_WIDTH - 2}" height="8" rx="2"/>'
        f'<line class="axis" x1="{zero}" y1="1" x2="{zero}" y2="{_HEIGHT - 1}"/>'
        f"{_whiskers((low + 1) / 2, (high + 1) / 2)}"
        f'<circle class="fill" cx="{x}" cy="{middle}" r="4"/>'
        "</svg>"
    )


def histogram(counts: Sequence[int], label: str) -> str:
    """The distribution of scores over equal bins of [0, 1]."""
    most = max(counts, default=0) or 1
    width = _BIN_WIDTH * len(counts)
    bars: list[str] = []
    for place, count in enumerate(counts):
        height = round(count / most * (_BINS_HEIGHT - 30))
        x, y = place * _BIN_WIDTH + 2, _BINS_HEIGHT - 16 - height
        bars.append(
            f'<rect class="fill" x="{x}" y="{y}" width="{_BIN_WIDTH - 4}" height="{height}"/>'
        )
        if count:
            middle = x + _BIN_WIDTH / 2 - 2
            text = f'<text x="{middle}" y="{y - 3}" text-anchor="middle">{_short(count)}</text>'
            bars.append(text)
    foot = _BINS_HEIGHT - 16
    ends = f'<line class="axis" x1="0" y1="{foot}" x2="{width}" y2="{foot}"/>'
    ends += f'<text x="2" y="{_BINS_HEIGHT - 3}">0</text>'
    ends += f'<text x="{width - 2}" y="{_BINS_HEIGHT - 3}" text-anchor="end">1</text>'
    return (
        f'<svg class="histogram" width="{width}" height="{_BINS_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}: {", ".join(str(count) for count in counts)}">'
        f"{''.join(bars)}{ends}</svg>"
    )


def _short(count: int) -> str:
    """A count in at most four characters, to fit above a bin."""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"
