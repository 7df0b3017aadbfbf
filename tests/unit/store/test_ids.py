"""Run ids: a ULID each."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from steelyard.store.ids import new_run_id

TIMES = st.integers(0, 2**48 - 1)


@given(milliseconds=TIMES)
def test_an_id_is_run_and_twenty_six_letters_of_crockfords_alphabet(milliseconds: int) -> None:
    assert re.fullmatch(r"run_[0-7][0-9A-HJKMNP-TV-Z]{25}", new_run_id(milliseconds))


@given(earlier=TIMES, later=TIMES)
def test_ids_sort_by_time(earlier: int, later: int) -> None:
    if earlier > later:
        earlier, later = later, earlier
    if earlier < later:
        assert new_run_id(earlier) < new_run_id(later)


def test_the_time_stands_as_the_standard_writes_it() -> None:
    assert new_run_id(1469918176385).startswith("run_01ARYZ6S41")


def test_ids_of_one_moment_differ() -> None:
    assert len({new_run_id(1) for _ in range(1000)}) == 1000
