"""What to look at first in a run: failures by label, checks that fail, and split juries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from steelyard.reports.record_name import record_name
from steelyard.reports.run.look_items import (
    LookExample,
    LookItem,
    canary_item,
    check_item,
    failure_item,
    skipped_item,
    split_item,
)
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure
from steelyard.results.predictions import CheckScore, Prediction
from steelyard.results.records import RecordQuery, ResultCounts
from steelyard.usecases.results.records import Records

_Example: TypeAlias = Callable[[Prediction, str], LookExample]
"""Makes an example of a row and of what was said of it."""
_MOST_ITEMS = 8
"""Of each kind: labels, checks."""
_EXAMPLES = 4
_MESSAGES = 200
"""So many failures of a label are read for what they say."""


def first_look(
    records: Records,
    counts: ResultCounts,
    *,
    is_repeated: bool = False,
    is_weighted: bool = False,
    is_of_canaries: bool = False,
) -> tuple[LookItem, ...]:
    """Reasons to look at records, each with the first of them; failures come first.

    Where results are `is_weighted` means, checks without a weight come last. Of canaries those
    that pass are what to look at.
    """
    example = partial(_example, is_repeated=is_repeated)
    return (
        *_failures(records, counts, is_repeated=is_repeated),
        *_skipped(records, counts, example),
        *(
            _canaries(records, counts, example)
            if is_of_canaries
            else _checks(records, counts, example, is_weighted=is_weighted)
        ),
        *_split(records, counts, example),
    )


def _failures(records: Records, counts: ResultCounts, *, is_repeated: bool) -> Iterator[LookItem]:
    for label, number in list(counts.labels.items())[:_MOST_ITEMS]:
        found = records.failures(RecordQuery(label=label), None, _MESSAGES)
        item = failure_item(label, number, found)
        shown = found[:_EXAMPLES]
        tries = [_attempts(records, row) for row in shown]
        examples = failure_item(label, number, shown, tries, is_repeated=is_repeated).examples
        yield LookItem(
            kind="failure", name=label, number=number, words=item.words, examples=examples
        )


def _attempts(records: Records, row: Failure) -> Sequence[Attempt]:
    """The calls to the target; those to judges if the target has answered."""
    made = records.record(row.index, row.repeat).attempts
    failed = [one for one in made if one.error_code is not None]
    calls = [one for one in made if not one.is_judging]
    return calls if any(not one.is_judging for one in failed) else failed


def _skipped(records: Records, counts: ResultCounts, example: _Example) -> Iterator[LookItem]:
    """Records that nothing grades."""
    number = counts.statuses.get("skipped", 0)
    if number:
        rows = _first(records, RecordQuery(status="skipped"))
        yield skipped_item(number, [example(row, str(row.reason or "")) for row in rows])


def _checks(
    records: Records, counts: ResultCounts, example: _Example, *, is_weighted: bool
) -> Iterator[LookItem]:
    failing = [(name, found.failed) for name, found in counts.checks.items() if found.failed]
    failing.sort(key=lambda one: -one[1])
    items: list[tuple[bool, LookItem]] = []
    for name, number in failing[:_MOST_ITEMS]:
        rows = _first(records, RecordQuery(check=name, passed=False))
        scores = [_score(row, name) for row in rows]
        decides = not is_weighted or any(_decides(row, name) for row in rows)
        examples = [
            example(row, str(one.reason or "") if one else "")
            for row, one in zip(rows, scores, strict=True)
        ]
        items.append((decides, check_item(name, number, examples, is_deciding=decides)))
    # Checks that decide nothing come after those that do.
    yield from (item for decides, item in items if decides)
    yield from (item for decides, item in items if not decides)


def _canaries(records: Records, counts: ResultCounts, example: _Example) -> Iterator[LookItem]:
    """Answers that a judge must fail, and passed."""
    if counts.passed:
        rows = _first(records, RecordQuery(passed=True))
        yield canary_item(counts.passed, [example(row, str(row.reason or "")) for row in rows])


def _decides(row: Prediction, check: str) -> bool:
    """Whether a check moves the weighted mean of a record, or is a condition of its pass.

    Where no check of a record has a weight, all of them must pass.
    """
    scored = [one for one in row.evaluator_scores if one.status == "scored"]
    is_weighed = any(one.weight for one in scored)
    return any(
        one.required or one.weight or not is_weighed for one in scored if one.check == check
    )


def _split(records: Records, counts: ResultCounts, example: _Example) -> Iterator[LookItem]:
    if counts.split:
        rows = _first(records, RecordQuery(only="split"))
        yield split_item(counts.split, [example(row, _jury_reason(row)) for row in rows])


def _first(records: Records, query: RecordQuery) -> Sequence[Prediction]:
    found = records.places(query, None, _EXAMPLES)
    return records.predictions([(one.index, one.repeat) for one in found])


def _score(row: Prediction, check: str) -> CheckScore | None:
    return next((one for one in row.evaluator_scores if one.check == check), None)


def _jury_reason(row: Prediction) -> str:
    """What the jury that disagrees says."""
    for score in row.evaluator_scores:
        if isinstance(score.details, dict) and score.details.get("is_split"):
            return f"{score.check}: {score.reason}"
    return str(row.reason or "")


def _example(row: Prediction, text: str, *, is_repeated: bool) -> LookExample:
    return LookExample(
        index=row.index,
        repeat=row.repeat,
        name=record_name(row.index, row.record_id, row.repeat, is_repeated=is_repeated),
        text=text,
    )
