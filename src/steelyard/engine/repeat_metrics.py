"""Several tries of one case as metrics."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from steelyard.engine.evidence import Evidence
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.stats.repeats import Noise, Tries, Way, chosen_ks, noise_of, pass_k


def repeats_row(
    scored: Evidence, cases: int, planned: int, score_squares: float
) -> JsonObject | None:
    """At least one pass and all passes in k tries, for several k; None without repeats.

    `cases` counts those without a score too, `planned` the tries that each was to have.
    """
    if planned < 2:
        return None
    passes, n = scored.tried()
    tries = Tries(passes, n, planned, cases - scored.n, scored.labels)
    by_k = [_row(tries, k) for k in chosen_ks(planned)]
    scores = scored.of.scores.numbers(scored.entries)
    return {
        **by_k[-1],
        "by_k": cast("list[JsonValue]", by_k),
        "variance": _variance(
            noise_of(scored.of.passes.numbers(scored.entries), n),
            noise_of(scores, n, score_squares),
            scored.rows / max(1, scored.n),
        ),
    }


def _row(tries: Tries, k: int) -> JsonObject:
    return {
        "k": k,
        "pass_at_k": cast(JsonValue, _estimate(tries, k, "pass_at_k")),
        "pass_hat_k": cast(JsonValue, _estimate(tries, k, "pass_hat_k")),
    }


def _estimate(tries: Tries, k: int, way: Way) -> JsonObject:
    found = pass_k(tries, k, way)
    bounds: JsonObject | None = None
    if found.low is not None:
        bounds = {"low": found.low, "high": found.high}
    return {**cast(JsonObject, asdict(found.interval)), "bounds": bounds}


def _variance(passes: Noise | None, scores: Noise | None, repeats: float) -> JsonObject | None:
    """Shares of the variance of a single result; None where nothing varies."""
    share = passes.records_share if passes else None
    if passes is None or share is None:
        return None
    return {
        "between_records": share,
        "between_repeats": 1 - share,
        "twice_the_repeats": passes.narrowing(repeats),
        "score": _shares(scores),
    }


def _shares(noise: Noise | None) -> JsonObject | None:
    share = noise.records_share if noise else None
    return None if share is None else {"between_records": share, "between_repeats": 1 - share}
