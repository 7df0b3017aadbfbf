"""The jury of a validation: each juror, effective votes, and the jury against its best juror."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.agreement import Estimate
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JuryCounts
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, rate_text, share_text
from steelyard.stats.confusion import rates_of


def jury_lines(jury: JuryCounts) -> Iterator[str]:
    """The jury, line by line."""
    for place, juror in enumerate(jury.jurors):
        found = rates_of(juror.counts)
        best = ", the best" if place == jury.best else ""
        unscored = f", {count(juror.unscored)} unscored" if juror.unscored else ""
        yield (
            f"  juror {place + 1}    {printable(juror.judge)}{best}  TPR {_rate(found.tpr)}, "
            f"TNR {_rate(found.tnr)}  n = {count(juror.counts.n)}{unscored}"
        )
    size = count(len(jury.jurors))
    if jury.correlation is None or jury.effective_votes is None:
        yield f"  votes      the correlation between the errors of {size} jurors is not known"
    else:
        yield (
            f"  votes      {size} jurors are worth {jury.effective_votes:.2f} independent votes: "
            f"their errors correlate by {jury.correlation:.2f}  n = {count(jury.n)}"
        )
    if jury.minus_best is not None and jury.minus_best.value is not None:
        yield f"  jury       {_against_best(jury.minus_best, len(jury.jurors))}"


def jury_json(jury: JuryCounts) -> JsonObject:
    """The jury as JSON."""
    return {
        "n": jury.n,
        "correlation": jury.correlation,
        "effective_votes": jury.effective_votes,
        "best": jury.best,
        "minus_best": cast(JsonObject, asdict(jury.minus_best)) if jury.minus_best else None,
        "jurors": [
            {
                "judge": one.judge,
                "weight": one.weight,
                **cast(JsonObject, asdict(one.counts)),
                "unscored": one.unscored,
                "tpr": cast(JsonObject, asdict(rates_of(one.counts).tpr)),
                "tnr": cast(JsonObject, asdict(rates_of(one.counts).tnr)),
            }
            for one in jury.jurors
        ],
    }


def _against_best(found: Estimate, jurors: int) -> str:
    """The jury against its best juror; better or worse only if the interval excludes 0."""
    what = f"{100 * cast(float, found.value):+.1f} points in the mean of TPR and TNR"
    if found.low is None or found.high is None:
        return (
            f"too few responses to compare it with its best juror ({what}, n = {count(found.n)})"
        )
    verdict = "no clear difference from its best juror"
    if found.low > 0:
        verdict = "better than its best juror"
    if found.high < 0:
        verdict = "worse than its best juror"
    wider = (
        f"; interval widened because the best of {count(jurors)} was picked" if jurors > 1 else ""
    )
    return (
        f"{verdict}: {what} [{100 * found.low:+.1f}, {100 * found.high:+.1f}] "
        f"(n = {count(found.n)}{wider})"
    )


def _rate(found: Interval) -> str:
    return f"{rate_text(found)} ({share_text(found)})" if found.value is not None else "unknown"
