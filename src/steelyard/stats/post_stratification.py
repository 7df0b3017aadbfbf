"""A pass rate that a judge measured, corrected by labels of some of the same responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.correction import FEWEST_LABELS, NotCorrectableError
from steelyard.stats.draws import RESAMPLES, SEED
from steelyard.stats.effective import WeightShare, cluster_effect, clustered_share, kish
from steelyard.stats.summaries import TAILS, quantiles
from steelyard.stats.tables import independence

if TYPE_CHECKING:
    from numpy.typing import NDArray

POST_STRATIFIED = "post-stratified by verdict"
POST_STRATIFIED_WEIGHTED = "post-stratified by verdict with inverse-probability weights"
PAIRED = "paired, post-stratified by verdict"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledRun:
    """The judge's verdicts of a run, and people's labels of some of its responses."""

    passed: NDArray[np.bool_]
    """The judge's verdict of every judged response."""
    clusters: NDArray[np.int64]
    """The cluster of each response: its conversation, or its record where there are repeats."""
    labelled: NDArray[np.int64]
    """The places of the labelled responses among them."""
    good: NDArray[np.bool_]
    """What people say about the labelled responses."""
    chances: NDArray[np.float64] | None = None
    """The chance with which each was chosen; None where all had the same within a verdict."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """The inverse of each chance."""
        if self.chances is None:
            return np.ones(len(self.labelled))
        if (self.chances <= 0).any() or (self.chances > 1).any():
            raise NotCorrectableError("an inclusion probability must lie in (0, 1]")
        return 1 / self.chances

    def restricted(self, keep: NDArray[np.bool_]) -> LabelledRun:
        """The same for some of the responses; the labels among them keep their chances."""
        place = np.cumsum(keep) - 1
        stays = keep[self.labelled]
        return LabelledRun(
            passed=self.passed[keep],
            clusters=self.clusters[keep],
            labelled=place[self.labelled[stays]],
            good=self.good[stays],
            chances=None if self.chances is None else self.chances[stays],
        )


class Strata(NamedTuple):
    """What a corrected rate consists of."""

    passes: WeightShare
    """The share of responses that the judge passes."""
    good_if_passed: WeightShare
    good_if_failed: WeightShare
    labels: int
    is_weighted: bool = False

    @property
    def value(self) -> float:
        """The corrected rate: the share that people would pass."""
        share = self.passes.value
        return share * _known(self.good_if_passed) + (1 - share) * _known(self.good_if_failed)

    @property
    def verdict_variance(self) -> float:
        """The variance that more labels cannot reduce: that of the judge's pass share."""
        share, n = self.passes
        slope = _known(self.good_if_passed) - _known(self.good_if_failed)
        return slope**2 * share * (1 - share) / n


def _known(share: WeightShare) -> float:
    """Its value; one half where nothing is known, which is the mean of Jeffreys' prior."""
    return share.value if share.n else 0.5


def strata_of(run: LabelledRun) -> Strata:
    """The share of passes, and the share of good responses for each verdict.

    Within a verdict each label counts by the inverse of its chance, and the labels are worth as
    many as Kish's effective n says. Labels of the same cluster are worth fewer.
    """
    if not len(run.passed):
        raise NotCorrectableError("nothing was judged")
    weights, passed = run.weights, run.passed[run.labelled]
    good, clusters = run.good.astype(float), run.clusters[run.labelled]
    passes = clustered_share(run.passed.astype(float), run.clusters)
    residuals, is_rare = np.zeros(len(good)), np.zeros(len(good), dtype=bool)
    found: list[WeightShare] = []
    for verdict, share in ((True, passes.value), (False, 1 - passes.value)):
        these = passed == verdict
        weight = weights[these]
        value = float(weight @ good[these] / weight.sum()) if len(weight) else 0.0
        found.append(WeightShare(value, kish(weight)))
        residuals[these] = share * weight * (good[these] - value) / max(weight.sum(), 1e-300)
        is_rare[these] = good[these] != (value > 0.5)
    slope = _known(found[0]) - _known(found[1])
    verdicts = slope * (run.passed - passes.value) / len(run.passed)
    effect = cluster_effect(residuals, clusters, is_rare, _shared(run, residuals, verdicts))
    shares = [WeightShare(one.value, one.n / effect) for one in found]
    is_weighted = any(len(set(weights[passed == one].tolist())) > 1 for one in (True, False))
    strata = Strata(passes, *shares, labels=len(good), is_weighted=is_weighted)
    _require_enough(strata, len(np.unique(clusters)))
    return strata


def _shared(
    run: LabelledRun, residuals: NDArray[np.float64], verdicts: NDArray[np.float64]
) -> float:
    """Twice the covariance of the labels' error and the pass share's, where it is positive.

    A conversation that happens to be good has good labels as well as many passes.
    """
    names, numbers = np.unique(run.clusters, return_inverse=True)
    of_labels = np.bincount(numbers[run.labelled], weights=residuals, minlength=len(names))
    of_verdicts = np.bincount(numbers, weights=verdicts, minlength=len(names))
    return max(0.0, 2 * float(of_labels @ of_verdicts))


def _require_enough(strata: Strata, clusters: int) -> None:
    worth = strata.good_if_passed.n + strata.good_if_failed.n
    if strata.labels < FEWEST_LABELS:
        raise NotCorrectableError(
            f"{strata.labels} labels of these responses are too few; at least {FEWEST_LABELS} "
            "are needed"
        )
    if worth < FEWEST_LABELS:
        raise NotCorrectableError(
            f"{strata.labels} labels of these responses, in {clusters} clusters, are worth "
            f"{worth:.1f} independent ones; at least {FEWEST_LABELS} are needed"
        )


def post_stratified(strata: Strata) -> Interval:
    """The rate that people would find, from labels of the run's own responses.

    P(good | judge passes), P(good | judge fails) and the share of passes are drawn 10,000 times
    from Jeffreys' posteriors, seeded. It holds however wrong the judge is, and whichever shares of
    its passes and fails were labelled.
    """
    random = np.random.default_rng(SEED)
    drawn = _mixed(strata.passes.drawn(random, RESAMPLES), strata, random)
    method = POST_STRATIFIED_WEIGHTED if strata.is_weighted else POST_STRATIFIED
    return _interval(strata.value, drawn, method, strata.labels)


def _mixed(
    passes: NDArray[np.float64], strata: Strata, random: np.random.Generator
) -> NDArray[np.float64]:
    if_passed = strata.good_if_passed.drawn(random, RESAMPLES)
    if_failed = strata.good_if_failed.drawn(random, RESAMPLES)
    return passes * if_passed + (1 - passes) * if_failed


def sampling_p(run: LabelledRun) -> float:
    """The p-value that the judge's verdicts of labelled responses are a random sample."""
    rest = np.ones(len(run.passed), dtype=bool)
    rest[run.labelled] = False
    cells: list[int] = []
    for places in (run.labelled, np.flatnonzero(rest)):
        share = clustered_share(run.passed[places].astype(float), run.clusters[places])
        passes = round(share.value * share.n)
        cells += [passes, max(0, round(share.n) - passes)]
    return independence(*cells)


class VerdictPairs(NamedTuple):
    """The judge's verdicts of the same records in two runs."""

    shares: tuple[float, float, float, float]
    """Passes in both, in A alone, in B alone, in neither."""
    n: float
    """The number of independent records that they are worth."""

    @property
    def swapped(self) -> VerdictPairs:
        """The same with A for B."""
        both, only_a, only_b, neither = self.shares
        return VerdictPairs((both, only_b, only_a, neither), self.n)


def verdict_pairs(
    a: NDArray[np.float64], b: NDArray[np.float64], clusters: NDArray[np.int64]
) -> VerdictPairs:
    """The verdicts of common records, each the share of its repeats that pass."""
    if not len(a):
        raise NotCorrectableError("no record was judged in both runs")
    cells = (a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b))
    shift = b - a
    effect = cluster_effect(shift - shift.mean(), clusters, shift != 0)
    both, only_a, only_b, neither = (float(cell.mean()) for cell in cells)
    return VerdictPairs((both, only_a, only_b, neither), len(a) / effect)


def corrected_difference(a: Strata, b: Strata, together: VerdictPairs) -> Interval:
    """B's corrected rate minus A's, over common records.

    The shares of the four pairs of verdicts are drawn from a Dirichlet(½) posterior, so that
    records on which both runs agree add no error. What people say is drawn for each run by itself:
    labels of the same records in both runs make the interval wider than it need be, not narrower.
    Which run comes first does not matter: A against B is the mirror image of B against A.
    """
    first, second = (a, together.shares[1]), (b, together.shares[2])
    if second < first:
        return corrected_difference(b, a, together.swapped).mirrored
    random = np.random.default_rng(SEED)
    shares = np.array(together.shares)
    drawn = random.dirichlet(shares * together.n + 0.5, RESAMPLES)
    passes_a, passes_b = drawn[:, 0] + drawn[:, 1], drawn[:, 0] + drawn[:, 2]
    shift = _mixed(passes_b, _cautious(b), random) - _mixed(passes_a, _cautious(a), random)
    observed = [float(shares[0] + shares[place]) for place in (1, 2)]
    value_a, value_b = (
        one._replace(passes=WeightShare(share, together.n)).value
        for one, share in zip((a, b), observed, strict=True)
    )
    labels = min(a.labels, b.labels)
    if first == second:
        # Zero lies in the middle: neither run comes first.
        low, high = quantiles(shift, TAILS)
        return Interval(0.0, (low - high) / 2, (high - low) / 2, PAIRED, labels)
    return _interval(value_b - value_a, shift, PAIRED, labels)


def _cautious(strata: Strata) -> Strata:
    """One label fewer for each verdict: with 20 labels too many equal systems would differ."""
    fewer = (
        WeightShare(one.value, max(0.0, one.n - 1))
        for one in (strata.good_if_passed, strata.good_if_failed)
    )
    return Strata(strata.passes, *fewer, labels=strata.labels, is_weighted=strata.is_weighted)


def _interval(value: float, drawn: NDArray[Any], method: str, n: int) -> Interval:
    low, high = quantiles(drawn, TAILS)
    return Interval(value, min(low, value), max(high, value), method, n)
