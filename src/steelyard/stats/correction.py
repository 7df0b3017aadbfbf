"""A pass rate that a judge measured, corrected by its TPR and TNR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import Counts, JudgeValidation
from steelyard.stats.arrays import np
from steelyard.stats.draws import RESAMPLES, SEED
from steelyard.stats.effective import WeightShare, cluster_effect, clustered_share, kish
from steelyard.stats.intervals import Z95
from steelyard.stats.summaries import TAILS, quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Draws = tuple[NDArray[np.float64], NDArray[np.float64]]

ROGAN_GLADEN = "rogan-gladen"
ROGAN_GLADEN_WEIGHTED = "rogan-gladen with inverse-probability weights"
BY_VERDICT = "jeffreys by verdict with inverse-probability weights"
FEWEST_LABELS = 10
"""With fewer independent labels no corrected rate is given."""
FEWEST_OF_A_CLASS = 5
"""TPR and TNR need so many independent labels each."""
_UNLIKELY = 0.001
_BATCHES = 20


class NotCorrectableError(ValueError):
    """Why a rate cannot be corrected."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Labelled responses: what people say, what the judge says, how they were chosen."""

    good: NDArray[np.bool_]
    passed: NDArray[np.bool_]
    clusters: NDArray[np.int64]
    chances: NDArray[np.float64] | None = None
    """The chance with which each was chosen; None where all of a class had the same."""


class Verdicts(NamedTuple):
    """What labels with unequal chances tell about each verdict of a judge.

    A verdict without a single bad (or good) label still leaves open how many there are: TPR and
    TNR are drawn from all three shares, and not from the labels of their class alone.
    """

    passes: WeightShare
    """The share of responses that the judge passes."""
    good_if_passed: WeightShare
    good_if_failed: WeightShare

    def drawn(self, random: np.random.Generator) -> Draws:
        """Draws of TPR and TNR from Jeffreys' posteriors."""
        passes, if_passed, if_failed = (one.drawn(random, RESAMPLES) for one in self)
        good_passes, bad_fails = passes * if_passed, (1 - passes) * (1 - if_failed)
        tpr = _part(good_passes, (1 - passes) * if_failed)
        return tpr, _part(bad_fails, passes * (1 - if_passed))

    def rates(self) -> Draws:
        """The same draws every time."""
        return _same_draws(self)


@lru_cache(maxsize=8)
def _same_draws(strata: Verdicts) -> Draws:
    return strata.drawn(np.random.default_rng(SEED))


def _part(one: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    return one / np.maximum(one + rest, 1e-300)


class JudgeRates(NamedTuple):
    """How often a judge is right, with what the labels leave open."""

    tpr: WeightShare
    tnr: WeightShare
    labels: int
    strata: Verdicts | None = None
    """Of labels with unequal chances."""

    def drawn(self, random: np.random.Generator) -> Draws:
        """Draws of TPR and TNR from Jeffreys' posteriors."""
        if self.strata is None:
            return self.tpr.drawn(random, RESAMPLES), self.tnr.drawn(random, RESAMPLES)
        return self.strata.drawn(random)

    def verdict_variance(self, passes: WeightShare) -> float:
        """The variance that more labels cannot reduce: that of the judge's pass share."""
        gain = self.tpr.value + self.tnr.value - 1
        return passes.value * (1 - passes.value) / passes.n / gain**2


def unknown_design(validation: JudgeValidation) -> str:
    """That it is not known how the labelled records were chosen."""
    reason, items = "nobody said how the labelled records were chosen (`design`)", validation.items
    lacking = sum(one.inclusion_prob is None for one in items)
    if 0 < lacking < len(items):
        return f"{lacking:,} of {len(items):,} labels have no inclusion_prob, and {reason}"
    return reason


def counted_rates(counts: Counts) -> JudgeRates:
    """TPR and TNR where only the counts of labels are known."""
    shares = [
        WeightShare(right / max(1, right + wrong), right + wrong)
        for right, wrong in ((counts.tp, counts.fn), (counts.tn, counts.fp))
    ]
    return JudgeRates(shares[0], shares[1], counts.n)


def judge_rates(labels: Labels) -> JudgeRates:
    """TPR and TNR of labelled responses, clusters and unequal chances counted."""
    good, passed = labels.good, labels.passed
    if labels.chances is None:
        tpr, tnr = (
            clustered_share(
                (passed == kind)[good == kind].astype(float), labels.clusters[good == kind]
            )
            for kind in (True, False)
        )
        return JudgeRates(tpr, tnr, len(good))
    return _weighted_rates(labels, 1 / labels.chances)


def _weighted_rates(labels: Labels, weights: NDArray[np.float64]) -> JudgeRates:
    """The same where the choice may depend on the verdict: each label by its weight.

    What is known is known by verdict: how many responses pass, and how many of those that pass,
    and of those that fail, are good.
    """
    good, passed = labels.good.astype(float), labels.passed
    effect = _effect(labels, weights)
    is_by_verdict = all(len(set(weights[one].tolist())) == 1 for one in (passed, ~passed))
    # Drawn by verdict, the labels say of how many responses each verdict is known.
    known = float(weights.sum()) if is_by_verdict and effect == 1 else kish(weights) / effect
    passes = WeightShare(_mean(passed, weights), known)
    if_passed, if_failed = (
        WeightShare(_mean(good[one], weights[one]), kish(weights[one]) / effect)
        for one in (passed, ~passed)
    )
    strata = Verdicts(passes, if_passed, if_failed)
    tpr, tnr = (
        WeightShare(_mean(passed[one] == kind, weights[one]), _worth(drawn) * bool(one.any()))
        for kind, drawn in zip((True, False), strata.rates(), strict=True)
        for one in [labels.good == kind]
    )
    return JudgeRates(tpr, tnr, len(good), strata)


def _worth(drawn: NDArray[np.float64]) -> float:
    """The number of independent labels whose Jeffreys posterior is as wide as these draws.

    That of Beta(a, b) with n labels is mean (1 - mean) / variance = a + b + 1 = n + 2.
    """
    mean, variance = float(drawn.mean()), float(drawn.var())
    return max(0.0, mean * (1 - mean) / variance - 2)


def weighted_intervals(labels: Labels) -> tuple[Interval, Interval]:
    """TPR and TNR of labels with unequal chances, each with the interval of its draws."""
    rates = judge_rates(labels)
    assert rates.strata is not None
    tpr, tnr = (
        _of_draws(share, drawn, int((labels.good == kind).sum()))
        for kind, share, drawn in zip(
            (True, False), (rates.tpr, rates.tnr), rates.strata.rates(), strict=True
        )
    )
    return tpr, tnr


def _of_draws(share: WeightShare, drawn: NDArray[np.float64], n: int) -> Interval:
    if not n:
        return Interval(None, None, None, BY_VERDICT, 0)
    low, high = quantiles(drawn, TAILS)
    low, high = min(low, share.value), max(high, share.value)
    return Interval(share.value, low, high, BY_VERDICT, n, n_effective=share.n)


def _effect(labels: Labels, weights: NDArray[np.float64]) -> float:
    is_wrong = labels.good != labels.passed
    error = is_wrong - _mean(is_wrong, weights)
    return cluster_effect(weights * error, labels.clusters, is_wrong)


def _mean(values: NDArray[np.float64] | NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(weights @ values / weights.sum()) if len(weights) else 0.0


def rogan_gladen(rates: JudgeRates, passes: WeightShare) -> Interval:
    """The true rate behind a judge's pass rate, from its TPR and TNR (Rogan and Gladen 1978).

    Right for labels that were balanced by what people say, because TPR and TNR hold within each
    class. The interval carries the error of the labels and that of the observed rate: all three
    rates are drawn from Jeffreys' posteriors, and what no rate within [0, 1] could give is left
    out. An observed rate that hardly any draw allows is refused.
    """
    require_labels(rates)
    if not passes.n:
        raise NotCorrectableError("nothing was judged")
    tpr, tnr = rates.tpr.value, rates.tnr.value
    require_informative(tpr, tnr)
    value = (passes.value + tnr - 1) / (tpr + tnr - 1)
    low, high = quantiles(_allowed(rates, passes), TAILS)
    value = min(1.0, max(0.0, value))
    method = ROGAN_GLADEN if rates.strata is None else ROGAN_GLADEN_WEIGHTED
    return Interval(value, min(low, value), max(high, value), method, rates.labels)


def require_allowed(rates: JudgeRates, passes: WeightShare) -> None:
    """Refuse an observed pass share that the judge's TPR and TNR do not allow."""
    _allowed(rates, passes)


def require_informative(tpr: float, tnr: float) -> None:
    """Refuse a judge that is no better than a coin."""
    if tpr + tnr <= 1:
        raise NotCorrectableError(
            f"TPR {100 * tpr:.1f} % + TNR {100 * tnr:.1f} % is not above 100 %: "
            "the judge is no better than a coin"
        )


def labels_needed(found: Interval, of_verdicts: float, half: float = 0.05) -> int | None:
    """About how many labels, chosen in the same way, give an interval of ± `half`.

    `of_verdicts` is the variance that labels cannot reduce. None where it alone is too much: then
    the run has too few records.
    """
    assert found.low is not None
    assert found.high is not None
    whole = ((found.high - found.low) / (2 * Z95)) ** 2
    of_labels = max(0.0, whole - of_verdicts) * found.n
    room = (half / Z95) ** 2 - of_verdicts
    return max(FEWEST_LABELS, math.ceil(round(of_labels / room, 6))) if room > 0 else None


def require_labels(rates: JudgeRates) -> None:
    """Refuse fewer labels than TPR and TNR can be known by."""
    if rates.labels < FEWEST_LABELS:
        raise NotCorrectableError(
            f"{rates.labels} labels are too few; at least {FEWEST_LABELS} are needed, "
            f"{FEWEST_OF_A_CLASS} of them good and {FEWEST_OF_A_CLASS} bad"
        )
    for kind, share in (("good", rates.tpr), ("bad", rates.tnr)):
        if share.n < FEWEST_OF_A_CLASS:
            raise NotCorrectableError(
                f"the labels of {kind} responses are worth {share.n:.3g} independent ones; at "
                f"least {FEWEST_OF_A_CLASS} are needed"
            )


def _allowed(rates: JudgeRates, passes: WeightShare) -> NDArray[np.float64]:
    """Draws of the true rate, those outside [0, 1] left out."""
    random = np.random.default_rng(SEED)
    kept: list[NDArray[np.float64]] = []
    found = drawn = 0
    while found < RESAMPLES / 10 and drawn < _BATCHES * RESAMPLES:
        tprs, tnrs = rates.drawn(random)
        gain = tprs + tnrs - 1
        numerator = passes.drawn(random, RESAMPLES) + tnrs - 1
        is_allowed = (gain > 0) & (numerator >= 0) & (numerator <= gain)
        kept.append(numerator[is_allowed] / gain[is_allowed])
        found, drawn = found + len(kept[-1]), drawn + RESAMPLES
    if found < _UNLIKELY * drawn:
        raise NotCorrectableError(
            f"the judge passes {100 * passes.value:.1f} % here, which TPR "
            f"{100 * rates.tpr.value:.1f} % and TNR {100 * rates.tnr.value:.1f} % do not allow "
            "(p < 0.001): the judge has drifted, or the labels were not chosen as stated"
        )
    return np.concatenate(kept)
