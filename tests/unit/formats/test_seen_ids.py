"""Which names have been seen, in a few bytes each."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.seen_ids import SeenIds


@given(st.lists(st.one_of(st.text(max_size=4), st.integers(0, 3000).map(str)), max_size=3000))
def test_seen_ids_agree_with_a_set(names: list[str]) -> None:
    seen, known = SeenIds(), set[str]()
    for name in names:
        assert seen.add(name) is (name not in known)
        known.add(name)


def test_seen_ids_need_at_most_16_bytes_an_id() -> None:
    count = 200_000
    seen = SeenIds()
    assert all(seen.add(f"case-{number:06d}") for number in range(count))

    table = seen._table  # pyright: ignore[reportPrivateUsage] - the only thing that grows
    assert sys.getsizeof(table) <= 16 * count
    assert not any(seen.add(f"case-{number:06d}") for number in range(0, count, 97))
