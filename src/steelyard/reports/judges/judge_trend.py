"""TPR and TNR of a judge over its validations, as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from steelyard.model.statistics.interval import Interval
from steelyard.reports.figures import RATE_TICKS
from steelyard.reports.numbers import rate_text, share_text

_TOP, _FOOT = 14.0, 150.0
_APART = 7
"""So many pixels lie between the two rates of one validation."""


class RatedTime(NamedTuple):
    """The rates of one validation."""

    label: str
    tpr: Interval
    tnr: Interval


def rates_over_time(rated: Sequence[RatedTime]) -> Markup:
    """Both rates with their intervals, in order of time: TPR filled, TNR hollow."""
    parts = [_grid(share, text) for share, text in RATE_TICKS]
    for number, one in enumerate(rated):
        x = f"{100 * (number + 0.5) / len(rated):.2f}%"
        parts.append(f'<text x="{x}" y="168" text-anchor="middle">{escape(one.label)}</text>')
        for found, kind, shift in ((one.tpr, "tpr", -_APART), (one.tnr, "tnr", _APART)):
            parts.append(f'<svg class="at {kind}" x="{x}">{_point(found, shift)}</svg>')
    said = "; ".join(f"{one.label}: TPR {_rate(one.tpr)}, TNR {_rate(one.tnr)}" for one in rated)
    head = f'<svg class="chart rates" role="img" aria-label="{escape(said)}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - numbers, labels escaped


def _grid(share: float, text: str) -> str:
    y = _height(share)
    line = f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
    return f'{line}<text x="0" y="{y - 3}">{escape(text)}</text>'


def _point(found: Interval, x: int) -> str:
    if found.value is None:
        return ""
    marks = [f'<circle class="pt" cx="{x}" cy="{_height(found.value)}" r="4"/>']
    if found.low is not None and found.high is not None:
        low, high = _height(found.low), _height(found.high)
        marks.insert(0, f'<line class="stem" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>')
        marks += [
            f'<line class="stem" x1="{x - 4}" x2="{x + 4}" y1="{y}" y2="{y}"/>'
            for y in (low, high)
        ]
    return "".join(marks)


def _height(share: float) -> float:
    return round(_FOOT - share * (_FOOT - _TOP), 1)


def _rate(found: Interval) -> str:
    return f"{rate_text(found)} ({share_text(found)})" if found.value is not None else "unknown"
