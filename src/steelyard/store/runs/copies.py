"""What a finished run has kept, copied into a run that tries its failed records again."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import structs
from sqlalchemy import ColumnElement, Connection, Table, func, insert, select

from steelyard.engine.redaction.marks import marks_in
from steelyard.engine.redaction.redactor import FIELDS
from steelyard.engine.redaction.sieve import SECRETS
from steelyard.model.run import call_of
from steelyard.results.facts import read_facts
from steelyard.results.metrics import Taken
from steelyard.results.predictions import Prediction, read_prediction
from steelyard.results.stored_rows import copied_from
from steelyard.store.dialects import json_total
from steelyard.store.tables import (
    answered,
    answers,
    attempts,
    judgements,
    parts,
    redactions,
    results,
    scores,
)

_MARK = b'{"copied_from":'
"""How a row begins that another run has made."""
_TARGET = "target"


class _Copy(NamedTuple):
    """A run, and the one it is copied into."""

    connection: Connection
    parent: str
    run_id: str
    marks: Counter[str]
    """How many marks of what was redacted stand in what is copied."""

    def rows(self, table: Table, place: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows of a place, for the new run."""
        query = select(table).where(_here(table, self.parent, place["idx"], place["repeat"]))
        found = self.connection.execute(query).mappings()
        return [{**row, "run_id": self.run_id} for row in found]

    def put(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.connection.execute(insert(table), rows)
            self.marks.update(marks_in(text for row in rows for text in _texts(row)))


def copy_kept(connection: Connection, parent: str, run_id: str, again: Collection[str]) -> None:
    """All results but those of some statuses, with their attempts, within a transaction.

    An answer that only judges have failed is copied as one that waits for them.
    """
    copy = _Copy(connection, parent, run_id, Counter())
    if connection.execute(select(results).where(results.c.run_id == run_id).limit(1)).first():
        return
    _copy_parts(copy)
    for row in list(_results(connection, parent)):
        if row["status"] not in again:
            _copy_result(copy, row)
        elif _is_answered(row):
            _copy_answer(copy, row)
    _carry_redactions(copy)


def _copy_parts(copy: _Copy) -> None:
    """The long texts that the requests of several records show."""
    kept = select(parts).where(parts.c.run_id == copy.parent)
    for row in copy.connection.execute(kept.execution_options(yield_per=100)).mappings():
        copy.put(parts, [{**row, "run_id": copy.run_id}])


def _carry_redactions(copy: _Copy) -> None:
    """Of what the other run has redacted, as much as stands in what was copied of it."""
    query = select(redactions).where(redactions.c.run_id == copy.parent)
    for made in copy.connection.execute(query).mappings().all():
        name = "" if made["kind"] == SECRETS else made["kind"].removeprefix(FIELDS)
        # No more than were made: an answer may bring such a mark of its own.
        carried = min(made["found"], copy.marks[name])
        if carried:
            row = {**made, "run_id": copy.run_id, "found": carried}
            copy.connection.execute(insert(redactions), row)


def copied_part(connection: Connection, run_id: str) -> Taken:
    """How much of a run another one has made: its rows, attempts and cost."""
    is_copied = func.substr(results.c.prediction, 1, len(_MARK)) == _MARK
    of_run = results.c.run_id == run_id
    facts = results.c.facts
    sums = select(json_total(facts, "copied_attempts"), json_total(facts, "copied_usd"))
    tried, cost = connection.execute(sums.where(of_run)).one()
    rows = connection.execute(select(func.count()).where(of_run, is_copied)).scalar_one()
    return Taken(rows=rows, attempts=int(tried), cost_usd=cost)


def _copy_result(copy: _Copy, row: Mapping[str, Any]) -> None:
    facts = read_facts(row["facts"])
    copied = {"copied_attempts": facts.attempts, "copied_usd": facts.cost_usd}
    made = {
        **row,
        "run_id": copy.run_id,
        "prediction": copied_from(row["prediction"], copy.parent),
        "facts": msgspec.json.encode(structs.replace(facts, **copied)),
    }
    copy.put(results, [made])
    for table in (scores, answers, judgements):
        copy.put(table, copy.rows(table, row))
    copy.put(attempts, [_attempt(copy, one) for one in copy.rows(attempts, row)])


def _copy_answer(copy: _Copy, row: Mapping[str, Any]) -> None:
    prediction, facts = read_prediction(row["prediction"]), read_facts(row["facts"])
    judged = [one for one in copy.rows(judgements, row) if _is_sound(one["row"])]
    keys = {_TARGET, *(one["call"] for one in judged)}
    cost = _target_usd(prediction)
    waiting = {
        "attempts": facts.attempts,
        "first_attempt_at": prediction.first_attempt_at,
        "last_attempt_at": prediction.last_attempt_at,
        "response_source": prediction.response_source,
        "cost_usd": cost,
        "saved_usd": None,
        "answer_key": None,
        "trace": prediction.trace,
        "copied_attempts": facts.attempts,
        "copied_usd": cost,
    }
    kept = json.dumps(waiting, ensure_ascii=False).encode("utf-8")
    place = {"run_id": copy.run_id, "idx": row["idx"], "repeat": row["repeat"]}
    copy.put(answered, [{**place, "row": kept}])
    copy.put(judgements, judged)
    tried = (one for one in copy.rows(attempts, row) if call_of(one["call"]) in keys)
    copy.put(attempts, [_attempt(copy, one) for one in tried])


def _attempt(copy: _Copy, row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "row": copied_from(row["row"], copy.parent)}


def _results(connection: Connection, run_id: str) -> Iterator[dict[str, Any]]:
    query = select(results).where(results.c.run_id == run_id)
    found = connection.execute(query.execution_options(yield_per=1000)).mappings()
    yield from (dict(row) for row in found)


def _is_answered(row: Mapping[str, Any]) -> bool:
    """Whether a target has answered a record that judges have failed, or were kept from."""
    prediction = read_prediction(row["prediction"])
    return prediction.trace is not None and prediction.judging is not None


def _is_sound(row: bytes) -> bool:
    return json.loads(row)["error_code"] is None


def _target_usd(prediction: Prediction) -> float | None:
    """What the target cost, without its judges."""
    cost, judging = prediction.cost_usd, prediction.judging and prediction.judging.cost_usd
    return cost - judging if cost is not None and judging is not None else cost


def _texts(row: Mapping[str, Any]) -> Iterator[bytes]:
    """The JSON texts of a row."""
    for name, value in row.items():
        if isinstance(value, bytes):
            yield zlib.decompress(value) if name == "prompt" else value


def _here(table: Table, run_id: str, index: int, repeat: int) -> ColumnElement[bool]:
    place = (table.c.run_id == run_id) & (table.c.idx == index)
    return place & (table.c.repeat == repeat)
