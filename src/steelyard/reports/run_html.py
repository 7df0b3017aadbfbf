"""A run as one self-contained HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from steelyard.model.json_value import JsonValue
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.gate import GateResult
from steelyard.reports.asked_text import expected_text, request_text
from steelyard.reports.charts import histogram, interval_bar
from steelyard.reports.comparison_text import p_text
from steelyard.reports.correction import judge_text
from steelyard.reports.headline import gate_lines
from steelyard.reports.numbers import Estimated
from steelyard.reports.pages import environment
from steelyard.reports.repeats_text import (
    bounds_text,
    estimate_text,
    noise_text,
    partial_text,
)
from steelyard.reports.run_text import RunView, dependence, no_choice_text, selection_text
from steelyard.reports.slices_text import low_slices, uneven_slices
from steelyard.results.metrics import CheckMetrics, Slice, TriesMetrics
from steelyard.results.predictions import CheckScore, Prediction

if TYPE_CHECKING:
    from jinja2 import Environment

_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """The data of the template."""

    view: RunView
    failed: list[Prediction]
    """Records that did not pass, the first two hundred."""
    failed_total: int
    slices: list[Slice]
    checks: list[tuple[str, CheckMetrics]]
    correction: CorrectedRate | None
    """The corrected pass rate, or why there is none."""
    judge: str
    """TPR and TNR of the judge."""
    selection: str
    """The options that selected the records; empty for the whole dataset."""
    dependence: str | None
    """The effective number of independent records."""
    weak: frozenset[str]
    """The slices that are significantly below the rest."""
    repeats: Sequence[TriesMetrics]
    """pass@k and pass^k, by k."""
    noise: str | None
    """Whether more records or more repeats would help."""
    gates: tuple[tuple[GateResult, str], ...]
    """Each gate with what it checked, or why it failed."""
    no_choice: str | None
    """The number of answers that select no choice."""
    uneven: tuple[str, ...]
    """The slices in which scores are missing significantly more or less often."""


def run_html(view: RunView, predictions: Iterable[Prediction]) -> str:
    """The page; it loads no external resources."""
    failed = (row for row in predictions if not row.is_passed)
    shown = list(islice(failed, _SHOWN))
    correction, repeats = view.metrics.corrected_pass_rate, view.metrics.repeats
    page = RunReport(
        view=view,
        failed=shown,
        failed_total=len(shown) + sum(1 for _ in failed),
        slices=[one for one in view.slices if one.value is not None],
        checks=list(view.metrics.checks.items()),
        correction=correction,
        judge=judge_text(correction) if correction else "",
        selection=selection_text(view),
        dependence=dependence(view),
        weak=frozenset(
            one.name
            for one in low_slices(view.metrics, view.slices, most=None)
            if one.word == "weak slice"
        ),
        repeats=repeats.by_k if repeats else (),
        noise=noise_text(repeats) if repeats else None,
        gates=tuple(gate_lines(view.gates)),
        no_choice=no_choice_text(view.metrics),
        uneven=tuple(uneven_slices(view.metrics)),
    )
    return _pages().get_template("run.html").render(page=page)


def _pages() -> Environment:
    pages = environment()
    pages.filters.update(bar=_bar, histogram=_histogram, json=_json, mark=_mark, p=p_text)
    pages.filters.update({"bounds": bounds_text, "estimate": estimate_text})
    pages.filters.update({"partial": partial_text})
    pages.filters["asked"] = cast(Any, request_text)
    pages.filters["expected"] = cast(Any, expected_text)
    return pages


def _json(value: JsonValue) -> str:
    """JSON as text, escaped by the template; `tojson` is for scripts."""
    return json.dumps(value, ensure_ascii=False)


def _mark(score: CheckScore) -> str:
    if score.status != "scored":
        return "–" if score.status == "skipped" else "!"
    return "✓" if score.passed else "✗"


def _histogram(counts: Sequence[int]) -> Markup:
    return Markup(histogram(counts, "distribution of scores"))  # noqa: S704 - made of numbers


def _bar(found: Estimated, label: str = "pass rate") -> Markup:
    bar = interval_bar(found.value, found.low, found.high, label)
    return Markup(bar)  # noqa: S704 - made of numbers, label escaped
