"""A row as a case."""

from __future__ import annotations

import pytest

from steelyard.model.case import AnswerChoice, Criterion
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message
from strategies.legal_eval import case_of, row

PROMPT = "When must rent be paid?"


def said(role: str, content: str) -> JsonObject:
    return {"role": role, "content": content}


def test_a_rubric_row() -> None:
    case = case_of(row("rubric_qa", context="Law.", reference_answers=["x"], metadata={"n": 1}))

    assert (case.id, case.dataset, case.task_type) == ("q1", "tenancy", "rubric_qa")
    assert case.criteria == (
        Criterion(id="c1", title="Names the law", weight=7),
        Criterion(id="c2", title="Invents a law", description="Any.", weight=-3.5),
    )
    assert (case.context, case.reference_answers) == ("Law.", ("x",))
    assert (case.metadata, case.extra) == ({"n": 1}, {})


def test_a_row_with_choices() -> None:
    case = case_of(row("mcq"))

    assert case.choices == (AnswerChoice("A", "Yes"), AnswerChoice("B", "No"))
    assert case.correct_choice_ids == ("B",)


def test_a_criterion_counts_once_by_default_and_keeps_other_fields() -> None:
    """LE-16, LE-21"""
    case = case_of(row("rubric_qa", rubric=[{"id": "a", "title": "t", "category": "x"}]))

    assert case.criteria == (Criterion(id="a", title="t", weight=1.0, extra={"category": "x"}),)


@pytest.mark.parametrize(
    ("messages", "turns", "beside"),
    [
        (None, [("user", PROMPT)], None),
        ([], [("user", PROMPT)], None),
        ([said("user", PROMPT)], [("user", PROMPT)], None),
        (
            [said("system", "Be brief.")],
            [("system", "Be brief."), ("user", PROMPT)],
            None,
        ),
        (
            [said("user", "Hi"), said("assistant", "Hello")],
            [("user", "Hi"), ("assistant", "Hello"), ("user", PROMPT)],
            None,
        ),
        (
            [said("user", PROMPT), said("assistant", "On the first.")],
            [("user", PROMPT), ("assistant", "On the first."), ("user", PROMPT)],
            None,
        ),
        (
            [said("user", "Another question")],
            [("user", "Another question"), ("user", PROMPT)],
            None,
        ),
        ([said("assistant", PROMPT)], [("assistant", PROMPT), ("user", PROMPT)], None),
        (
            [said("user", f"Read this: x.\n\n{PROMPT} ")],
            [("user", f"Read this: x.\n\n{PROMPT} ")],
            PROMPT,
        ),
        ([said("user", f"{PROMPT}\n")], [("user", f"{PROMPT}\n")], PROMPT),
    ],
    ids=str,
)
def test_the_prompt_is_the_last_turn_of_the_conversation(
    messages: JsonValue, turns: list[tuple[str, str]], beside: str | None
) -> None:
    """LE-24, LE-25"""
    case = case_of(row() if messages is None else row(messages=messages))

    assert [(message.role, message.content) for message in case.input_messages] == turns
    assert case.extra.get("prompt") == beside


def test_a_message_keeps_other_fields() -> None:
    """LE-16"""
    case = case_of(row(messages=[{**said("system", "x"), "model": "m"}]))

    assert case.input_messages[0] == Message(role="system", content="x", extra={"model": "m"})
