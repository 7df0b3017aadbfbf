"""A judge against people, counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import Counts, JudgeValidation, LabelledItem
from steelyard.stats.arrays import np
from steelyard.stats.correction import Labels, weighted_intervals
from steelyard.stats.intervals import DIFFERENT, wilson
from steelyard.stats.rates import rate_interval
from steelyard.stats.tables import independence


class Rates(NamedTuple):
    """How often a judge is right, each with Wilson's interval."""

    tpr: Interval
    """The share of good answers that it passes."""
    tnr: Interval
    """The share of bad answers that it fails."""


def rates_of(counts: Counts) -> Rates:
    """The rates behind the counts of a validation."""
    return Rates(
        wilson(counts.tp, counts.tp + counts.fn), wilson(counts.tn, counts.tn + counts.fp)
    )


def rates_of_items(items: Sequence[LabelledItem]) -> Rates:
    """The same of labelled responses; those of one conversation or record are not independent."""
    return Rates(_of_class(items, is_good=True), _of_class(items, is_good=False))


def validated_rates(validation: JudgeValidation) -> Rates:
    """The rates of a validation, as exactly as what it keeps allows."""
    return rates_of_items(validation.items) if validation.items else rates_of(validation.counts)


def known_rates(validation: JudgeValidation) -> Rates:
    """TPR and TNR as they are printed, recorded and held against gates.

    Weighted where the labels have unequal inclusion probabilities. Of a validation that
    `is_sample_only` they describe the labelled sample and not the judge. A rate that differs
    between the labelled runs is not known: no one number holds for all of them.
    """
    tpr, tnr = pooled_rates(validation)
    differing = differing_rates(validation)
    return Rates(
        _unknown(tpr) if "TPR" in differing else tpr, _unknown(tnr) if "TNR" in differing else tnr
    )


def pooled_rates(validation: JudgeValidation) -> Rates:
    """TPR and TNR over the labels of all runs together."""
    return rates_by_chance(validation) or validated_rates(validation)


def rates_by_run(validation: JudgeValidation) -> dict[str, Rates]:
    """TPR and TNR by the labels of each run; empty where there are not several."""
    runs = dict.fromkeys(one.run_id for one in validation.items)
    return {run: _of_runs(validation, {run}) for run in runs} if len(runs) > 1 else {}


def differing_rates(validation: JudgeValidation) -> dict[str, float]:
    """The names of the rates that differ between the labelled runs, with their p-values.

    Each run is compared with all others together; the p-value is multiplied by the number of
    comparisons (Bonferroni).
    """
    by_run = rates_by_run(validation)
    tests = 1 if len(by_run) == 2 else len(by_run)
    found: dict[str, float] = {}
    for run, rates in by_run.items():
        rest = _of_runs(validation, set(by_run) - {run})
        for name, one, other in zip(("TPR", "TNR"), rates, rest, strict=True):
            p_value = tests * difference_p(one, other)
            if p_value < found.get(name, DIFFERENT):
                found[name] = p_value
    return found


def _of_runs(validation: JudgeValidation, runs: Collection[str]) -> Rates:
    some = tuple(one for one in validation.items if one.run_id in runs)
    return pooled_rates(replace(validation, items=some))


def _unknown(found: Interval) -> Interval:
    return replace(found, value=None, low=None, high=None)


def item_clusters(items: Sequence[LabelledItem]) -> list[int]:
    """A number for each conversation; without one, for each record with all its repeats."""
    numbers: dict[tuple[str, str | int], int] = {}
    return [
        numbers.setdefault((one.run_id, one.index if one.cluster is None else one.cluster), place)
        for place, one in enumerate(items)
    ]


def _of_class(items: Sequence[LabelledItem], *, is_good: bool) -> Interval:
    some = [one for one in items if one.is_good is is_good]
    clusters = item_clusters(some)
    is_plain = len(set(clusters)) == len(some)
    right = [float(one.is_passed is is_good) for one in some]
    return rate_interval(right, None if is_plain else clusters)


def rates_by_chance(validation: JudgeValidation) -> Rates | None:
    """TPR and TNR with each item weighted by the inverse of its inclusion probability.

    Of items that were chosen by what the judge says, the plain rates show how the choice was
    made as much as how the judge errs (verification bias). The interval is that of the shares of
    good responses among the judge's passes and among its fails: a verdict without a bad label
    still leaves open how many bad ones it has. None where all items had the same
    chance, or it is not known, or people's own word decided.
    """
    items = validation.items if validation.has_weights else ()
    if validation.design == "by_label" or len({one.inclusion_prob for one in items}) < 2:
        return None
    return Rates(*weighted_intervals(labels_of(items, is_weighted=True)))


def labels_of(items: Sequence[LabelledItem], *, is_weighted: bool) -> Labels:
    """Labelled items as arrays."""
    chances = [one.inclusion_prob or 1.0 for one in items]
    return Labels(
        good=np.array([one.is_good for one in items], dtype=np.bool_),
        passed=np.array([one.is_passed for one in items], dtype=np.bool_),
        clusters=np.array(item_clusters(items), dtype=np.int64),
        chances=np.array(chances) if is_weighted else None,
    )


def difference_p(one: Interval, other: Interval) -> float:
    """Two rates at their effective n: a score test, Fisher's exact test for few."""
    return independence(*_cells(one), *_cells(other))


def _cells(found: Interval) -> tuple[int, int]:
    worth = found.n if found.n_effective is None else found.n_effective
    right = round((found.value or 0.0) * worth)
    return right, max(0, round(worth) - right)


def balanced_accuracy(found: Rates) -> float | None:
    """The mean of TPR and TNR, whatever the share of good answers; None where one is unknown."""
    tpr, tnr = found.tpr.value, found.tnr.value
    return None if tpr is None or tnr is None else (tpr + tnr) / 2
