"""Means that are what they would be in decimals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from sys import float_info

import pytest

from steelyard.model.scores import finite_sum, meant, weighted_mean

WEIGHTS = ("0.1", "0.2", "0.25", "0.3", "0.7", "1", "3")
SCORES = ("0", "0.25", "0.6", "0.7", "0.8", "0.9", "1")
THRESHOLDS = ("0.5", "0.6", "0.7", "0.8", "0.9")


def _exact() -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Fraction]]:
    for size in (1, 2):
        every = product(WEIGHTS, repeat=size), product(SCORES, repeat=size)
        for weights, scores in product(*every):
            total = sum(map(Fraction, weights), Fraction())
            points = sum(Fraction(w) * Fraction(s) for w, s in zip(weights, scores, strict=True))
            yield weights, scores, points / total


def test_a_mean_lies_on_the_side_of_a_threshold_on_which_it_lies_in_decimals() -> None:
    wrong = [
        (weights, scores, threshold)
        for weights, scores, mean in _exact()
        for threshold in THRESHOLDS
        if (weighted_mean([*map(float, scores)], [*map(float, weights)]) >= float(threshold))
        is not (mean >= Fraction(threshold))
    ]
    assert wrong == []


@pytest.mark.parametrize("size", [1e308, 1.0, 5e-324])
def test_a_mean_is_finite_and_exact_for_weights_of_any_size(size: float) -> None:
    assert weighted_mean([0.7, 0.7, 1.0], [size, size, 0.0]) == 0.7


@pytest.mark.parametrize(
    ("numbers", "total"),
    [([1.0, 2.0], 3.0), ([1e308] * 2, float_info.max), ([-1e308] * 2, -float_info.max)],
)
def test_a_sum_is_finite(numbers: list[float], total: float) -> None:
    assert finite_sum(numbers) == total


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.6999999999999998, 0.7),
        (0.7000000000000001, 0.7),
        (0.7, 0.7),
        (2 / 3, 2 / 3),
        (0.699999999, 0.699999999),
        (0.6999999999, 0.6999999999),
        (0.0, 0.0),
        (1.0000000000000002, 1.0),
        (-0.30000000000000004, -0.3),
    ],
)
def test_only_what_binary_fractions_are_off_by_is_taken_away(
    number: float, expected: float
) -> None:
    assert meant(number) == expected
