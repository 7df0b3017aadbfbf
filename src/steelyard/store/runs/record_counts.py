"""The records of a run in the database, counted by what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from sqlalchemy import ColumnElement, Engine, bindparam, func, or_, select

from steelyard.results.records import MAX_COUNT, SPLIT, CheckCounts, RecordVerdict, ResultCounts
from steelyard.store.database import translated_errors
from steelyard.store.dialects import as_text, position
from steelyard.store.tables import results, scores

_AT_ONCE = 5_000
"""Names in one statement; databases take a limited number of parameters."""


def splits_jury() -> ColumnElement[bool]:
    """Whether a check is a jury whose members disagree, also within a composite."""
    return position(as_text(scores.c.row), SPLIT) > 0


_BY_RESULT = (
    select(results.c.status, results.c.passed, results.c.label, func.count().label("number"))
    .where(results.c.run_id == bindparam("run_id"))
    .group_by(results.c.status, results.c.passed, results.c.label)
)
_BY_CHECK = (
    select(scores.c.check_id, scores.c.passed, func.count().label("number"))
    .where(scores.c.run_id == bindparam("run_id"))
    .group_by(scores.c.check_id, scores.c.passed)
)
_SPLIT = select(func.count()).select_from(
    select(scores.c.idx, scores.c.repeat)
    .where(scores.c.run_id == bindparam("run_id"), splits_jury())
    .distinct()
    .subquery()
)
_NAMED = select(results.c.idx, results.c.repeat, results.c.record_id, results.c.passed).where(
    results.c.run_id == bindparam("run_id"),
    or_(
        results.c.record_id.in_(bindparam("names", expanding=True)),
        results.c.idx.in_(bindparam("indices", expanding=True)),
    ),
)


def record_counts(engine: Engine, run_id: str) -> ResultCounts:
    """All rows of a run: results by an index, checks by their rows."""
    passes: Counter[bool | None] = Counter()
    statuses: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    checks: dict[str, Counter[bool | None]] = {}
    asked = {"run_id": run_id}
    with translated_errors(engine), engine.connect() as connection:
        for row in connection.execute(_BY_RESULT, asked):
            passes[row.passed] += row.number
            statuses[row.status] += row.number
            if row.label is not None:
                labels[row.label] += row.number
        for row in connection.execute(_BY_CHECK, asked):
            checks.setdefault(row.check_id, Counter())[row.passed] += row.number
        split = connection.execute(_SPLIT, asked).scalar_one()
    return ResultCounts(
        passed=passes[True],
        failed=passes[False],
        unscored=passes[None],
        statuses=dict(statuses),
        labels=dict(labels.most_common()),
        checks={
            name: CheckCounts(found[True], found[False], found[None])
            for name, found in sorted(checks.items())
        },
        split=split,
    )


def verdicts_of(engine: Engine, run_id: str, names: Collection[str]) -> list[RecordVerdict]:
    """What a run says of records by their ids, or by their indices in digits."""
    found: list[RecordVerdict] = []
    with translated_errors(engine), engine.connect() as connection:
        for some in _parts(names):
            indices = [int(name) for name in some if _is_index(name)]
            asked = {"run_id": run_id, "names": some, "indices": indices}
            found += (
                RecordVerdict(row.idx, row.repeat, row.record_id, row.passed)
                for row in connection.execute(_NAMED, asked)
            )
    return found


def _is_index(name: str) -> bool:
    is_number = name.isascii() and name.isdecimal() and len(name) < len(str(MAX_COUNT))
    return is_number and str(int(name)) == name


def _parts(names: Collection[str]) -> Iterator[Sequence[str]]:
    left = iter(names)
    while some := list(islice(left, _AT_ONCE)):
        yield some
