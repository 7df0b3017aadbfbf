"""Selects the records of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from steelyard.contracts.reading import DatasetReading, Row
from steelyard.engine.selection import parse_where, value_at
from steelyard.errors import InvalidError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.unsent import has_more_than_text
from steelyard.ports import Warn
from steelyard.settings import CONVERSATION


def selected(
    reading: DatasetReading,
    options: RunOptions,
    rows: Iterable[Row] | None = None,
    is_mine: Callable[[int], bool] | None = None,
    *,
    met: set[str] | None = None,
    refused: Callable[[Row, Case], Row | None] | None = None,
) -> Iterator[tuple[Row, Case | None]]:
    """The selected rows of a run, or of its part, with the case of each valid one.

    `is_mine` says which rows are in the part of this process, None that all are.
    `met` collects the paths of the selection that any record has. `refused` returns the row of a
    case that cannot be sent, with findings: it is invalid then.
    """
    clauses = () if options.selection is None else parse_where(options.selection)
    left = options.limit
    for row in reading.rows() if rows is None else rows:
        if left == 0:
            return
        is_in_part = is_mine is None or is_mine(row.index)
        if not is_in_part and left is None:
            continue
        case = reading.case(row) if row.is_accepted else None
        if clauses:
            record = _record(row, case)
            if met is not None:
                met.update(one.path for one in clauses if value_at(record, one.path) is not None)
            if not all(clause.holds(record) for clause in clauses):
                continue
        if refused and case and has_more_than_text(case.input_messages):
            unsendable = refused(row, case)
            row, case = (unsendable, None) if unsendable else (row, case)  # noqa: PLW2901
        if case is not None and left is not None:
            left -= 1
        if is_in_part:
            yield row, case


def cluster_of_case(case: Case, path: str | None) -> str | None:
    """The cluster of a record; None if it is independent."""
    if path is None or path == CONVERSATION:
        return case.conversation_id
    found = field_of(case, path)
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, sort_keys=True)


def require_clusters(options: RunOptions, unclustered: int, valid: int, warn: Warn) -> None:
    """Refuse a cluster field that no record has: all records would count as independent.

    If only some records lack it, warn; in strict mode, refuse.
    """
    name, path = options.dataset, options.cluster
    if path in {None, CONVERSATION} or not unclustered:
        return
    if unclustered == valid:
        raise InvalidError(
            f"{name}: cluster: no record has '{path}'; {argument('cluster')} {CONVERSATION} takes "
            "conversations"
        )
    message = (
        f"{name}: {unclustered:,} of {valid:,} record(s) have no '{path}', which cluster names; "
        "each counts as independent"
    )
    if options.strict:
        raise InvalidError(f"strict: {message}")
    warn(message)


def field_of(case: Case, path: str) -> JsonValue:
    """The value of a path in a case, with a fast path for the default slices."""
    if path == "tags":
        return cast(list[JsonValue], list(case.tags))
    if path == "task_type":
        return case.task_type
    return value_at(fields_of(case), path)


def fields_of(case: Case) -> JsonObject:
    """The fields that every contract's cases can be selected and sliced by."""
    return {
        "id": case.id,
        "record_id": case.id,
        "dataset": case.dataset,
        "target": case.target,
        "task_type": case.task_type,
        "conversation_id": case.conversation_id,
        "tags": cast(list[JsonValue], list(case.tags)),
        "metadata": dict(case.metadata),
    }


def _record(row: Row, case: Case | None) -> JsonObject:
    """The fields used by a selection."""
    record = dict(row.value) if isinstance(row.value, dict) else {}
    if case:
        record.update(fields_of(case))
    return record
