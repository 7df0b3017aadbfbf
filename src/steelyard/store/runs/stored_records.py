"""The records of a run in the database, found by what lists filter and sort by."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    Subquery,
    bindparam,
    case,
    false,
    func,
    or_,
    select,
    tuple_,
)

from steelyard.formats.encoding import without_surrogates
from steelyard.results.attempts import read_attempt
from steelyard.results.facts import read_facts
from steelyard.results.failures import Failure, read_failure
from steelyard.results.list_place import ListPlace, place_among
from steelyard.results.predictions import Prediction, read_prediction
from steelyard.results.records import (
    MAX_COUNT,
    MEASURES,
    Only,
    Place,
    Position,
    RecordLine,
    RecordQuery,
    RecordVerdict,
    RecordView,
    ResultCounts,
    Sort,
    TextSearch,
    read_listed,
)
from steelyard.results.requests import whole_row
from steelyard.results.stored_rows import with_scores
from steelyard.store.column_types import Whole
from steelyard.store.database import few_rows, streamed, translated_errors
from steelyard.store.dialects import as_text, contains, json_field, position
from steelyard.store.runs.judgements import JudgementStore
from steelyard.store.runs.listed_columns import joined_tags
from steelyard.store.runs.record_counts import record_counts, splits_jury, verdicts_of
from steelyard.store.runs.repository import RunStore
from steelyard.store.tables import attempts, parts, results, scores

_PLACE = (results.c.idx, results.c.repeat)
_SORTED: dict[str, ColumnElement[Any]] = {
    "index": results.c.idx,
    "verdict": case((results.c.passed, 2), (results.c.passed.is_(None), 0), else_=1).label(
        "verdict"
    ),
    **{name: results.c[name] for name in ("status", "passed", "score", "label")},
    # Read from the rows themselves: a column of its own would make every row longer.
    **{
        name: json_field(results.c.prediction, field).cast(Float).label(name)
        for name, field in MEASURES.items()
    },
}
_QUERIES = 256
"""So many lists are put together once and not for each page."""
_PREDICTIONS_AT = select(*_PLACE, results.c.prediction).where(
    results.c.run_id == bindparam("run_id"),
    results.c.idx.in_(bindparam("indices", expanding=True)),
)
_SCORES_AT = (
    select(scores.c.idx, scores.c.repeat, scores.c.row)
    .where(
        scores.c.run_id == bindparam("run_id"),
        scores.c.idx.in_(bindparam("indices", expanding=True)),
    )
    .order_by(scores.c.place)
)


class StoredRecords:
    """The records of a run, finished or not, as far as the store has them."""

    def __init__(self, store: RunStore, run_id: str, title: str = "") -> None:
        self.title = title or run_id
        self._store = store
        self._run_id = run_id
        self._judgements = JudgementStore(store.engine)

    def _page(self, query: RecordQuery, after: Position | None, limit: int) -> list[RecordLine]:
        """The records that a query finds after a position."""
        search = TextSearch(query.text) if query.text else None
        found = _found(query, _shape(after))
        if search is None:
            # Only the index is read for the others.
            found = found.limit(limit)
        whole = _whole(found.subquery(), self._run_id, query.sort)
        rows = (
            row
            for row in streamed(self._store.engine, whole.params(self._values(after)))
            if search is None or search.matches(row.prediction)
        )
        return [read_listed(row.prediction).line(row.label) for row in islice(rows, limit)]

    def places(
        self, query: RecordQuery, after: Position | None, limit: int, skip: int = 0
    ) -> list[Position]:
        """Where the records of a query stand in its list; without a text, by the index alone."""
        if query.text:
            lines = self._page(query, after, skip + limit)[skip:]
            return [line.position(query.sort) for line in lines]
        values = {**self._values(after), "limit": limit, "skip": skip}
        rows = few_rows(self._store.engine, _places(query, _shape(after)), **values)
        return [Position(value, idx, repeat) for idx, repeat, value in rows]

    def count(self, query: RecordQuery) -> int:
        """How many records a query finds; without a text, by the index alone."""
        if query.text:
            return len(self._page(query, None, MAX_COUNT))
        found = _found(query, "first").order_by(None).subquery()
        asked = select(func.count()).select_from(found)
        return few_rows(self._store.engine, asked, **self._values(None))[0][0]

    def counts(self) -> ResultCounts:
        """All records by what became of them."""
        return record_counts(self._store.engine, self._run_id)

    def verdicts(self, names: Collection[str]) -> list[RecordVerdict]:
        """What the run says of records by their ids, or by their indices in digits."""
        return verdicts_of(self._store.engine, self._run_id, names)

    def predictions(self, places: Sequence[Place]) -> list[Prediction]:
        """The results at some places, in their order, with the scores of their checks."""
        found: dict[Place, list[bytes]] = {}
        indices = sorted({index for index, _ in places})
        asked = {"run_id": self._run_id, "indices": indices}
        with translated_errors(self._store.engine), self._store.engine.connect() as connection:
            for idx, repeat, row in connection.execute(_SCORES_AT, asked):
                found.setdefault((idx, repeat), []).append(row)
            kept = {
                (idx, repeat): with_scores(row, found.get((idx, repeat), ()))
                for idx, repeat, row in connection.execute(_PREDICTIONS_AT, asked)
            }
        part = cache(self._part)
        rows = (kept[place] for place in places if place in kept)
        return [whole_row(read_prediction(row), part) for row in rows]

    def failures(self, query: RecordQuery, after: Place | None, limit: int) -> list[Failure]:
        """The failures of the records of a query after a place, in the order of the records."""
        position = Position(None, *after) if after else None
        found = _found(query, _shape(position)).where(results.c.label.is_not(None))
        there = found.limit(limit).subquery()
        is_there = (results.c.idx == there.c.idx) & (results.c.repeat == there.c.repeat)
        rows = (
            select(results.c.failure)
            .join(there, is_there & (results.c.run_id == self._run_id))
            .order_by(*_PLACE)
        )
        found_rows = few_rows(self._store.engine, rows, **self._values(position))
        return [read_failure(row.failure) for row in found_rows]

    def has_tags(self) -> bool:
        """Whether the first record has a group by its tags, if only that of those without any."""
        query = select(results.c.facts).where(results.c.run_id == self._run_id).limit(1)
        rows = streamed(self._store.engine, query)
        return any(name == "tags" for row in rows for name, _ in read_facts(row.facts).slices)

    def indices(self, record_id: str) -> list[int]:
        """The indices of records with an id; of one without a result, by its attempts."""
        kept = select(results.c.idx).where(
            results.c.run_id == self._run_id, results.c.record_id == record_id
        )
        name = json_field(attempts.c.row, "record_id")
        tried = select(attempts.c.idx).where(
            attempts.c.run_id == self._run_id, attempts.c.idx >= 0, name == record_id
        )
        return self._indices(kept) or self._indices(tried)

    def around(self, query: RecordQuery, place: Place) -> ListPlace:
        """Where a record stands in the list of a query; without a text, found by the database."""
        if query.text:
            places = self.places(query, None, MAX_COUNT)
            return place_among([(one.index, one.repeat) for one in places], place)
        here = {"run": self._run_id, "idx": place[0], "repeat": place[1]}
        rows = few_rows(self._store.engine, _around(query), **here)
        if rows:
            return _list_place(rows[0])
        return ListPlace(None, len(self.places(query, None, MAX_COUNT)), None, None)

    def record(self, index: int, repeat: int | None = None) -> RecordView:
        """All that is kept of a record, in all repeats or in one."""
        view = RecordView([], [], {}, [])
        part = cache(self._part)
        for kept in self._store.results(self._run_id, index, index + 1):
            if repeat in {None, kept.repeat}:
                view.rows.append(whole_row(read_prediction(kept.prediction), part))
                if kept.failure:
                    view.failures[index, kept.repeat] = read_failure(kept.failure)
        tried = map(read_attempt, self._store.attempt_rows(self._run_id, index, index + 1))
        judgements = self._judgements.of_record(self._run_id, index, repeat)
        view.attempts.extend(row for row in tried if repeat in {None, row.repeat})
        view.judgements.extend(judgements)
        return view

    def _values(self, after: Position | None) -> dict[str, Any]:
        """The parameters of a query for records after a position."""
        here: dict[str, Any] = {"run": self._run_id}
        if after is None:
            return here
        return {**here, "idx": after.index, "repeat": after.repeat, "value": after.value}

    def _indices(self, query: Select[*tuple[Any, ...]]) -> list[int]:
        return [row.idx for row in streamed(self._store.engine, query.distinct().order_by("idx"))]

    def _part(self, sha256: str) -> str:
        query = select(parts.c.text).where(
            parts.c.run_id == self._run_id, parts.c.sha256 == sha256
        )
        return next(json.loads(row.text) for row in streamed(self._store.engine, query))


Shape: TypeAlias = Literal["first", "next", "valueless"]
"""Whether a page is the first, or follows one whose last record has a value to sort by or none."""


def _shape(after: Position | None) -> Shape:
    if after is None:
        return "first"
    return "valueless" if after.value is None else "next"


@lru_cache(_QUERIES)
def _places(query: RecordQuery, shape: Shape) -> Select[*tuple[Any, ...]]:
    """The places of a query, with the value that it sorts by."""
    found = _found(query, shape).with_only_columns(*_PLACE, _SORTED[query.sort.field])
    page = found.limit(bindparam("limit", type_=Whole))
    return page.offset(bindparam("skip", type_=Whole))


def _found(query: RecordQuery, shape: Shape) -> Select[*tuple[Any, ...]]:
    """The records of a query, of the run and after the position of its parameters."""
    columns = dict.fromkeys((*_PLACE, results.c.label, _SORTED[query.sort.field]))
    found = select(*columns).where(results.c.run_id == bindparam("run"))
    for name in ("record_id", "status", "label"):
        wanted = getattr(query, name)
        if wanted is not None:
            found = found.where(results.c[name] == wanted)
    if query.check is not None:
        found = found.where(_is_checked(query.check, query.passed))
    elif query.passed is not None:
        found = found.where(results.c.passed == query.passed)
    if query.tag is not None:
        # Not LIKE, which in some databases finds a tag in another case as well.
        found = found.where(
            func.replace(results.c.tags, joined_tags([query.tag]), "") != results.c.tags
        )
    if query.slice is not None:
        found = found.where(_is_in_slice(query.slice))
    if query.only is not None:
        found = found.where(_is_wanted(query.only, query))
    if query.text:
        written = TextSearch(query.text).written
        found = found.where(contains(as_text(results.c.prediction), written))
    return found.where(*_after(query.sort, shape)).order_by(*_order(query.sort))


def _is_in_slice(wanted: tuple[str, str]) -> ColumnElement[bool]:
    """Whether the facts of a record name a slice, written as they are kept."""
    written = msgspec.json.encode([without_surrogates(text) for text in wanted]).decode()
    return position(as_text(results.c.facts), written) > 0


def _is_wanted(only: Only, query: RecordQuery) -> ColumnElement[bool]:
    is_among = tuple_(*_PLACE).in_(query.among) if query.among else false()
    if only in {"read", "differs"}:
        return is_among
    if only == "unscored":
        return results.c.passed.is_(None)
    if only == "split":
        return _is_split()
    is_open = or_(results.c.passed.is_not(True), is_among)
    return or_(is_open, _is_split()) if query.has_jury else is_open


def _is_split() -> ColumnElement[bool]:
    here = (scores.c.run_id == results.c.run_id) & (scores.c.idx == results.c.idx)
    here &= scores.c.repeat == results.c.repeat
    return select(scores.c.idx).where(here, splits_jury()).exists()


@lru_cache(_QUERIES)
def _around(query: RecordQuery) -> Select[*tuple[Any, ...]]:
    """The number of a record in the list of a query, and the places beside it."""
    order = _order(query.sort)
    beside = [
        step(column).over(order_by=order).label(f"{name}_{column.name}")
        for name, step in (("before", func.lag), ("after", func.lead))
        for column in _PLACE
    ]
    numbered = (
        _found(query, "first")
        .order_by(None)
        .with_only_columns(
            *_PLACE,
            func.row_number().over(order_by=order).label("number"),
            func.count().over().label("total"),
            *beside,
        )
        .subquery()
    )
    columns = (column for name, column in numbered.c.items() if name not in {"idx", "repeat"})
    is_here = numbered.c.idx == bindparam("idx", type_=Whole)
    return select(*columns).where(is_here, numbered.c.repeat == bindparam("repeat", type_=Whole))


def _list_place(row: Any) -> ListPlace:
    before = None if row.before_idx is None else (row.before_idx, row.before_repeat)
    after = None if row.after_idx is None else (row.after_idx, row.after_repeat)
    return ListPlace(row.number, row.total, before, after)


def _is_checked(check: str, passed: bool | None) -> ColumnElement[bool]:
    here = (scores.c.run_id == results.c.run_id) & (scores.c.idx == results.c.idx)
    here &= (scores.c.repeat == results.c.repeat) & (scores.c.check_id == check)
    if passed is not None:
        here &= scores.c.passed == passed
    return select(scores.c.idx).where(here).exists()


def _order(sort: Sort, table: Any = results) -> tuple[ColumnElement[Any], ...]:
    """Values, then places; records without a value come last."""
    index, repeat = table.c.idx, table.c.repeat
    if sort.field == "index":
        return (index.desc(), repeat.desc()) if sort.is_descending else (index, repeat)
    value = _SORTED[sort.field] if table is results else table.c[sort.field]
    return value.is_(None), value.desc() if sort.is_descending else value, index, repeat


def _after(sort: Sort, shape: Shape) -> Iterator[ColumnElement[bool]]:
    if shape == "first":
        return
    place = tuple_(*_PLACE)
    there = tuple_(bindparam("idx", type_=Whole), bindparam("repeat", type_=Whole))
    if sort.field == "index":
        yield place < there if sort.is_descending else place > there
        return
    value = _SORTED[sort.field]
    if shape == "valueless":
        yield value.is_(None) & (place > there)
        return
    there_too = bindparam("value", type_=value.type)
    beyond = value < there_too if sort.is_descending else value > there_too
    yield or_(beyond, (value == there_too) & (place > there), value.is_(None))


def _whole(found: Subquery, run_id: str, sort: Sort) -> Select[*tuple[Any, ...]]:
    """What was found, with the rows that lines are made of."""
    is_here = (results.c.idx == found.c.idx) & (results.c.repeat == found.c.repeat)
    return (
        select(found.c.label, results.c.prediction)
        .join(found, is_here & (results.c.run_id == run_id))
        .order_by(*_order(sort, found))
    )
