"""Whether a judge errs on a run as it did on earlier labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from steelyard.contracts.judge.reader import time_of
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.validation import JudgeValidation
from steelyard.reports.correction import drift_direction
from steelyard.stats.confusion import difference_p, known_rates
from steelyard.stats.intervals import Interval
from steelyard.usecases.check_rows import CheckRows, is_weighted, own_items
from steelyard.usecases.corrected_estimates import Estimate
from steelyard.usecases.validation_rules import refusal_of, run_difference
from steelyard.usecases.validations import fits


def drift_row(
    check: CheckRows,
    population: str,
    estimate: Estimate,
    validations: Iterable[JudgeValidation],
) -> JsonObject | None:
    """TPR and TNR by the run's own labels against those of the newest older labels.

    None where the run has no labels of its own, or the judge no older ones of an earlier run.
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
    rows: JsonObject = {
        name: _compared(one, two)
        for name, one, two in zip(("tpr", "tnr"), here, before, strict=True)
    }
    direction = drift_direction(rows)
    return {
        "against": other.validated_at,
        "labelled_runs": cast(list[JsonValue], sorted(other.populations)),
        **rows,
        "is_drifted": direction is not None,
        "direction": direction,
    }


def _is_older(one: JudgeValidation, own: JudgeValidation) -> bool:
    """Whether its labels, and the runs that they are of, were made before; run ids tell when."""
    is_before = time_of(one.validated_at) < time_of(own.validated_at)
    return is_before and max(one.populations, default="") < max(own.populations, default="")


def _is_comparable(validation: JudgeValidation) -> bool:
    """Whether it has one TPR and TNR, which do not depend on which verdicts were labelled."""
    if run_difference(validation):
        return False
    return is_weighted(validation) or validation.design in {"random", "by_label"}


def _compared(here: Interval, before: Interval) -> JsonObject:
    return {
        "here": here.value,
        "before": before.value,
        "n_here": here.n,
        "n_before": before.n,
        "p_value": difference_p(here, before),
    }
