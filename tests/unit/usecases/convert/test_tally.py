"""The counts of a conversion."""

from __future__ import annotations

from steelyard.model.conversion import Change, Refusal
from steelyard.usecases.convert.tally import Tally

LOST = Change("choices", "no place")
MOVED = Change("tags", "kept in metadata", is_lost=False)


def test_a_change_counts_once_a_case_and_names_the_first_three() -> None:
    tally = Tally()
    for number in range(5):
        tally.emit(f"c{number}", (MOVED, LOST, LOST))
    lost, moved = tally.conversion("s", "a", "b").fields

    assert (lost.field, lost.count, lost.first) == ("choices", 5, ("c0", "c1", "c2"))
    assert (moved.field, moved.count) == ("tags", 5)


def test_a_case_that_is_taken_back_counts_as_not_written() -> None:
    tally = Tally()
    tally.read = 2
    tally.emit("a", (LOST,))
    tally.emit("b", (LOST, MOVED))
    tally.take_back(1, "b", Refusal("left_out", "too long"))
    made = tally.conversion("s", "a", "b")

    assert (made.emitted, made.count("left_out")) == (1, 1)
    assert [(field.field, field.count, field.first) for field in made.fields] == [
        ("choices", 1, ("a",))
    ]


def test_reasons_of_one_kind_are_counted_together_and_invalid_rows_come_first() -> None:
    tally = Tally()
    tally.refuse("a", Refusal("skipped", "again"))
    tally.refuse("b", Refusal("invalid", "id 'b' is taken", "duplicate"))
    tally.refuse("c", Refusal("invalid", "id 'c' is taken", "duplicate"))
    first, second = tally.conversion("s", "a", "b").unwritten

    assert (first.reason, first.count, first.first) == ("id 'b' is taken", 2, ("b", "c"))
    assert (second.outcome, second.count) == ("skipped", 1)


def test_very_many_reasons_and_fields_are_counted_together() -> None:
    tally = Tally()
    for number in range(250):
        tally.refuse("", Refusal("invalid", f"reason {number}"))
        tally.emit(f"c{number}", (Change(f"field {number}", "gone"),))
    tally.take_back(249, "c249", Refusal("invalid", "reason 0"))
    made = tally.conversion("s", "a", "b")

    assert made.count("invalid") == 251
    assert len(made.unwritten) == len(made.fields) == 101
    assert made.unwritten[-1].reason == "for other reasons"
    assert sum(field.count for field in made.fields) == 249
