"""How far a judge can be relied on today."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from fakes.validations import a_validation, an_item
from steelyard.model.judge import Validation
from steelyard.model.statistics.validation import Counts
from steelyard.usecases.judges.judge_standing import (
    Cell,
    JudgeStanding,
    items_of,
    standing_of,
    validations_of,
)

NOW = datetime(2026, 6, 1, tzinfo=UTC)
JUDGE = a_judge(id="right")
MARK = frozenset({"mark"})


def standing(asked: frozenset[str] = MARK, **more: Any) -> JudgeStanding:
    return standing_of(JUDGE, [a_validation(**more)], NOW, asked)


def test_a_judge_with_enough_fresh_labels_is_validated() -> None:
    found = standing()

    assert (found.state, found.reasons, found.days) == ("validated", (), 31)
    assert found.rates
    assert (found.rates.tpr.value, found.rates.tnr.value) == (0.9, 0.8)


@pytest.mark.parametrize(
    ("more", "asked", "state", "why"),
    [
        ({"validated_at": "2026-01-01"}, MARK, "stale", "after 90 days a judge is stale"),
        ({"validated_at": "2027-01-01"}, MARK, "stale", "was validated in the future"),
        ({}, frozenset({"other"}), "stale", "as another instrument than was validated"),
        ({"refusals": ("no better than a coin",)}, MARK, "refused", "no better than a coin"),
        ({"counts": Counts(tp=3, tn=2)}, MARK, "too few labels", "label"),
        ({"design": None}, MARK, "too few labels", "of the labelled sample only"),
    ],
)
def test_what_speaks_against_it_is_said(
    more: dict[str, Any], asked: frozenset[str], state: str, why: str
) -> None:
    found = standing(asked, **more)

    assert found.state == state
    assert why in " ".join(found.reasons)


def test_a_judge_that_was_changed_since_was_never_validated() -> None:
    changed = standing_of(JUDGE, [a_validation()], NOW, MARK, frozenset({"other"}))
    same = standing_of(JUDGE, [a_validation()], NOW, frozenset({"older"}), MARK)

    assert (changed.state, changed.rates) == ("never validated", None)
    assert "as it is now, has never been validated" in changed.reasons[0]
    assert same.state == "validated"


def test_a_judge_that_no_run_asked_is_not_stale_for_that() -> None:
    assert standing(frozenset()).state == "validated"


def test_the_newest_validation_of_its_own_version_counts() -> None:
    other = a_validation(judge="judge/right@2.0.0", validated_at="2026-05-30")
    newer = a_validation(validated_at="2026-05-20", refusals=("no",))

    found = standing_of(JUDGE, [a_validation(), newer, other], NOW, MARK)

    assert found.newest == newer
    assert validations_of(JUDGE.name, [newer, other, a_validation(judge="judge/x@1.0.0")]) == [
        newer,
        other,
    ]


def test_a_claim_of_its_file_is_no_validation() -> None:
    claim = Validation(tpr=0.9, tnr=0.8, validated_at="2026-05-01")

    found = standing_of(a_judge(id="right", validation=claim), [], NOW, MARK)

    assert found.state == "never validated"
    assert (
        "its file says that it was validated on 2026-05-01 (TPR 0.90, TNR 0.80, "
        "number of labels not stated)" in (found.reasons[0])
    )


@pytest.mark.parametrize(
    ("cell", "names"), [("tp", ["q0"]), ("fn", ["q1"]), ("tn", ["q2"]), ("fp", ["q3", "q4"])]
)
def test_every_cell_has_its_items(cell: Cell, names: list[str]) -> None:
    items = (
        an_item(0),
        an_item(1, is_passed=False),
        an_item(2, is_good=False, is_passed=False),
        an_item(3, is_good=False),
        an_item(4, is_good=False),
    )

    assert [one.record_id for one in items_of(a_validation(items=items), cell)] == names
