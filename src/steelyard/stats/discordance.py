"""How often two runs disagree on a record, and how much of that is between repeats of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steelyard.stats.arrays import np
from steelyard.stats.clustered import design_effect
from steelyard.stats.power import mean_square
from steelyard.stats.rates import FEWEST_HOLDERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

ASSUMED_DISCORDANT = 0.3
"""How often single tries of two runs disagree, where no runs show it."""
_PRIOR_PAIRS = 10
"""Few pairs do not show how many differ: they are joined by ten of which three do."""


class PairedTries(NamedTuple):
    """The records of two runs: how many tries of each have a score and how many passed."""

    passes_a: NDArray[np.float64]
    scored_a: NDArray[np.float64]
    passes_b: NDArray[np.float64]
    scored_b: NDArray[np.float64]


class Discordance(NamedTuple):
    """How often a single try of one run and one of another disagree on a record."""

    assumed: float = ASSUMED_DISCORDANT
    """What numbers of records rest on: the observed share, drawn towards 30 %."""
    observed: float | None = None
    pairs: int = 0
    """As many records show it."""
    between_repeats: float | None = None
    """The part of `assumed` that is between repeats of one record; None where no run shows it."""
    shared: float = 0.0
    """What dependent records add to the mean squared difference of a record."""

    def design_effect(self, repeats: int) -> float:
        """By how much dependent records multiply what is needed."""
        return 1 + self.shared / mean_square(self.assumed, self.between_repeats, repeats)


def discordance(tries: PairedTries, clusters: NDArray[np.int64] | None) -> Discordance:
    """What two runs show.

    Tries of two runs are independent given the record, so that the shares of passes give the
    chance of a disagreement without bias, whatever the number of tries. The variance of single
    tries of one record is known where both runs tried it twice or more; the rest of the
    disagreement is between records, and stays however often each is asked.
    """
    a, b = tries.passes_a / tries.scored_a, tries.passes_b / tries.scored_b
    pairs = len(a)
    observed = float((a + b - 2 * a * b).mean())
    assumed = (pairs * observed + _PRIOR_PAIRS * ASSUMED_DISCORDANT) / (pairs + _PRIOR_PAIRS)
    scale = assumed / observed if observed else 1.0
    # Runs that never disagree show no square: it is as large as the assumed disagreement.
    square = scale * float(((b - a) ** 2).mean()) if observed else assumed
    within = _between_repeats(tries, a, b)
    return Discordance(
        assumed=assumed,
        observed=observed,
        pairs=pairs,
        between_repeats=None if within is None else min(within, observed) * scale,
        shared=0.0 if clusters is None else (_effect(b - a, clusters) - 1) * square,
    )


def _effect(differences: NDArray[np.float64], clusters: NDArray[np.int64]) -> float:
    """Where few clusters hold a difference, how alike they are cannot be seen: all of one is."""
    effect = design_effect(differences, clusters)
    if len(np.unique(clusters[differences != 0])) < FEWEST_HOLDERS:
        effect = max(effect, len(clusters) / len(np.unique(clusters)))
    return effect


def _between_repeats(
    tries: PairedTries, a: NDArray[np.float64], b: NDArray[np.float64]
) -> float | None:
    is_known = (tries.scored_a > 1) & (tries.scored_b > 1)
    if not is_known.any():
        return None
    sides = ((a[is_known], tries.scored_a[is_known]), (b[is_known], tries.scored_b[is_known]))
    return sum(float((share * (1 - share) * n / (n - 1)).mean()) for share, n in sides)
