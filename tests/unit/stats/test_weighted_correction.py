"""Rates corrected by labels that were chosen with known, unequal chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.model.validation import Counts
from steelyard.stats.confusion import rates_of
from steelyard.stats.correction import (
    ROGAN_GLADEN_WEIGHTED,
    Labelled,
    NotCorrectableError,
    ppi,
    rogan_gladen,
    rogan_gladen_weighted,
)
from steelyard.stats.intervals import Interval

TPR, TNR = 0.9, 0.8


def ends(found: Interval) -> tuple[float, float, float]:
    """An estimate that there is: its value and its bounds."""
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high


def width(found: Interval) -> float:
    _, low, high = ends(found)
    return high - low


def labelled(cells: dict[str, int], chances: dict[int, float] | None = None) -> Labelled:
    """Labels by cell: so many that people pass and the judge passes, and so on."""
    places = {"tp": (1, 1), "fn": (1, 0), "tn": (0, 0), "fp": (0, 1)}
    rows = [places[name] for name, count in cells.items() for _ in range(count)]
    inclusion = None if chances is None else [chances[said] for _, said in rows]
    return Labelled(
        truth=[good for good, _ in rows], judged=[said for _, said in rows], inclusion=inclusion
    )


@pytest.mark.parametrize("chance", [1.0, 0.5, 0.01])
def test_equal_chances_are_no_weights(chance: float) -> None:
    cells = {"tp": 45, "fn": 5, "tn": 40, "fp": 10}
    plain = rogan_gladen(Counts(**cells), 700, 1_000)
    weighted = rogan_gladen_weighted(labelled(cells, {0: chance, 1: chance}), 700, 1_000)

    assert ends(weighted) == pytest.approx(ends(plain))
    assert (weighted.method, weighted.n) == (ROGAN_GLADEN_WEIGHTED, 100)


def test_a_label_counts_by_the_inverse_of_its_chance() -> None:
    """Passes were labelled with a tenth of the chance: each stands for ten."""
    cells = {"tp": 9, "fn": 10, "tn": 80, "fp": 2}
    found = rogan_gladen_weighted(labelled(cells, {0: 1.0, 1: 0.1}), 600, 1_000)
    tpr, tnr = 90 / 100, 80 / 100

    assert found.value == pytest.approx((0.6 + tnr - 1) / (tpr + tnr - 1))


def test_an_error_that_nobody_labelled_leaves_the_interval_open() -> None:
    cells = {"tp": 40, "fn": 5, "tn": 45, "fp": 0}
    plain = rogan_gladen_weighted(labelled(cells, {0: 1.0, 1: 1.0}), 600, 1_000)
    heavy = rogan_gladen_weighted(labelled(cells, {0: 1.0, 1: 0.05}), 600, 1_000)

    assert width(heavy) > width(plain)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"tp": 10, "fn": 2}, "nothing that fails"),
        ({"tn": 10, "fp": 2}, "nothing that passes"),
        ({"tp": 5, "fn": 5, "tn": 5, "fp": 5}, "not above 1"),
    ],
)
def test_what_cannot_be_corrected_is_refused(cells: dict[str, int], said: str) -> None:
    with pytest.raises(NotCorrectableError, match=said):
        rogan_gladen_weighted(labelled(cells, {0: 0.5, 1: 0.5}), 50, 100)


def drawn(chance: np.random.Generator, rate: float, size: int) -> tuple[Any, Any]:
    """What people would say, and what the judge says."""
    truth = chance.random(size) < rate
    said = np.where(truth, chance.random(size) < TPR, chance.random(size) >= TNR)
    return truth.astype(float), said.astype(float)


@pytest.mark.parametrize("other", [0.85, 0.6])
def test_labels_by_verdict_correct_another_run_as_well(other: float) -> None:
    """500 seeded worlds: the labelled run has a rate of 85 %, the corrected one another."""
    chance = np.random.default_rng(5)
    covered = 0
    values: list[float] = []
    for _ in range(500):
        truth, said = drawn(chance, 0.85, 1_000)
        groups = [np.flatnonzero(said == verdict) for verdict in (1, 0)]
        chosen = np.concatenate([chance.choice(group, 50, replace=False) for group in groups])
        chances = np.where(said[chosen] == 1, 50 / len(groups[0]), 50 / len(groups[1]))
        labels = Labelled(
            truth=truth[chosen].tolist(), judged=said[chosen].tolist(), inclusion=chances.tolist()
        )
        _, judged = drawn(chance, other, 1_000)
        value, low, high = ends(rogan_gladen_weighted(labels, float(judged.sum()), 1_000))
        covered += low <= other <= high
        values.append(value)

    assert covered / 500 >= 0.92
    assert np.mean(values) == pytest.approx(other, abs=0.015)


def test_few_heavy_labels_are_a_small_sample() -> None:
    """The same variance, carried by two labels instead of many, gives a wider interval."""
    heavy = {"tp": 18, "fn": 2, "tn": 18, "fp": 2}
    many = ppi(labelled(heavy, {0: 0.5, 1: 0.4999}), [1.0, 0.0] * 200)
    few = ppi(labelled(heavy, {0: 1.0, 1: 0.05}), [1.0, 0.0] * 200)

    assert width(few) > width(many)


def test_labels_without_any_error_have_no_width_but_that_of_the_records() -> None:
    right = labelled({"tp": 10, "tn": 10}, {0: 0.5, 1: 0.4})
    value, low, high = ends(ppi(right, [1.0, 0.0] * 100))

    assert value == pytest.approx(0.5)
    assert low < 0.5 < high


def test_the_counts_of_a_validation_have_rates() -> None:
    counts = Counts(tp=9, fn=1, tn=4, fp=6)
    found = rates_of(counts)

    assert (found.tpr.value, found.tnr.value, counts.n) == (0.9, 0.4, 20)
    assert (found.tpr.n, found.tnr.n) == (10, 10)
