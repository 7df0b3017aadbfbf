"""The page of a group: records as rows, the runs that were started together as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from steelyard.api.compared_runs import grouped_runs
from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import ShownResults
from steelyard.engine.states import is_terminal
from steelyard.errors import ConflictError, GoneError, NotFoundError
from steelyard.project import Project
from steelyard.reports.asked_text import question_and_context
from steelyard.reports.comparison.record_pair import AnsweredRecord, answered_record
from steelyard.reports.numbers import Estimated, count, counted, rate_text
from steelyard.results.predictions import Prediction
from steelyard.results.runs import RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.group_table import GroupRow, GroupRun, GroupTable, RunPair
from steelyard.usecases.results.pair_listing import ListPage, matching_indices, page_of
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.results.sealed_files import intact_folder, stored_records
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.rendering import query_text, segment
from steelyard.web.runs.compare import ChoiceLink, record_href

_MOST_RUNS = 12
_TABS = (("different", "Different"), ("incomplete", "No score in a run"), ("all", "All"))
_PAGE = 25
_CLIP = 400
"""So many characters of a question or an answer; the page of the record has all."""


class GroupQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which records are shown."""

    show: Literal["different", "incomplete", "all"] = "different"
    q: str | None = None
    page: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1


class RunColumn(NamedTuple):
    """A finished run."""

    letter: str
    run: StoredRun
    rates: GroupRun

    @property
    def shown(self) -> Estimated:
        """The rate that can be defended."""
        corrected = self.rates.corrected
        return corrected if corrected and corrected.is_corrected else self.rates.pass_rate

    @property
    def about(self) -> str:
        """What the rate is of, and what has no score."""
        corrected, raw = self.rates.corrected, self.rates.pass_rate
        text = f"n = {count(raw.n)}"
        if corrected and corrected.is_corrected:
            labels = counted(corrected.labels or 0, "label")
            text = f"corrected by {labels}, raw {rate_text(raw)}, {text}"
        elif corrected:
            by = "as the judge sees it" if corrected.is_by_judge_alone else "as graded"
            text = f"raw, {by}, {text}"
        return f"{text}; raw {self.rates.bounds}" if self.rates.bounds else text


class Absent(NamedTuple):
    """A run of the group that has no column, and why."""

    run: StoredRun
    why: str


class RecordCell(NamedTuple):
    """A record in one run."""

    found: AnsweredRecord
    answer: str
    href: str


class Line(NamedTuple):
    """A record in all runs; None where a run does not have it."""

    name: str
    question: str
    cells: tuple[RecordCell | None, ...]


class PairLine(NamedTuple):
    """Two columns with the address of their comparison."""

    a: RunColumn
    b: RunColumn
    pair: RunPair
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupContext(Context):
    """The runs of a group."""

    template: ClassVar[str] = "group.html"
    group_id: str
    query: GroupQuery
    columns: Sequence[RunColumn]
    absent: Sequence[Absent]
    pairs: Sequence[PairLine]
    tabs: Sequence[ChoiceLink]
    lines: Sequence[Line]
    page: ListPage[GroupRow]
    before: str | None
    after: str | None


def _show(visit: Visit[GroupQuery]) -> GroupContext:
    group_id, query, project = visit.path["group_id"], visit.query, visit.project
    runs = list_runs(project.store, RunQuery(group_id=group_id), limit=100).runs[::-1]
    if not runs:
        raise NotFoundError(f"no group '{group_id}' in this project")
    absent = [one for run in runs if (one := _absent(project, run))]
    gone = {one.run.run_id for one in absent}
    usable = [run for run in runs if run.run_id not in gone]
    shown = usable[:_MOST_RUNS]
    table = grouped_runs(visit.served, [run.run_id for run in shown])
    columns = [
        RunColumn(ascii_uppercase[place], run, table.runs[place])
        for place, run in enumerate(shown)
    ]
    parts = _matching(project, table, query.q)
    page = page_of(parts[query.show], query.page, _PAGE)
    address = f"/groups/{segment(group_id)}"
    if table.rows:
        # The records that are not listed as different have the same verdict everywhere.
        note_shown(visit, *(ShownResults(run.run_id, None) for run in shown))
    return GroupContext(
        title=_title(runs),
        crumbs=(Crumb("Runs", "/runs"),),
        group_id=group_id,
        query=query,
        columns=columns,
        absent=[
            *absent,
            *(Absent(run, f"not among the first {_MOST_RUNS}") for run in usable[_MOST_RUNS:]),
        ],
        pairs=[_pair(columns, one) for one in table.pairs],
        tabs=[
            ChoiceLink(
                f"{word} {len(parts[name]):,}",
                _href(address, query, show=name, page=1),
                query.show == name,
            )
            for name, word in _TABS
            if parts[name] or name != "incomplete"
        ],
        lines=list(_lines(table, page.rows)),
        page=page,
        before=_href(address, query, page=page.page - 1) if page.page > 1 else None,
        after=_href(address, query, page=page.page + 1) if page.page < page.pages else None,
    )


def _title(runs: Sequence[StoredRun]) -> str:
    datasets = ", ".join(dict.fromkeys(run.dataset for run in runs))
    return f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} of {datasets}"


def _absent(project: Project, run: StoredRun) -> Absent | None:
    """Why a run cannot be read; None where it can."""
    if not is_terminal(run.status):
        return Absent(run, f"{run.status.replace('_', ' ')}; it has no results yet")
    try:
        intact_folder(project.result_ports(), run.run_id)
    except (ConflictError, GoneError) as why:
        return Absent(run, str(why))
    return None


def _matching(
    project: Project, table: GroupTable, text: str | None
) -> dict[str, Sequence[GroupRow]]:
    """The rows of each tab, with a text in any run."""
    parts: dict[str, Sequence[GroupRow]] = {
        "different": table.different,
        "incomplete": table.incomplete,
        "all": table.rows,
    }
    if not text:
        return parts
    ports = project.result_ports()
    found = [matching_indices(stored_records(ports, run.run_id), text) for run in table.runs]

    def fits(row: GroupRow) -> bool:
        return any(index in one for index, one in zip(row.indices, found, strict=True))

    return {name: list(filter(fits, rows)) for name, rows in parts.items()}


def _href(address: str, query: GroupQuery, **changes: object) -> str:
    known = msgspec.structs.asdict(query) | changes
    defaults = {"show": "different", "page": 1}
    given = {name: value for name, value in known.items() if defaults.get(name) != value}
    return f"{address}{query_text(given)}"


def _pair(columns: Sequence[RunColumn], pair: RunPair) -> PairLine:
    a, b = columns[pair.a], columns[pair.b]
    href = f"/compare{query_text({'a': a.run.run_id, 'b': b.run.run_id})}"
    return PairLine(a, b, pair, href)


def _lines(table: GroupTable, rows: Sequence[GroupRow]) -> Iterator[Line]:
    read = [
        FolderRecords(folder).repeats(
            {index for row in rows if (index := row.indices[place]) is not None}
        )
        for place, folder in enumerate(table.folders)
    ]
    for row in rows:
        found = [
            None if index is None else one[index]
            for index, one in zip(row.indices, read, strict=True)
        ]
        known = next(one for one in found if one)
        question, _ = question_and_context(known[0])
        name = row.record_id if row.record_id is not None else f"record {known[0].index}"
        cells = (
            _cell(run.run_id, one) if one else None
            for run, one in zip(table.runs, found, strict=True)
        )
        yield Line(name, (question or "")[:_CLIP], tuple(cells))


def _cell(run_id: str, rows: Sequence[Prediction]) -> RecordCell:
    """The record; shown is the first repeat that did not pass, or else the first."""
    row = next((one for one in rows if not one.is_passed), rows[0])
    found = answered_record(row, rows)
    return RecordCell(
        found, (found.answer or "")[:_CLIP], record_href(run_id, row.index, row.repeat)
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/groups/{group_id}",
        section="runs",
        scope="runs:read",
        show=_show,
        query=GroupQuery,
    ),
)
