"""Whether the chances of labels are those that their design gives them."""

from __future__ import annotations

import pytest

from fakes.validations import an_item
from steelyard.model.labels.label import Design
from steelyard.usecases.judges.label_chances import uneven_chances


@pytest.mark.parametrize(
    ("design", "differs_by", "where"),
    [
        ("random", "run_id", ""),
        ("random", "is_passed", "run"),
        ("by_verdict", "is_passed", ""),
        ("by_verdict", "is_good", "verdict of the judge"),
        ("by_label", "is_good", ""),
        ("by_label", "is_passed", "class (good or bad)"),
    ],
)
def test_a_design_says_which_chances_are_alike(
    design: Design, differs_by: str, where: str
) -> None:
    items = [
        an_item(
            place,
            run_id=f"run_{place % 2}",
            is_good=place % 4 < 2,
            is_passed=place % 8 < 4,
        )
        for place in range(16)
    ]
    first = getattr(items[0], differs_by)
    chosen = [
        an_item(
            one.index,
            run_id=one.run_id,
            is_good=one.is_good,
            is_passed=one.is_passed,
            inclusion_prob=0.5 if getattr(one, differs_by) == first else 0.2,
        )
        for one in items
    ]

    assert uneven_chances(chosen, design) == where
