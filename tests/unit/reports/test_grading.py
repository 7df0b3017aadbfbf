"""Who grades what, in lines."""

from __future__ import annotations

import pytest

from steelyard.reports.grading import WhoGrades, grading_lines


@pytest.mark.parametrize(
    ("who", "lines"),
    [
        (
            WhoGrades(rubrics={"rubric/a@1.0.0": (3, 1200), "rubric/b@1.0.0": (1, 1)}, brought={}),
            [
                "graded by rubric/a@1.0.0 (3 checks): 1,200 records",
                "graded by rubric/b@1.0.0 (1 check): 1 record",
            ],
        ),
        (
            WhoGrades(rubrics={}, brought={"equals": 4, "llm_judge": 8}, bringing=12, skipped=2),
            [
                "graded by their own expectations: 12 records (equals 4, llm_judge 8)",
                "graded by nothing: 2 records",
            ],
        ),
        (
            WhoGrades(rubrics={}, brought={}, judges=[("judge/a@1.0.0", "live")]),
            ["asking judge/a@1.0.0 by target live"],
        ),
    ],
)
def test_every_way_of_grading_has_its_line(who: WhoGrades, lines: list[str]) -> None:
    assert list(grading_lines(who)) == lines


@pytest.mark.parametrize(
    ("count", "last"),
    [
        (10, "asking judge/9@1.0.0 by target live"),
        (11, "asking 1 more judge"),
        (13, "asking 3 more judges"),
    ],
)
def test_of_many_judges_the_first_are_named(count: int, last: str) -> None:
    judges = [(f"judge/{number}@1.0.0", "live") for number in range(count)]
    *_, told = grading_lines(WhoGrades(rubrics={}, brought={}, judges=judges))

    assert told == last
