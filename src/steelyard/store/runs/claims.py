"""Calls that may be under way: kept before they are made, logged when their process is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    exists,
    insert,
    select,
    update,
)

from steelyard.model.run import INTERRUPTED, INTERRUPTED_MESSAGE
from steelyard.results.attempts import Attempt
from steelyard.store.tables import NO_RECORD, answered, attempts, claims, judgements, results

_NAMES = ("index", "repeat", "attempt", "record_id", "target")
# Made once: to put it together takes ten times as long as to carry it out.
_REPLACE = update(claims).where(
    claims.c.run_id == bindparam("at_run"), claims.c.holder == bindparam("at_holder")
)
_encode = msgspec.json.Encoder().encode


def put_claim(connection: Connection, run_id: str, holder: str, row: bytes) -> None:
    """The calls of a holder that may be under way from now on, within a transaction."""
    known = {"at_run": run_id, "at_holder": holder, "row": row}
    if connection.execute(_REPLACE, known).rowcount == 0:
        connection.execute(insert(claims), {"run_id": run_id, "holder": holder, "row": row})


def settle_claims(connection: Connection, run_id: str, holders: str = "") -> None:
    """Log the calls that may have been made and came to nothing, within a transaction.

    Those of all holders, or of the ones whose name begins so.
    """
    where = (claims.c.run_id == run_id) & claims.c.holder.startswith(holders, autoescape=True)
    found = connection.execute(select(claims.c.row).where(where)).scalars().all()
    calls = [call for row in found for call in _calls(row)]
    lost = [call for call in calls if not _came_to_something(connection, run_id, call)]
    if lost:
        connection.execute(insert(attempts), [_row(run_id, call) for call in lost])
    connection.execute(delete(claims).where(where))


def _calls(row: bytes) -> Iterator[Attempt]:
    """Claimed calls as the attempts that they are logged as."""
    for at, calls in json.loads(row).items():
        for call in calls:
            interrupted = {"at": at, "error_code": INTERRUPTED, "message": INTERRUPTED_MESSAGE}
            if isinstance(call, list):
                named = dict(zip(_NAMES, cast("list[Any]", call), strict=True))
                yield msgspec.convert({**named, **interrupted}, Attempt)
            else:
                yield msgspec.convert({**call, **interrupted}, Attempt)


def _came_to_something(connection: Connection, run_id: str, call: Attempt) -> bool:
    """Whether there is an answer to a call, or an attempt that says how it failed."""
    answers = judgements if call.is_judging else answered

    def here(table: Table) -> ColumnElement[bool]:
        place = (table.c.run_id == run_id) & (table.c.idx == _index(call))
        place &= table.c.repeat == call.repeat
        return place & (table.c.call == call.named) if "call" in table.c else place

    made = here(attempts) & (attempts.c.attempt >= call.attempt)
    known = (here(results), here(answers), made)
    return any(connection.execute(select(*(exists().where(one) for one in known))).one())


def _row(run_id: str, call: Attempt) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "idx": _index(call),
        "repeat": call.repeat,
        "call": call.place,
        "attempt": call.attempt,
        "row": _encode(call),
    }


def _index(call: Attempt) -> int:
    return NO_RECORD if call.index is None else call.index
