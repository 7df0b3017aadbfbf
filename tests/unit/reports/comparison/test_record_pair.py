"""A record in two runs: the repeats in which the change is seen, reasons, and what people say."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.predictions import SCORED
from steelyard.model.labels.votes import ResponseVotes
from steelyard.reports.comparison.record_pair import record_pair
from steelyard.reports.texts import MAX_ANSWER
from steelyard.results.predictions import Prediction
from strategies.run_views import prediction

ASKED = {"messages": [{"role": "system", "content": "Rules"}, {"role": "user", "content": "How?"}]}


def row(index: int = 0, **others: Any) -> Prediction:
    return prediction(index, **{"request": ASKED, "expected": {"answers": ["Four"]}, **others})


def test_the_question_stands_once_and_the_rest_of_the_request_apart() -> None:
    pair = record_pair([row()], [row()], 0.0)

    assert (pair.name, pair.asked, pair.context) == ("q0", "How?", "system: Rules")
    assert pair.asked_otherwise is None
    assert pair.expected == "Four"
    assert pair.diff.is_equal


def test_different_requests_are_both_shown() -> None:
    other = {"messages": [{"role": "user", "content": "Why?"}]}
    pair = record_pair([row(request=other)], [row()], 0.0)

    assert (pair.asked, pair.asked_otherwise) == ("How?", "Why?")


def test_of_repeats_those_are_shown_in_which_the_change_is_seen() -> None:
    a = [row(repeat=number, passed=number > 0, model_response=f"a{number}") for number in range(3)]
    b = [row(repeat=number, passed=number < 1, model_response=f"b{number}") for number in range(3)]
    worse, same = record_pair(a, b, -1 / 3), record_pair(a, b, 0.0)

    assert (worse.a.answer, worse.b.answer) == ("a1", "b1")
    assert worse.a.repeats == "2 of 3 repeats pass; repeat 1 is shown"
    assert worse.b.repeats.startswith("1 of 3 repeats pass; repeat ")
    assert worse.a.word.word == worse.b.word.word == "Mixed"
    assert (same.a.answer, same.b.answer) == ("a0", "b0")


@pytest.mark.parametrize(
    ("votes", "word"),
    [
        ((ResponseVotes(3, 3), ResponseVotes(0, 3)), "People say the opposite"),
        ((ResponseVotes(0, 3), ResponseVotes(2, 3)), "People agree"),
        ((ResponseVotes(3, 3), ResponseVotes(2, 3)), "People see no difference"),
        ((ResponseVotes(1, 2), ResponseVotes(2, 3)), None),
        ((None, ResponseVotes(2, 3)), None),
    ],
)
def test_people_are_heard_where_they_read_both_answers(
    votes: tuple[ResponseVotes | None, ResponseVotes | None], word: str | None
) -> None:
    pair = record_pair([row(passed=False)], [row()], 1.0, votes)

    assert (pair.people.word if pair.people else None) == word


def test_checks_that_fail_come_first_with_what_only_a_juror_says() -> None:
    jury = {
        "jurors": [
            {"judge": "judge/kind@1.0.0", "passed": True, "reason": "nice"},
            {"judge": "judge/careful@1.0.0", "passed": False, "reason": "wrong sum"},
            "no juror",
        ]
    }
    scores = [
        {**SCORED, "check": "kind", "reason": "nice"},
        {**SCORED, "check": "panel", "passed": False, "reason": "split", "details": jury},
        {**SCORED, "check": "hidden", "reason": "x", "details": "[redacted]"},
    ]
    pair = record_pair([row(evaluator_scores=scores)], [row()], 0.0)

    assert [(one.name, one.word.kind, one.reason) for one in pair.a.checks] == [
        ("panel", "fail", "split"),
        ("careful", "fail", "wrong sum"),
        ("kind", "pass", "nice"),
        ("hidden", "pass", "x"),
    ]


def test_a_very_long_answer_is_cut_and_says_so() -> None:
    pair = record_pair([row(model_response="x" * (MAX_ANSWER + 5))], [row()], 0.0)

    assert (len(pair.a.answer or ""), pair.a.cut) == (MAX_ANSWER, 5)


def test_no_answer_has_a_reason() -> None:
    lost = row(status="timeout", passed=None, model_response=None, reason=None, record_id=None)
    pair = record_pair([lost], [lost], 0.0)

    assert (pair.a.answer, pair.a.reason, pair.a.word.word) == (None, "timeout", "Timeout")
    assert pair.name == "record 0"
