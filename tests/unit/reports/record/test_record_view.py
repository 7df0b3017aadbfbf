"""A record in words."""

from __future__ import annotations

import pytest

from fakes.predictions import prediction
from steelyard.model.json_value import JsonObject
from steelyard.reports.record.judgement_view import judgement_views
from steelyard.reports.record.record_view import (
    expectations,
    redactions,
    repeat_views,
    tags_of,
    why_no_score,
)
from steelyard.results.failures import Failure


def failure(status: str, label: str, message: str | None = "in their words") -> Failure:
    """Why a record has no score."""
    return Failure(
        index=0, record_id="q0", status=status, label=label, message=message, attempts=3
    )


@pytest.mark.parametrize(
    ("status", "label", "sentence"),
    [
        ("timeout", "timeout", "the target did not answer in time"),
        ("evaluation_error", "judge", "a judge gave no verdict"),
        ("evaluation_error", "rate_limit", "could not be evaluated (rate limit)"),
        ("invalid_record", "invalid_record", "does not fit its contract"),
        ("cancelled", "cancelled", "the run was cancelled"),
        ("skipped", "skipped", "no check had anything to look at"),
    ],
)
def test_a_record_without_a_score_says_why(status: str, label: str, sentence: str) -> None:
    row = prediction(0, status=status, passed=None)
    why = why_no_score(row, failure(status, label))
    assert why
    assert sentence in why.sentence
    assert (why.words, why.attempts) == ("in their words", 3)


def test_without_a_failure_the_reason_of_the_row_speaks() -> None:
    why = why_no_score(prediction(0, status="skipped", passed=None, reason="no reference"), None)
    assert why
    assert (why.words, why.attempts) == ("no reference", 0)
    assert why_no_score(prediction(0), None) is None


def test_expectations_come_one_by_one_with_their_words() -> None:
    found = list(
        expectations(
            {
                "answers": ["Yes."],
                "outcome": "agrees",
                "criteria": [{"id": "c", "text": "is kind", "weight": 2}],
                "demands": {
                    "expected_facts": ["LP HAL"],
                    "expected_tools": ["look"],
                    "max_latency_ms": 5,
                },
            }
        )
    )
    assert [(one.word, one.text, one.weight) for one in found] == [
        ("Answer", "Yes.", None),
        ("Outcome", "agrees", None),
        ("Criterion", "is kind", 2.0),
        ("Fact", "LP HAL", None),
        ("Tool", "look", None),
        ("Max latency ms", "5", None),
    ]
    assert [one.text for one in expectations("[redacted:expected]")] == ["[redacted:expected]"]
    assert list(expectations(None)) == []


def test_redactions_are_counted_by_what_was_there() -> None:
    row = prediction(0, model_response="[redacted:email] and [redacted:email], [redacted]")
    assert redactions(row) == {"email": 2, "secret": 1}
    assert redactions(prediction(0)) == {}


def test_repeats_are_compared_with_the_one_on_show() -> None:
    rows = [
        prediction(0, repeat=2, model_response=None, status="timeout", passed=None),
        prediction(0, repeat=1, model_response="It waits <b>two</b> weeks."),
        prediction(0, repeat=0, model_response="It waits seven days."),
        prediction(0, repeat=3, model_response="It waits seven days."),
    ]
    shown = repeat_views(rows, rows[2])
    assert [one.repeat for one in shown] == [0, 1, 2, 3]
    assert shown[0].answer == "It waits seven days."
    assert "<ins>" in str(shown[1].answer)
    assert "<b>" not in str(shown[1].answer)
    assert shown[2].answer is None
    assert [one.is_same for one in shown] == [True, False, False, True]


def test_tags_that_are_redacted_or_missing_do_no_harm() -> None:
    assert tags_of(prediction(0, slices={"tags": ["a", "b"]})) == ("a", "b")
    assert tags_of(prediction(0, slices={"tags": "[redacted:tags]"})) == ("[redacted:tags]",)
    assert tags_of(prediction(0)) == ()


def test_judgements_come_in_the_order_of_checks_questions_and_turns() -> None:
    known: JsonObject = {"repeat": 0, "judge": "judge/j", "sample": 0, "round": 0}
    asked: JsonObject = {"messages": [["user", "Is it?"]]}
    rows: list[JsonObject] = [
        {**known, "check": "q", "item": "turn_ok", "turn": 10},
        {**known, "check": "q", "item": "turn_ok", "turn": 2},
        {**known, "check": "q", "item": "solved", "prompt": asked},
        {**known, "check": "p", "error_code": "timeout", "message": "late", "trace": None},
        {**known, "repeat": 1, "check": "p"},
    ]
    found = judgement_views(rows, 0)
    names = ["p", "q, solved", "q, turn_ok, turn 2", "q, turn_ok, turn 10"]
    assert [one.about for one in found] == names
    assert found[0].error == "timeout: late"
    assert found[1].prompt == (("user", "Is it?"),)
