"""A value with more problems than anybody reads."""

from __future__ import annotations

from steelyard.formats.schema import MAX_PROBLEMS, Schema
from steelyard.model.json_value import JsonValue


def test_the_first_problems_are_listed_and_that_there_are_more() -> None:
    schema = Schema({"type": "array", "items": {"type": "string"}})

    numbers: list[JsonValue] = [0] * 5000
    found = schema.problems(numbers)

    assert len(found) == MAX_PROBLEMS + 1
    assert "more than 1,000 problems" in found[-1].message
