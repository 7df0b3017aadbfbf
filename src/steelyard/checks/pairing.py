"""Pairs: as many things as possible, each with a partner of its own."""

from __future__ import annotations

from collections.abc import Sequence


def paired(fits: Sequence[Sequence[int]]) -> dict[int, int]:
    """Which of the things has which partner at best; `fits` lists the partners that each may have.

    The keys are partners and the values the positions of the things.
    """
    holder: dict[int, int] = {}

    def settle(one: int, tried: set[int]) -> bool:
        for spot in fits[one]:
            if spot not in tried:
                tried.add(spot)
                if spot not in holder or settle(holder[spot], tried):
                    holder[spot] = one
                    return True
        return False

    for one in range(len(fits)):
        settle(one, set())
    return holder
