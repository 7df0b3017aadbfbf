"""Who grades what, in lines."""

from __future__ import annotations

import pytest

from steelyard.reports.run.grading import grading_lines
from steelyard.results.grading_summary import GradingSummary, JudgeUse, OwnChecks, RubricUse


@pytest.mark.parametrize(
    ("graders", "lines"),
    [
        (
            GradingSummary(
                rubrics=(
                    RubricUse(rubric="rubric/a@1.0.0", checks=3, records=1200),
                    RubricUse(rubric="rubric/b@1.0.0", checks=1, records=1),
                )
            ),
            [
                "graded by rubric/a@1.0.0 (3 checks): 1,200 records",
                "graded by rubric/b@1.0.0 (1 check): 1 record",
            ],
        ),
        (
            GradingSummary(
                brought=OwnChecks(records=12, kinds={"equals": 4, "llm_judge": 8}), skipped=2
            ),
            [
                "graded by their own expectations: 12 records (equals 4, llm_judge 8)",
                "graded by nothing: 2 records",
            ],
        ),
        (
            GradingSummary(asked=(JudgeUse(judge="judge/a@1.0.0", target="live"),)),
            ["asking judge/a@1.0.0 by target live"],
        ),
    ],
)
def test_every_way_of_grading_has_its_line(graders: GradingSummary, lines: list[str]) -> None:
    assert list(grading_lines(graders)) == lines


@pytest.mark.parametrize(
    ("count", "last"),
    [
        (10, "asking judge/9@1.0.0 by target live"),
        (11, "asking 1 more judge"),
        (13, "asking 3 more judges"),
    ],
)
def test_of_many_judges_the_first_are_named(count: int, last: str) -> None:
    asked = (JudgeUse(judge=f"judge/{number}@1.0.0", target="live") for number in range(count))
    *_, told = grading_lines(GradingSummary(asked=tuple(asked)))

    assert told == last
