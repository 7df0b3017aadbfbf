# pyright: basic
"""How many records a comparison needs, against the power of the exact test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle

from steelyard.stats.paired import mcnemar, paired_difference
from steelyard.stats.power import detectable_points, records_for_width, records_to_detect


def power_of(records: int, points: float, discordant: float) -> float:
    """The chance that McNemar's exact test finds the difference, summed over every outcome."""
    found, share = 0.0, (discordant + points / 100) / 2 / discordant
    for moved in range(records + 1):
        chance = float(oracle.binom.pmf(moved, records, discordant))
        if chance > 1e-7:
            gained = next(
                (k for k in range(moved // 2, moved + 1) if mcnemar(k, moved - k) <= 0.05), None
            )
            if gained is not None:
                found += chance * float(oracle.binom.sf(gained - 1, moved, share))
    return found


@pytest.mark.parametrize(
    ("points", "discordant", "records"),
    [(5, 0.1, 351), (10, 0.3, 253), (20, 0.3, 67), (10, 0.5, 410)],
)
def test_so_many_records_reach_80_percent_power(
    points: float, discordant: float, records: int
) -> None:
    assert records_to_detect(points, discordant) == records
    assert 0.8 <= power_of(records, points, discordant) < 0.86


def test_five_points_at_thirty_percent_discordant_take_980_records() -> None:
    assert records_to_detect(5, 0.3) == 980


def test_clusters_multiply_the_records() -> None:
    assert records_to_detect(5, 0.3, design_effect=2.5) == pytest.approx(2.5 * 980, abs=2)
    assert records_to_detect(5, 0.3, design_effect=0.4) == 980


def test_the_discordant_share_is_at_least_the_difference() -> None:
    assert records_to_detect(10, 0.0) == records_to_detect(10, 0.1)


def test_fewer_records_than_can_show_anything_are_never_enough() -> None:
    assert records_to_detect(100, 1.0) == 6
    assert records_to_detect(100, 1.0, repeats=9, between_repeats=0.5) == 6


def test_repeats_shrink_what_is_between_them_and_nothing_else() -> None:
    assert records_to_detect(5, 0.3, repeats=4, between_repeats=0.0) == 980
    assert records_to_detect(5, 0.3, repeats=4, between_repeats=0.3) == pytest.approx(242, abs=10)
    assert records_to_detect(5, 0.3, repeats=4) == records_to_detect(5, 0.3)


@pytest.mark.parametrize(("repeats", "between"), [(1, 0.0), (4, 0.0), (4, 0.02), (8, 0.1)])
def test_so_many_records_with_repeats_reach_80_percent_power(repeats: int, between: float) -> None:
    """Chances of passing drawn per record; B's differ by ten points in the mean."""
    chance, worlds, size = np.random.default_rng(repeats), 300, 4_000
    base = chance.uniform(0.15, 0.85, size)
    moved = np.clip(base + 0.1 + chance.choice([-1, 1], size) * between**0.5, 0, 1)
    moved += base.mean() + 0.1 - moved.mean()
    moved = np.clip(moved, 0, 1)
    points = 100 * float((moved - base).mean())
    single = float((base + moved - 2 * base * moved).mean())
    within = float((base * (1 - base) + moved * (1 - moved)).mean())
    needed = records_to_detect(points, single, repeats=repeats, between_repeats=within)
    shown = 0
    for _ in range(worlds):
        drawn = chance.integers(size, size=needed)
        a, b = (chance.binomial(repeats, side[drawn]) / repeats for side in (base, moved))
        shown += (paired_difference(b - a).p_value or 1.0) <= 0.05

    assert 0.73 < shown / worlds < 0.9


def test_a_larger_difference_takes_fewer_records() -> None:
    needed = [records_to_detect(points, 0.3) for points in (1, 2, 5, 10, 30, 100)]

    assert needed == sorted(needed, reverse=True)


def test_an_interval_half_as_wide_takes_four_times_the_records() -> None:
    """A half-width of 10 points shows a difference of 14.3 points with 80 % power."""
    assert records_for_width(0.1, 100, 14.2939) == 101
    assert records_for_width(0.1, 100, 14.2939 / 2) == pytest.approx(401, abs=1)
    assert records_for_width(0.0, 100, 5) == 2


@pytest.mark.parametrize(("records", "points"), [(980, 5.0), (979, 5.1), (100, 16.2), (5, None)])
def test_what_so_many_records_can_show(records: int, points: float | None) -> None:
    assert detectable_points(records, 0.3) == points
