"""`choice`."""

from __future__ import annotations

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.choice import Choice as ChoiceCheck
from steelyard.model.case import AnswerChoice, Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace
from strategies.traces import said

OFFERED = tuple(AnswerChoice(name, f"text of {name}") for name in "ABCD")
ANY, EXACT = ChoiceCheck(), ChoiceCheck(match="exact")


def case(*correct: str) -> Case:
    return Case(id="a", choices=OFFERED, correct_choice_ids=correct)


@pytest.mark.parametrize(
    ("response", "correct", "passes"),
    [
        ("A", ("A",), (True, True)),
        ("B", ("A",), (False, False)),
        ("A", ("A", "C"), (True, False)),
        ("A and C", ("A", "C"), (True, True)),
        ("C and A", ("A", "C"), (True, True)),
        ("A, B and C", ("A", "C"), (False, False)),
        ("A and B", ("A",), (False, False)),
        ("no idea", ("A",), (False, False)),
        ("", ("A",), (False, False)),
    ],
)
def test_selected_choices_are_compared(
    response: str, correct: tuple[str, ...], passes: tuple[bool, bool]
) -> None:
    """LE-47"""
    outcomes = [check.check(said(response), case(*correct)) for check in (ANY, EXACT)]

    assert tuple(outcome.passed for outcome in outcomes) == passes
    assert tuple(outcome.score for outcome in outcomes) == tuple(float(one) for one in passes)
    assert [outcome.status for outcome in outcomes] == ["scored", "scored"]


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (
            "The answer is A and C",
            Outcome(
                passed=True,
                score=1.0,
                reason="selected: A, C",
                details={"rule": "phrase", "selected": ["A", "C"]},
            ),
        ),
        (
            '{"answer": "B"}',
            Outcome(
                passed=False,
                score=0.0,
                reason="selected: B; correct: A, C",
                details={"rule": "json", "selected": ["B"]},
            ),
        ),
        (
            "I cannot say.",
            Outcome(
                passed=False,
                score=0.0,
                reason="selected: none",
                details={"rule": None, "selected": [], "no_choice": True},
            ),
        ),
        (
            '{"answer": "Z"}',
            Outcome(
                passed=False,
                score=0.0,
                reason="selected: none ('Z' is no choice)",
                details={"rule": "json", "selected": [], "no_choice": True},
            ),
        ),
    ],
)
def test_the_outcome_says_what_was_selected_and_how(response: str, outcome: Outcome) -> None:
    """LE-44, LE-46"""
    assert ANY.check(said(response), case("A", "C")) == outcome


def test_an_answer_without_a_message_selects_nothing() -> None:
    """LE-46"""
    assert ANY.check(Trace(), case("A")).details["no_choice"] is True


@pytest.mark.parametrize(
    ("skipped", "reason"),
    [
        (Case(id="a"), "the case offers no choices"),
        (Case(id="a", correct_choice_ids=("A",)), "the case offers no choices"),
        (case(), "the case does not say which choice is correct"),
    ],
)
def test_a_case_without_choices_is_skipped(skipped: Case, reason: str) -> None:
    """LE-48"""
    assert ANY.check(said("A"), skipped) == Outcome.skipped(reason)


def test_the_catalog_makes_it() -> None:
    assert Catalog().make("choice", {"match": "exact"}) == EXACT
    assert Catalog().make("choice", {}) == ANY
