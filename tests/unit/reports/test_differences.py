"""What differs between two versions, in text and JSON."""

from __future__ import annotations

import pytest

from steelyard.model.difference import Diff, FieldDifference
from steelyard.reports.differences import diff_json, diff_lines
from steelyard.reports.findings import plain


def lines(*differences: FieldDifference) -> list[str]:
    return list(diff_lines(Diff(old="a", new="b", differences=differences), plain))


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (FieldDifference(kind="added", path="owner", new="desk"), ['+ owner: "desk"']),
        (FieldDifference(kind="removed", path="owner", old=["a"]), ['- owner: ["a"]']),
        (FieldDifference(kind="changed", path="n", old=1, new=2), ["~ n: 1 → 2"]),
        (
            FieldDifference(kind="changed", path="n", old="x" * 99, new=0),
            [f'~ n: "{"x" * 58}… → 0'],
        ),
        (
            FieldDifference(
                kind="changed", path="template", old="a\nb\nc\nd\n", new="a\nb\nC\nd\n"
            ),
            ["~ template:", "    @@ -2,3 +2,3 @@", "     b", "    -c", "    +C", "     d"],
        ),
        (
            FieldDifference(kind="changed", path="a\x1b[0m", old="", new="\x1b"),
            ['~ a·[0m: "" → "\\u001b"'],
        ),
    ],
)
def test_a_difference_is_a_line_or_the_lines_of_a_text(
    difference: FieldDifference, told: list[str]
) -> None:
    assert lines(difference)[:-1] == told


@pytest.mark.parametrize(
    ("breaking", "told"),
    [
        ([], "nothing differs"),
        ([False, False], "not breaking: no score depends on what differs"),
        ([True, False], "breaking: 1 of 2 can move scores"),
    ],
)
def test_whether_scores_may_move_is_said_at_the_end(breaking: list[bool], told: str) -> None:
    found = [FieldDifference(kind="added", path="x", new=1, is_breaking=one) for one in breaking]

    assert lines(*found)[-1] == told


def test_text_shows_the_first_and_json_all() -> None:
    many = tuple(FieldDifference(kind="added", path=str(n), new=n) for n in range(105))
    told = lines(*many)
    listed = diff_json(Diff(old="a", new="b", differences=many))["differences"]

    assert told[100] == "… and 5 more; --format json lists all"
    assert isinstance(listed, list)
    assert len(listed) == 105
    assert listed[0] == {
        "kind": "added",
        "path": "0",
        "old": None,
        "new": 0,
        "is_breaking": False,
    }
