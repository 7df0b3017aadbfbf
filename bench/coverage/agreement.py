"""Intervals of agreement coefficients, through the function behind `review agreement`.

In a world, items have a quality, raters see it with an error, and thresholds turn what they see
into answers, so that the true coefficient is an integral.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from bench.coverage.cell import Cell, Ends
from numpy.typing import NDArray

from steelyard.model.statistics.agreement import Estimate
from steelyard.review.coefficients import Rated, estimate_of
from steelyard.stats.agreement import Ratings, alphas_of, weights_of

Floats = NDArray[np.float64]
SKEWED = (0.02, 0.03, 0.05, 0.2, 0.7)
"""Scores from 1 to 5, of which 70 % are 5."""
EVEN = (0.1, 0.2, 0.3, 0.25, 0.15)


class World(NamedTuple):
    """A kind of world."""

    name: str
    """What is estimated."""
    shares: tuple[float, ...]
    """How often each answer is given, by every rater."""
    truth: float
    """The true coefficient."""
    n: int
    raters: int = 2
    turns: int = 1
    """How many items come from one trace."""
    likeness: float = 0.0
    """The correlation between items of a trace, of their quality and of the errors."""

    @property
    def title(self) -> str:
        """The cell in words."""
        share = f"{100 * max(self.shares):g} % {'pass' if len(self.shares) == 2 else 'one score'}"
        trace = f", traces of {self.turns} turns, ICC {self.likeness:g}" if self.turns > 1 else ""
        return f"{self.name} = {self.truth:g}, {self.raters} raters, {share}{trace}"


def worlds() -> Iterator[World]:
    """All worlds of the table."""
    for share, truth, n in product((0.9, 0.95), (0.2, 0.5, 0.8, 0.9), (30, 50, 100, 200)):
        yield World("kappa", (1 - share, share), truth, n)
        yield World("alpha_nominal", (1 - share, share), truth, n, raters=3)
    for share, truth, n in product((0.9, 0.95), (0.5, 0.9), (30, 100)):
        yield World("alpha_nominal", (1 - share, share), truth, n)
    for share, truth, n in product((0.9, 0.95), (0.92, 0.98), (30, 100)):
        yield World("ac1", (1 - share, share), truth, n)
    for shares, truth, n in product((SKEWED, EVEN), (0.3, 0.6, 0.9), (30, 100)):
        yield World("weighted_kappa", shares, truth, n)
        yield World("alpha_ordinal", shares, truth, n)
        yield World("alpha_ordinal", shares, truth, n, raters=3)
    for truth, n in product((0.3, 0.9), (30, 100)):
        yield World("spearman", SKEWED, truth, n)
        yield World("alpha_interval", SKEWED, truth, n)
    for traces, likeness in product((10, 20, 60), (0.0, 0.4)):
        for truth in (0.2, 0.6, 0.9):
            yield World("kappa", (0.1, 0.9), truth, 5 * traces, 2, 5, likeness)
        yield World("alpha_nominal", (0.05, 0.95), 0.6, 5 * traces, 3, 5, likeness)
        yield World("alpha_ordinal", SKEWED, 0.6, 5 * traces, 2, 5, likeness)


def cells() -> Iterator[Cell]:
    """Each world as a cell of the table."""
    for world in worlds():
        yield cell_of(world)


def cell_of(world: World) -> Cell:
    """How its interval is drawn."""
    draw = partial(_ends, world=world, kept={})
    return Cell("agreement", world.title, f"n = {world.n}", world.truth, draw)


def _ends(random: np.random.Generator, world: World, kept: dict[bytes, Ends]) -> Ends:
    """The interval; worlds in which the same was said, in whatever order, need only one."""
    codes = drawn(random, world)
    if world.turns == 1:
        codes = codes[:, np.lexsort(codes)]
    key = codes.tobytes()
    if key not in kept:
        found = estimate(world, codes)
        kept[key] = None
        if found.low is not None and found.high is not None:
            kept[key] = (found.low, found.high)
    return kept[key]


def drawn(random: np.random.Generator, world: World) -> NDArray[np.int64]:
    """What the raters of one world say, a row a rater."""
    clarity, cuts = _clarity(world), _cuts(world.shares)
    traces = world.n // world.turns
    shape = (world.raters + 1, traces, world.turns)
    common = math.sqrt(world.likeness) * random.standard_normal((world.raters + 1, traces, 1))
    own = math.sqrt(1 - world.likeness) * random.standard_normal(shape)
    quality, *errors = (common + own).reshape(world.raters + 1, -1)
    seen = math.sqrt(clarity) * quality + math.sqrt(1 - clarity) * np.array(errors)
    return np.searchsorted(np.array(cuts), seen).astype(np.int64)


def estimate(world: World, codes: NDArray[np.int64]) -> Estimate:
    """The coefficient as it is printed."""
    values = np.arange(1.0, len(world.shares) + 1)
    groups = [place // world.turns for place in range(codes.shape[1])]
    return estimate_of(world.name, Rated(Ratings(codes, values), groups))


@cache
def _cuts(shares: tuple[float, ...]) -> tuple[float, ...]:
    """The thresholds between answers."""
    return tuple(_quantile(math.fsum(shares[: place + 1])) for place in range(len(shares) - 1))


def _quantile(share: float) -> float:
    low, high = -8.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle) < share else (low, middle)
    return low


def _below(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


@cache
def _clarity(world: World) -> float:
    """How much of what raters see is quality, so that the coefficient is the true one."""
    low, high = 0.0, 1 - 1e-9
    for _ in range(40):
        middle = (low + high) / 2
        is_low = _coefficient(world, _joint(world.shares, middle)) < world.truth
        low, high = (middle, high) if is_low else (low, middle)
    return low


def _joint(shares: tuple[float, ...], clarity: float) -> Floats:
    """How often two raters say what: an integral over quality."""
    quality = np.linspace(-6, 6, 481)
    density = np.exp(-(quality**2) / 2)
    reach = [
        (cut - math.sqrt(clarity) * quality) / math.sqrt(1 - clarity) for cut in _cuts(shares)
    ]
    below = np.array([0 * quality, *([_below(z) for z in row] for row in reach), 0 * quality + 1])
    each = np.diff(below, axis=0)
    return (each * density) @ each.T / density.sum()


def _coefficient(world: World, joint: Floats) -> float:
    values = np.arange(1.0, len(joint) + 1)
    shares = joint.sum(axis=0)
    if world.name in {"kappa", "alpha_nominal"}:
        return _cohen(joint, np.eye(len(joint)))
    if world.name == "ac1":
        chance = float((shares * (1 - shares)).sum()) / (len(joint) - 1)
        return (float(np.trace(joint)) - chance) / (1 - chance)
    if world.name == "spearman":
        ranks = np.cumsum(shares) - shares / 2 - 0.5
        return float(ranks @ joint @ ranks / (shares @ ranks**2))
    if world.name == "weighted_kappa":
        return _cohen(joint, weights_of(values, "quadratic"))
    level = "ordinal" if world.name == "alpha_ordinal" else "interval"
    each = np.eye(len(joint))
    counts = (each[:, None, :] + each[None, :, :]).reshape(-1, len(joint))
    return float(alphas_of(counts, 1e9 * joint.reshape(1, -1), values, level)[0])


def _cohen(joint: Floats, weights: Floats) -> float:
    """Cohen's κ of the chances of each pair of answers."""
    agreed = float((weights * joint).sum())
    by_chance = float((weights * np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum())
    return (agreed - by_chance) / (1 - by_chance)
