"""What judges have said, read back: to go on with a run, to ask nothing twice, to look at."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Engine, Select, Table, func, or_, select, tuple_

from steelyard.engine.record_work import TARGET_CALL
from steelyard.errors import RunError
from steelyard.model.json_value import JsonObject
from steelyard.ports import Warn
from steelyard.store.database import open_database, streamed
from steelyard.store.dialects import json_total
from steelyard.store.runs.kept_prompts import whole_prompt
from steelyard.store.tables import NO_RECORD, answered, attempts, judgements


class JudgeUsed(NamedTuple):
    """One judge asked through one target about one thing."""

    judge: str
    target: str
    fingerprint: str


class JudgementStore:
    """The answers that wait for judges, and the judgements of the runs of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def answered(self, run_id: str) -> dict[tuple[int, int], bytes]:
        """The answers that judges have not finished with, by index and repeat."""
        query = select(answered).where(answered.c.run_id == run_id)
        return {(row.idx, row.repeat): row.row for row in self._rows(query)}

    def judged(self, run_id: str) -> dict[tuple[int, int], dict[str, bytes]]:
        """What judges have said to those answers, by the key of the call."""
        found: dict[tuple[int, int], dict[str, bytes]] = defaultdict(dict)
        query = select(*judgements.c["idx", "repeat", "call", "row"])
        for row in self._rows(query.where(_is_open(judgements, run_id))):
            found[row.idx, row.repeat][row.call] = row.row
        return found

    def tried(self, run_id: str) -> dict[tuple[int, int], dict[str, int]]:
        """How many attempts were made to ask about them, by the key of the call."""
        found: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        last = func.max(attempts.c.attempt).label("last")
        query = select(*attempts.c["idx", "repeat", "call"], last)
        query = query.where(_is_open(attempts, run_id), attempts.c.call != TARGET_CALL)
        for row in self._rows(query.group_by(*attempts.c["idx", "repeat", "call"])):
            found[row.idx, row.repeat][row.call] = row.last
        return found

    def spent_usd(self, run_id: str) -> float:
        """What the calls cost that are in no result yet."""
        spent = 0.0
        for table in (answered, judgements):
            cost = json_total(table.c.row, "cost_usd")
            query = select(cost.label("spent")).where(_is_open(table, run_id))
            spent += next(row.spent for row in self._rows(query))
        return spent

    def keys(self, run_id: str | None) -> Iterator[bytes]:
        """The questions that a judge of a run, or of any run of the project, has replied to."""
        query = select(judgements.c.cache_key).where(judgements.c.cache_key.is_not(None))
        query = query.where(judgements.c.run_id == run_id) if run_id else query
        for (key,) in self._rows(query):
            yield key

    def reply(self, key: bytes, run_id: str | None) -> bytes | None:
        """The judgement that answers a question, in a run or in any of the project."""
        query = select(judgements.c.row).where(judgements.c.cache_key == key)
        query = query.where(judgements.c.run_id == run_id) if run_id else query
        return next((row.row for row in self._rows(query.limit(1))), None)

    def used(self, run_id: str) -> Iterator[JudgeUsed]:
        """The judges that were asked about records of a run."""
        columns = judgements.c["judge", "target", "fingerprint"]
        query = select(*columns).where(judgements.c.run_id == run_id).distinct()
        query = query.where(judgements.c.idx != NO_RECORD).order_by(*columns)
        for row in self._rows(query):
            yield JudgeUsed(*row)

    def of_record(
        self, run_id: str, index: int, repeat: int | None = None
    ) -> Iterator[JsonObject]:
        """Every judgement of a record with its prompt, in all repeats or in one."""
        query = select(*judgements.c["repeat", "row", "prompt"])
        query = query.where(judgements.c.run_id == run_id, judgements.c.idx == index)
        query = query if repeat is None else query.where(judgements.c.repeat == repeat)
        for row in self._rows(query.order_by(judgements.c.repeat)):
            yield {**json.loads(row.row), "prompt": whole_prompt(row.prompt)}

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
        return streamed(self._engine, query)


def _is_open(table: Table, run_id: str) -> ColumnElement[bool]:
    """Whether a row is about a record that has no result yet, or about none."""
    waiting = select(answered.c.idx, answered.c.repeat).where(answered.c.run_id == run_id)
    is_waiting = tuple_(table.c.idx, table.c.repeat).in_(waiting)
    return (table.c.run_id == run_id) & or_(is_waiting, table.c.idx == NO_RECORD)


def judgements_in_file(folder: Path, index: int, warn: Warn) -> list[JsonObject]:
    """What judges said about a record of a run, with their prompts.

    As the file of the project says it that has the run's folder, where both are still kept.
    """
    database = folder.resolve().parents[1] / "steelyard.db"
    if not database.is_file():
        return []
    try:
        engine = open_database(database)
    except RunError as error:
        warn(f"{error}. What judges said is not shown")
        return []
    try:
        return list(JudgementStore(engine).of_record(folder.resolve().name, index))
    finally:
        engine.dispose()
