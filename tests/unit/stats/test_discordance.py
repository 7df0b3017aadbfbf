"""How often two runs disagree, and how much of that is between repeats."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.discordance import Discordance, PairedTries, discordance


def tries(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> PairedTries:
    """Passes and scored tries of every record."""
    return PairedTries(*np.array([(*one, *other) for one, other in zip(a, b, strict=True)]).T)


def test_single_tries_show_how_many_records_differ_and_not_what_repeats_would_do() -> None:
    found = discordance(tries([(1, 1)] * 40, [(1, 1)] * 30 + [(0, 1)] * 10), None)

    assert (found.observed, found.pairs, found.between_repeats) == (0.25, 40, None)
    assert found.assumed == pytest.approx((10 + 3) / 50)
    assert found.design_effect(1) == found.design_effect(5) == 1


@pytest.mark.parametrize("k", [2, 4])
def test_the_parts_are_those_of_the_world(k: int) -> None:
    """Records pass with chances from 0 to 1; in half of them B never passes."""
    chance, size = np.random.default_rng(k), 20_000
    a = chance.uniform(0, 1, size)
    b = np.where(chance.random(size) < 0.5, a, 0.0)
    n = np.full(size, float(k))
    passes = [chance.binomial(k, side).astype(float) for side in (a, b)]
    seen = discordance(PairedTries(passes[0], n, passes[1], n), None)

    single = float((a + b - 2 * a * b).mean())
    within = float((a * (1 - a) + b * (1 - b)).mean())
    assert seen.observed == pytest.approx(single, abs=0.01)
    assert seen.between_repeats == pytest.approx(within, abs=0.01)


def test_records_that_agree_within_each_run_differ_between_records_alone() -> None:
    found = discordance(tries([(3, 3)] * 20, [(0, 3)] * 10 + [(3, 3)] * 10), None)

    assert (found.observed, found.between_repeats) == (0.5, 0.0)


def test_runs_that_never_differ_leave_what_is_assumed() -> None:
    found = discordance(tries([(3, 3)] * 20, [(3, 3)] * 20), None)

    assert (found.observed, found.assumed) == (0.0, pytest.approx(0.1))
    assert found.between_repeats == 0.0


def test_clusters_that_move_together_count_once_and_repeats_do_not_change_that() -> None:
    a, b = [(4, 4)] * 100, [(4, 4)] * 50 + [(0, 4)] * 50
    clusters = np.arange(100) // 5
    found = discordance(tries(a, b), clusters)

    assert found.design_effect(4) == pytest.approx(5, rel=0.01)
    assert found.design_effect(1) == found.design_effect(4)


def test_few_clusters_that_differ_count_as_one_record_each() -> None:
    a, b = [(1, 1)] * 40, [(1, 1)] * 36 + [(0, 1), (1, 1)] * 2
    found = discordance(tries(a, b), np.arange(40) // 4)

    assert found.design_effect(1) > 2


def test_clusters_of_runs_that_never_differ_count_as_one_record_each() -> None:
    same = [(1, 1)] * 60 + [(0, 1)] * 40
    found = discordance(tries(same, same), np.arange(100) // 10)

    assert found.observed == 0.0
    assert found.design_effect(1) == found.design_effect(5) == pytest.approx(10)


def test_what_dependent_records_add_stays_while_repeats_shrink_the_rest() -> None:
    found = Discordance(assumed=0.3, between_repeats=0.2, shared=0.1)

    assert found.design_effect(1) == pytest.approx(4 / 3)
    assert found.design_effect(2) == pytest.approx(1.5)
