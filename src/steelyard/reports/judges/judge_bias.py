"""The bias of a judge by length and other covariates, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.judge_bias import RESPONSE_LENGTH, CovariateBias
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, p_text, percent


def bias_lines(found: Sequence[CovariateBias]) -> Iterator[str]:
    """A line per significant bias."""
    for one in found:
        if one.is_notable:
            yield f"  bias       {_bias(one)}"


def bias_json(found: Sequence[CovariateBias]) -> list[JsonObject]:
    """All comparisons, notable or not."""
    return [{**cast(JsonObject, asdict(one)), "is_notable": one.is_notable} for one in found]


def _bias(found: CovariateBias) -> str:
    verb, kind = ("passes", "bad") if found.error == "false_pass" else ("fails", "good")
    if found.covariate == RESPONSE_LENGTH:
        above, what = f"long {kind} responses", f"over {found.split_at:g} characters"
    else:
        name = printable(found.covariate)
        above, what = (
            f"{kind} responses with a high {name}",
            f"with {name} over {found.split_at:g}",
        )
    more = "more" if found.estimate > 0 else "less"
    interval = f"[{100 * (found.low or 0):+.1f}, {100 * (found.high or 0):+.1f}]"
    return (
        f"{verb} {above} {more} often: {percent(found.rate_above)} of those {what}, "
        f"{percent(found.rate_below)} of the others "
        f"({100 * found.estimate:+.1f} points {interval}, adjusted {p_text(found.adjusted_p)}, "
        f"n = {count(found.n)})"
    )
