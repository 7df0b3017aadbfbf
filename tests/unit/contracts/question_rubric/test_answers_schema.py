"""The schema that a judge is asked to follow, and how it agrees with the check."""

from __future__ import annotations

from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steelyard.contracts.question_rubric.answer_forms import MOST_SCORES
from steelyard.contracts.question_rubric.answers import By, read_answers
from steelyard.contracts.question_rubric.answers_schema import answers_schema
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import QuestionRubric
from strategies.question_rubrics import odd_answers, question, rubric, rubrics, sound

RUBRIC = sound(
    rubric(
        question("score", key="tone", required=True, guidance="5 = warm."),
        question("yes_no", key="relevant"),
        question("multi_select", key="tags", scope="turn", answeredByAuto=False, required=True),
        question("button_group", key="verdict", scope="turn", required=True),
        question("comment", key="note", required=True),
        name="Help desk",
        guidance=["Be fair.", "Be quick."],
    )
)


def parts(by: By, turns: int | None = None) -> tuple[Any, Any]:
    made = cast(Any, answers_schema(RUBRIC, by=by, turns=turns))
    return made["properties"]["trace"], made["properties"]["turns"]


def score(scale: JsonValue) -> JsonObject:
    """The schema of one score, without its title."""
    made = cast(Any, answers_schema(sound(rubric(question("score", scale=scale)))))
    asked = made["properties"]["trace"]["properties"]["q"]
    return {name: value for name, value in asked.items() if name != "title"}


def is_exact(made: QuestionRubric) -> bool:
    """Whether a schema can state every scale of a rubric."""
    scales = [one.scale for one in made.questions if one.scale]
    return all(len(one.values) <= MOST_SCORES or one.min % one.step == 0 for one in scales)


def accepts(schema: JsonObject, value: JsonValue) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


def test_a_judge_is_asked_what_judges_answer() -> None:
    """QR-31"""
    trace, turns = parts("judge", 1)

    assert list(trace["properties"]) == ["tone", "relevant"]
    assert trace["required"] == ["tone"]
    assert list(turns["properties"]["turn_1"]["properties"]) == ["verdict"]
    assert turns["properties"]["turn_1"]["required"] == ["verdict"]


def test_a_person_is_asked_everything() -> None:
    """QR-31"""
    trace, turns = parts("person", 2)

    assert list(trace["properties"]) == ["tone", "relevant", "note"]
    assert trace["required"] == ["tone", "note"]
    assert trace["properties"]["note"]["pattern"] == r"\S"
    assert list(turns["properties"]) == turns["required"] == ["turn_1", "turn_2"]
    assert turns["properties"]["turn_2"]["required"] == ["tags", "verdict"]


def test_questions_are_explained_to_the_judge() -> None:
    trace, turns = parts("judge", 1)
    made = answers_schema(RUBRIC)

    assert made["title"] == "Answers to Help desk"
    assert made["description"] == "Be fair. Be quick."
    assert trace["properties"]["tone"]["title"] == "Is it good?"
    assert trace["properties"]["tone"]["description"] == "5 = warm."
    assert trace["properties"]["relevant"]["description"] == "1 = yes, 0 = no."
    verdict = turns["properties"]["turn_1"]["properties"]["verdict"]
    assert verdict["description"] == "Options: a = First; b = Second."


def test_a_schema_for_any_number_of_turns_goes_by_their_form() -> None:
    schema = answers_schema(RUBRIC)
    trace: JsonObject = {"tone": 1}

    assert accepts(schema, {"trace": trace, "turns": {"turn_99": {"verdict": "a"}}})
    assert accepts(schema, {"trace": trace})
    assert not accepts(schema, {"trace": trace, "turns": {"turn_99": {}}})
    assert not accepts(schema, {"trace": trace, "turns": {"turn_0": {"verdict": "a"}}})


@pytest.mark.parametrize(
    ("scale", "form"),
    [
        ("0-2", {"type": "integer", "enum": [0, 1, 2]}),
        ({"min": -4, "max": 4, "step": 4}, {"type": "integer", "enum": [-4, 0, 4]}),
        ("0-50", {"type": "integer", "enum": list(range(51))}),
        ("0-51", {"type": "integer", "minimum": 0, "maximum": 51}),
        (
            {"min": -10, "max": 990, "step": 10},
            {"type": "integer", "minimum": -10, "maximum": 990, "multipleOf": 10},
        ),
        (
            {"min": 5, "max": 1005, "step": 10},
            {"type": "integer", "minimum": 5, "maximum": 1005},
        ),
    ],
)
def test_scores_are_listed_or_else_bounded(scale: JsonValue, form: JsonObject) -> None:
    """QR-31"""
    assert score(scale) == form


@given(rubrics, st.sampled_from(["person", "judge"]), st.none() | st.integers(0, 2))
def test_the_schema_is_one_of_draft_2020_12(
    made: QuestionRubric, by: By, turns: int | None
) -> None:
    assert jsonschema_rs.meta.is_valid(answers_schema(made, by=by, turns=turns))


@given(st.data(), rubrics, st.integers(0, 2))
def test_for_a_person_the_schema_and_the_check_agree(
    data: st.DataObject, made: QuestionRubric, turns: int
) -> None:
    """QR-31"""
    value = data.draw(odd_answers(made, turns))
    is_right = read_answers(value, made, turns=turns)[1] == []
    is_valid = accepts(answers_schema(made, by="person", turns=turns), value)

    assert is_valid if is_right else (not is_valid or not is_exact(made))


@given(st.data(), rubrics, st.integers(0, 2))
def test_for_a_judge_they_agree_on_all_but_comments(
    data: st.DataObject, made: QuestionRubric, turns: int
) -> None:
    """QR-31"""
    asked = tuple(one for one in made.questions if one.type != "comment")
    assume(asked)
    plain = QuestionRubric(name=made.name, version=made.version, questions=asked)
    value = data.draw(odd_answers(plain, turns))
    is_right = read_answers(value, made, turns=turns, by="judge")[1] == []
    is_valid = accepts(answers_schema(made, by="judge", turns=turns), value)

    assert is_valid if is_right else (not is_valid or not is_exact(made))
