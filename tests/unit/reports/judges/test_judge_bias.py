"""A judge's bias in words: only what is more than chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.statistics.judge_bias import CovariateBias
from steelyard.reports.judges.judge_bias import bias_json, bias_lines

LONG = CovariateBias(
    covariate="response_length",
    error="false_pass",
    split_at=412.5,
    rate_above=0.4,
    rate_below=0.15,
    estimate=0.25,
    low=0.05,
    high=0.43,
    p_value=0.002,
    adjusted_p=0.004,
    method="m",
    n=80,
)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            LONG,
            (
                "  bias       passes long bad responses more often: 40.0 % of those over 412.5 "
                "characters, 15.0 % of the others (+25.0 points [+5.0, +43.0], "
                "adjusted p = 0.004, n = 80)"
            ),
        ),
        (
            replace(LONG, covariate="metadata.age", error="false_fail", split_at=3.0),
            (
                "  bias       fails good responses with a high metadata.age more often: 40.0 % of "
                "those with metadata.age over 3, 15.0 %"
            ),
        ),
        (replace(LONG, estimate=-0.25, low=-0.43, high=-0.05), "bad responses less often: 40.0 %"),
    ],
)
def test_a_bias_is_said_with_both_rates_and_its_interval(found: CovariateBias, said: str) -> None:
    assert said in "\n".join(bias_lines([found]))


@pytest.mark.parametrize(
    "found",
    [
        replace(LONG, low=-0.01),
        replace(LONG, adjusted_p=0.06),
        replace(LONG, low=None, high=None),
    ],
)
def test_what_may_be_chance_is_in_the_json_alone(found: CovariateBias) -> None:
    (row,) = bias_json([found])

    assert list(bias_lines([found])) == []
    assert (row["is_notable"], row["estimate"], row["n"]) == (False, 0.25, 80)
