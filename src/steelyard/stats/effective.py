"""How many independent items a weighted or clustered sample is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.distributions import student_quantile
from steelyard.stats.intervals import Z95, wilson
from steelyard.stats.rates import FEWEST_HOLDERS, leverage

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WeightShare(NamedTuple):
    """A share, and the number of independent items that would know it as well."""

    value: float
    n: float

    def drawn(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draws from Jeffreys' posterior."""
        return random.beta(
            self.value * self.n + 0.5, max(0.0, (1 - self.value) * self.n) + 0.5, count
        )


def kish(weights: NDArray[Any]) -> float:
    """The number of equally weighted items that unequal weights are worth (Kish 1965)."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def cluster_effect(
    residuals: NDArray[Any],
    clusters: Sequence[int] | NDArray[Any],
    is_rare: NDArray[Any],
    shared: float = 0.0,
) -> float:
    """The design effect of clusters: by how much they inflate the variance of an estimate.

    `residuals` are the items' parts of the estimate's error; `is_rare` marks items with the rarer
    outcome; `shared` is a covariance with other errors that the same clusters cause. The variance
    between clusters over that between items, with the quantile of Student's distribution for few
    clusters. Where fewer than ten clusters hold the rarer outcome the estimate is not reliable,
    and each cluster counts as one item.
    """
    labels = np.unique(clusters, return_inverse=True)[1]
    count, items = int(labels.max()) + 1 if len(labels) else 0, len(labels)
    if count == items:
        return 1.0
    whole = items / count
    alone = float((residuals**2).sum())
    if count == 1 or alone == 0:
        return whole
    sums = np.bincount(labels, weights=residuals) * leverage(np.bincount(labels))
    between = float((sums**2).sum()) * count / (count - 1)
    few = (student_quantile(0.975, count - 1) / Z95) ** 2
    effect = max(1.0, (between + shared) / alone) * few
    is_unsure = len(np.unique(labels[is_rare])) < FEWEST_HOLDERS
    return max(effect, whole) if is_unsure else effect


def clustered_share(values: NDArray[Any], clusters: Sequence[int] | NDArray[Any]) -> WeightShare:
    """The share of true values, at the effective number of items."""
    n = len(values)
    if not n:
        return WeightShare(0.0, 0.0)
    share = float(values.mean())
    is_rare = values.astype(bool) if share <= 0.5 else ~values.astype(bool)
    return WeightShare(share, n / cluster_effect(values - share, clusters, is_rare))


def weighted_rate(
    weights: NDArray[Any], values: NDArray[Any], clusters: Sequence[int] | NDArray[Any]
) -> Interval:
    """A rate of weighted items.

    Wilson's interval over as many independent items of one weight as are worth the same.
    """
    if not len(values):
        return wilson(0.0, 0)
    share = float(weights @ values / weights.sum())
    effect = cluster_effect(weights * (values - share), clusters, values != (share > 0.5))
    worth = kish(weights) / effect
    method = "wilson with inverse-probability weights"
    return replace(wilson(share * worth, worth), method=method, n=len(values), n_effective=worth)
