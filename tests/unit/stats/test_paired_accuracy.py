"""Two judges on the same items: the difference with an interval that covers."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.model.statistics.interval import Interval
from steelyard.stats.paired_accuracy import AccuracyTrial, accuracy_difference


def trials(good: str, bad: str) -> list[AccuracyTrial]:
    """One word a response: whether the first and the second are right, such as 10."""
    found = [(True, word) for word in good.split()] + [(False, word) for word in bad.split()]
    return [
        AccuracyTrial(is_good, word[0] == "1", word[1] == "1", place)
        for place, (is_good, word) in enumerate(found)
    ]


def bounds(found: Interval) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def drawn(
    random: np.random.Generator, size: int, rates: tuple[float, float]
) -> list[AccuracyTrial]:
    """Two judges that are right at these rates, and err together in part."""
    made: list[AccuracyTrial] = []
    for place in range(size):
        shared, own = random.random(), random.random(2)
        luck = [shared if random.random() < 0.5 else one for one in own]
        right = [bool(value < rate) for value, rate in zip(luck, rates, strict=True)]
        made.append(AccuracyTrial(place % 5 > 0, right[0], right[1], place))
    return made


def test_the_value_is_the_difference_of_the_means_of_tpr_and_tnr() -> None:
    found = accuracy_difference(trials("11 11 10 10 00", "11 11 11 01 11"))
    low, high = bounds(found)

    assert found.value == pytest.approx(((4 - 2) / 5 + (4 - 5) / 5) / 2)
    assert low < 0.1 < high
    assert found.n == 10


def test_the_same_verdicts_have_an_interval_around_nothing() -> None:
    low, high = bounds(accuracy_difference(trials("11 " * 20, "00 " * 20)))

    assert -0.2 < low < 0 < high < 0.2


def test_without_bad_answers_nothing_is_known() -> None:
    found = accuracy_difference(trials("11 10 " * 20, ""))

    assert (found.value, found.low, found.n) == (None, None, 40)
    assert accuracy_difference([]).value is None


def test_the_best_of_several_has_a_wider_interval() -> None:
    made = trials("11 10 01 11 10 " * 6, "11 10 01 00 " * 6)
    alone, picked = bounds(accuracy_difference(made)), bounds(accuracy_difference(made, 5))

    assert picked[0] < alone[0] < alone[1] < picked[1]


@pytest.mark.parametrize("rates", [(0.8, 0.8), (0.95, 0.85), (0.97, 0.97)])
@pytest.mark.parametrize("size", [30, pytest.param(100, marks=pytest.mark.trials)])
def test_intervals_hold_the_true_difference(rates: tuple[float, float], size: int) -> None:
    random = np.random.default_rng(3)
    found = [bounds(accuracy_difference(drawn(random, size, rates))) for _ in range(200)]
    held = sum(low <= rates[0] - rates[1] <= high for low, high in found)

    assert held >= 184
