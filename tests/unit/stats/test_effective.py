"""The number of independent items that weighted and clustered ones are worth."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.effective import (
    WeightShare,
    cluster_effect,
    clustered_share,
    kish,
)


def test_equal_weights_are_worth_what_they_are() -> None:
    assert kish(np.full(8, 3.0)) == pytest.approx(8)
    assert kish(np.array([1.0, 1.0, 4.0])) == pytest.approx(36 / 18)
    assert kish(np.array([])) == 0


def test_items_of_their_own_lose_nothing() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0])

    assert clustered_share(values, [0, 1, 2, 3]) == WeightShare(0.75, 4)
    assert clustered_share(np.array([]), []) == WeightShare(0.0, 0.0)


@pytest.mark.parametrize("values", [[1.0] * 12, [1.0] * 6 + [0.0] * 6])
def test_few_clusters_count_as_one_item_each(values: list[float]) -> None:
    """Three conversations of four, alike or without any spread: nobody can tell what they add."""
    share = clustered_share(np.array(values), [place // 4 for place in range(12)])

    assert share.n <= 3


def test_a_single_cluster_is_one_item() -> None:
    assert clustered_share(np.array([1.0, 0.0, 1.0, 0.0]), [7] * 4).n == 1


def test_many_clusters_that_are_all_alike_count_as_one_item_each() -> None:
    values = np.repeat([1.0, 0.0], 250)
    share = clustered_share(values, np.repeat(np.arange(100), 5))

    assert share.n == pytest.approx(100, rel=0.05)


def test_a_covariance_with_other_errors_adds_to_the_effect() -> None:
    random = np.random.default_rng(1)
    values = random.random(400) - 0.5
    clusters = np.arange(400) // 4
    plain, more = (cluster_effect(values, clusters, values > 0, shared) for shared in (0.0, 40.0))

    assert more > plain >= 1
