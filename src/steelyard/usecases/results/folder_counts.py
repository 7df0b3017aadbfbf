"""The records of a finished run in its folder, counted by what became of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from steelyard.results.failures import FAILURES
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.records import (
    SPLIT,
    CheckCounts,
    ResultCounts,
    read_listed,
    read_listed_failure,
)
from steelyard.usecases.results.read_run import decoded_rows, opened_artifact


def folder_counts(folder: Path) -> ResultCounts:
    """All rows of a run; each is read once."""
    passes: Counter[bool | None] = Counter()
    statuses: Counter[str] = Counter()
    checks: dict[str, Counter[bool | None]] = {}
    split, mark = 0, SPLIT.encode()
    with opened_artifact(folder, PREDICTIONS) as stream:
        for line in stream:
            row = read_listed(line)
            passes[row.passed] += 1
            statuses[row.status] += 1
            split += mark in line
            for score in row.evaluator_scores:
                checks.setdefault(score.check, Counter())[score.passed] += 1
    failures = decoded_rows(folder, FAILURES, read_listed_failure)
    labels = Counter(row.label for row in failures if row.label is not None)
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
