"""The members of a jury against human labels, each alone and all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from steelyard.model.statistics.agreement import Estimate
from steelyard.model.statistics.validation import Counts, JurorCounts, JuryCounts
from steelyard.stats.confusion import balanced_accuracy, rates_of
from steelyard.stats.jury import effective_votes, error_correlation
from steelyard.stats.paired_accuracy import AccuracyTrial, accuracy_difference
from steelyard.usecases.correction.judged_rows import JurorVote


class Bench(NamedTuple):
    """The human label and the jurors' verdicts on one response."""

    is_good: bool
    votes: tuple[JurorVote, ...]
    is_passed: bool = False
    """The verdict of the jury."""
    group: str = ""
    """The conversation, or the record: responses of one group are not independent."""


def jury_of(benches: Sequence[Bench]) -> JuryCounts | None:
    """The jurors by position; None if the jury is not the same everywhere."""
    seats = {tuple((vote.judge, vote.weight) for vote in bench.votes) for bench in benches}
    if len(seats) != 1:
        return None
    places = next(iter(seats))
    if not places:
        return None
    jurors = tuple(
        _juror(judge, weight, [(bench.is_good, bench.votes[place].passed) for bench in benches])
        for place, (judge, weight) in enumerate(places)
    )
    heard = [bench for bench in benches if all(vote.passed is not None for vote in bench.votes)]
    errors = [
        [float(bench.votes[place].passed is not bench.is_good) for bench in heard]
        for place in range(len(places))
    ]
    correlation = error_correlation(errors)
    best = _best(jurors)
    return JuryCounts(
        jurors=jurors,
        n=len(heard),
        correlation=correlation,
        effective_votes=None if correlation is None else effective_votes(len(places), correlation),
        best=best,
        minus_best=None if best is None else _minus_juror(benches, best),
    )


def _minus_juror(benches: Sequence[Bench], place: int) -> Estimate:
    """The jury minus one juror, over the responses that the juror scored."""
    numbers: dict[str, int] = {}
    trials = [
        AccuracyTrial(
            bench.is_good,
            bench.is_passed is bench.is_good,
            bench.votes[place].passed is bench.is_good,
            numbers.setdefault(bench.group or str(number), len(numbers)),
        )
        for number, bench in enumerate(benches)
        if bench.votes[place].passed is not None
    ]
    found = accuracy_difference(trials, len(benches[0].votes))
    return Estimate(
        name="jury_minus_best_juror",
        value=found.value,
        low=found.low,
        high=found.high,
        method=found.method,
        n=found.n,
    )


def _juror(judge: str, weight: float, pairs: Sequence[tuple[bool, bool | None]]) -> JurorCounts:
    return JurorCounts(
        judge=judge,
        weight=weight,
        counts=Counts(
            tp=pairs.count((True, True)),
            fn=pairs.count((True, False)),
            tn=pairs.count((False, False)),
            fp=pairs.count((False, True)),
        ),
        unscored=sum(passed is None for _, passed in pairs),
    )


def _best(jurors: Sequence[JurorCounts]) -> int | None:
    """The first juror with the highest mean of TPR and TNR."""
    rated = [balanced_accuracy(rates_of(juror.counts)) for juror in jurors]
    if any(rate is None for rate in rated):
        return None
    known = cast(list[float], rated)
    return known.index(max(known))
