"""Drift of a judge between a run and earlier labels."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.contracts.judge.reader import time_of
from steelyard.model.statistics.corrected_rate import Drift, RateChange
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.judges.correction import drift_direction
from steelyard.stats.confusion import difference_p, known_rates
from steelyard.usecases.correction.check_rows import CheckRows, is_weighted, own_items
from steelyard.usecases.correction.corrected_estimates import CorrectedEstimate
from steelyard.usecases.correction.validation_rules import refusal_of, run_difference
from steelyard.usecases.correction.validations import fits


def drift_of(
    check: CheckRows,
    population: str,
    estimate: CorrectedEstimate,
    validations: Iterable[JudgeValidation],
) -> Drift | None:
    """TPR and TNR by the run's own labels against those of the newest older labels.

    None if the run has no labels of its own, or the judge no older labels of an earlier run.
    """
    if not estimate.is_own:
        return None
    others = [
        one
        for one in validations
        if _is_older(one, estimate.validation)
        and fits(one, check.fingerprints, estimate.validation.rule)
        and not own_items(one, population)
        and not refusal_of(one)
        and _is_comparable(one)
    ]
    if not others:
        return None
    other = max(others, key=lambda one: (time_of(one.validated_at), one.number))
    here = estimate.rates
    before = known_rates(other)
    tpr, tnr = _compared(here.tpr, before.tpr), _compared(here.tnr, before.tnr)
    direction = drift_direction(tpr, tnr)
    return Drift(
        against=other.validated_at,
        labelled_runs=tuple(sorted(other.populations)),
        tpr=tpr,
        tnr=tnr,
        is_drifted=direction is not None,
        direction=direction,
    )


def _is_older(one: JudgeValidation, own: JudgeValidation) -> bool:
    """Whether its labels and their runs are older; run ids contain their time."""
    is_before = time_of(one.validated_at) < time_of(own.validated_at)
    return is_before and max(one.populations, default="") < max(own.populations, default="")


def _is_comparable(validation: JudgeValidation) -> bool:
    """Whether it has one TPR and TNR that do not depend on the labelled verdicts."""
    if run_difference(validation):
        return False
    return is_weighted(validation) or validation.design in {"random", "by_label"}


def _compared(here: Interval, before: Interval) -> RateChange:
    return RateChange(
        here=here.value,
        before=before.value,
        n_here=here.n,
        n_before=before.n,
        p_value=difference_p(here, before),
    )
