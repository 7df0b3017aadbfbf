"""The corrected difference of two runs over their common records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.model.statistics.comparison import CorrectedDifference
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.run.run_text import RunView
from steelyard.stats.arrays import np
from steelyard.stats.clustered import coarser
from steelyard.stats.correction import NotCorrectableError
from steelyard.stats.post_stratification import (
    LabelledRun,
    Strata,
    corrected_difference,
    post_stratified,
    strata_of,
    verdict_pairs,
)
from steelyard.usecases.correction.check_rows import CheckRows, own_items, read_check_rows
from steelyard.usecases.correction.correct_run import undecided, usable_validations
from steelyard.usecases.correction.corrected_estimates import own_labels, own_validation


class LabelledVerdicts(NamedTuple):
    """The verdicts of one judge in a run, with labels of the run's own responses."""

    rows: CheckRows
    labelled: LabelledRun

    def restricted(self, indices: set[int]) -> LabelledRun:
        """The responses of some records, and the labels among them."""
        return self.labelled.restricted(np.isin(self.rows.indices, list(indices)))


class CorrectedPair(NamedTuple):
    """Two corrected rates over common records, and B minus A."""

    a: Interval
    b: Interval
    difference: Interval
    records: int
    """How many records both judges decided."""


def labelled_verdicts(
    folder: Path, validations: Sequence[JudgeValidation], now: datetime
) -> LabelledVerdicts | str | None:
    """The verdicts of a run with its own labels, or why there are none; None without a judge."""
    run = read_check_rows(folder)
    if not run.checks:
        return None
    name = run.deciding
    if name is None:
        return undecided(run)
    check = run.checks[name]
    usable = usable_validations(check, validations, now)
    if isinstance(usable, str):
        return usable
    try:
        validation = own_validation(usable, run.population)
        if validation is None:
            return "has no labels of its own"
        if validation.design == "by_label":
            return "has labels balanced by class, which cannot be compared"
        items = own_items(validation, run.population)
        return LabelledVerdicts(check, own_labels(check, validation, items))
    except NotCorrectableError as why:
        return str(why)


def corrected_pair(
    a: LabelledVerdicts, b: LabelledVerdicts, pairs: Sequence[tuple[int, int]]
) -> CorrectedPair | str:
    """The corrected rates and their difference over common records; or why there are none.

    `pairs` are the indices of each common record in A and in B. Records without a verdict in
    one run are left out of both.
    """
    shares = _shares(a.rows), _shares(b.rows)
    both = [(i, j) for i, j in pairs if i in shares[0] and j in shares[1]]
    groups = [dict(zip(one.rows.indices, one.rows.clusters, strict=True)) for one in (a, b)]
    clusters = coarser([groups[0][i] for i, _ in both], [groups[1][j] for _, j in both])
    try:
        strata: list[Strata] = [
            strata_of(one.restricted({pair[side] for pair in both}))
            for side, one in enumerate((a, b))
        ]
        together = verdict_pairs(
            np.array([shares[0][i] for i, _ in both]),
            np.array([shares[1][j] for _, j in both]),
            np.array(clusters, dtype=np.int64),
        )
    except NotCorrectableError as why:
        return str(why)
    return CorrectedPair(
        post_stratified(strata[0]),
        post_stratified(strata[1]),
        corrected_difference(strata[0], strata[1], together),
        len(both),
    )


def corrected_comparison(
    views: tuple[RunView, RunView],
    pairs: Sequence[tuple[int, int]],
    validations: Sequence[JudgeValidation],
    now: datetime,
) -> CorrectedDifference | None:
    """B minus A by human labels; None unless both runs have their own labels."""
    a, b = (labelled_verdicts(Path(view.folder), validations, now) for view in views)
    if not isinstance(a, LabelledVerdicts) or not isinstance(b, LabelledVerdicts):
        return None
    found = corrected_pair(a, b, pairs)
    if isinstance(found, str):
        return None
    return CorrectedDifference(
        **asdict(replace(found.difference, n=found.records)),
        rate_a=found.a.value,
        low_a=found.a.low,
        high_a=found.a.high,
        rate_b=found.b.value,
        low_b=found.b.low,
        high_b=found.b.high,
        labels_a=found.a.n,
        labels_b=found.b.n,
    )


def _shares(rows: CheckRows) -> dict[int, float]:
    """The pass rate over the repeats of each record."""
    passes: dict[int, list[int]] = {}
    for index, verdict in zip(rows.indices, rows.verdicts, strict=True):
        passes.setdefault(index, []).append(verdict)
    return {index: sum(found) / len(found) for index, found in passes.items()}
