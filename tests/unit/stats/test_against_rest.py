# pyright: basic
"""A part of the records against the rest, where records are dependent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle

from steelyard.stats.tables import AgainstRest, independence


def test_independent_passes_agree_with_the_score_test() -> None:
    values = np.array([1.0] * 60 + [0.0] * 40 + [1.0] * 140 + [0.0] * 60)
    found = AgainstRest(values, None).p_value(np.arange(100))

    assert found == pytest.approx(independence(60, 40, 140, 60), abs=0.01)


def test_a_part_that_is_all_or_nothing_has_no_rest() -> None:
    values = np.array([1.0, 0.0, 1.0])

    assert AgainstRest(values, None).p_value(np.arange(3)) == 1
    assert AgainstRest(values, None).p_value(np.arange(0)) == 1
    assert AgainstRest(np.zeros(0), None).p_value(np.arange(0)) == 1


def test_where_nothing_varies_nothing_differs() -> None:
    assert AgainstRest(np.ones(10), None).p_value(np.arange(4)) == 1
    assert AgainstRest(np.array([1.0, 0.0]), np.array([5, 5])).p_value(np.arange(1)) == 1


def test_clusters_that_balance_out_exactly_prove_nothing() -> None:
    values = np.array([1.0, 0.0, 1.0, 0.0])

    assert AgainstRest(values, np.array([0, 0, 1, 1])).p_value(np.array([0, 1])) == 1


def test_one_cluster_can_never_differ() -> None:
    values = np.array([0.0] * 50 + [1.0] * 500)
    clusters = np.array([0] * 50 + list(range(1, 501)))

    assert AgainstRest(values, clusters).p_value(np.arange(50)) > 0.2
    assert AgainstRest(values, None).p_value(np.arange(50)) < 1e-9


def test_ten_clusters_of_five_can() -> None:
    values = np.array([0.0] * 50 + [1.0] * 500)

    assert AgainstRest(values, np.arange(550) // 5).p_value(np.arange(50)) < 0.01


@pytest.mark.parametrize(("bad", "part", "talks"), [(4, 10, 20), (3, 6, 40), (6, 10, 30)])
def test_few_bad_conversations_prove_no_more_than_by_fishers_exact_test(
    bad: int, part: int, talks: int
) -> None:
    """The bad ones all lie in the slice; every conversation has five turns."""
    values = np.repeat([0.0] * bad + [1.0] * (talks - bad), 5)
    found = AgainstRest(values, np.arange(talks * 5) // 5).p_value(np.arange(part * 5))

    exact = oracle.fisher_exact([[bad, part - bad], [0, talks - part]])[1]
    assert found == pytest.approx(max(found, exact))


def test_four_of_ten_conversations_against_none_of_ten_are_chance() -> None:
    values = np.repeat([0.0] * 4 + [1.0] * 16, 5)

    found = AgainstRest(values, np.arange(100) // 5).p_value(np.arange(50))
    assert found == pytest.approx(oracle.fisher_exact([[4, 6], [0, 10]])[1])


def test_equal_halves_with_few_bad_conversations_are_seldom_called_different() -> None:
    """Ten conversations against ten of the same kind, of which a few fail."""
    chance, called = np.random.default_rng(5), 0
    for _ in range(2_000):
        values = np.repeat((chance.random(20) < 0.8).astype(np.float64), 3)
        called += AgainstRest(values, np.arange(60) // 3).p_value(np.arange(30)) <= 0.05

    assert called / 2_000 <= 0.05


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.97])
@pytest.mark.parametrize(
    "talks", [4, *(pytest.param(talks, marks=pytest.mark.trials) for talks in (8, 20))]
)
def test_equal_slices_are_seldom_called_different(talks: int, rate: float) -> None:
    """Conversations of 5 turns that mostly agree; a slice of some against 40 others."""
    chance = np.random.default_rng(talks)
    clusters = np.arange((talks + 40) * 5) // 5
    called = 0
    for _ in range(600):
        alike = chance.random(len(clusters)) < 0.7
        whole, own = chance.random(talks + 40) < rate, chance.random(len(clusters)) < rate
        values = np.where(alike, whole[clusters], own).astype(np.float64)
        called += AgainstRest(values, clusters).p_value(np.arange(talks * 5)) <= 0.05

    assert called / 600 <= 0.07


def test_a_slice_that_cuts_through_conversations_gains_from_it() -> None:
    """Every conversation has a turn in the slice and one outside: their level cancels out."""
    level = np.repeat([0.0, 1.0] * 20, 2)
    values = level * np.tile([0.8, 1.0], 40)
    clusters = np.arange(80) // 2

    assert AgainstRest(values, clusters).p_value(np.arange(0, 80, 2)) < 1e-3
    assert AgainstRest(values, None).p_value(np.arange(0, 80, 2)) > 0.2


def test_many_clusters_have_an_exact_test_too() -> None:
    """Fisher's exact test of 4 of 200 against 0 of 200; there are more than 2^63 ways."""
    values = np.ones(400)
    values[:4] = 0

    found = AgainstRest(values, np.arange(400)).p_value(np.arange(200))

    assert type(found) is float
    assert found == pytest.approx(independence(4, 196, 0, 200))
