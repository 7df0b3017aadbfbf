"""Samples whose members' chances are known, so that what is found in them can be weighed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TINY = 1e-12


class Drawn(NamedTuple):
    """A member of a sample: its place in what was drawn from, and the chance it had."""

    place: int
    probability: float


def simple(size: int, count: int, seed: int) -> list[Drawn]:
    """Every set of so many members is as likely as any other; in order."""
    chosen = np.random.default_rng(seed).choice(size, count, replace=False)
    return [Drawn(place, count / size) for place in sorted(chosen.tolist())]


def stratified(
    strata: Sequence[str], count: int, seed: int, *, is_equal: bool = False
) -> list[Drawn]:
    """A simple sample within each stratum; the chance is that of the stratum, n_h / N_h.

    Strata get shares in proportion to their sizes, or equal ones, and at least one member each:
    a stratum without any would have members that could not be drawn.
    """
    members: dict[str, list[int]] = {}
    for place, name in enumerate(strata):
        members.setdefault(name, []).append(place)
    sizes = {name: len(places) for name, places in members.items()}
    shares = allocation(sizes, count, is_equal=is_equal)
    chance = np.random.default_rng(seed)
    drawn: list[Drawn] = []
    for name in sorted(members):
        places, wanted = members[name], shares[name]
        chosen = chance.choice(len(places), wanted, replace=False)
        drawn.extend(Drawn(places[one], wanted / len(places)) for one in chosen.tolist())
    return sorted(drawn)


def allocation(sizes: Mapping[str, int], count: int, *, is_equal: bool = False) -> dict[str, int]:
    """How many members each stratum gives: one, and then whoever is farthest below its share.

    Raises ValueError where there are fewer to give than strata, or more than members.
    """
    total = sum(sizes.values())
    if not len(sizes) <= count <= total:
        raise ValueError(f"{count} cannot be divided among {len(sizes)} strata of {total}")
    names = sorted(sizes)
    room = np.array([sizes[name] for name in names], dtype=np.float64)
    quotas = np.full(len(names), np.inf) if is_equal else room * count / total
    given = np.ones(len(names))
    for _ in range(count - len(names)):
        short = -given if is_equal else quotas - given
        short[given >= room] = -np.inf
        given[int(np.argmax(short))] += 1
    return dict(zip(names, given.astype(int).tolist(), strict=True))


def inclusion_probabilities(sizes: Sequence[float], count: int) -> list[float]:
    """The chance of each member in a sample of so many, in proportion to its size.

    Whoever would have more than certainty is certain, and the others share the rest. Sizes must
    be above 0: what cannot be drawn cannot be spoken for.
    """
    weights = np.asarray(sizes, dtype=np.float64)
    if (weights <= 0).any():
        raise ValueError("every size must be above 0")
    chances = np.zeros(len(weights))
    is_certain = np.zeros(len(weights), dtype=bool)
    while True:
        left = count - int(is_certain.sum())
        rest = weights[~is_certain]
        chances[is_certain] = 1.0
        if len(rest):
            chances[~is_certain] = left * rest / rest.sum()
        over = (chances >= 1 - _TINY) & ~is_certain
        if not over.any():
            return np.minimum(chances, 1.0).tolist()
        is_certain |= over


def systematic(probabilities: Sequence[float], seed: int) -> list[Drawn]:
    """A sample of fixed size in which each member has exactly its own chance (Madow 1949).

    Members are put into random order and laid end to end, each as long as its chance; every
    whole step from a random start hits one. In random order no two neighbours shut each other
    out for ever.
    """
    chances = np.asarray(probabilities, dtype=np.float64)
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(chances))
    ends = np.cumsum(chances[order])
    count = round(float(ends[-1])) if len(ends) else 0
    # Rounding must not leave the last step outside.
    ends = ends * (count / ends[-1]) if count else ends
    marks = chance.random() + np.arange(count)
    hit = np.searchsorted(ends, marks, side="right")
    places: NDArray[np.int64] = np.sort(order[np.minimum(hit, len(order) - 1)])
    return [Drawn(place, float(chances[place])) for place in places.tolist()]
