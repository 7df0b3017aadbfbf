"""What points of a rubric item mean."""

from __future__ import annotations

import pytest

from steelyard.errors import SettingError
from steelyard.judging.score_ranges import ScoreRange, points_needed, ranges_text, read_ranges
from steelyard.model.json_value import JsonValue

WRITTEN: JsonValue = [
    {"score_range": [7, 10], "outcome": "Right."},
    {"score_range": [0, 2], "expected_outcome": "Wrong."},
    {"score_range": [3, 6], "description": "Has gaps."},
]
READ = (ScoreRange(0, 2, "Wrong."), ScoreRange(3, 6, "Has gaps."), ScoreRange(7, 10, "Right."))


@pytest.mark.parametrize(
    "value",
    [
        WRITTEN,
        {"0": "Wrong.", "3": "Has gaps.", "7": "Right."},
        {"3": {"outcome": "Has gaps."}, "7": "Right.", "0": "Wrong."},
    ],
)
def test_ranges_are_read_however_they_are_written(value: JsonValue) -> None:
    assert read_ranges(value) == READ


def test_one_score_may_be_a_range() -> None:
    ranges = read_ranges({"0": "Wrong.", "10": "Right."})

    assert [str(one) for one in ranges] == ["0 to 9: Wrong.", "10: Right."]
    assert ranges_text(ranges) == "Points from 0 to 10:\n0 to 9: Wrong.\n10: Right."


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "must be a list or an object"),
        ([], "must cover 0 to 10 once: they end at -1"),
        ({"1": "x"}, "must cover 0 to 10 once: 0 is in none"),
        ({"0": "x", "11": "y"}, "'11' is no number of points from 0 to 10"),
        ([{"score_range": [0, 9], "outcome": "x"}], "must cover 0 to 10 once: they end at 9"),
        ([{"score_range": [0, 11], "outcome": "x"}], "must cover 0 to 10 once: they end at 11"),
        (
            [{"score_range": [0, 5], "outcome": "x"}, {"score_range": [7, 10], "outcome": "y"}],
            "must cover 0 to 10 once: 6 is in none",
        ),
        (
            [{"score_range": [0, 5], "outcome": "x"}, {"score_range": [5, 10], "outcome": "y"}],
            "must cover 0 to 10 once: 5 is in two",
        ),
        ({"low": "x"}, "'low' is no number of points"),
        ({"²": "x"}, "'²' is no number of points"),
        ({"0": ""}, "[0] must say what an answer is like"),
        ({"0": {"x": 1}}, "[0] must say what an answer is like"),
        ([{"score_range": [0, 10]}], "[0] must say what an answer is like"),
        ([{"outcome": "x"}], "[0] must have a score_range such as [0, 2]"),
        ([{"score_range": [5, 2], "outcome": "x"}], "[0] must have a score_range such as [0, 2]"),
        ([{"score_range": [0, "2"], "outcome": "x"}], "[0] must have a score_range"),
        (["x"], "[0] must have a score_range"),
    ],
)
def test_ranges_that_leave_a_doubt_are_refused(value: JsonValue, message: str) -> None:
    with pytest.raises(SettingError) as wrong:
        read_ranges(value)

    assert wrong.value.name == "score_ranges"
    assert message in str(wrong.value)


@pytest.mark.parametrize(
    ("written", "share"),
    [(0.5, 0.5), (1, 1), (7, 0.7), (None, None), (True, None), ("0.5", None)],
)
def test_the_least_score_is_a_share_or_points(written: JsonValue, share: float | None) -> None:
    assert points_needed(written) == share
