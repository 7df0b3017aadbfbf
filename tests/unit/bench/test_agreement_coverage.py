"""Intervals of agreement hold the truth in simulated worlds; the bench draws more of them."""

from __future__ import annotations

import pytest
from bench.agreement_coverage import CELLS, SKEWED, Cell, rows

PASSES = ((0.1, 0.9), (0.05, 0.95))


@pytest.mark.parametrize(
    "cell",
    [
        *(Cell("kappa", shares, truth, 50) for shares in PASSES for truth in (0.2, 0.9)),
        *(Cell("alpha_nominal", shares, 0.8, 50, raters=3) for shares in PASSES),
        Cell("kappa", (0.05, 0.95), 0.9, 30),
        Cell("ac1", (0.05, 0.95), 0.92, 30),
        Cell("weighted_kappa", SKEWED, 0.3, 30),
        Cell("alpha_ordinal", SKEWED, 0.9, 30),
        Cell("kappa", (0.1, 0.9), 0.6, 100, turns=5, likeness=0.4),
    ],
    ids=lambda cell: f"{cell.title}, n = {cell.n}",
)
def test_intervals_hold_the_truth(cell: Cell) -> None:
    (found,) = rows(200, [cell])

    # 200 worlds of a method that covers 95 % fall below 90 % once in 500 times
    assert found.coverage >= 0.9
    assert 0 < found.width < 1


def test_the_table_has_what_a_reader_needs() -> None:
    (found,) = rows(20, [Cell("kappa", (0.05, 0.95), 0.9, 30)])

    assert found.cell == "kappa = 0.9, 2 raters, 95 % pass"
    assert found.n == 30
    assert 0.2 < found.without < 0.8


@pytest.mark.parametrize("name", sorted({cell.name for cell in CELLS}))
def test_a_world_without_noise_in_the_sample_has_the_true_coefficient(name: str) -> None:
    cell = next(one for one in CELLS if one.name == name and one.truth > 0.3)
    (found,) = rows(1, [cell._replace(n=40_000)])

    assert found.coverage == 1
    assert found.width < 0.06
