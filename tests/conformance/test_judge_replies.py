"""Replies of real judges, as they were filed; none was asked in our form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.scripted_judges import a_judge, said
from steelyard.judging.ladder import read_reply
from steelyard.judging.questions_asked import AnswerField, FieldAnswer
from steelyard.judging.score_types import score_field

GRADE = AnswerField(key="met", values=(0, 1), labels={0: "no", 1: "yes"})
SCORE = score_field(a_judge())


@pytest.fixture
def replies(conformance: Path) -> list[dict[str, Any]]:
    path = conformance / "legal" / "real_model_outputs.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["stage"] == "judge"]


def read(replies: list[dict[str, Any]], shape: str, field: AnswerField) -> list[FieldAnswer]:
    texts = [row["text"] for row in replies if row["shape"] == shape]
    return [read_reply(said(text), (field,)).answers[field.key] for text in texts]


def test_verdicts_on_a_criterion_are_read(replies: list[dict[str, Any]]) -> None:
    found = read(replies, "criterion", GRADE)

    assert [answer.value for answer in found] == [0, 0, 1]
    assert {answer.rung for answer in found} == {"coerced"}
    assert all(answer.reasoning.startswith("The criterion") for answer in found)


def test_verdicts_beside_a_reference_are_read(replies: list[dict[str, Any]]) -> None:
    found = read(replies, "reference", SCORE)

    assert [answer.value for answer in found] == [0.4, 0.4, 0.95]
    assert all(len(answer.reasoning) > 100 for answer in found)


def test_a_verdict_that_breaks_off_is_none(replies: list[dict[str, Any]]) -> None:
    found = [*read(replies, "truncated_unparseable", GRADE)]

    assert len(found) == 3
    assert {(answer.value, answer.reason) for answer in found} == {(None, "truncated")}


def test_every_reply_of_a_judge_is_looked_at(replies: list[dict[str, Any]]) -> None:
    shapes = {row["shape"] for row in replies}

    assert shapes == {"criterion", "reference", "truncated_unparseable"}
    assert len(replies) == 9
