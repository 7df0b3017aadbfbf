"""The slices of a run one by one, small ones too: as a page, and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
from starlette.responses import Response, StreamingResponse

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_slices
from steelyard.engine.states import is_terminal
from steelyard.reports.run.slices_text import MIN_SLICE
from steelyard.results.metrics import Slice
from steelyard.usecases.results.pair_listing import ListPage, page_of
from steelyard.usecases.results.slices_csv import export_slices
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.records.record_address import Address, RecordFilters
from steelyard.web.rendering import query_text
from steelyard.web.runs.run_exports import attached
from steelyard.web.runs.run_results import RunResults, finished_results, unfinished_results

_PAGE = 500


class SlicesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which slices are shown."""

    few: bool = False
    """Only those with too few records to read a rate from."""
    page: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicesContext(Context):
    """A page of slices."""

    template: ClassVar[str] = "run_slices.html"
    address: Address
    few: bool
    least: int
    found: ListPage[Slice]
    before: str
    after: str


def _show(visit: Visit[SlicesQuery]) -> Context:
    asked, results = visit.query, _results(visit)
    run = visit.project.store.find(visit.path["run_id"])
    address = Address(run.run_id, RecordFilters())
    found = page_of(_chosen(results.slices, few=asked.few), asked.page, _PAGE)
    note_shown(visit, shown_slices(run.run_id, found.rows))

    def at(page: int) -> str:
        if not 1 <= page <= found.pages:
            return ""
        few = "true" if asked.few else None
        return f"{address.run}/slices{query_text({'few': few, 'page': page})}"

    return SlicesContext(
        title="Small slices" if asked.few else "Slices",
        crumbs=(
            Crumb("Runs", "/runs"),
            Crumb(f"{run.dataset} × {run.target or 'several targets'}", address.run),
        ),
        address=address,
        few=asked.few,
        least=MIN_SLICE,
        found=found,
        before=at(found.page - 1),
        after=at(found.page + 1),
    )


def _csv(visit: Visit[PlainQuery]) -> Response:
    results = _results(visit)
    run = visit.project.store.find(visit.path["run_id"])
    note_shown(visit, shown_slices(run.run_id, results.slices))
    checks = list(dict.fromkeys(name for one in results.slices for name in one.checks))
    lines = export_slices(results.slices, checks, results.people)
    return StreamingResponse(
        (line.encode("utf-8", "backslashreplace") for line in lines),
        media_type="text/csv; charset=utf-8",
        headers=attached(f"{visit.path['run_id']}-slices.csv"),
    )


def _results(visit: Visit[SlicesQuery] | Visit[PlainQuery]) -> RunResults:
    project = visit.project
    run = project.store.find(visit.path["run_id"])
    if is_terminal(run.status):
        return finished_results(project, project.run_folder(run.run_id))
    return unfinished_results(project, run)


def _chosen(slices: Sequence[Slice], *, few: bool) -> list[Slice]:
    """Those with a value, the lowest rates first."""
    known = [one for one in slices if one.value is not None]
    if few:
        known = [one for one in known if one.total_records < MIN_SLICE]
    return sorted(known, key=_order)


def _order(one: Slice) -> tuple[float, str, str]:
    rate = one.pass_rate.value
    return 2.0 if rate is None else rate, one.slice, one.value or ""


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/runs/{run_id}/slices",
        section="runs",
        scope="runs:read",
        show=_show,
        query=SlicesQuery,
    ),
    WebPage(path="/runs/{run_id}/slices.csv", section="runs", scope="runs:read", show=_csv),
)
