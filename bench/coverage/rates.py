"""Worlds of pass rates and mean scores, through the metrics of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.coverage.cell import Cell, Draw, Ends

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.model.statistics.interval import Interval
from steelyard.results.facts import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATES = (0.5, 0.9, 0.97)
SIZES = (20, 50, 200)
ALIKE = (0.0, 0.2, 0.5)
CONVERSATIONS = (8, 20, 60)
TURNS, TRIES = 5, 3
UNEQUAL = {
    "20 conversations of 1 to 20": list(range(1, 21)),
    "3 conversations of 30 and 30 of 1": [30] * 3 + [1] * 30,
    "20 conversations of 1, 10 of 2, 5 of 5, 2 of 20": [1] * 20 + [2] * 10 + [5] * 5 + [20] * 2,
}
"""Conversations of unequal length."""


def cells() -> Iterator[Cell]:
    """Every cell of rates and means."""
    for rate in RATES:
        for n in SIZES:
            yield Cell("pass rate", f"{n} records", f"{rate:g}", rate, _alone(rate, n))
        for clusters in CONVERSATIONS:
            for alike in ALIKE:
                row = f"{clusters} conversations of {TURNS}, ICC {alike:g}"
                draw = _talks(rate, [TURNS] * clusters, alike)
                yield Cell("pass rate", row, f"{rate:g}", rate, draw)
        for name, sizes in UNEQUAL.items():
            row = f"{name}, ICC 0.9"
            yield Cell("pass rate", row, f"{rate:g}", rate, _talks(rate, sizes, 0.9))
        for n in SIZES:
            row = f"{n} records × {TRIES} repeats, ICC 0.5"
            yield Cell("pass rate", row, f"{rate:g}", rate, _repeated(rate, n))
    yield from _means()


def _means() -> Iterator[Cell]:
    for share in RATES:
        for n in SIZES:
            draw = _graded(share, n, n)
            yield Cell("mean score", f"{n} records", f"{share:g}", (1 + share) / 2, draw)
        for clusters in CONVERSATIONS:
            row = f"{clusters} conversations of {TURNS}, ICC 0.5"
            draw = _graded(share, clusters * TURNS, clusters)
            yield Cell("mean score", row, f"{share:g}", (1 + share) / 2, draw)


def shown(scores: NDArray[Any], clusters: NDArray[Any] | None, name: str) -> Ends:
    """What a run shows for records with these scores, a row of repeats each."""
    facts = (
        Facts(
            index=index,
            repeat=repeat,
            status="evaluated",
            attempts=1,
            answered=True,
            score=float(score),
            raw_score=float(score),
            passed=bool(score == 1),
            latency_ms=None,
            input_tokens=None,
            output_tokens=None,
            cluster=None if clusters is None else str(clusters[index]),
        )
        for index, row in enumerate(np.atleast_2d(scores.T).T)
        for repeat, score in enumerate(row)
    )
    found: Interval = getattr(metrics_of(facts)[0], name)
    return None if found.low is None or found.high is None else (found.low, found.high)


def similar(
    chance: np.random.Generator, rate: float, clusters: int, alike: float
) -> NDArray[np.float64]:
    """The rate of each cluster, with this intraclass correlation."""
    if alike == 0:
        return np.full(clusters, rate)
    scale = (1 - alike) / alike
    return chance.beta(rate * scale, (1 - rate) * scale, clusters)


def _alone(rate: float, n: int) -> Draw:
    return lambda chance: shown((chance.random(n) < rate).astype(float), None, "pass_rate")


def _talks(rate: float, sizes: Sequence[int], alike: float) -> Draw:
    labels = np.repeat(np.arange(len(sizes)), sizes)

    def draw(chance: np.random.Generator) -> Ends:
        rates = similar(chance, rate, len(sizes), alike)
        passes = chance.random(len(labels)) < rates[labels]
        return shown(passes.astype(float), labels, "pass_rate")

    return draw


def _repeated(rate: float, n: int) -> Draw:
    def draw(chance: np.random.Generator) -> Ends:
        rates = similar(chance, rate, n, 0.5)
        passes = chance.random((n, TRIES)) < rates[:, None]
        return shown(passes.astype(float), None, "pass_rate")

    return draw


def _graded(share: float, n: int, clusters: int) -> Draw:
    """Full marks for some, anything below for the rest; conversations share their luck."""
    labels = None if clusters == n else np.repeat(np.arange(clusters), n // clusters)

    def draw(chance: np.random.Generator) -> Ends:
        rates = similar(chance, share, clusters, 0.0 if clusters == n else 0.5)
        full = chance.random((clusters, n // clusters)) < rates[:, None]
        return shown(np.where(full.ravel(), 1.0, chance.random(n)), labels, "score")

    return draw
