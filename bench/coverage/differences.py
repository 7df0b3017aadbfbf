"""Worlds of two runs over the same records, through what `compare` shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from bench.coverage.cell import Cell, Draw, Ends
from bench.coverage.rates import SIZES, TRIES, TURNS, similar

from steelyard.usecases.results.compare import difference_of

PAIRS = ((0.6, 0.8), (0.95, 0.99), (0.97, 0.995))
EQUAL = (0.5, 0.7, 0.9, 0.97)


def cells() -> Iterator[Cell]:
    """Every cell of paired differences, and of equal systems."""
    for a, b in PAIRS:
        for n in SIZES:
            for together in (0.0, 0.5):
                row = f"{n} records, {together:.0%} decided by the same luck"
                draw = _pairs(a, b, n, together)
                yield Cell("paired difference", row, f"{a:g} and {b:g}", b - a, draw)
        for clusters in (8, 20, 60):
            row = f"{clusters} conversations of {TURNS}, ICC 0.5"
            draw = _talks(a, b, clusters)
            yield Cell("paired difference", row, f"{a:g} and {b:g}", b - a, draw)
    for rate in EQUAL:
        for n in SIZES:
            yield _equal(f"{n} records", rate, _pairs(rate, rate, n, 0.5))
            yield _equal(f"{n} records × {TRIES} repeats", rate, _repeated(rate, n))
        for clusters in (8, 20, 60):
            row = f"{clusters} conversations of {TURNS}, ICC 0.5"
            yield _equal(row, rate, _talks(rate, rate, clusters))


def _equal(row: str, rate: float, draw: Draw) -> Cell:
    return Cell("equal systems", row, f"{rate:g}", 0.0, draw, is_call=True)


def _ends(values: np.ndarray, clusters: np.ndarray | None) -> Ends:
    labels = None if clusters is None else clusters.tolist()
    found = difference_of(values.tolist(), labels)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def _pairs(a: float, b: float, n: int, together: float) -> Draw:
    """Both pass a record by the same luck with this chance."""

    def draw(chance: np.random.Generator) -> Ends:
        first = chance.random(n)
        second = np.where(chance.random(n) < together, first, chance.random(n))
        return _ends((second < b).astype(float) - (first < a), None)

    return draw


def _talks(a: float, b: float, clusters: int) -> Draw:
    labels = np.repeat(np.arange(clusters), TURNS)

    def draw(chance: np.random.Generator) -> Ends:
        sides = [
            chance.random((clusters, TURNS)) < similar(chance, rate, clusters, 0.5)[:, None]
            for rate in (a, b)
        ]
        return _ends(sides[1].ravel().astype(float) - sides[0].ravel(), labels)

    return draw


def _repeated(rate: float, n: int) -> Draw:
    def draw(chance: np.random.Generator) -> Ends:
        rates = similar(chance, rate, n, 0.5)
        sides = [chance.binomial(TRIES, rates) / TRIES for _ in range(2)]
        return _ends(sides[1] - sides[0], None)

    return draw
