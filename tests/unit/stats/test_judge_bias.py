"""Errors of a judge above and below the median of a covariate."""
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false
# scipy has no types.

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact

from steelyard.stats.judge_bias import ErrorsByHalf, MeasuredBias, errors_by_half


def measured(above: tuple[int, int], below: tuple[int, int]) -> list[MeasuredBias]:
    """So many errors of so many responses in each half."""
    made: list[MeasuredBias] = []
    for value, (errors, size) in ((2.0, above), (1.0, below)):
        made.extend(MeasuredBias(value, place < errors, len(made)) for place in range(size))
    return [one._replace(group=place) for place, one in enumerate(made)]


def halves(found: ErrorsByHalf | None) -> tuple[float, float, ErrorsByHalf]:
    assert found
    assert found.difference.low is not None
    assert found.difference.high is not None
    return found.difference.low, found.difference.high, found


def test_the_rates_of_both_halves_are_compared() -> None:
    low, high, found = halves(errors_by_half(measured((20, 40), (8, 40))))

    assert (found.split_at, found.rate_above, found.rate_below) == (1.5, 0.5, 0.2)
    assert found.difference.value == pytest.approx(0.3)
    assert 0.05 < low < 0.15
    assert 0.42 < high < 0.5
    table = [[20, 20], [8, 32]]
    assert found.p_value == pytest.approx(chi2_contingency(table, correction=False).pvalue)


def test_few_errors_are_tested_exactly() -> None:
    _, _, found = halves(errors_by_half(measured((4, 15), (0, 15))))

    assert found.p_value == pytest.approx(fisher_exact([[4, 11], [0, 15]]).pvalue)


def test_no_error_at_all_has_an_interval_around_nothing() -> None:
    low, high, found = halves(errors_by_half(measured((0, 20), (0, 20))))

    assert (found.difference.value, found.p_value) == (0, 1)
    assert low < 0 < high


@pytest.mark.parametrize(
    "some",
    [
        [],
        measured((3, 9), (3, 9)),
        [one._replace(value=1.0) for one in measured((9, 30), (9, 30))],
    ],
)
def test_halves_with_too_few_responses_are_not_compared(some: list[MeasuredBias]) -> None:
    assert errors_by_half(some) is None


def test_responses_of_one_group_count_less() -> None:
    alone = measured((20, 40), (10, 40))
    pairs = [one for one in alone for _ in range(2)]
    together = [one._replace(group=place // 2) for place, one in enumerate(pairs)]
    apart = [one._replace(group=place) for place, one in enumerate(pairs)]
    single, grouped, spread = (halves(errors_by_half(some)) for some in (alone, together, apart))

    assert spread[2].p_value < grouped[2].p_value == pytest.approx(single[2].p_value)
    assert spread[1] - spread[0] < grouped[1] - grouped[0]
    never = [one._replace(is_error=False) for one in together]
    assert halves(errors_by_half(never))[2].p_value == 1


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_a_judge_without_bias_is_rarely_accused_and_covered(rate: float) -> None:
    random = np.random.default_rng(4)
    found = [
        halves(
            errors_by_half(
                measured(
                    (int(random.binomial(25, rate)), 25), (int(random.binomial(25, rate)), 25)
                )
            )
        )
        for _ in range(200)
    ]

    assert sum(low <= 0 <= high for low, high, _ in found) >= 184
    assert sum(one.p_value <= 0.05 for *_, one in found) <= 18
