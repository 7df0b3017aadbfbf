"""Records that say the same under other ids."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from steelyard.contracts.duplicates import Duplicates
from steelyard.contracts.reading import Row


def found(*values: Any, first_line: int | None = 1) -> list[tuple[int | None, str]]:
    duplicates = Duplicates()
    for index, value in enumerate(values):
        line = None if first_line is None else first_line + index
        duplicates.add(Row(index, line, None, value, ()))
    return [(finding.index, finding.message) for finding in duplicates.findings()]


def test_the_same_content_under_another_id_is_found_with_the_first_one() -> None:
    a, b = ({"id": name, "input": "Why?", "tags": ["x"]} for name in "ab")

    assert found(a, {"id": "c", "input": "How?", "tags": ["x"]}, b) == [
        (2, "the same content as the record of line 1, under another id")
    ]


def test_without_lines_the_first_one_is_named_by_its_place() -> None:
    assert found({"q": 0}, {"q": 1}, {"q": 1}, first_line=None) == [
        (2, "the same content as the record of item 2, under another id")
    ]


def test_the_order_of_keys_and_the_conversation_say_nothing() -> None:
    first = {"record_id": "a", "conversation_id": "x", "input": {"a": 1, "b": 2}}
    second = {"input": {"b": 2, "a": 1}, "record_id": "b", "conversation_id": "y"}

    assert len(found(first, second)) == 1


def test_other_content_is_no_duplicate() -> None:
    assert found({"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c"}, "text", "text") == []


def test_every_repetition_is_found_in_the_order_of_the_file() -> None:
    values: list[Any] = [{"id": str(at), "n": at % 500} for at in range(1000)]

    assert [index for index, _ in found(*values)] == list(range(500, 1000))


def test_half_a_surrogate_pair_is_compared_too() -> None:
    assert len(found({"id": "a", "t": "\ud800"}, {"id": "b", "t": "\ud800"})) == 1
    assert found({"id": "a", "t": "\ud800"}, {"id": "b", "t": "\ud801"}) == []


@pytest.mark.trials
def test_a_record_takes_16_bytes() -> None:
    rows = [Row(index, index, None, {"n": index}, ()) for index in range(100_000)]
    tracemalloc.start()
    duplicates = Duplicates()
    before, _ = tracemalloc.get_traced_memory()
    for row in rows:
        duplicates.add(row)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # arrays grow by an eighth at a time
    assert (after - before) / len(rows) < 16 * 1.25
