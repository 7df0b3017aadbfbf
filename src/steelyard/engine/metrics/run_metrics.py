"""Facts to metrics: every number with its denominator, its interval and its method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import TypeVar, cast

from msgspec import structs

from steelyard.engine.metrics.columns import Chosen, Column, Numbers
from steelyard.engine.metrics.evidence import Evidence
from steelyard.engine.metrics.extent import ALL_ROWS, Extent
from steelyard.engine.metrics.fact_table import FAILED, SKIPPED, FactTable
from steelyard.engine.metrics.judging_metrics import judging_cost, judging_summary
from steelyard.engine.metrics.slice_metrics import with_missing, with_p_values
from steelyard.model.statistics.interval import Interval
from steelyard.results.facts import Facts
from steelyard.results.metrics import (
    Bounds,
    Cache,
    CheckMetrics,
    LatencyMetrics,
    Metrics,
    PassEstimate,
    Repeats,
    Slice,
    Summary,
    Tokens,
    TotalCost,
    TriesMetrics,
    Variance,
    VarianceShares,
)
from steelyard.stats.arrays import np
from steelyard.stats.rates import mean_interval
from steelyard.stats.repeats import Noise, Tries, Way, chosen_ks, noise_of, pass_k
from steelyard.stats.summaries import distribution, percentiles

Made = TypeVar("Made", bound=Summary)


def metrics_of(facts: Iterable[Facts], extent: Extent = ALL_ROWS) -> tuple[Metrics, list[Slice]]:
    """The metrics of a run, and the same for each slice; repeats of a record come in a row.

    Where records have no row, the bounds are those of the whole extent, and slices, to which
    any of them may belong, have none.
    """
    table = FactTable(facts)
    table.repeats = max(table.repeats, extent.repeats)
    without_row = max(0, extent.records - table.records)
    slices = table.members.slices
    names = sorted(slices, key=lambda key: (key[0], key[1] is None, key[1] or ""))
    found = [
        _summary(table, slices[key], partial(Slice, slice=key[0], value=key[1])) for key in names
    ]
    whole = _summary(table, 0, Metrics, without_row)
    tested = with_p_values(table, whole, found)
    if without_row:
        tested = [structs.replace(one, pass_rate_bounds=None) for one in tested]
    return with_missing(table, whole, found), tested


def _summary(
    table: FactTable, number: int, make: Callable[..., Made], without_row: int = 0
) -> Made:
    """The metrics of the whole run, which is number 0, or of a slice."""

    def count(name: str) -> int:
        return table.sums.count(name, number)

    records = table.members.records(number)
    scored = table.scored.within(records, table.clusters)
    total = table.records if records is None else len(records)
    passes, evaluated = scored.passes(), scored.n
    return make(
        total_records=total,
        valid_records=total - count("invalid_record"),
        evaluated_records=evaluated,
        failed_records=sum(map(count, FAILED)),
        skipped_records=sum(map(count, SKIPPED)),
        invalid_records=count("invalid_record"),
        cancelled_records=count("cancelled"),
        rows=count("rows"),
        failure_rows=count("failure_rows"),
        unscored_repeats=evaluated * table.repeats - scored.rows,
        pass_count=_whole(passes),
        fail_count=_whole(evaluated - passes),
        unscored_count=count("unscored"),
        pass_rate=scored.rate(),
        pass_rate_bounds=_bounds(scored, total + without_row, table.repeats),
        score=_score(table.raw, scored),
        score_distribution=tuple(_distribution(table.scored.scores, scored.entries)),
        **_spending(table, number, records),
        choice_answers=count("choice_answers"),
        no_choice=count("no_choice") if count("choice_answers") else None,
        checks=dict(_checks(table, number, records)),
        questions=table.questions[number].summary(table.clusters),
        cache=Cache(hits=count("cached"), saved_usd=table.sums.total("saved", number) or None),
        attempts=count("attempts"),
        retried_records=count("retried"),
        repeats=_repeats_of(
            scored,
            total + without_row,
            table.repeats,
            table.sums.total("score_squares", number),
        ),
    )


def _spending(table: FactTable, number: int, records: Chosen) -> dict[str, object]:
    """Time, tokens and money, each with the rows it is known of."""
    sums = table.sums
    inward, outward, n = (
        sums.count(name, number) for name in ("input_tokens", "output_tokens", "token_rows")
    )
    paid = sums.count("cost_rows", number)
    return {
        "latency_ms": _times(table.latencies.within(records)),
        "first_token_ms": _times(table.first_tokens.within(records)),
        "tokens": Tokens.of(inward, outward, n),
        "cost_usd": TotalCost(
            total=sums.total("cost", number) if paid else None,
            n=paid,
            judging=judging_cost(sums, number),
        ),
        "judging": judging_summary(sums, number),
    }


def _times(known: Numbers) -> LatencyMetrics:
    p50, p95 = percentiles(cast("list[float]", known), (50, 95))
    return LatencyMetrics(p50=p50, p95=p95, n=len(known))


def _checks(table: FactTable, number: int, records: Chosen) -> Iterator[tuple[str, CheckMetrics]]:
    """Every check that was made, over the records that it scored."""
    for name, scores in table.checks.items():
        if table.sums.count((name, "made"), number):
            found = scores.within(records, table.clusters)
            yield (
                name,
                CheckMetrics(
                    kind=table.kinds[name],
                    pass_rate=found.rate(),
                    mean_score=_clip(found.mean_score()),
                    skipped=table.sums.count((name, "skipped"), number),
                    unscored=table.sums.count((name, "unscored"), number),
                ),
            )


def _distribution(scores: Column, entries: Chosen) -> list[int]:
    counts = scores.counts(entries)
    if counts is None:
        return distribution(cast("list[float]", scores.numbers(entries)))
    return distribution(list(counts), list(counts.values()))


def _score(raw: Column, scored: Evidence) -> Interval:
    """The mean of raw scores, which may be negative, clipped to [0, 1] afterwards."""
    found = scored.mean_of(raw)
    if found.high is not None and found.high <= 0:
        # Clipped, it would have no width: scores clipped one by one reach at least as high.
        clipped = np.clip(raw.numbers(scored.entries), 0.0, 1.0)
        found = replace(found, high=mean_interval(clipped, scored.labels).high)
    return replace(found, value=_clip(found.value), low=_clip(found.low), high=_clip(found.high))


def _clip(number: float | None) -> float | None:
    return None if number is None else min(1.0, max(0.0, number))


def _whole(number: float) -> int | float:
    """Counts are whole unless repeats of a case disagree."""
    return int(number) if number == int(number) else number


def _bounds(scored: Evidence, total: int, planned: int) -> Bounds:
    """The pass rate if every record, and every repeat, without a score had failed or passed."""
    if total == 0:
        return Bounds(low=None, high=None)
    passes, gone = scored.passes(), 0.0
    if planned > 1:
        passed, tries = scored.tried()
        passes, gone = float(passed.sum()) / planned, float((planned - tries).sum()) / planned
    missing = gone + total - scored.n
    # Nothing missing adds nothing, and rounding can step just past 1.
    return Bounds(low=passes / total, high=min(1.0, (passes + missing) / total))


def _repeats_of(
    scored: Evidence, cases: int, planned: int, score_squares: float
) -> Repeats | None:
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
