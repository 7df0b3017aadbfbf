from __future__ import annotations

import pytest

from steelyard.formats.lines import Lines, Located
from steelyard.model.json_value import Path


def tree() -> Lines:
    return Lines(1, {"records": Lines(2, {0: Lines(3), 1: Lines(4, {"input": Lines(5)})})})


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("records",), 2),
        (("records", 0), 3),
        (("records", 1, "input"), 5),
    ],
)
def test_every_part_has_its_line(path: Path, line: int) -> None:
    assert tree().at(path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("missing",), 1),
        (("records", 7), 2),
        (("records", 0, "input", "prompt"), 3),
        (("records", "0"), 2),
    ],
)
def test_a_part_that_is_missing_has_the_line_of_the_nearest_that_exists(
    path: Path, line: int
) -> None:
    assert tree().at(path) == line


def test_a_moved_part_keeps_what_lies_in_it() -> None:
    moved = tree().moved_to(9)

    assert (moved.at(()), moved.at(("records", 0))) == (9, 3)


def test_moving_leaves_the_original_in_its_place() -> None:
    original = tree()

    original.moved_to(9)

    assert original.line == 1


def test_a_leaf_has_its_own_children() -> None:
    Lines(1).children["a"] = Lines(2)

    assert Lines(1).children == {}


def test_a_located_value_is_equal_only_with_its_lines() -> None:
    lines = Lines(1)

    assert Located(1, lines) == Located(1, lines)
    assert Located(1, lines) != Located(2, lines)
