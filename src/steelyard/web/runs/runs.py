"""The list of runs: filters, pages, live rows, and the trend of one dataset and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import msgspec

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_rates
from steelyard.errors import NotFoundError
from steelyard.model.run import RunState
from steelyard.reports.figures import TrendMark
from steelyard.reports.numbers import rate_text
from steelyard.results.runs import RunQuery
from steelyard.usecases.results.run_trends import TrendPoint, run_trend, subject_of_suite
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.settings.saved_settings import list_suites
from steelyard.web.page import AnyPage, Context, Visit, WebPage
from steelyard.web.runs.run_rows import RunRow, run_rows

_LIMIT = 25
_STATES: tuple[tuple[RunState, str], ...] = (
    ("running", "Running"),
    ("queued", "Queued"),
    ("completed", "Completed"),
    ("completed_with_failures", "Completed with failures"),
    ("failed", "Failed"),
    ("cancelled", "Cancelled"),
)


class RunListQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs to show; the names are those of the API."""

    status: RunState | None = None
    q: str | None = None
    group: str | None = None
    dataset: str | None = None
    target: str | None = None
    suite: str | None = None
    cursor: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = _LIMIT
    part: Literal["rows"] | None = None
    """The rows alone, for a page that renews them."""

    def address(self, **changes: str | None) -> dict[str, str | None]:
        """The query of the same list with some changes, from its first page on."""
        kept = {name: getattr(self, name) for name in _FILTERS}
        limit = None if self.limit == _LIMIT else str(self.limit)
        return {**kept, "limit": limit, **changes}

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """The filters that are shown as chips, with their values."""
        named = ((name, getattr(self, name)) for name in ("dataset", "target", "group"))
        return tuple((name, value) for name, value in named if value)

    @property
    def is_filtered(self) -> bool:
        """Whether some runs may be left out."""
        return any(getattr(self, name) for name in _FILTERS)


_FILTERS = ("status", "q", "group", "dataset", "target", "suite")


class Trend(msgspec.Struct, frozen=True):
    """The rates of one dataset and target, oldest first."""

    title: str
    points: tuple[TrendPoint, ...]
    rows: tuple[RunRow, ...]

    @property
    def marks(self) -> tuple[TrendMark, ...]:
        """The points as the figure takes them."""
        return tuple(_mark(point, row) for point, row in zip(self.points, self.rows, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsContext(Context):
    """The rows alone."""

    template: ClassVar[str] = "run_rows.html"
    rows: tuple[RunRow, ...]
    renewed_at: dict[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsContext(RowsContext):
    """What the list of runs shows."""

    template: ClassVar[str] = "runs.html"
    query: RunListQuery
    next_cursor: str | None
    suites: tuple[str, ...]
    states: tuple[tuple[RunState, str], ...] = _STATES
    trend: Trend | None
    is_unused_suite: bool


def _show(visit: Visit[RunListQuery]) -> Context:
    asked, project = visit.query, visit.project
    suites = list_suites(project.setting_ports())
    subject: tuple[str | None, str | None] | None = (asked.dataset, asked.target)
    if asked.suite:
        suite = next((one.entry for one in suites if one.name == asked.suite), None)
        if suite is None:
            raise NotFoundError(f"there is no suite '{asked.suite[:200]}'")
        subject = subject_of_suite(project.store, suite)
    dataset, target = subject or (None, None)
    query = RunQuery(
        status=asked.status, group_id=asked.group, dataset=dataset, target=target, text=asked.q
    )
    page = list_runs(project.store, query, cursor=asked.cursor, limit=asked.limit)
    found = page.runs if subject else ()
    rows, renewed_at = run_rows(project, found), asked.address(cursor=asked.cursor, part="rows")
    note_shown(visit, *shown_rates(found))
    if asked.part:
        return RowsContext(title="Runs", rows=rows, renewed_at=renewed_at)
    return RunsContext(
        title="Runs",
        rows=rows,
        renewed_at=renewed_at,
        query=asked,
        next_cursor=page.next_cursor if subject else None,
        suites=tuple(one.name for one in suites),
        trend=_trend(visit, dataset, target) if dataset and target else None,
        is_unused_suite=subject is None,
    )


def _trend(visit: Visit[RunListQuery], dataset: str, target: str) -> Trend | None:
    points = run_trend(visit.project.store, dataset, target)
    if len(points) < 2:
        return None
    runs = [point.run for point in points]
    note_shown(visit, *shown_rates(runs))
    rows = run_rows(visit.project, runs)
    return Trend(title=f"{dataset} × {target}", points=tuple(points), rows=rows)


def _mark(point: TrendPoint, row: RunRow) -> TrendMark:
    raw, found = point.metrics.pass_rate, row.listed.corrected
    said = f"{rate_text(raw)} raw, n = {raw.n}"
    corrected = None
    if found and found.is_corrected:
        corrected = (found.value, found.low, found.high)
        said = f"{rate_text(found)} corrected, {said}"
    changed = ", ".join(dict.fromkeys(one.what for one in point.changes))
    return TrendMark(
        raw=(raw.value, raw.low, raw.high),
        corrected=corrected,
        change=f"{changed} changed" if changed else "",
        said=f"{point.run.created_at[:10]} {said}",
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/runs", section="runs", scope="runs:read", show=_show, query=RunListQuery),
)
