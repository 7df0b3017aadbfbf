"""The history of a judge: runs that it graded, and its validations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.formats.json_fields import object_field, text_list
from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.findings import Paint, printable
from steelyard.reports.judges.judge_rates import counted_rate, interval_row
from steelyard.reports.numbers import count, percent
from steelyard.stats.confusion import known_rates

_SHOWN_RUNS = 10
_SHOWN_VALIDATIONS = 5
_SHARES = {
    "passed": ("pass_share", "scored", "scored records"),
    "unscored": ("unscored_share", "n", "judged responses"),
}
"""Name to key of the share, key of its denominator, and label of the denominator."""


def history_lines(history: Sequence[JsonObject], paint: Paint) -> Iterator[str]:
    """The newest runs graded by the judge, if there are several."""
    if len(history) < 2:
        return
    for row in history[-_SHOWN_RUNS:]:
        day = str(row["created_at"])[:10]
        shares = ", ".join(_share(row, name) for name in _SHARES)
        yield f"  history    {day} {row['run_id']}  {shares}"
        for name in text_list(row, "unlike_earlier"):
            share = _share(object_field(row, "earlier"), name)
            words = f"differs from all earlier runs of its dataset and target together: {share}"
            yield f"             {paint(words, 'warning')} (p < 0.001)"


def earlier_lines(validations: Sequence[JudgeValidation]) -> Iterator[str]:
    """The newest earlier validations."""
    for one in validations[-_SHOWN_VALIDATIONS:]:
        yield f"  earlier    {_earlier(one)}"


def _earlier(found: JudgeValidation) -> str:
    """An earlier validation in one line."""
    day = found.validated_at[:10]
    tpr, tnr = map(counted_rate, known_rates(found))
    refused = f", refused: {printable(found.refusals[0])}" if found.refusals else ""
    return f"{day} validation  TPR {tpr}, TNR {tnr}{refused}"


def earlier_row(found: JudgeValidation) -> JsonObject:
    """The same as JSON."""
    rates = known_rates(found)
    return {
        "validated_at": found.validated_at,
        "tpr": interval_row(rates.tpr),
        "tnr": interval_row(rates.tnr),
        "sample_size": found.counts.n,
        "design": found.design,
        "refusals": list(found.refusals),
    }


def _share(row: Mapping[str, Any], name: str) -> str:
    """A share with its denominator, such as `70.0 % passed (280 of 400 scored records)`."""
    share, whole, of = _SHARES[name]
    counted = f"{count(row[name])} of {count(row[whole])} {of}"
    return f"{percent(row[share])} {name} ({counted})"
