"""Every type of question has its entry in the table of each package."""

from __future__ import annotations

from typing import Any, get_args

from steelyard.contracts.question_rubric.answer_readers import ANSWER_READERS
from steelyard.contracts.schemas import load_schema
from steelyard.judging.question_types import JUDGED_TYPES
from steelyard.model.question_types import QUESTION_TYPES, QuestionType
from steelyard.model.statistics.agreement import PASSED
from steelyard.review.question_types import COMPARED_TYPES

TYPES = list(QUESTION_TYPES.values())
ASKED_OF_JUDGES = {one.name for one in TYPES if not one.is_free_text}


def test_the_names_of_the_types_are_those_that_are_declared() -> None:
    assert list(QUESTION_TYPES) == list(get_args(QuestionType))


def test_answers_of_every_type_are_read() -> None:
    assert set(ANSWER_READERS) == set(QUESTION_TYPES)


def test_judges_are_asked_every_type_but_free_text() -> None:
    assert set(JUDGED_TYPES) == ASKED_OF_JUDGES
    valued = {name for name, one in JUDGED_TYPES.items() if one.worth}
    assert valued == {one.name for one in TYPES if one.has_value}


def test_answers_of_every_type_but_free_text_are_compared() -> None:
    assert set(COMPARED_TYPES) == {*ASKED_OF_JUDGES, PASSED}


def test_the_schema_of_a_rubric_states_the_same_types() -> None:
    question: Any = load_schema("question_rubric")["$defs"]
    question = question["question"]
    stated = [rule["if"]["properties"]["type"]["enum"] for rule in question["allOf"]]

    assert question["properties"]["type"]["enum"] == list(QUESTION_TYPES)
    assert stated == [
        [one.name for one in TYPES if one.is_free_text],
        [one.name for one in TYPES if not one.is_free_text],
        [one.name for one in TYPES if one.needs == "scale"],
        [one.name for one in TYPES if one.needs == "options"],
    ]
