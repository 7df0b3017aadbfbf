"""Pairs."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.pairing import paired

FITS = st.lists(st.lists(st.integers(0, 4), max_size=5, unique=True), max_size=5)


@given(FITS)
def test_no_other_choice_makes_more_pairs(fits: list[list[int]]) -> None:
    pairs = paired(fits)
    best = max(
        sum(spot in fits[one] for one, spot in enumerate(order[: len(fits)]))
        for order in permutations(range(5))
    )

    assert all(spot in fits[one] for spot, one in pairs.items())
    assert len(set(pairs.values())) == len(pairs) == best
