"""Whether a judge errs on a run as it did on earlier labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.validation import JudgeValidation
from steelyard.stats.confusion import known_rates
from steelyard.stats.intervals import Interval
from steelyard.stats.tables import independence
from steelyard.usecases.check_rows import CheckRows, is_weighted, own_items
from steelyard.usecases.corrected_estimates import Estimate
from steelyard.usecases.validation_rules import refusal_of
from steelyard.usecases.validations import fits

DRIFTED = 0.01
"""Of TPR and TNR each, below which p-value the judge counts as drifted."""


def drift_row(
    check: CheckRows,
    population: str,
    estimate: Estimate,
    validations: Iterable[JudgeValidation],
) -> JsonObject | None:
    """TPR and TNR by the run's own labels against those of the newest other labels.

    None where the run has no labels of its own, or the judge none of another run.
    """
    if not estimate.is_own:
        return None
    others = [
        one
        for one in validations
        if fits(one, check.fingerprints, estimate.validation.rule)
        and not own_items(one, population)
        and not refusal_of(one)
        and _is_comparable(one)
    ]
    if not others:
        return None
    other = max(others, key=lambda one: one.validated_at)
    here = estimate.rates
    before = known_rates(other)
    rows: JsonObject = {
        name: _compared(one, two)
        for name, one, two in zip(("tpr", "tnr"), here, before, strict=True)
    }
    p_values = [_p_value(one, two) for one, two in zip(here, before, strict=True)]
    return {
        "against": other.validated_at,
        "labelled_runs": cast(list[JsonValue], sorted(other.populations)),
        **rows,
        "is_drifted": min(p_values) < DRIFTED,
    }


def _is_comparable(validation: JudgeValidation) -> bool:
    """Whether its TPR and TNR do not depend on which verdicts were labelled."""
    return is_weighted(validation) or validation.design in {"random", "by_label"}


def _compared(here: Interval, before: Interval) -> JsonObject:
    return {"here": here.value, "before": before.value, "p_value": _p_value(here, before)}


def _p_value(here: Interval, before: Interval) -> float:
    """Two proportions at their effective n: a score test, Fisher's exact test for few."""
    return independence(*_cells(here), *_cells(before))


def _cells(found: Interval) -> tuple[int, int]:
    worth = found.n if found.n_effective is None else found.n_effective
    right = round((found.value or 0.0) * worth)
    return right, max(0, round(worth) - right)
