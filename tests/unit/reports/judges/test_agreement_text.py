"""Agreement in words: nothing without its interval, its method and its items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.model.statistics.agreement import (
    Agreement,
    AgreementSide,
    AlternativeTest,
    Disagreement,
    Estimate,
    Item,
    OptionAgreement,
    QuestionAgreement,
    RubricAgreement,
)
from steelyard.reports.judges.agreement_text import agreement_lines, estimate_text, left_out_text

TPR = Estimate(name="tpr", value=0.92, low=0.812, high=0.968, method="wilson", n=50)
KAPPA = Estimate(name="kappa", value=0.7, low=0.5, high=0.9, method="Cohen, bootstrap", n=100)
APART = Disagreement(
    item=Item("run_1", "r\x1b1", 2, 3), people={"ann": 1, "bob": 0}, human=1, judge=0
)
SIDE = AgreementSide(
    people=2,
    items=100,
    answers=180,
    estimates=(TPR, KAPPA),
    given={"0": 30, "1": 150},
    disagreements=(APART,) * 7,
    left_out={"answers that were not given blind": 12},
)
QUESTION = QuestionAgreement(
    key="correct",
    label="Is it right?",
    type="yes_no",
    scope="turn",
    people=None,
    seen=None,
    judge=SIDE,
    no_alternative="not enough data: it takes two people or more",
)


def text(*questions: QuestionAgreement, run_id: str | None = "run_1", **more: Any) -> str:
    made = RubricAgreement(
        rubric="rubric/desk-v1", labels=1_192, blind=1_180, people=2, questions=questions, **more
    )
    return "\n".join(agreement_lines(Agreement(run_id=run_id, rubrics=(made,))))


def test_everything_stands_with_its_interval_and_its_items() -> None:
    assert text(QUESTION, judged_by=("questions", "judge/q@1.0.0"), notes=("1 thing",)) == (
        "rubric/desk-v1 × run_1  1,192 labels by 2 people: 1,180 blind, 12 not blind\n"
        "  compared with people  questions, judge/q@1.0.0\n"
        "  note  1 thing\n"
        "  correct  yes_no, each turn  Is it right?\n"
        "    people  no item with blind answers by two or more people\n"
        "    judge  100 items, 180 answers of 2 people; left out: 12 answers that were not given "
        "blind\n"
        "      distribution              no 30, yes 150\n"
        "      TPR                       92.0 % [81.2, 96.8]  (wilson, n = 50)\n"
        "      kappa                     0.700 [0.500, 0.900]  (Cohen, bootstrap, n = 100)\n"
        "      7 disagreements\n"
        + "        r·1 repeat 2 turn 3  ann yes, bob no; judge no\n"
        * 5
        + "        … and 2 more (--format json lists all)\n"
        "    replace a person  not enough data: it takes two people or more"
    )


def test_people_who_had_seen_other_answers_stand_apart() -> None:
    said = text(replace(QUESTION, people=SIDE, seen=SIDE, judge=None, scope="trace"), run_id=None)

    assert "rubric/desk-v1  1,192 labels" in said
    assert "  correct  yes_no  Is it right?" in said
    assert "    people  100 items" in said
    assert "    people who had seen other answers  100 items" in said
    assert "replace a person" not in said


@pytest.mark.parametrize(("passed", "word"), [(True, "yes"), (False, "no")])
def test_the_test_says_whether_a_judge_may_replace_a_person(passed: bool, word: str) -> None:
    test = AlternativeTest(
        winning_rate=2 / 3, advantage=0.92, margin=0.2, people=3, items=120, passed=passed
    )
    said = text(replace(QUESTION, alternative=test, no_alternative=None))

    assert (
        f"replace a person  {word}: it does as well as 2 of 3 people (ω 0.67), and agrees with "
        "the others at least as often as a person on 92.0 % of the items (ρ 0.92); 120 items, "
        "margin 0.2"
    ) in said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            replace(KAPPA, value=None, low=None, high=None),
            "not defined (all answers are the same)",
        ),
        (replace(KAPPA, value=None, low=None, high=None, n=0), "not defined (nothing to compare)"),
        (
            replace(KAPPA, value=1.0, low=None, high=None),
            "1.000 [no interval: too few items, or too few that differ]",
        ),
        (
            replace(KAPPA, name="weighted_kappa", method="Cohen, x", low=None, high=None, n=24),
            "no interval: weighted κ of two raters has one from 40 items on: fewer may miss a",
        ),
        (replace(KAPPA, name="agreement"), "raw agreement             70.0 % [50.0, 90.0]"),
        (replace(KAPPA, name="other"), "other                     0.700"),
        (
            replace(KAPPA, name="judge_minus_people", value=-0.2, low=-0.4, high=0.1),
            "judge minus people        -0.200 [-0.400, +0.100]",
        ),
    ],
)
def test_what_has_no_value_or_no_interval_says_so(found: Estimate, said: str) -> None:
    assert said in estimate_text(found)


def test_options_stand_one_by_one_and_choices_as_lists() -> None:
    apart = replace(APART, people={"ann": ("slow", "rude"), "bob": ()}, judge=None, human=None)
    side = replace(
        SIDE,
        given={"slow": 2, "rude": 1},
        options=(OptionAgreement(option="slow", estimates=(KAPPA,)),),
        disagreements=(apart,),
    )
    said = text(replace(QUESTION, type="multi_select", people=side, judge=None))

    assert "      slow\n        kappa                     0.700 [0.500, 0.900]" in said
    assert "distribution              slow 2, rude 1" in said
    assert "1 disagreement\n        r·1 repeat 2 turn 3  ann [slow, rude], bob []" in said


@pytest.mark.parametrize(
    ("kind", "said"),
    [("passed", "ann pass, bob fail; judge fail"), ("score", "ann 1, bob 0; judge 0")],
)
def test_answers_are_said_as_people_say_them(kind: Any, said: str) -> None:
    assert said in text(replace(QUESTION, type=kind))


def test_a_side_without_items_has_nothing_to_show() -> None:
    left = {"answers that were not given blind": 12}
    empty = AgreementSide(people=0, items=0, answers=0, estimates=(), left_out=left)
    said = text(replace(QUESTION, judge=empty))

    assert "    judge  0 items, 0 answers of 0 people; left out: 12" in said
    assert "distribution" not in said


@pytest.mark.parametrize(
    ("number", "why", "text"),
    [
        (1, "items with tied labels", "1 item with tied labels"),
        (2, "items with tied labels", "2 items with tied labels"),
        (1, "answers that were not given blind", "1 answer that was not given blind"),
    ],
)
def test_what_is_left_out_is_said_in_the_right_number(number: int, why: str, text: str) -> None:
    assert left_out_text(number, why) == text
