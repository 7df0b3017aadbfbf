"""What metrics need to know of questions."""

from __future__ import annotations

import msgspec
import pytest

from steelyard.model.json_value import JsonValue
from steelyard.model.outcome import Outcome
from steelyard.results.question_facts import QuestionFact, question_facts


def facts(*rows: JsonValue) -> tuple[QuestionFact, ...]:
    return question_facts(Outcome(reason="x", details={"items": list(rows)}))


def test_the_rows_of_a_question_are_one_fact() -> None:
    found = facts(
        {"item": "clear", "type": "score", "asked": "Is it clear?", "turn": 1, "value": 4},
        {"item": "tags", "type": "multi_select", "asked": "What?", "value": ["a", "b"]},
        {"item": "clear", "type": "score", "asked": "Is it clear?", "turn": 2},
        {"item": "clear", "type": "score", "asked": "Is it clear?", "turn": 3, "value": 0},
    )

    assert [(one.item, one.values, one.unanswered) for one in found] == [
        ("clear", (4, 0), 1),
        ("tags", (("a", "b"),), 0),
    ]
    assert len({one.asked for one in found}) == 2


def test_what_asks_the_same_has_the_same_digest() -> None:
    row: JsonValue = {"item": "a", "type": "criterion", "asked": "Names the law.", "value": 1}
    other: JsonValue = {"item": "a", "type": "criterion", "asked": "Names the court \ud800."}

    assert facts(row)[0].asked == facts(row)[0].asked != facts(other)[0].asked


@pytest.mark.parametrize("rows", [None, 5, [5], [{"item": 5, "type": "x"}], [{"item": "a"}]])
def test_details_of_another_kind_have_no_facts(rows: JsonValue) -> None:
    assert question_facts(Outcome(reason="x", details={"items": rows})) == ()
    assert question_facts(Outcome(reason="x")) == ()


def test_facts_come_back_from_the_store() -> None:
    found = facts(
        {"item": "a", "type": "score", "value": 4},
        {"item": "b", "type": "multi_select", "value": ["x"]},
        {"item": "c", "type": "item", "value": 0.5},
        {"item": "d", "type": "single_select", "value": "tool"},
    )

    assert msgspec.json.decode(msgspec.json.encode(found), type=tuple[QuestionFact, ...]) == found


def test_the_checks_within_a_check_are_looked_through() -> None:
    row: JsonValue = {"item": "a", "type": "criterion", "value": 1}
    inner: JsonValue = {"check": "inner", "details": {"items": [row]}}
    outcome = Outcome(reason="x", details={"results": [inner, {"check": "plain"}, 5]})

    assert [(one.item, one.values) for one in question_facts(outcome)] == [("a", (1,))]
