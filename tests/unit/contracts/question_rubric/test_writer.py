"""What was read is written back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from steelyard.contracts.question_rubric.writer import rubric_row
from steelyard.formats.encoding import without_bom
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Question, QuestionRubric, Scale
from strategies.question_rubrics import HEAD, question, read, rubric, rubrics, sound

VALID = sorted(
    (Path(__file__).parents[3] / "corpus" / "question_rubric" / "valid").iterdir(),
)


@given(rubrics)
def test_a_rubric_comes_back_from_json(made: QuestionRubric) -> None:
    """QR-19"""
    assert sound(rubric_row(made)) == made


@given(rubrics)
def test_a_rubric_comes_back_from_yaml(made: QuestionRubric) -> None:
    """QR-18, QR-19"""
    assert sound(parse_yaml(write_yaml(rubric_row(made))).value) == made


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_rubric_of_the_corpus_comes_back(path: Path) -> None:
    """QR-19"""
    made = sound(parse_yaml(without_bom(path.read_bytes())).value)

    assert sound(rubric_row(made)) == made
    assert sound(parse_yaml(write_yaml(rubric_row(made))).value) == made


def test_the_fields_stand_in_the_usual_order_and_defaults_are_left_out() -> None:
    made = QuestionRubric(
        name="Help desk",
        version="helpdesk",
        scale=Scale(min=0, max=5),
        questions=(
            Question(
                key="a",
                label="A",
                type="score",
                answered_by_auto=True,
                scale=Scale(min=0, max=5),
            ),
            Question(
                key="b",
                label="B",
                type="score",
                required=True,
                answered_by_auto=False,
                scale=Scale(min=0, max=4, step=2),
            ),
            Question(key="c", label="C", type="comment", scope="turn", answered_by_auto=False),
        ),
    )

    assert write_yaml(rubric_row(made)).decode() == (
        "name: Help desk\n"
        "version: helpdesk\n"
        "status: draft\n"
        "scale: 0-5\n"
        "questions:\n"
        "- key: a\n"
        "  label: A\n"
        "  type: score\n"
        "  scope: trace\n"
        "- key: b\n"
        "  label: B\n"
        "  type: score\n"
        "  scope: trace\n"
        "  required: true\n"
        "  scale:\n"
        "    min: 0\n"
        "    max: 4\n"
        "    step: 2\n"
        "  answeredByAuto: false\n"
        "- key: c\n"
        "  label: C\n"
        "  type: comment\n"
        "  scope: turn\n"
        "  answeredByAuto: false\n"
    )


@pytest.mark.parametrize(
    "value",
    [
        rubric(question(scale="0-5")),
        rubric(question("comment", options=[{"value": "a"}])),
        rubric(question("score", options=None)),
        rubric(dimensions=["Tone"]),
    ],
)
def test_a_field_without_an_effect_comes_back_with_its_warning(value: JsonValue) -> None:
    """QR-11, QR-14, QR-19"""
    made, warnings = read(value)
    assert made

    assert warnings
    assert read(rubric_row(made)) == (made, warnings)


def test_dimensions_are_written_as_questions() -> None:
    """QR-19"""
    made = sound({**HEAD, "dimensions": ["Tone of voice"]})

    assert rubric_row(made)["questions"] == [
        {
            "key": "tone_of_voice",
            "label": "Tone of voice",
            "type": "score",
            "scope": "trace",
            "scale": "0-5",
        }
    ]
    assert sound(rubric_row(made)) == made


@pytest.mark.parametrize(
    "scoring", [{}, {"questions": {"q": -1}}, {"pass_threshold": 0.5}, {"questions": {"q": 2.5}}]
)
def test_a_scoring_comes_back(scoring: JsonObject) -> None:
    """QR-19"""
    made = sound(rubric(scoring=scoring))
    written = rubric_row(made)

    assert written["scoring"] == scoring
    assert sound(written) == made
