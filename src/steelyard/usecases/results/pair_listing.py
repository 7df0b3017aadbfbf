"""Which pairs of two compared runs a list shows, page by page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from steelyard.results.records import MAX_COUNT, RecordQuery
from steelyard.usecases.results.paired_runs import Pair, PairedRuns, Selection
from steelyard.usecases.results.records import Records

PAGE = 10


Row = TypeVar("Row")


class ListPage(NamedTuple, Generic[Row]):
    """A page of a list."""

    rows: Sequence[Row]
    first: int
    """The number of the first one, from 1 on; 0 where there is none."""
    total: int
    page: int
    pages: int


class PairSelections(NamedTuple):
    """The pairs of every selection that fit a search."""

    worse: Sequence[Pair]
    better: Sequence[Pair]
    same: Sequence[Pair]

    def select(self, selection: Selection) -> Sequence[Pair]:
        """Those that got worse come first, then those that got better."""
        if selection in {"worse", "better"}:
            return self.worse if selection == "worse" else self.better
        different = [*self.worse, *self.better]
        return different if selection == "different" else [*different, *self.same]


def matching_pairs(
    runs: PairedRuns, text: str | None, records: Callable[[str], Records]
) -> PairSelections:
    """The pairs with a text in the id, the question, an answer or a reason of either run."""
    if not text:
        return PairSelections(runs.worse, runs.better, runs.same)
    in_a, in_b = (
        matching_indices(records(side.run_id), text) for side in (runs.found.a, runs.found.b)
    )

    def fitting(pairs: Sequence[Pair]) -> list[Pair]:
        return [one for one in pairs if one.index_a in in_a or one.index_b in in_b]

    return PairSelections(fitting(runs.worse), fitting(runs.better), fitting(runs.same))


def matching_indices(records: Records, text: str) -> set[int]:
    """The records with a text in the id, the question, the answer or a reason."""
    return {one.index for one in records.places(RecordQuery(text=text), None, MAX_COUNT)}


def read_first(pairs: PairSelections, voted: Collection[str]) -> PairSelections:
    """The same with records that people read first in each part."""
    if not voted:
        return pairs

    def is_unread(one: Pair) -> bool:
        return one.record_id not in voted and str(one.index_b) not in voted

    return PairSelections(*(sorted(part, key=is_unread) for part in pairs))


def page_of(rows: Sequence[Row], page: int, size: int = PAGE) -> ListPage[Row]:
    """A page by its number, from 1 on; the last one where there are fewer."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(1, page), pages)
    shown = rows[(page - 1) * size : page * size]
    return ListPage(shown, (page - 1) * size + 1 if shown else 0, len(rows), page, pages)
