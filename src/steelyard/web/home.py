"""The home page: what ran, what needs attention, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_rates
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.review.queues.queue_views import QueueView
from steelyard.usecases.runs.overview import (
    LOOKED_AT,
    Concern,
    NextStep,
    concerns_of,
    next_steps,
)
from steelyard.usecases.settings.saved_settings import list_suites
from steelyard.web.page import AnyPage, Context, PlainQuery, Visit, WebPage
from steelyard.web.review.queues import open_queues, waiting_queues
from steelyard.web.runs.run_rows import RunRow, run_rows

_SHOWN = 8
_MOST_CONCERNS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeContext(Context):
    """What the home page shows."""

    template: ClassVar[str] = "home.html"
    rows: tuple[RunRow, ...]
    renewed_at: dict[str, str | None]
    has_more: bool
    concerns: tuple[Concern, ...]
    left_out: int
    """How many concerns are not shown."""
    steps: tuple[NextStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerContext(Context):
    """What somebody sees who may only review."""

    template: ClassVar[str] = "home_reviewer.html"
    role: str
    queues: tuple[QueueView, ...]
    """Open queues with items that wait for them."""


def _show(visit: Visit[PlainQuery]) -> Context:
    if not visit.identity.may("runs:read"):
        waiting = waiting_queues(visit) if visit.identity.may("review:read") else ()
        return ReviewerContext(title="Home", role=visit.identity.role, queues=waiting)
    project = visit.project
    page = list_runs(project.store, limit=LOOKED_AT)
    rows = run_rows(project, page.runs)
    note_shown(visit, *shown_rates(page.runs))
    newest = [row.listed for row in rows]
    concerns = concerns_of(
        newest,
        project.standing,
        project.clock.now(),
    )
    suites = [(one.name, one.entry) for one in list_suites(project.setting_ports())]
    queues = open_queues(visit) if visit.identity.may("review:write") else ()
    return HomeContext(
        title="Home",
        rows=rows[:_SHOWN],
        renewed_at={"part": "rows", "limit": str(_SHOWN)},
        has_more=len(rows) > _SHOWN,
        concerns=tuple(concerns[:_MOST_CONCERNS]),
        left_out=max(0, len(concerns) - _MOST_CONCERNS),
        steps=tuple(next_steps(newest, suites, queues)),
    )


PAGES: tuple[AnyPage, ...] = (WebPage(path="/", section="home", scope=None, show=_show),)
