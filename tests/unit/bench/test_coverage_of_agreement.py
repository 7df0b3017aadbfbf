"""Intervals of agreement hold the truth in simulated worlds; the bench draws more of them."""

from __future__ import annotations

import pytest
from bench.coverage.agreement import SKEWED, World, cell_of, cells, worlds
from bench.coverage.cell import count

pytestmark = pytest.mark.no_cover

PASSES = ((0.1, 0.9), (0.05, 0.95))


@pytest.mark.parametrize(
    "world",
    [
        *(
            pytest.param(world, marks=pytest.mark.trials)
            for shares in PASSES
            for world in (
                World("kappa", shares, 0.2, 50),
                World("kappa", shares, 0.9, 50),
                World("alpha_nominal", shares, 0.8, 50, raters=3),
            )
        ),
        World("kappa", (0.05, 0.95), 0.9, 30),
        World("ac1", (0.05, 0.95), 0.92, 30),
        World("weighted_kappa", SKEWED, 0.3, 100),
        World("alpha_ordinal", SKEWED, 0.9, 30),
        World("kappa", (0.1, 0.9), 0.6, 100, turns=5, likeness=0.4),
    ],
    ids=lambda world: f"{world.title}, n = {world.n}",
)
def test_intervals_hold_the_truth(world: World) -> None:
    found = count(cell_of(world), 200)

    # 200 worlds of a method that covers 95 % fall below 90 % once in 500 times
    assert found.covered >= 0.9
    assert 0 < found.width < 1


def test_where_a_sample_is_too_small_no_interval_is_printed() -> None:
    found = count(cell_of(World("weighted_kappa", SKEWED, 0.3, 30)), 20)

    assert found.silent == 1


def test_the_table_has_what_a_reader_needs() -> None:
    found = count(cell_of(World("kappa", (0.05, 0.95), 0.9, 30)), 20)

    assert (found.table, found.row) == ("agreement", "kappa = 0.9, 2 raters, 95 % pass")
    assert found.column == "n = 30"
    assert 0.2 < found.silent < 0.8
    assert len(list(cells())) == len(set(worlds()))


@pytest.mark.parametrize("name", sorted({world.name for world in worlds()}))
def test_a_large_sample_has_the_true_coefficient(name: str) -> None:
    world = next(one for one in worlds() if one.name == name and one.truth > 0.3)
    found = count(cell_of(world._replace(n=40_000)), 1)

    assert found.covered == 1
    assert found.width < 0.06
