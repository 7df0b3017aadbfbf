"""Checks and people as pages show them."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.model.labels.label import Label
from steelyard.model.question import (
    Answers,
    Option,
    Question,
    QuestionRubric,
    QuestionScoring,
    Scale,
)
from steelyard.reports.html.pages import environment
from steelyard.reports.marking import Quotation
from steelyard.reports.record.check_view import (
    CheckView,
    check_views,
    judges_of,
    quotations,
    turn_items,
)
from steelyard.reports.record.people_view import PeopleView, people_view
from steelyard.results.predictions import CheckScore

_RUBRIC = QuestionRubric(
    name="Desk",
    version="desk-v1",
    questions=(
        Question(
            key="solved",
            label="Is it solved?",
            type="yes_no",
            required=True,
            answered_by_auto=True,
        ),
        Question(
            key="tools",
            label="How well?",
            type="score",
            scale=Scale(min=1, max=5),
            answered_by_auto=True,
        ),
        Question(
            key="turn_verdict",
            label="Is this turn right?",
            type="button_group",
            scope="turn",
            answered_by_auto=True,
            options=(Option(value="good", label="Right"), Option(value="bad", label="Wrong")),
        ),
        Question(
            key="faults",
            label="What went wrong?",
            type="multi_select",
            answered_by_auto=False,
            options=(Option(value="fact", label="A fact"), Option(value="tone", label="The tone")),
        ),
        Question(key="note", label="Note", type="comment", answered_by_auto=False),
    ),
    scoring=QuestionScoring(
        questions={"solved": 2, "turn_verdict": 1}, options={"turn_verdict": {"good": 1, "bad": 0}}
    ),
)


def score(**fields: Any) -> CheckScore:
    """An entry of `evaluator_scores`."""
    known = {
        "check": "questions",
        "kind": "questionnaire",
        "score": 0.9,
        "passed": True,
        "status": "scored",
    }
    return msgspec.convert({**known, **fields}, CheckScore)


def questionnaire() -> CheckScore:
    """A judge that finds all good."""
    items = [
        {
            "item": "solved",
            "type": "yes_no",
            "asked": "Is it solved?",
            "value": 1,
            "evidence": "we have it here",
        },
        {"item": "tools", "type": "score", "asked": "How well?", "value": 4},
        *(
            {
                "item": "turn_verdict",
                "type": "button_group",
                "asked": "Is this turn right?",
                "turn": n,
                "value": "good",
            }
            for n in (1, 2)
        ),
    ]
    return score(details={"items": items, "rule": "questionnaire at 0.7", "asked": 4})


def label(annotator: str, **fields: Any) -> Label:
    """What somebody says who saw nothing else."""
    known: dict[str, Any] = {"record_id": "r", "rubric": "rubric/desk-v1", "exposure": "blind"}
    given: dict[str, Any] = {**known, "annotator": annotator, **fields}
    return Label(**given)


def answers(solved: int, second: str, **more: Any) -> Answers:
    """The answers of a person, who finds the first turn good."""
    turns = {1: {"turn_verdict": "good"}, 2: {"turn_verdict": second}}
    return Answers(trace={"solved": solved, "tools": 3, **more}, turns=turns)


def shown(checks: tuple[CheckView, ...], people: PeopleView) -> str:
    """The HTML of all checks."""
    template = environment().from_string(
        '{% from "parts/checks.html" import checks, checks_short %}'
        "{{ checks(found, people, link) }}{{ checks_short(found) }}"
    )
    return template.render(found=checks, people=people, link="#turn-{}".format)


def test_a_check_says_its_threshold_and_what_else_it_knows() -> None:
    (check,) = check_views([questionnaire()], [_RUBRIC])
    assert (check.threshold, check.rule) == (0.7, "questionnaire at 0.7")
    assert check.details == {"asked": 4}
    assert [(one.answer_text, one.of) for one in check.items[:2]] == [("Yes", ""), ("4", "of 5")]
    assert quotations([check]) == (Quotation("we have it here", "pass"),)
    assert {turn: len(items) for turn, items in turn_items([check]).items()} == {1: 1, 2: 1}


def test_people_stand_beside_the_judge_question_by_question() -> None:
    checks = check_views([questionnaire()], [_RUBRIC])
    labels = [
        label("jonas", answers=answers(0, "bad", faults=("fact",), note="7 days.")),
        label("mara", answers=answers(0, "bad", faults=("fact", "tone"))),
        label("odile", answers=answers(1, "good")),
        label("seen", exposure="suggested", answers=answers(1, "good")),
    ]
    people = people_view(checks, labels, [_RUBRIC], passed=True)
    solved, tools, turns = people.questions["questions"]
    assert solved.people == ("fail", "1 of 3 yes")
    assert solved.is_split
    assert solved.is_against
    assert solved.notes == (("jonas", "7 days."),)
    assert tools.people_text == "3, 3, 3"
    assert not tools.is_split
    assert (turns.judge, turns.people) == (("pass", "2 right"), ("fail", "turn 2 bad"))
    assert turns.bad_turns == (2,)
    assert people.questions[""][0].people_text == "2 × A fact, 1 × The tone"
    assert people.turns[2][0].people == ("fail", "1 of 3 right")
    assert people.turns[1][0].people == ("pass", "3 of 3 right")
    assert (people.is_split, people.is_against) == (True, True)
    assert people.left_out == 1
    html = shown(checks, people)
    assert "1 of 3 yes" in html
    assert 'href="#turn-2"' in html
    assert "jonas: 7 days." in html
    assert "1 label of people who knew a verdict is left out" in html


def test_people_who_agree_with_the_judge_are_no_disagreement() -> None:
    checks = check_views([questionnaire()], [_RUBRIC])
    people = people_view(checks, [label("a", answers=answers(1, "good"))], [_RUBRIC], passed=True)
    assert (people.is_split, people.is_against) == (False, False)


def test_plain_passes_are_compared_with_the_verdict() -> None:
    labels = [label("a", passed=False, extra={"note": "Two weeks?"}), label("b", passed=False)]
    people = people_view((), labels, (), passed=True)
    assert people.passed_word == ("fail", "0 of 2 pass")
    assert (people.is_split, people.is_against) == (False, True)
    assert "a: Two weeks?" in shown((), people)
    assert people_view((), [*labels, label("c", passed=True)], (), passed=False).is_split


def test_an_item_without_an_answer_says_why_and_is_no_zero() -> None:
    items = [
        {
            "item": "solved",
            "type": "yes_no",
            "asked": "?",
            "reason": "cannot_judge",
            "message": "too short",
        }
    ]
    (check,) = check_views(
        [score(status="unscored", score=None, passed=None, details={"items": items})], [_RUBRIC]
    )
    assert check.items[0].answer == ("unscored", "Cannot judge")
    html = shown((check,), people_view((check,), (), [_RUBRIC], passed=None))
    assert "Cannot judge" in html
    assert "no score" in html
    assert "0.00" not in html


def test_a_criterion_that_takes_points_is_bad_where_it_is_met() -> None:
    items = [
        {"item": "c", "type": "criterion", "asked": "Invents a rule", "value": 1, "weight": -2.0}
    ]
    (check,) = check_views([score(kind="criteria", details={"items": items})])
    assert check.items[0].answer == ("fail", "Yes")


def test_checks_within_checks_and_jurors_are_shown() -> None:
    inner = {
        "check": "panel",
        "kind": "llm_judge",
        "score": 1.0,
        "passed": True,
        "status": "scored",
    }
    jurors = [
        {
            "judge": "judge/a",
            "weight": 1.0,
            "passed": False,
            "score": 0.0,
            "reason": "cold",
            "calls": [{"evidence": "x"}],
        }
    ]
    details = {"results": [{**inner, "details": {"jurors": jurors, "rule": "jury at 0.5"}}]}
    (check,) = check_views([score(check="all", kind="composite", details=details)])
    assert check.inner[0].jurors[0].word == ("fail", "Fail")
    assert list(judges_of([check])) == []
    html = shown((check,), PeopleView())
    assert "judge/a" in html
    assert "cold" in html


def test_details_that_are_redacted_as_a_whole_say_so() -> None:
    (check,) = check_views([score(details="[redacted:details]", reason=None)])
    assert "[redacted:details]" in shown((check,), PeopleView())
