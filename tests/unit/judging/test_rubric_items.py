"""Statements that a judge finds true or not."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.judge_replies import TIMEOUT, by_item, by_key, deciding, shown
from fakes.scripted_judges import ScriptedAsker, a_judge, judged
from steelyard.errors import SettingError
from steelyard.judging.rubric_items import RubricItems
from steelyard.model.evaluator import RubricItem
from steelyard.model.outcome import Outcome

ITEMS = (
    RubricItem(id="capital", description="Names the capital", weight=3),
    RubricItem(id="source", description="Names a source", required=False),
    RubricItem(id="short", description="Is short", weight=0, required=False),
)
RANGES: Any = {"0": "Wrong.", "5": "Has gaps.", "10": "Right."}


def graded(asker: ScriptedAsker, *items: RubricItem, **settings: Any) -> Outcome:
    return judged(RubricItems(items=items or ITEMS, judge=a_judge(), **settings), asker)


@pytest.mark.parametrize(
    ("said", "score", "passed"),
    [
        ({"capital": 1, "source": 1, "short": 1}, 1.0, True),
        ({"capital": 1, "source": 0, "short": 1}, 0.75, True),
        ({"capital": 0, "source": 1, "short": 1}, 0.25, False),
        # what was not judged is in no denominator
        ({"capital": 1, "source": TIMEOUT, "short": 1}, 1.0, True),
        ({"capital": 1}, 1.0, True),
        # nothing that was judged has weight: then it must hold
        ({"short": 1}, None, None),
        ({"capital": 0, "short": 1}, 0.0, False),
    ],
)
def test_the_score_is_the_weight_of_what_holds(
    said: dict[str, Any], score: float | None, passed: bool | None
) -> None:
    found = graded(by_item(said))

    assert (found.score, found.passed) == (score, passed)


@pytest.mark.parametrize(("said", "score"), [(1, 1.0), (0, 0.0)])
def test_items_without_weight_only_gate(said: int, score: float) -> None:
    found = graded(by_item({"a": said}), RubricItem(id="a", description="x", weight=0))

    assert (found.score, found.passed) == (score, bool(score))


def test_a_required_item_fails_the_check_whatever_the_score() -> None:
    must = RubricItem(id="must", description="Is polite", weight=1)
    much = RubricItem(id="much", description="Is right", weight=9, required=False)
    found = graded(by_item({"must": 0, "much": 1}), must, much)

    assert (found.score, found.passed) == (0.9, False)
    assert found.reason == '1 of 2 items hold; required, and not so: "Is polite"'


def test_a_required_item_that_was_not_judged_cannot_pass() -> None:
    """Nobody knows whether the gate is open: neither a pass nor a 0."""
    found = graded(by_item({"source": 1, "short": 1}))

    assert (found.status, found.score, found.passed) == ("unscored", None, None)
    assert found.reason == (
        'whether required items hold could not be judged: "Names the capital": cannot_judge (1)'
    )
    assert found.details["scored"] == 2


def test_a_required_item_that_was_not_judged_leaves_no_score_though_another_fails() -> None:
    other = RubricItem(id="other", description="Is polite")
    found = graded(by_item({"capital": 0, "source": 1, "short": 1}), *ITEMS, other)

    assert (found.status, found.passed) == ("unscored", None)
    assert '"Is polite": cannot_judge (1)' in found.reason


def test_an_item_of_weight_0_decides_nothing_where_others_were_not_judged() -> None:
    weighty, weightless = (
        RubricItem(id=name, description=name, weight=weight, required=False)
        for name, weight in (("much", 1), ("none", 0))
    )
    found = graded(by_item({"none": 1}), weighty, weightless)

    assert (found.status, found.score) == ("unscored", None)
    assert found.reason == "only items of weight 0 could be judged: cannot_judge (1)"


def test_nothing_judged_is_unscored() -> None:
    found = graded(by_item({}))

    assert (found.status, found.judge) == ("unscored", "judge/short@1.0.0")
    assert found.reason == "none of 3 items could be judged: cannot_judge (3)"


def test_the_details_name_every_item() -> None:
    found = graded(by_item({"capital": 1, "source": 0, "short": 0}))
    rows: Any = found.details["items"]

    assert [(row["item"], row["value"], row["weight"], row["required"]) for row in rows] == [
        ("capital", 1, 3, True),
        ("source", 0, 1, False),
        ("short", 0, 0, False),
    ]
    assert (found.details["satisfied"], found.details["scored"]) == (1, 3)
    assert found.reason == '1 of 3 items hold; not so: "Names a source", "Is short"'


def test_points_count_by_their_share() -> None:
    ranged = RubricItem(
        id="a", description="Is right", required=False, extra={"score_ranges": RANGES}
    )
    asker = by_item({"a": 5})
    found = graded(asker, ranged)

    assert (found.score, found.passed) == (0.5, False)
    assert "5 to 9: Has gaps." in shown(asker.calls[0])


@pytest.mark.parametrize(
    ("points", "least", "passed"),
    [(10, None, True), (9, None, False), (7, 0.7, True), (6, 0.7, False), (7, 7, True)],
)
def test_a_required_item_with_points_needs_all_of_them_or_as_many_as_it_says(
    points: int, least: float | None, passed: bool
) -> None:
    extra: Any = {"score_ranges": RANGES, **({} if least is None else {"min_score": least})}
    found = graded(by_item({"a": points}), RubricItem(id="a", description="x", extra=extra))

    assert (found.score, found.passed) == (points / 10, passed)


def test_ranges_that_cannot_be_read_are_no_plain_yes_or_no() -> None:
    with pytest.raises(SettingError, match="must cover 0 to 10"):
        graded(
            by_item({}), RubricItem(id="a", description="x", extra={"score_ranges": {"1": "x"}})
        )


def test_an_empty_list_of_ranges_is_none() -> None:
    empty = RubricItem(id="a", description="x", extra={"score_ranges": []})

    assert graded(by_item({"a": 1}), empty).score == 1.0


def test_a_guard_asks_for_what_contradicts() -> None:
    guard = RubricItem(id="a", description="Revenue rose", extra={"operator": "contradiction"})
    asker = by_item({"a": 1})
    graded(asker, guard)

    assert "Nothing in the answer contradicts this; it need not be said: Revenue rose" in shown(
        asker.calls[0]
    )


@pytest.mark.parametrize("is_grouped", [True, False])
def test_in_a_prompt_the_question_is_that_of_the_case(is_grouped: bool) -> None:
    asker = by_item({})
    check = RubricItems(
        items=ITEMS[:1], judge=a_judge("{{question}} {{candidate_answer}}"), is_grouped=is_grouped
    )
    judged(check, asker)

    assert "What is the capital of France?" in shown(asker.calls[0])
    assert "Names the capital\nAnswer under the key" in shown(asker.calls[0])


def test_one_call_asks_for_all_items_where_they_are_grouped() -> None:
    asker = by_key({"item_1": 1, "item_2": 0, "item_3": 1})
    found = graded(asker, is_grouped=True, target="cheap")

    assert len(asker.calls) == 1
    assert (found.score, asker.calls[0].target) == (0.75, "cheap")


def test_samples_that_are_split_decide_nothing() -> None:
    asker = deciding(lambda call, _: call.sample)
    found = graded(asker, samples=2)
    rows: Any = found.details["items"]

    assert found.reason == "none of 3 items could be judged: split (3)"
    assert rows[0]["votes"] == {"0": 1, "1": 1}
    assert rows[0]["value"] is None


def test_a_rubric_without_items_is_skipped() -> None:
    assert judged(RubricItems(items=(), judge=a_judge()), by_item({})).status == "skipped"
