"""Agreement by question: people with each other, a judge with those who answered blind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.question import Answer
from steelyard.model.statistics.agreement import AgreementSide, Estimate, GoldAgreement, Item
from steelyard.review.agreement import (
    NO_JUDGE,
    NOT_BLIND,
    ONE_PERSON,
    TIES,
    AnswerSheet,
    Given,
    question_agreement,
)

YES_NO: dict[str, Any] = {"type": "yes_no", "categories": (0, 1)}
SCORE: dict[str, Any] = {"type": "score", "categories": (0, 1, 2, 3, 4, 5)}
TONE: dict[str, Any] = {"type": "single_select", "categories": ("warm", "cold", "flat")}
ISSUES: dict[str, Any] = {"type": "multi_select", "categories": ("slow", "rude")}


def given(*answers: Answer | None) -> Given:
    """Answers about records in order; None where nothing was said."""
    return {
        Item("run", f"r{place}"): answer
        for place, answer in enumerate(answers)
        if answer is not None
    }


def sheet(**more: Any) -> AnswerSheet:
    return AnswerSheet(key="k", label="Is it?", **more)


def side(found: AgreementSide | None) -> AgreementSide:
    assert found is not None
    return found


def values(found: AgreementSide) -> dict[str, float | None]:
    return {one.name: one.value for one in found.estimates}


def named(found: AgreementSide, name: str) -> Estimate:
    return next(one for one in found.estimates if one.name == name)


def test_the_kappa_paradox_is_shown_beside_ac1() -> None:
    """Feinstein and Cicchetti's 2×2 table (118, 5, 2, 0)."""
    first = [1] * 123 + [0] * 2
    second = [1] * 118 + [0] * 5 + [1] * 2
    people = {"ann": given(*first), "bob": given(*second)}
    found = side(question_agreement(sheet(**YES_NO, blind=people)).people)

    assert values(found)["agreement"] == pytest.approx(0.944)
    assert values(found)["kappa"] == pytest.approx(-0.023, abs=5e-4)
    assert values(found)["ac1"] == pytest.approx(0.941, abs=5e-4)
    assert (found.people, found.items, found.answers) == (2, 125, 250)
    assert found.given == {"0": 7, "1": 243}
    assert named(found, "agreement").method == "wilson"
    assert {one.n for one in found.estimates} == {125}


def test_the_judge_stands_beside_people_with_hits_and_cells() -> None:
    human = [1] * 50 + [0] * 50
    judge = [1] * 46 + [0] * 4 + [0] * 44 + [1] * 6
    made = sheet(**YES_NO, blind={"ann": given(*human)}, judge=given(*judge))
    found = side(question_agreement(made).judge)
    tpr, tnr = named(found, "tpr"), named(found, "tnr")

    assert (tpr.value, tpr.low, tpr.high, tpr.n) == pytest.approx(
        (0.92, 0.812, 0.968, 50), abs=5e-4
    )
    assert (tnr.value, tnr.low, tnr.high, tnr.n) == pytest.approx(
        (0.88, 0.762, 0.944, 50), abs=5e-4
    )
    assert [(one.human, one.judge, one.n) for one in found.cells] == [
        (0, 0, 44),
        (0, 1, 6),
        (1, 0, 4),
        (1, 1, 46),
    ]
    assert len(found.disagreements) == 10
    first = found.disagreements[0]
    assert (first.item.record_id, first.people, first.human, first.judge) == (
        "r46",
        {"ann": 1},
        1,
        0,
    )


def test_a_judge_without_both_classes_has_half_of_its_rates() -> None:
    found = side(
        question_agreement(sheet(**YES_NO, blind={"ann": given(1, 1)}, judge=given(1, 0))).judge
    )

    assert (named(found, "tpr").value, named(found, "tnr").value) == (0.5, None)
    assert named(found, "tnr").n == 0


def test_only_blind_answers_are_put_beside_the_judge() -> None:
    made = sheet(
        **YES_NO,
        blind={"ann": given(1, 0)},
        seen={"bob": given(0, 0, 0), "cy": given(None, 0, 0)},
        judge=given(1, 0, 0),
    )
    found = question_agreement(made)

    assert side(found.judge).items == 2
    assert side(found.judge).left_out == {NOT_BLIND: 5}
    assert found.people is None
    assert (side(found.seen).items, side(found.seen).people) == (2, 2)
    assert side(found.seen).left_out == {ONE_PERSON: 1}


def test_where_nobody_answered_blind_the_judge_stands_alone_and_says_so() -> None:
    found = question_agreement(sheet(**YES_NO, seen={"bob": given(0, 0)}, judge=given(1, 0)))

    assert (side(found.judge).items, side(found.judge).estimates) == (0, ())
    assert side(found.judge).left_out == {NOT_BLIND: 2}


def test_a_question_that_nobody_answered_has_no_sides() -> None:
    found = question_agreement(sheet(**YES_NO, judge=given(1, 0)))

    assert (found.people, found.seen, found.judge, found.no_alternative) == (None,) * 4


def test_what_the_judge_left_out_is_no_disagreement() -> None:
    made = sheet(**YES_NO, blind={"ann": given(1, 0, 1)}, judge=given(1, None, None))
    found = side(question_agreement(made).judge)

    assert (found.items, found.left_out) == (1, {NO_JUDGE: 2})


def test_several_people_count_by_majority_and_ties_are_left_out() -> None:
    made = sheet(
        **TONE,
        blind={
            "ann": given("warm", "warm", "warm"),
            "bob": given("warm", "cold", "cold"),
            "cy": given("cold", None, "flat"),
        },
        judge=given("cold", "cold", "cold"),
    )
    found = side(question_agreement(made).judge)

    assert (found.items, found.answers, found.left_out) == (1, 3, {TIES: 2})
    assert [(one.human, one.judge) for one in found.disagreements] == [("warm", "cold")]
    assert found.given == {"warm": 2, "cold": 1, "flat": 0}


def test_scores_count_by_the_lower_median_and_have_no_ties() -> None:
    made = sheet(
        **SCORE,
        blind={"ann": given(1, 5, 2), "bob": given(2, 3, 4), "cy": given(None, 4, 5)},
        judge=given(1, 4, 4),
    )
    found = side(question_agreement(made).judge)

    assert (found.items, found.left_out) == (3, {})
    assert values(found)["mae"] == 0
    assert [*values(found)] == [
        "agreement",
        "alpha_ordinal",
        "alpha_interval",
        "weighted_kappa",
        "spearman",
        "mae",
        "judge_minus_people",
    ]


def test_scores_have_order_and_distance() -> None:
    one = [0, 1, 2, 3, 4, 5, 2, 3]
    made = sheet(**SCORE, blind={"ann": given(*one), "bob": given(*[min(5, x + 1) for x in one])})
    found = side(question_agreement(made).people)

    assert values(found)["mae"] == pytest.approx(7 / 8)
    assert values(found)["spearman"] == pytest.approx(1, abs=0.02)
    assert found.items == 8


@pytest.mark.parametrize(("people", "method"), [(2, "Cohen"), (3, "Fleiss")])
def test_kappa_is_named_after_how_many_there_are(people: int, method: str) -> None:
    answers = given(1, 0, 1, 0, 1, 1)
    blind = {f"p{number}": answers for number in range(people - 1)}
    made = sheet(**YES_NO, blind={**blind, "other": given(1, 0, 0, 0, 1, 1)})
    found = side(question_agreement(made).people)

    assert named(found, "kappa").method.startswith(method)
    assert [one.item.record_id for one in found.disagreements] == ["r2"]


def test_more_than_two_people_correlate_two_by_two() -> None:
    made = sheet(
        **SCORE,
        blind={"a": given(1, 2, 3, 4), "b": given(1, 2, 3, 4), "c": given(1, 2, 3, None)},
    )
    found = side(question_agreement(made).people)

    assert values(found)["spearman"] == pytest.approx(1)
    assert named(found, "spearman").n == 4


def test_options_are_compared_one_by_one_and_as_sets() -> None:
    made = sheet(
        **ISSUES,
        blind={
            "ann": given(("slow",), (), ("slow", "rude"), ("rude",)),
            "bob": given(("slow",), ("slow",), ("slow",), ("rude",)),
        },
        judge=given(("slow",), (), ("rude",), ()),
    )
    found = question_agreement(made)
    people, judge = side(found.people), side(found.judge)

    assert values(people) == {"jaccard": (1 + 0 + 0.5 + 1) / 4}
    assert [one.option for one in people.options] == ["slow", "rude"]
    assert values(judge) == {"jaccard": pytest.approx((1 + 0.5 + (0.5 + 0) / 2 + 0) / 4)}
    slow = {one.name: one for one in judge.options[0].estimates}
    assert (slow["tpr"].value, slow["tpr"].n) == (0.5, 2)
    assert (slow["tnr"].value, slow["tnr"].n) == (1.0, 1)
    # people are divided on 'slow' of the second and 'rude' of the third: no disagreement there
    assert [one.item.record_id for one in judge.disagreements] == ["r2", "r3"]
    assert judge.cells == ()
    assert people.given == {"slow": 5, "rude": 3}


def test_an_option_says_on_how_many_items_people_are_divided() -> None:
    made = sheet(
        **ISSUES,
        blind={"ann": given(("slow",), ()), "bob": given(("slow", "rude"), ("rude",))},
        judge=given(("slow",), ()),
    )
    judge = side(question_agreement(made).judge)

    assert judge.items == 2
    assert [one.left_out for one in judge.options] == [{}, {TIES: 2}]


def test_options_on_which_all_are_divided_have_nothing_to_compare() -> None:
    made = sheet(
        **ISSUES,
        blind={"ann": given(("slow",)), "bob": given(("rude",))},
        judge=given(("slow",)),
    )
    judge = side(question_agreement(made).judge)

    assert [one.estimates for one in judge.options] == [(), ()]
    assert judge.disagreements == ()


def test_a_judge_that_chose_among_no_compared_items_has_no_estimates() -> None:
    made = sheet(**ISSUES, blind={"ann": given(("slow",))}, judge={})
    judge = side(question_agreement(made).judge)

    assert (judge.items, judge.estimates, judge.options) == (0, (), ())
    assert judge.left_out == {NO_JUDGE: 1}


def turns(*answers: str) -> Given:
    """Answers about two turns of each record."""
    return {
        Item("run", f"r{place // 2}", 0, 1 + place % 2): answer
        for place, answer in enumerate(answers)
    }


def test_turns_of_one_record_are_not_independent() -> None:
    one = ["fine", "poor"] * 8
    other = ["fine", "fine", "poor", "poor"] * 4
    made = sheet(
        type="button_group",
        categories=("fine", "poor"),
        scope="turn",
        blind={"ann": turns(*one), "bob": turns(*other)},
    )
    found = question_agreement(made)

    assert side(found.people).items == 16
    methods = {one.name: one.method for one in side(found.people).estimates}
    assert methods.pop("agreement") == "wilson at the effective n"
    assert all(method.endswith("cluster bootstrap") for method in methods.values())
    assert found.scope == "turn"


def test_records_of_one_conversation_are_not_independent() -> None:
    clusters = {("run", f"r{place}"): f"talk {place // 2}" for place in range(7)}
    people = {"ann": given(1, 0, 1, 0, 1, 0, 1, 0), "bob": given(1, 0, 0, 0, 1, 1, 1, 0)}
    made = sheet(**YES_NO, blind=people, clusters=clusters)

    assert "cluster bootstrap" in named(side(question_agreement(made).people), "kappa").method


def test_an_interval_that_no_resample_widens_is_none() -> None:
    people = {"ann": given(1, 0, 1, 0), "bob": given(1, 0, 1, 0)}
    found = side(question_agreement(sheet(**YES_NO, blind=people)).people)

    assert (named(found, "kappa").value, named(found, "kappa").low) == (1.0, None)
    assert named(found, "agreement").low == pytest.approx(0.51, abs=0.01)


def test_two_people_who_share_thirty_items_allow_the_alternative_test() -> None:
    truth = [place % 2 for place in range(60)]
    wrong = [1 - one if place % 3 == 0 else one for place, one in enumerate(truth)]
    made = sheet(
        **YES_NO,
        blind={"ann": given(*truth), "bob": given(*wrong), "cy": given(*truth)},
        judge=given(*truth),
    )
    test = question_agreement(made).alternative

    assert test is not None
    assert (test.winning_rate, test.passed, test.people, test.items) == (1.0, True, 3, 60)
    assert (test.advantage, test.margin) == (pytest.approx(1, abs=0.2), 0.2)


@pytest.mark.parametrize(
    ("people", "items", "why"),
    [(1, 40, "it takes two people"), (2, 29, "must share 30 items")],
)
def test_where_there_is_too_little_the_test_says_so(people: int, items: int, why: str) -> None:
    answers = given(*[place % 2 for place in range(items)])
    made = sheet(
        **YES_NO, blind={f"p{number}": answers for number in range(people)}, judge=answers
    )
    found = question_agreement(made)

    assert found.alternative is None
    assert why in str(found.no_alternative)


@pytest.mark.parametrize(
    "made",
    [
        sheet(
            **SCORE,
            blind={name: given(*[1, 2, 3, 4, 5] * 8) for name in ("ann", "bob")},
            judge=given(*[1, 2, 3, 4, 4] * 8),
        ),
        sheet(
            **ISSUES,
            blind={name: given(*[("slow",), ()] * 20) for name in ("ann", "bob")},
            judge=given(*[("slow",), ()] * 20),
        ),
    ],
    ids=["score", "multi_select"],
)
def test_the_test_is_made_for_scores_and_options_too(made: AnswerSheet) -> None:
    test = question_agreement(made).alternative

    assert test is not None
    assert test.people == 2


def test_a_judge_that_is_kinder_than_people_is_above_them() -> None:
    human, judge = [1, 2, 3, 4] * 10, [2, 3, 4, 4] * 10
    made = sheet(**SCORE, blind={"ann": given(*human)}, judge=given(*judge))
    found = named(side(question_agreement(made).judge), "judge_minus_people")
    stricter = sheet(**SCORE, blind={"ann": given(*judge)}, judge=given(*human))

    assert found.value == 0.75
    assert found.low is not None
    assert found.high is not None
    assert 0.5 < found.low < 0.75 < found.high < 1
    other = named(side(question_agreement(stricter).judge), "judge_minus_people")
    assert other.value == -0.75


def test_no_interval_has_width_zero() -> None:
    same = [3, 4] * 20
    made = sheet(**SCORE, blind={"ann": given(*same)}, judge=given(*same))
    for one in side(question_agreement(made).judge).estimates:
        assert one.low is None or one.low < (one.high or 0)


def test_hits_of_one_conversation_are_not_independent() -> None:
    human, judge = [1] * 40 + [0] * 40, [1] * 30 + [0] * 50
    clusters = {("run", f"r{place}"): f"talk {place // 5}" for place in range(80)}
    people = {"ann": given(*human)}
    alone = side(question_agreement(sheet(**YES_NO, blind=people, judge=given(*judge))).judge)
    together = side(
        question_agreement(
            sheet(**YES_NO, blind=people, judge=given(*judge), clusters=clusters)
        ).judge
    )

    for name in ("tpr", "tnr"):
        one, other = named(alone, name), named(together, name)
        assert (one.value, one.n) == (other.value, other.n)
        assert (one.low or 0) > (other.low or 0)
    assert named(alone, "tpr").method == "wilson"


def test_gold_labels_count_what_they_confirm_and_change_no_coefficient() -> None:
    people = {"ann": given(1, 1, 0), "bob": given(0, 1, 0)}
    plain = sheet(**YES_NO, blind=people, seen={"eve": given(1)}, judge=given(0, 1))
    settled = replace(plain, gold=given(1, None, 0))
    found = question_agreement(settled)

    assert found.gold == GoldAgreement(
        items=2, answers=5, same=4, judged=1, judged_same=0, differing=(Item("run", "r0"),)
    )
    assert replace(found, gold=None) == question_agreement(plain)
