"""Whoever is asked because others are divided is no evidence of how far people agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steelyard.model.statistics.agreement import AgreementSide, Item
from steelyard.review.agreement import (
    ONE_PERSON,
    PICKED,
    TIE_BREAKS,
    AnswerSheet,
    Given,
    question_agreement,
)

ITEMS = [Item("run", f"r{place:02}") for place in range(60)]
WORLDS = 125
TRUTHS = {"agreement": 0.5, "kappa": 0.0, "ac1": 0.0, "alpha_nominal": 0.0}
"""What coins agree by."""


def sheet(blind: dict[str, Given], **more: Any) -> AnswerSheet:
    return AnswerSheet(
        key="k", label="Is it?", type="yes_no", categories=(0, 1), blind=blind, **more
    )


def side(found: AgreementSide | None) -> AgreementSide:
    assert found is not None
    return found


def coins(random: np.random.Generator) -> AnswerSheet:
    """Two coins answer sixty items, and a third one those on which they differ."""
    ann, bob, cid = random.integers(0, 2, (3, len(ITEMS))).tolist()
    tied = [place for place in range(len(ITEMS)) if ann[place] != bob[place]]
    third: Given = {ITEMS[place]: cid[place] for place in tied}
    return sheet(
        {
            "ann": dict(zip(ITEMS, ann, strict=True)),
            "bob": dict(zip(ITEMS, bob, strict=True)),
            "cid": third,
        },
        aside={("cid", item): TIE_BREAKS for item in third},
    )


def test_coins_agree_by_chance_also_where_a_third_one_breaks_their_ties() -> None:
    random = np.random.default_rng(11)
    covered = dict.fromkeys(TRUTHS, 0)
    for _ in range(WORLDS):
        found = side(question_agreement(coins(random)).people)
        for one in found.estimates:
            if one.low is not None and one.high is not None:
                covered[one.name] += one.low <= TRUTHS[one.name] <= one.high

    assert {name: number / WORLDS >= 0.92 for name, number in covered.items()} == dict.fromkeys(
        TRUTHS, True
    ), covered


def test_the_sheet_says_how_many_broke_ties_and_pairs_are_without_them() -> None:
    made = coins(np.random.default_rng(4))
    found = side(question_agreement(made).people)
    ties = len(made.blind["cid"])

    kappa = next(one for one in found.estimates if one.name == "kappa")
    pooled = side(question_agreement(replace(made, aside={})).people).estimates[1]

    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < 0 < kappa.high
    assert pooled.low is not None
    assert pooled.low > 0  # what it was when tie-breaks counted
    assert ties > 20
    assert (found.people, found.items, found.answers) == (2, 60, 120)
    assert found.left_out == {TIE_BREAKS: ties}
    assert sum(one.n for one in found.pairs) == 60
    assert {*found.disagreements[0].people} == {"ann", "bob"}


def test_a_tie_break_decides_what_the_judge_is_compared_with() -> None:
    first, second = ITEMS[:2]
    made = sheet(
        {"ann": {first: 1, second: 1}, "bob": {first: 0, second: 1}, "cid": {first: 0}},
        aside={("cid", first): TIE_BREAKS},
        judge={first: 1, second: 1},
    )
    found = side(question_agreement(made).judge)

    assert (found.items, found.left_out) == (2, {})
    assert [(one.item, one.human, one.judge) for one in found.disagreements] == [(first, 0, 1)]


def test_whoever_broke_ties_alone_takes_no_part_in_the_alternative_test() -> None:
    made = coins(np.random.default_rng(2))
    judge: Given = dict.fromkeys(ITEMS, 1)
    only = sheet(
        {"ann": made.blind["ann"], "cid": made.blind["cid"]}, aside=made.aside, judge=judge
    )
    test = question_agreement(sheet({**made.blind}, aside=made.aside, judge=judge)).alternative

    assert test is not None
    assert (test.people, test.items) == (2, 60)
    assert "it takes two people" in str(question_agreement(only).no_alternative)


@pytest.mark.parametrize("why", [TIE_BREAKS, PICKED])
def test_where_nothing_else_is_left_there_is_no_agreement(why: str) -> None:
    item = ITEMS[0]
    found = question_agreement(
        sheet({"ann": {item: 1}, "cid": {item: 0}}, aside={("cid", item): why})
    )

    assert found.people is None


def test_an_item_with_one_regular_answer_is_counted_beside_its_tie_break() -> None:
    first, second = ITEMS[:2]
    made = sheet(
        {"ann": {first: 1, second: 1}, "bob": {second: 1}, "cid": {first: 0}},
        aside={("cid", first): TIE_BREAKS},
    )

    assert side(question_agreement(made).people).left_out == {ONE_PERSON: 1, TIE_BREAKS: 1}
