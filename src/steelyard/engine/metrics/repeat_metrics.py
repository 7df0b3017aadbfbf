"""Several tries of one case as metrics."""

from __future__ import annotations

from dataclasses import asdict

from steelyard.engine.metrics.evidence import Evidence
from steelyard.results.metrics import (
    Bounds,
    PassEstimate,
    Repeats,
    TriesMetrics,
    Variance,
    VarianceShares,
)
from steelyard.stats.repeats import Noise, Tries, Way, chosen_ks, noise_of, pass_k


def repeats_of(scored: Evidence, cases: int, planned: int, score_squares: float) -> Repeats | None:
    """At least one pass and all passes in k tries, for several k; None without repeats.

    `cases` counts those without a score too, `planned` the tries that each was to have.
    """
    if planned < 2:
        return None
    passes, n = scored.tried()
    tries = Tries(passes, n, planned, cases - scored.n, scored.labels)
    by_k = tuple(
        TriesMetrics(
            k=k,
            pass_at_k=_estimate(tries, k, "pass_at_k"),
            pass_hat_k=_estimate(tries, k, "pass_hat_k"),
        )
        for k in chosen_ks(planned)
    )
    scores = scored.of.scores.numbers(scored.entries)
    largest = by_k[-1]
    return Repeats(
        k=largest.k,
        pass_at_k=largest.pass_at_k,
        pass_hat_k=largest.pass_hat_k,
        by_k=by_k,
        variance=_variance(
            noise_of(scored.of.passes.numbers(scored.entries), n),
            noise_of(scores, n, score_squares),
            scored.rows / max(1, scored.n),
        ),
    )


def _estimate(tries: Tries, k: int, way: Way) -> PassEstimate:
    found = pass_k(tries, k, way)
    bounds = None if found.low is None else Bounds(low=found.low, high=found.high)
    return PassEstimate(**asdict(found.interval), bounds=bounds)


def _variance(passes: Noise | None, scores: Noise | None, repeats: float) -> Variance | None:
    """Shares of the variance of a single result; None where nothing varies."""
    share = passes.records_share if passes else None
    if passes is None or share is None:
        return None
    return Variance(
        between_records=share,
        between_repeats=1 - share,
        twice_the_repeats=passes.narrowing(repeats),
        score=_shares(scores),
    )


def _shares(noise: Noise | None) -> VarianceShares | None:
    share = noise.records_share if noise else None
    if share is None:
        return None
    return VarianceShares(between_records=share, between_repeats=1 - share)
