"""A comparison as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from markupsafe import Markup

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.charts import difference_bar
from steelyard.reports.comparison_text import (
    corrected_lines,
    needed_lines,
    p_text,
    points,
    shift,
    verdict_text,
    warnings_of,
)
from steelyard.reports.pages import environment

SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRecord:
    """The question of a record and the answers of both runs."""

    asked: str | None
    asked_otherwise: str | None
    """The question to A, if it differs."""
    expected: str | None
    answer_a: str | None
    answer_b: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """What the template shows."""

    found: Comparison
    verdict: str
    warnings: tuple[tuple[str, bool], ...]
    corrected: tuple[str, ...]
    needed: tuple[str, ...]
    """Records needed to detect a difference of five points."""
    gate: str
    """The result of the gate; empty without one."""
    records: Mapping[int, MovedRecord]
    """The shown records, by their index in B."""
    shown: int = SHOWN


def comparison_html(found: Comparison, records: Mapping[int, MovedRecord], gate: str = "") -> str:
    """The page; it loads no external resources."""
    pages = environment()
    pages.filters.update(points=points, shift=shift, p=p_text)
    pages.filters["difference"] = cast(Any, _bar)
    page = ComparisonPage(
        found=found,
        verdict=verdict_text(found),
        warnings=tuple(warnings_of(found)),
        corrected=tuple(corrected_lines(found)),
        needed=tuple(needed_lines(found)),
        gate=gate,
        records=records,
    )
    return pages.get_template("comparison.html").render(page=page)


def _bar(value: float | None, low: float | None, high: float | None, label: str) -> Markup:
    return Markup(difference_bar(value, low, high, label))  # noqa: S704 - numbers, label escaped
