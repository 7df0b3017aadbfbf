"""What a good answer to a case would be, whichever contract says it."""

from __future__ import annotations

from steelyard.execution.expected import expected_row
from steelyard.model.case import Case
from steelyard.model.criterion import Criterion
from steelyard.model.evaluator import RubricItem
from steelyard.model.message import Message, ToolCall


def test_a_case_that_says_nothing_expects_nothing() -> None:
    assert expected_row(Case(id="a")) is None


def test_everything_that_a_case_says_is_kept_by_kind() -> None:
    case = Case(
        id="a",
        reference_answers=("four", "4"),
        expected_outcome="Counts.",
        correct_choice_ids=("B",),
        criteria=(Criterion(id="c", title="Right", description="Is right.", weight=2.0),),
        rubrics=(RubricItem(id="r", description="Is kind."),),
        expected={"max_latency_ms": 900},
    )

    assert expected_row(case) == {
        "answers": ["four", "4"],
        "outcome": "Counts.",
        "choices": ["B"],
        "criteria": [
            {"id": "c", "text": "Is right.", "weight": 2.0},
            {"id": "r", "text": "Is kind.", "weight": 1.0},
        ],
        "demands": {"max_latency_ms": 900},
    }


def test_expected_messages_are_kept_where_the_last_text_does_not_say_it_all() -> None:
    plain = Message(role="assistant", content="four")
    calling = Message(role="assistant", content="four", tool_calls=(ToolCall(tool="add"),))

    assert expected_row(Case(id="a", expected_messages=(plain,))) == {"answers": ["four"]}
    for said in ((calling,), (plain, plain)):
        row = expected_row(Case(id="a", expected_messages=said))
        assert row
        assert list(row) == ["answers", "messages"]
