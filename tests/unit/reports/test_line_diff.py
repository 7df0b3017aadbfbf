"""Two texts, line by line."""

from __future__ import annotations

from steelyard.reports.line_diff import MOST_LINES, DiffLine, line_diff


def test_changed_lines_stand_between_those_around_them() -> None:
    old, new = "a\nb\nc", "a\nB\nc\nd"

    assert line_diff(old, new) == [
        DiffLine("same", "a", 1, 1),
        DiffLine("old", "b", 2),
        DiffLine("new", "B", None, 2),
        DiffLine("same", "c", 3, 3),
        DiffLine("new", "d", None, 4),
    ]


def test_what_is_far_from_a_change_is_left_out() -> None:
    old = "\n".join(map(str, range(20)))

    found = line_diff(old, old.replace("10", "ten"))

    assert [one.text for one in found] == ["", "7", "8", "9", "10", "ten", "11", "12", "13"]
    assert found[0].kind == "gap"


def test_equal_texts_have_no_lines_and_long_ones_an_end() -> None:
    assert line_diff("a", "a") == []
    assert line_diff("\n" * MOST_LINES + "a", "\n" * MOST_LINES + "b") == []
