"""Many numbers in few bytes, by record."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.metrics.columns import Column, LabelColumn, Places

NUMBERS = st.lists(st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(-10, 10)), max_size=20)


def column(*numbers: float) -> Column:
    made = Column()
    for number in numbers:
        made.append(number)
    return made


def places(*records: int) -> Places:
    made = Places()
    made.extend(np.array(records, dtype=np.int64))
    return made


@given(NUMBERS, NUMBERS)
def test_what_went_in_comes_out_one_by_one_or_many_at_once(
    first: list[float], second: list[float]
) -> None:
    made = column(*first)
    made.extend(np.array(second, dtype=np.float64))

    assert made.numbers().tolist() == [*first, *second]
    assert len(made) == len(first) + len(second)


@pytest.mark.parametrize(("different", "is_counted"), [(1, True), (256, True), (257, False)])
def test_few_different_numbers_are_counted(different: int, is_counted: bool) -> None:
    numbers = [*map(float, range(different)), 0.0]
    one_by_one, at_once = column(*numbers), Column()
    at_once.extend(np.array(numbers))

    for made in (one_by_one, at_once):
        made.extend(np.array([0.0]))
        made.append(0.0)
        assert made.numbers().tolist() == [*numbers, 0.0, 0.0]
        assert made.numbers(np.array([0, len(numbers) - 2])).tolist() == [0.0, different - 1.0]
        counts = made.counts()
        assert (counts is not None) is is_counted
        assert not counts or counts[0.0] == 4


def test_some_numbers_are_counted_alone() -> None:
    made = column(0.0, 1.0, 1.0, 0.5)

    assert made.counts(np.array([1, 2])) == {1.0: 2}
    assert column(1.0, 1.0).counts(np.array([0])) == {1.0: 1}
    assert Column().counts() == {}


@pytest.mark.parametrize(
    ("records", "wanted", "entries"),
    [
        ((0, 1, 2), (1, 2), [1, 2]),
        ((0, 1, 2), (2, 3, 7), [2]),
        ((0, 2, 5), (2, 3, 5), [1, 2]),
        ((1, 1, 1, 4, 4), (1, 4), [0, 1, 2, 3, 4]),
        ((1, 1, 1, 4, 4), (0, 4), [3, 4]),
        ((0, 2), (), []),
    ],
)
def test_the_entries_of_records(
    records: tuple[int, ...], wanted: tuple[int, ...], entries: list[int]
) -> None:
    made = places(*records)
    found = made.entries(np.array(wanted, dtype=np.int32))

    assert made.records().tolist() == list(records)
    assert found is not None
    assert found.tolist() == entries
    assert made.entries(None) is None


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_entries_are_found_whatever_records_have_one(listed: set[int], wanted: set[int]) -> None:
    made = places(*sorted(listed))
    found = made.entries(np.array(sorted(wanted), dtype=np.int32))

    assert found is not None
    assert made.records()[found].tolist() == sorted(listed & wanted)


@given(st.lists(st.lists(st.sampled_from((None, "a", "b")), max_size=4), max_size=4))
def test_records_of_one_name_have_one_label(batches: list[list[str | None]]) -> None:
    labels = LabelColumn()
    for batch in batches:
        labels.extend(batch)
    names = [name for batch in batches for name in batch]
    found = labels.of_records(np.arange(len(names)))
    own = [name or place for place, name in enumerate(names)]

    if len(set(own)) == len(own):
        assert found is None
    else:
        assert found is not None
        same = [first == second for first, second in pairwise(own)]
        assert [first == second for first, second in pairwise(found.tolist())] == same
        assert set(found.tolist()) == set(range(len(set(own))))


def test_labels_of_some_records_are_numbered_anew() -> None:
    labels = LabelColumn()
    labels.extend(["a", "b", None, "b", None, "c", "b"])
    b, c, own = 0, 1, 0

    assert labels.of_records(np.array([0, 1, 2, 4, 5])) is None
    assert labels.of_records(np.array([1, 3, 5])).tolist() == [b, b, c]  # type: ignore[union-attr]
    assert labels.of(places(1, 2, 6), np.array([0, 1, 2])).tolist() == [  # type: ignore[union-attr]
        b + 1,
        own,
        b + 1,
    ]
