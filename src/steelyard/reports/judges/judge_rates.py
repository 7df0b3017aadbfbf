"""TPR and TNR of a judge, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.judges.correction import p_text
from steelyard.reports.numbers import count, percent, rate_text
from steelyard.stats.confusion import (
    differing_rates,
    known_rates,
    rates_by_chance,
    rates_by_run,
    validated_rates,
)
from steelyard.stats.correction import unknown_design


def rate_lines(found: JudgeValidation) -> Iterator[str]:
    """TPR and TNR of the judge, also per run if there are several."""
    tpr, tnr = known_rates(found)
    good = f"the judge passes {count(found.counts.tp)} of {count(tpr.n)} answers that people pass"
    bad = f"the judge fails {count(found.counts.tn)} of {count(tnr.n)} answers that people fail"
    yield f"  TPR        {_whole(found, 'TPR', tpr)}  {good}"
    yield f"  TNR        {_whole(found, 'TNR', tnr)}  {bad}"
    for run_id, own in rates_by_run(found).items():
        yield f"             {run_id}  TPR {counted_rate(own.tpr)}, TNR {counted_rate(own.tnr)}"
    if about := about_rates(found):
        yield f"             {about}"


def rates_json(found: JudgeValidation) -> JsonObject:
    """TPR and TNR as JSON, also of the sample and per run."""
    rates = known_rates(found)
    return {
        "tpr": interval_row(rates.tpr),
        "tnr": interval_row(rates.tnr),
        "rates_of_sample": _rates_of_sample(found),
        "rates_by_run": {
            run_id: {"tpr": interval_row(own.tpr), "tnr": interval_row(own.tnr)}
            for run_id, own in rates_by_run(found).items()
        },
        "differing_rates": {name.lower(): p for name, p in differing_rates(found).items()},
    }


def rate(found: Interval) -> str:
    """A rate with its interval, or `unknown`."""
    return rate_text(found) if found.value is not None else "unknown"


def _whole(validation: JudgeValidation, name: str, found: Interval) -> str:
    p_value = differing_rates(validation).get(name)
    if p_value is None:
        return rate(found)
    return f"not pooled, because the runs differ ({p_text(p_value)});"


def counted_rate(found: Interval) -> str:
    """A rate with its interval and its denominator."""
    return f"{rate(found)} (n = {count(found.n)})"


def interval_row(found: Interval) -> JsonObject:
    """An interval as JSON."""
    row: JsonObject = asdict(found)
    return row


def about_rates(found: JudgeValidation) -> str:
    """The population of TPR and TNR, unless they are plain counts of the labels."""
    if found.is_of_unknown_design:
        return f"of the labelled sample only: {unknown_design(found)}"
    if found.is_sample_only:
        return "of the labelled sample only: it was chosen by the judge's verdict"
    if rates_by_chance(found) is None:
        return ""
    tpr, tnr = (percent(rate.value) for rate in validated_rates(found))
    return (
        "each response weighted by the inverse of its inclusion probability; of the labelled "
        f"sample itself TPR is {tpr}, TNR {tnr}"
    )


def _rates_of_sample(found: JudgeValidation) -> JsonObject | None:
    """The unweighted rates, if the judge's rates differ from them or are unknown."""
    if rates_by_chance(found) is None and not found.is_sample_only:
        return None
    rates = validated_rates(found)
    return {"tpr": interval_row(rates.tpr), "tnr": interval_row(rates.tnr)}


def gate_text(found: JudgeValidation, least: float) -> str:
    """Why the lower bounds fail the gate; empty if they pass."""
    if found.is_sample_only:
        why = f"{unknown_design(found)}: " if found.is_of_unknown_design else ""
        return f"{why}TPR and TNR are of the labelled sample only, and reach no bound"
    if names := " and ".join(differing_rates(found)):
        return f"the labelled runs differ in {names}, and reach no bound together"
    low = [
        f"the lower bound of {name} is {percent(rate.low)}"
        for name, rate in zip(("TPR", "TNR"), known_rates(found), strict=True)
        if rate.low is None or rate.low < least
    ]
    return f"{' and '.join(low)}, below {percent(least)}" if low else ""
