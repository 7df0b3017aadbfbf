"""Failures that say nothing of their records: those of a target that has never answered."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import Connection, delete, select

from steelyard.results.failures import read_failure
from steelyard.results.projections import read_answer
from steelyard.store.dialects import json_field
from steelyard.store.tables import attempts, results


def has_answered(connection: Connection, run_id: str, target: str | None) -> bool:
    """Whether a target has answered any call of a run; copied answers are another's."""
    query = select(attempts.c.idx).where(
        attempts.c.run_id == run_id,
        json_field(attempts.c.row, "target") == target,
        json_field(attempts.c.row, "error_code").is_(None),
        json_field(attempts.c.row, "copied_from").is_(None),
    )
    return connection.execute(query.limit(1)).first() is not None


def withdraw(connection: Connection, run_id: str, labels: Collection[str]) -> None:
    """Forget failures with some labels of targets that have not, within a transaction.

    Their attempts stay.
    """
    failed = list(_failed(connection, run_id, labels))
    known = {target: has_answered(connection, run_id, target) for target, _, _ in failed}
    for target, index, repeat in failed:
        if not known[target]:
            place = (results.c.idx == index) & (results.c.repeat == repeat)
            connection.execute(delete(results).where(results.c.run_id == run_id, place))


def _failed(
    connection: Connection, run_id: str, labels: Collection[str]
) -> Iterator[tuple[str | None, int, int]]:
    """The target and the place of every failure with one of the labels."""
    query = select(*results.c["idx", "repeat", "prediction", "failure"])
    query = query.where(results.c.run_id == run_id, results.c.failure.is_not(None))
    for row in connection.execute(query.execution_options(yield_per=1000)):
        if read_failure(row.failure).label in labels:
            yield read_answer(row.prediction).target, row.idx, row.repeat
