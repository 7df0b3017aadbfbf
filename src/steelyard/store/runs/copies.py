"""What a finished run has kept, copied into a run that tries its failed records again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs
from sqlalchemy import Connection, Table, func, insert, select, tuple_

from steelyard.engine.redaction.marks import marks_in
from steelyard.engine.redaction.redactor import FIELDS
from steelyard.engine.redaction.sieve import SECRETS
from steelyard.model.run import call_of
from steelyard.results.facts import read_facts
from steelyard.results.metrics import Taken
from steelyard.results.predictions import Prediction, read_prediction
from steelyard.results.stored_rows import copied_from
from steelyard.store.dialects import json_total
from steelyard.store.runs.kept_prompts import prompt_text
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
_BATCH = 200
"""So many results are copied at once: a query for each would take longer than everything else."""
_BESIDE = (scores, answers, judgements, attempts)
_TABLES = (results, scores, answers, answered, judgements, attempts)
Row: TypeAlias = dict[str, Any]
_Place: TypeAlias = tuple[int, int]
_Beside: TypeAlias = Mapping[Table, list[Row]]


class _Copy(NamedTuple):
    """A run, and the one it is copied into."""

    connection: Connection
    parent: str
    run_id: str
    marks: Counter[str]
    """How many marks of what was redacted stand in what is copied."""

    def rows(self, table: Table, batch: Sequence[Row]) -> Mapping[_Place, list[Row]]:
        """The rows of a table that stand beside results, for the new run."""
        first, last = batch[0]["idx"], batch[-1]["idx"]
        query = select(table).where(table.c.run_id == self.parent)
        query = query.where(table.c.idx.between(first, last))
        found: dict[_Place, list[Row]] = {}
        for row in map(dict, self.connection.execute(query).mappings()):
            found.setdefault(_place(row), []).append({**row, "run_id": self.run_id})
        return found

    def put(self, table: Table, rows: list[Row]) -> None:
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
    for batch in _batches(connection, parent):
        _copy_batch(copy, batch, again)
    _carry_redactions(copy)


def _copy_batch(copy: _Copy, batch: Sequence[Row], again: Collection[str]) -> None:
    found = {table: copy.rows(table, batch) for table in _BESIDE}
    made: dict[Table, list[Row]] = {table: [] for table in _TABLES}
    for row in batch:
        beside = {table: rows.get(_place(row), []) for table, rows in found.items()}
        if row["status"] not in again:
            copied = _copied_result(copy, row, beside)
        elif _is_answered(row):
            copied = _copied_answer(copy, row, beside)
        else:
            continue
        for table, rows in copied.items():
            made[table].extend(rows)
    for table in _TABLES:
        copy.put(table, made[table])


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


def _copied_result(copy: _Copy, row: Row, beside: _Beside) -> _Beside:
    facts = read_facts(row["facts"])
    copied = {"copied_attempts": facts.attempts, "copied_usd": facts.cost_usd}
    made = {
        **row,
        "run_id": copy.run_id,
        "prediction": copied_from(row["prediction"], copy.parent),
        "facts": msgspec.json.encode(structs.replace(facts, **copied)),
    }
    tried = [_attempt(copy, one) for one in beside[attempts]]
    return {results: [made], **beside, attempts: tried}


def _copied_answer(copy: _Copy, row: Row, beside: _Beside) -> _Beside:
    prediction, facts = read_prediction(row["prediction"]), read_facts(row["facts"])
    judged = [one for one in beside[judgements] if _is_sound(one["row"])]
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
    tried = [_attempt(copy, one) for one in beside[attempts] if call_of(one["call"]) in keys]
    return {answered: [{**place, "row": kept}], judgements: judged, attempts: tried}


def _attempt(copy: _Copy, row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "row": copied_from(row["row"], copy.parent)}


def _batches(connection: Connection, run_id: str) -> Iterator[Sequence[Row]]:
    """All results in the order of the dataset; each query is over before anything is written."""
    query = select(results).where(results.c.run_id == run_id)
    query = query.order_by(results.c.idx, results.c.repeat).limit(_BATCH)
    place = tuple_(results.c.idx, results.c.repeat)
    found = connection.execute(query).mappings().all()
    while found:
        yield [dict(row) for row in found]
        after = query.where(place > tuple_(*_place(found[-1])))
        found = connection.execute(after).mappings().all()


def _place(row: Mapping[str, Any]) -> _Place:
    return row["idx"], row["repeat"]


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
            yield prompt_text(value) if name == "prompt" else value
