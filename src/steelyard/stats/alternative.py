"""Whether a judge can stand in for a person: the alternative annotator test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.stats.arrays import np
from steelyard.stats.distributions import student_tail
from steelyard.stats.multiplicity import adjusted

Alignment: TypeAlias = Literal["exact", "distance"]
Label: TypeAlias = float | str
EXPERTS = 0.2
"""What a person's label costs more than a judge's, for experts; 0.15 for skilled people."""
ENOUGH = 30
"""Items that a person must share with another one."""
_LEVEL = 0.05
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Alternative:
    """The result of the test."""

    winning_rate: float
    """ω: the share of people against whom the judge holds its own."""
    advantage: float
    """ρ: how often the judge agrees with the others at least as well as a person does."""
    people: int
    items: int

    @property
    def passed(self) -> bool:
        """Whether the judge may stand in for a person."""
        return self.winning_rate >= _HALF


def alternative_annotator(
    people: Mapping[str, Mapping[str, Label]],
    judge: Mapping[str, Label],
    *,
    margin: float = EXPERTS,
    alignment: Alignment = "exact",
) -> Alternative | None:
    """Calderon, Reichart and Dror (2025): leave out each person, and see who fits in better.

    For each person, the items that somebody else has labelled too: does the judge agree with the
    others as well as this person does? A t-test a person, and Benjamini–Yekutieli over
    people, because the same labels enter all tests. None where fewer than two people share thirty
    items with others: then there is not enough data.
    """
    tested: list[tuple[float, float, int]] = []
    for name, own in people.items():
        others = [labels for other, labels in people.items() if other != name]
        wins = _wins(own, others, judge, alignment)
        if len(wins) >= ENOUGH:
            tested.append((_p_value(wins, margin), _mean([w for w, _ in wins]), len(wins)))
    if len(tested) < 2:
        return None
    held = adjusted([p for p, _, _ in tested], "benjamini-yekutieli")
    return Alternative(
        winning_rate=_mean([p <= _LEVEL for p in held]),
        advantage=_mean([rho for _, rho, _ in tested]),
        people=len(tested),
        items=len({item for labels in people.values() for item in labels}),
    )


def _wins(
    own: Mapping[str, Label],
    others: Sequence[Mapping[str, Label]],
    judge: Mapping[str, Label],
    alignment: Alignment,
) -> list[tuple[bool, bool]]:
    """For each shared item, whether the judge and whether the person fit in at least as well."""
    found: list[tuple[bool, bool]] = []
    for item, label in own.items():
        rest = [labels[item] for labels in others if item in labels]
        if not rest or item not in judge:
            continue
        fits, suits = _fit(judge[item], rest, alignment), _fit(label, rest, alignment)
        found.append((fits >= suits, suits >= fits))
    return found


def _fit(label: Label, others: Sequence[Label], alignment: Alignment) -> float:
    if alignment == "exact":
        return _mean([label == other for other in others])
    distances = [(float(label) - float(other)) ** 2 for other in others]
    return -math.sqrt(_mean(distances))


def _p_value(wins: Sequence[tuple[bool, bool]], margin: float) -> float:
    """The chance of what is seen, if the person fitted in better by the margin or more."""
    gaps = np.array([float(person) - float(judge) for judge, person in wins]) - margin
    deviation = float(gaps.std(ddof=1))
    if deviation == 0:
        return 0.0 if gaps[0] < 0 else 1.0
    t = float(gaps.mean()) / (deviation / math.sqrt(len(gaps)))
    return 1 - student_tail(t, len(gaps) - 1)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
