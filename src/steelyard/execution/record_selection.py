"""Which records of a dataset a run is about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from steelyard.contracts.reading import DatasetReading, Row
from steelyard.engine.selection import parse_where, value_at
from steelyard.errors import InvalidError, argument
from steelyard.execution.ports import WHOLE, Part
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
    part: Part = WHOLE,
    *,
    met: set[str] | None = None,
    refused: Callable[[Row, Case], Row | None] | None = None,
) -> Iterator[tuple[Row, Case | None]]:
    """The rows that a run, or its part, is about, with the case of each valid one.

    `met` gathers the paths of the selection that any record has a value for. `refused` gives the
    row of a case that cannot be sent, with what is wrong: it is not valid then.
    """
    clauses = () if options.selection is None else parse_where(options.selection)
    left = options.limit
    for row in reading.rows() if rows is None else rows:
        if left == 0:
            return
        is_in_part = part.of == 1 or part.has(row.index)
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
    """What the records that depend on this one share; None where it depends on no other."""
    if path is None or path == CONVERSATION:
        return case.conversation_id
    found = field_of(case, path)
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, sort_keys=True)


def require_clusters(options: RunOptions, unclustered: int, valid: int, warn: Warn) -> None:
    """Refuse a field that no record has, by which those of a conversation would be independent.

    Some without it are told, and refused in strict mode.
    """
    name, path = options.dataset, options.cluster
    if path in {None, CONVERSATION} or not unclustered:
        return
    if unclustered == valid:
        raise InvalidError(
            f"{name}: cluster: no record has '{path}'; {argument('cluster')} {CONVERSATION} takes "
            "conversations"
        )
    said = (
        f"{name}: {unclustered:,} of {valid:,} record(s) have no '{path}', which cluster names; "
        "each counts as independent"
    )
    if options.strict:
        raise InvalidError(f"strict: {said}")
    warn(said)


def field_of(case: Case, path: str) -> JsonValue:
    """The value of a path in a case; the usual slices are found without a detour."""
    if path == "tags":
        return cast(list[JsonValue], list(case.tags))
    if path == "task_type":
        return case.task_type
    return value_at(fields_of(case), path)


def fields_of(case: Case) -> JsonObject:
    """The fields by which every contract's cases can be selected and sliced."""
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
    """What a selection looks at."""
    record = dict(row.value) if isinstance(row.value, dict) else {}
    if case:
        record.update(fields_of(case))
    return record
