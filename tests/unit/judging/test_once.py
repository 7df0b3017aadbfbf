"""What follows from shared values is made once, and never taken for that of other values."""

from __future__ import annotations

from steelyard.judging.once import Once


def test_the_same_values_are_asked_once() -> None:
    made: list[tuple[object, ...]] = []

    def make(first: list[int], second: str) -> list[int]:
        made.append((first, second))
        return [*first, len(second)]

    once, shared, name = Once(make), [1, 2], "name"

    assert once(shared, name) is once(shared, name)
    assert once(shared, name) == [1, 2, 4]
    assert len(made) == 1


def test_equal_values_that_differ_are_not_taken_for_each_other() -> None:
    once: Once[[float], str] = Once(str)

    assert [once(value) for value in (1, 1.0, True)] == ["1", "1.0", "True"]


def test_a_value_that_is_gone_is_not_taken_for_the_next_at_its_place() -> None:
    def total(numbers: list[int]) -> int:
        return sum(numbers)

    once = Once(total)

    assert [once([number]) for number in range(1000)] == [*range(1000)]
