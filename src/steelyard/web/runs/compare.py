"""The page that compares two runs: one verdict, what it rests on, and the records behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec

from steelyard.api.compared_runs import compared_runs
from steelyard.api.resources.comparisons import compared_records
from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_rate
from steelyard.errors import ConflictError, GoneError, NotFoundError
from steelyard.project import Project
from steelyard.reports.comparison.comparison_view import (
    ComparisonView,
    comparison_view,
    pair_shares,
)
from steelyard.reports.comparison.record_pair import RecordPair
from steelyard.reports.figures import Share
from steelyard.reports.verdict_words import row_word
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.judges.response_votes import VotesByResponse, response_votes
from steelyard.usecases.results.changed_records import read_pairs
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.pair_listing import ListPage, matching_pairs, page_of, read_first
from steelyard.usecases.results.paired_runs import Pair, PairedRuns
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.rendering import query_text, segment
from steelyard.web.runs.compare_choice import ChoiceContext, choice_of

How: TypeAlias = Literal["words", "changes", "plain"]
_HOW: tuple[tuple[How, str], ...] = (
    ("words", "Word diff"),
    ("changes", "Only what differs"),
    ("plain", "Plain"),
)
_Votes: TypeAlias = tuple[VotesByResponse, VotesByResponse]
_SLICES, _OPEN = 20, 3
_PROBLEMS = (ConflictError, GoneError, NotFoundError)
_STATUSES = {ConflictError: 409, GoneError: 410, NotFoundError: 404}


class ComparisonQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs are compared, and which of their records are shown."""

    a: str | None = None
    b: str | None = None
    show: Literal["different", "worse", "better", "all"] = "different"
    how: How = "words"
    q: str | None = None
    slices: Literal["first", "all"] = "first"
    page: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1


class ChoiceLink(NamedTuple):
    """A link of a row of which one is chosen."""

    word: str
    href: str
    is_chosen: bool


class LeftOutName(NamedTuple):
    """A record without a score, with the reason."""

    name: str
    why: str


class PairGroup(NamedTuple):
    """Pairs of one page that moved in the same direction."""

    kind: str
    """`fail`, `pass` or empty: the colour of the heading."""
    head: str
    pairs: Sequence[tuple[RecordPair, tuple[str, str]]]
    """Each with the addresses of the record in A and in B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareContext(Context):
    """A comparison."""

    template: ClassVar[str] = "compare.html"
    a: StoredRun
    b: StoredRun
    query: ComparisonQuery
    view: ComparisonView
    shares: Sequence[Share]
    left_out: Sequence[LeftOutName]
    tabs: Sequence[ChoiceLink]
    ways: Sequence[ChoiceLink]
    groups: Sequence[PairGroup]
    is_read: bool
    """Whether people have read answers of the runs."""
    page: ListPage[Pair]
    before: str | None
    """The address of the page before; None at the begin."""
    after: str | None
    swapped: str
    """The address of the comparison with B as the baseline."""
    all_slices: str
    json_href: str
    most_open: int = _OPEN
    """So many pairs of a page are open, the worst first; the others are folded."""


def _show(visit: Visit[ComparisonQuery]) -> CompareContext | ChoiceContext:
    query = visit.query
    if query.a is None or query.b is None:
        return _choice(visit, query.q)
    try:
        runs = compared_runs(visit.served, query.a, query.b)
    except _PROBLEMS as problem:
        status = _STATUSES[type(problem)]
        return _choice(visit, None, (status, str(problem)))
    return _context(visit, runs)


def _choice(
    visit: Visit[ComparisonQuery], text: str | None, problem: tuple[int, str] | None = None
) -> ChoiceContext:
    found = choice_of(visit.project, visit.query.a, visit.query.b, text, problem)
    note_shown(visit, *(shown_rate(one.run.run_id, one.rate) for one in found.runs))
    return found


def _context(visit: Visit[ComparisonQuery], runs: PairedRuns) -> CompareContext:
    query, found, project = visit.query, runs.found, visit.project
    votes = _votes(project, runs)
    pairs = matching_pairs(
        runs, query.q, lambda run_id: stored_records(project.result_ports(), run_id)
    )
    voted = {name for side in votes for name, _ in side}
    pairs = read_first(pairs, voted)
    page = page_of(pairs.select(query.show), query.page)
    note_shown(visit, *compared_records(found))
    a, b = (project.store.find(side.run_id) for side in (found.a, found.b))
    view = comparison_view(found, None if query.slices == "all" else _SLICES)
    sizes = {"worse": len(pairs.worse), "better": len(pairs.better), "same": len(pairs.same)}
    return CompareContext(
        title=_title(a, b),
        crumbs=(Crumb("Runs", "/runs"), Crumb("Compare", "/compare")),
        a=a,
        b=b,
        query=query,
        view=view,
        shares=pair_shares(*runs.counts),
        left_out=tuple(_left_out(runs)),
        tabs=tuple(_tabs(query, sizes)),
        ways=tuple(
            ChoiceLink(word, _href(query, how=how), how == query.how) for how, word in _HOW
        ),
        groups=tuple(_groups(runs, page.rows, votes, sizes)),
        is_read=bool(voted),
        page=page,
        before=_href(query, page=page.page - 1) if page.page > 1 else None,
        after=_href(query, page=page.page + 1) if page.page < page.pages else None,
        swapped=_href(query, a=query.b, b=query.a, page=1),
        all_slices=f"{_href(query, slices='all')}#h-slices",
        json_href=f"/v1/compare{query_text({'a': found.a.run_id, 'b': found.b.run_id})}",
    )


def _votes(project: Project, runs: PairedRuns) -> _Votes:
    ports = project.review_ports()
    a, b = (response_votes(ports, folder) for folder in runs.folders)
    return a, b


def _title(a: StoredRun, b: StoredRun) -> str:
    where = a.dataset if a.dataset == b.dataset else f"{a.dataset} and {b.dataset}"
    if a.target and a.target == b.target:
        return f"{a.target} on {where}, two runs"
    return f"{a.target or 'A'} and {b.target or 'B'} on {where}"


def _tabs(query: ComparisonQuery, sizes: dict[str, int]) -> list[ChoiceLink]:
    different = sizes["worse"] + sizes["better"]
    counts = (
        ("different", "Different", different),
        ("worse", "Worse", sizes["worse"]),
        ("better", "Better", sizes["better"]),
        ("all", "All", different + sizes["same"]),
    )
    return [
        ChoiceLink(f"{word} {number:,}", _href(query, show=name, page=1), name == query.show)
        for name, word, number in counts
    ]


def _href(query: ComparisonQuery, **changes: object) -> str:
    """The address of the page with something changed; defaults are left out."""
    known = msgspec.structs.asdict(query) | changes
    defaults = {"show": "different", "how": "words", "slices": "first", "page": 1}
    given = {name: value for name, value in known.items() if defaults.get(name) != value}
    return f"/compare{query_text(given)}"


def _groups(
    runs: PairedRuns, pairs: Sequence[Pair], votes: _Votes, sizes: dict[str, int]
) -> Iterator[PairGroup]:
    read = read_pairs(runs.folders, pairs, votes)
    by = " by the judge" if runs.found.corrected else ""
    parts = (
        ("fail", f"Worse in B{by}, {sizes['worse']:,}", [one for one in read if one.change < 0]),
        ("pass", f"Better in B{by}, {sizes['better']:,}", [one for one in read if one.change > 0]),
        ("", f"The same in both, {sizes['same']:,}", [one for one in read if not one.change]),
    )
    for kind, head, part in parts:
        if part:
            yield PairGroup(kind, head, [(one, _links(runs, one)) for one in part])


def _links(runs: PairedRuns, pair: RecordPair) -> tuple[str, str]:
    a, b = (
        record_href(side.run_id, one.index, one.repeat)
        for side, one in ((runs.found.a, pair.a), (runs.found.b, pair.b))
    )
    return a, b


def record_href(run_id: str, index: int, repeat: int = 0) -> str:
    """The address of a record."""
    return f"/runs/{segment(run_id)}/records/{index}{query_text({'repeat': repeat or None})}"


def _left_out(runs: PairedRuns) -> list[LeftOutName]:
    """The first records without a score, with what became of them."""
    in_a = FolderRecords(runs.folders[0]).repeats({one.index_a for one in runs.left_out})
    in_b = FolderRecords(runs.folders[1]).repeats({one.index_b for one in runs.left_out})
    names: list[LeftOutName] = []
    for one in runs.left_out:
        rows = in_b[one.index_b] if one.missing == "no score in B" else in_a[one.index_a]
        row = next((row for row in rows if row.status != "evaluated"), rows[0])
        word = row_word(row).word.lower()
        why = "other checks" if row.status == "evaluated" else word
        side = one.missing.removeprefix("no score in ")
        names.append(LeftOutName(one.record_id or f"record {one.index_b}", f"{why} in {side}"))
    return names


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/compare", section="runs", scope="runs:read", show=_show, query=ComparisonQuery),
)
