"""The records of a run as work for the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from steelyard.contracts.hashes import record_sha256
from steelyard.contracts.reading import Row
from steelyard.engine.records import Work
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.rubric import Rubric
from steelyard.model.run import Result
from steelyard.usecases.planning import Prepared
from steelyard.usecases.record_selection import field_of


def work_items(
    prepared: Prepared,
    is_done: Callable[[int, int], bool],
    tried: Mapping[tuple[int, int], tuple[int, str]],
) -> Iterator[Work | Result]:
    """Every record and repeat that has no result yet, in dataset order.

    `tried` says how many attempts were made for those, and when the first was.
    """
    for row, case, graded in prepared.records():
        if case is None or graded is None:
            if not is_done(row.index, 0):
                yield _invalid(row)
            continue
        repeats = range(prepared.options.repeat)
        left = [repeat for repeat in repeats if not is_done(row.index, repeat)]
        if not left:
            continue
        base = _base(prepared, row, case)
        for repeat in left:
            made, first = tried.get((row.index, repeat), (0, None))
            if isinstance(graded, Rubric):
                is_fresh = repeat == 0 and first is None
                again = base if is_fresh else replace(base, repeat=repeat, first_attempt_at=first)
                yield Work(result=again, case=case, rubric=graded, attempt=made + 1)
            else:
                yield _skipped(replace(base, repeat=repeat), graded.reason)


def _base(prepared: Prepared, row: Row, case: Case) -> Result:
    """What is known of a result before its target is asked."""
    name = prepared.target_of(case)
    spec = prepared.specs.get(name)
    return Result(
        index=row.index,
        record_id=case.id,
        status="evaluated",
        record_sha256=record_sha256(prepared.reading.hashed(row, case)),
        target=name,
        response_source=spec.response_source if spec else None,
        slices=tuple(
            pair for path in prepared.slices for pair in _groups(path, field_of(case, path))
        ),
        cluster=case.conversation_id,
    )


def _groups(path: str, value: JsonValue) -> Iterator[tuple[str, str | None]]:
    """The groups of a slice that a value stands for; a list stands for several."""
    if isinstance(value, list) and value:
        yield from ((path, item) for item in dict.fromkeys(str(item) for item in value))
    elif value is None or isinstance(value, dict | list):
        yield path, None
    else:
        yield path, str(value)


def _skipped(base: Result, reason: str) -> Result:
    return replace(
        base, status="skipped", response_source=None, label="nothing_grades", message=reason
    )


def _invalid(row: Row) -> Result:
    first, *others = (finding for finding in row.findings if finding.is_error)
    return Result(
        index=row.index,
        record_id=row.record_id,
        status="invalid_record",
        record_sha256=record_sha256(row.value),
        errors=(first, *others),
        label=first.code,
        message=first.message,
    )
