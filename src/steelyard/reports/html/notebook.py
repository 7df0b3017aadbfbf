"""Runs, comparisons and findings as HTML for a notebook: no script, nothing loaded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from markupsafe import Markup

from steelyard.model.finding import Finding
from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.asked_text import request_text
from steelyard.reports.comparison.comparison_text import comparison_lines, verdict_text
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.pages import environment
from steelyard.reports.run.run_summary import RunSummary, summary_of
from steelyard.reports.run.run_text import RunView
from steelyard.reports.verdict_words import VerdictWord, row_word
from steelyard.results.predictions import Prediction

SHOWN = 10
_MOST_FINDINGS = 100
_HEAD_LINES = 3
"""The runs and the verdict, which the page shows in its own way."""
# How notebooks say that they are dark; the system is asked where none of them speaks.
_DARK = '[data-jp-theme-light="false"] .steelyard, .vscode-dark .steelyard, .theme-dark .steelyard'
_LIGHT = ':not([data-jp-theme-light="true"] *, .vscode-light *)'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """A record that did not pass."""

    name: str
    word: VerdictWord
    question: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunPage:
    view: RunView
    summary: RunSummary
    checks: Sequence[tuple[str, Any]]
    failed: Sequence[_Failed]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparisonPage:
    found: Comparison
    verdict: str
    lines: Sequence[tuple[str, str]]
    """Each with its name, where it has one."""
    shown: int = SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class _FindingsPage:
    findings: Sequence[Finding]
    errors: int
    warnings: int
    shown: int = _MOST_FINDINGS


def run_output(view: RunView, rows: Iterable[Prediction]) -> str:
    """A finished run with the first records that did not pass."""
    failed = list(islice((row for row in rows if not row.passed), SHOWN + 1))
    return _rendered(
        "run",
        _RunPage(
            view=view,
            summary=summary_of(view),
            checks=tuple(view.metrics.checks.items()),
            failed=[_failed(row) for row in failed[:SHOWN]],
            has_more=len(failed) > SHOWN,
        ),
    )


def comparison_output(found: Comparison) -> str:
    """A comparison with the first records that changed."""
    lines = [line.strip() for line in comparison_lines(found, shown=0)][_HEAD_LINES:]
    words = ("worse in B (", "better in B (", "… and ")
    shown = [_named(line) for line in lines if not line.startswith(words)]
    return _rendered(
        "comparison",
        _ComparisonPage(found=found, verdict=verdict_text(found), lines=shown),
    )


def _named(line: str) -> tuple[str, str]:
    """A line of a report as its name and its text, which several blanks part."""
    name, _, text = re.sub(r" {2,}", "\0", line, count=1).partition("\0")
    return (name, text) if text else ("", name)


def findings_output(findings: Sequence[Finding]) -> str:
    """Findings as a table."""
    errors = sum(one.is_error for one in findings)
    page = _FindingsPage(findings=findings, errors=errors, warnings=len(findings) - errors)
    return _rendered("findings", page)


def _rendered(name: str, page: object) -> str:
    html = _outputs().get_template(f"notebook/{name}.html").render(page=page, style=_style())
    return legible(html)


@cache
def _outputs() -> Any:
    return environment()


@cache
def _style() -> Markup:
    """The colours of all pages and the rules of outputs; both are our own files."""
    assets = files("steelyard.reports") / "assets"
    tokens = (assets / "tokens.css").read_text(encoding="utf-8")
    tokens = tokens.replace(':root:not([data-theme="light"])', f".steelyard{_LIGHT}")
    tokens = tokens.replace(':root[data-theme="dark"]', _DARK).replace(":root", ".steelyard")
    rules = (assets / "notebook.css").read_text(encoding="utf-8")
    return Markup(re.sub(r"/\*.*?\*/\n?", "", f"{tokens}{rules}", flags=re.DOTALL))  # noqa: S704


def _failed(row: Prediction) -> _Failed:
    return _Failed(
        name=str(row.record_id if row.record_id is not None else row.index),
        word=row_word(row),
        question=request_text(row) or "",
        answer=row.model_response or "",
        reason=row.reason or "",
    )
