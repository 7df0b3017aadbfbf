"""How far the answers to one item are the same, and who disagrees with whom."""

from __future__ import annotations

from steelyard.model.question import Answers, Option, Question, QuestionRubric
from steelyard.review.disagreement import (
    QuestionPlace,
    SharedAnswers,
    disputed,
    item_agreement,
    pair_agreements,
)

RUBRIC = QuestionRubric(
    name="Desk",
    version="desk-v1",
    questions=(
        Question(key="correct", label="Right?", type="yes_no", answered_by_auto=True),
        Question(
            key="turn_ok",
            label="Fine?",
            type="button_group",
            scope="turn",
            answered_by_auto=True,
            options=(Option(value="fine", label="Fine"), Option(value="poor", label="Poor")),
        ),
        Question(key="note", label="Notes", type="comment", answered_by_auto=False),
    ),
)


def said(correct: int, *turns: str, note: str = "") -> Answers:
    return Answers(
        trace={"correct": correct, "note": note},
        turns={number: {"turn_ok": one} for number, one in enumerate(turns, start=1)},
    )


def test_agreement_is_over_all_pairs_and_all_questions_but_comments() -> None:
    given = [said(1, "fine", note="a"), said(1, "poor", note="b"), said(0, "fine")]

    assert item_agreement(RUBRIC, given) == SharedAnswers(same=2, compared=6)
    assert disputed(RUBRIC, given) == (QuestionPlace("correct", 0), QuestionPlace("turn_ok", 1))


def test_one_person_agrees_with_nobody() -> None:
    assert item_agreement(RUBRIC, [said(1)]).rate is None
    assert disputed(RUBRIC, [said(1)]) == ()


def test_what_only_one_person_answered_is_not_compared() -> None:
    given = [said(1, "fine", "fine"), said(1)]

    assert item_agreement(RUBRIC, given) == SharedAnswers(same=1, compared=1)


def test_pairs_are_listed_the_least_agreeing_first() -> None:
    items = [
        {"ann": said(1, "fine"), "bob": said(1, "fine"), "cem": said(0, "poor")},
        {"ann": said(1, "fine"), "bob": said(1, "poor")},
    ]
    found = pair_agreements(RUBRIC, items)

    assert [(one.people, one.items, one.answers.rate) for one in found] == [
        (("ann", "cem"), 1, 0.0),
        (("bob", "cem"), 1, 0.0),
        (("ann", "bob"), 2, 0.75),
    ]
    assert found[-1].questions["turn_ok"] == SharedAnswers(same=1, compared=2)
