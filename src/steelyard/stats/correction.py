"""A pass rate that a judge has measured, corrected by what people say about the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.model.validation import Counts
from steelyard.stats.bootstrap import RESAMPLES, SEED
from steelyard.stats.distributions import student_quantile
from steelyard.stats.intervals import Interval
from steelyard.stats.summaries import TAILS, quantiles

ROGAN_GLADEN = "rogan-gladen"
ROGAN_GLADEN_WEIGHTED = "rogan-gladen with inverse-probability weights"
PPI = "ppi"
PPI_PLUS = "ppi++"
PPI_WEIGHTED = "ppi++ with inverse-probability weights"
FEWEST_LABELS = 10
"""With fewer labels no interval of a corrected rate can be believed."""


class NotCorrectableError(ValueError):
    """Why a rate cannot be corrected."""


def rogan_gladen(counts: Counts, passed: float, judged: float) -> Interval:
    """The true rate behind a judge's pass rate, from its TPR and TNR (Rogan and Gladen 1978).

    Right for labels that were chosen by what people say, because TPR and TNR hold within each
    class; wrong for labels that were chosen by the judge's verdict. The interval carries the
    error of the labels and that of the observed rate: all three rates are drawn from Jeffreys'
    posteriors, which keeps it honest near 0 and 1.
    """
    cells = np.array([counts.tp, counts.fn, counts.tn, counts.fp], float)
    found = _rogan_gladen(_Cells(cells, np.ones(4)), passed, judged)
    return _clipped(*found, ROGAN_GLADEN, counts.n)


def rogan_gladen_weighted(labelled: Labelled, passed: float, judged: float) -> Interval:
    """The same from labels that were chosen with known, unequal chances.

    Each label counts by the inverse of its chance. The four cells are drawn from gamma
    distributions that put half a label more into each, with the weight that labels of the same
    verdict have: an error of the judge that nobody happened to label may still be a heavy one.
    """
    truth, said = np.asarray(labelled.truth, float), np.asarray(labelled.judged, float)
    weights = 1 / _chances(labelled, len(truth))
    places = [(1, 1), (1, 0), (0, 0), (0, 1)]
    cells = [weights[(truth == good) & (said == verdict)] for good, verdict in places]
    alike = [weights[said == verdict] for _, verdict in places]
    # as many labels of one weight as are worth the same (Kish)
    counts = [float(one.sum() ** 2 / (one**2).sum()) if len(one) else 0.0 for one in cells]
    scales = [
        float((one**2).sum() / one.sum()) if len(one) else float(_mean(others, weights))
        for one, others in zip(cells, alike, strict=True)
    ]
    found = _rogan_gladen(_Cells(np.array(counts), np.array(scales)), passed, judged)
    return _clipped(*found, ROGAN_GLADEN_WEIGHTED, len(truth))


def _mean(weights: np.ndarray, otherwise: np.ndarray) -> float:
    return float((weights if len(weights) else otherwise).mean())


class _Cells(NamedTuple):
    """True positives, false negatives, true negatives, false positives."""

    counts: np.ndarray
    scales: np.ndarray
    """What one of each counts for."""


def _rogan_gladen(cells: _Cells, passed: float, judged: float) -> tuple[float, float, float]:
    """The rate and its bounds, before they are clipped to [0, 1]."""
    tp, fn, tn, fp = (float(number) for number in cells.counts * cells.scales)
    if not tp + fn or not tn + fp:
        missing = "passes" if tn + fp else "fails"
        raise NotCorrectableError(f"people labelled nothing that {missing}")
    tpr, tnr = tp / (tp + fn), tn / (tn + fp)
    if tpr + tnr <= 1:
        raise NotCorrectableError(
            f"TPR {tpr:.2f} + TNR {tnr:.2f} is not above 1: this judge tells nothing apart"
        )
    if not judged:
        raise NotCorrectableError("nothing was judged")
    value = (passed / judged + tnr - 1) / (tpr + tnr - 1)
    chance = np.random.default_rng(SEED)
    # two gamma variables make a beta one, which is Jeffreys' posterior of a rate
    drawn = chance.gamma(cells.counts + 0.5, size=(RESAMPLES, 4)) * cells.scales
    tprs = drawn[:, 0] / (drawn[:, 0] + drawn[:, 1])
    tnrs = drawn[:, 2] / (drawn[:, 2] + drawn[:, 3])
    rates = chance.beta(passed + 0.5, judged - passed + 0.5, RESAMPLES)
    apart = tprs + tnrs - 1
    # A judge that might tell nothing apart leaves the rate open on that side.
    found = np.where(apart > 0, (rates + tnrs - 1) / np.where(apart > 0, apart, 1), np.nan)
    sound = np.clip(found[np.isfinite(found)], 0, 1)
    low, high = quantiles(sound, TAILS)
    return value, low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Items that people labelled: what they said, what the judge said, how they were chosen."""

    truth: Sequence[float]
    judged: Sequence[float]
    inclusion: Sequence[float] | None = None
    """The chance with which each was chosen; None where all had the same."""


def ppi(
    labelled: Labelled,
    judged: Sequence[float],
    *,
    are_among: bool = True,
    tuning: float | None = None,
) -> Interval:
    """The mean of what people would say of all judged items (prediction-powered inference).

    The judge's mean over all items, plus its mean error on the labelled ones. It holds however
    wrong the judge is, where the labelled items are a random sample of the judged ones or the
    chance of each is known (Angelopoulos et al. 2023; weights as in Zrnic and Candès 2024). The
    tuning of PPI++ leans on the judge as far as it helps: 1 is plain PPI, 0 the labels alone.
    `are_among` says that the labelled items are among the judged ones.
    """
    truth, said = np.asarray(labelled.truth, float), np.asarray(labelled.judged, float)
    everything = np.asarray(judged, float)
    n, total = len(truth), len(everything)
    if n < FEWEST_LABELS:
        raise NotCorrectableError(f"{n} label(s) are too few; {FEWEST_LABELS} is the least")
    weights = 1 / _chances(labelled, n)
    weights = weights / weights.sum()
    # Unequal weights are worth fewer labels (Kish).
    worth = 1 / float((weights**2).sum())
    lean = _lean(truth, said, weights, worth / total, are_among) if tuning is None else tuning
    error = truth - lean * said
    mean_error = float(weights @ error)
    value = lean * float(everything.mean()) + mean_error
    from_labels = float((weights**2) @ (error - mean_error) ** 2) * n / (n - 1)
    spread = float(everything.var(ddof=1)) if total > 1 else 0.0
    together = float(weights @ ((said - weights @ said) * (error - mean_error)))
    shared = 2 * lean * together / total if are_among else 0.0
    variance = max(0.0, from_labels + lean * lean * spread / total + shared)
    is_weighted = labelled.inclusion is not None and len(set(labelled.inclusion)) > 1
    freedom = _freedom(weights * (error - mean_error)) if is_weighted else n - 1
    half = student_quantile(0.975, freedom) * variance**0.5
    method = PPI_WEIGHTED if is_weighted else PPI_PLUS if tuning is None else PPI
    return _clipped(value, value - half, value + half, method, n)


def _freedom(parts: np.ndarray) -> float:
    """How many labels carry the error (Satterthwaite): few heavy ones are a small sample."""
    squares = parts**2
    total = float((squares**2).sum())
    carrying = float(squares.sum()) ** 2 / total if total else float(len(parts))
    return max(1.0, round(carrying, 6) - 1)


def _chances(labelled: Labelled, n: int) -> np.ndarray:
    """The chance with which each label was chosen."""
    chances = np.ones(n) if labelled.inclusion is None else np.asarray(labelled.inclusion, float)
    if (chances <= 0).any() or (chances > 1).any():
        raise NotCorrectableError("an inclusion probability must lie in (0, 1]")
    return chances


def _lean(
    truth: np.ndarray, said: np.ndarray, weights: np.ndarray, share: float, are_among: bool
) -> float:
    """How far to lean on the judge, so that the variance is least; between 0 and 1."""
    centred = said - weights @ said
    spread = float(weights @ centred**2)
    if spread == 0:
        return 0.0
    together = float(weights @ (centred * (truth - weights @ truth)))
    best = together / spread if are_among else together / (spread * (1 + share))
    return min(1.0, max(0.0, best))


def _clipped(value: float, low: float, high: float, method: str, n: int) -> Interval:
    value, low, high = (min(1.0, max(0.0, number)) for number in (value, low, high))
    return Interval(value, min(low, value), max(high, value), method, n)
