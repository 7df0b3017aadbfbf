# pyright: basic
"""Labels are read with everything that is wrong with them, and written as they were."""

from __future__ import annotations

import io
import json

import pytest

from steelyard.contracts.labels.reader import jsonl_labels, read_labels
from steelyard.contracts.labels.writer import label_row
from steelyard.contracts.question_rubric.answers import answers_row, read_answers
from steelyard.model.question import Question, QuestionRubric

ROW = {"record_id": "r1", "rubric": "rubric/desk-v1", "annotator": "mo", "exposure": "blind"}
RUBRIC = QuestionRubric(
    name="Desk",
    version="desk-v1",
    questions=(Question(key="good", label="Good?", type="yes_no", answered_by_auto=True),),
)


def read(*rows, turns=1):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    stream = io.BytesIO("\n".join(lines).encode())
    return list(
        read_labels(
            jsonl_labels(stream), lambda _label, value: read_answers(value, RUBRIC, turns=turns)
        )
    )


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "passed": True},
        {**ROW, "passed": False, "run_id": "run_1", "inclusion_prob": 0.25},
        {**ROW, "passed": False, "run_id": "run_1", "repeat": 2},
        {**ROW, "answers": {"trace": {"good": 1}, "turns": {}}},
        {**ROW, "answers": {"trace": {}, "turns": {}}, "passed": True, "minutes": 3},
    ],
)
def test_a_label_is_written_as_it_was_read(row):
    (found,) = read(row)
    assert not found.findings
    assert found.label is not None
    answers = found.label.answers
    assert label_row(found.label, answers_row(answers) if answers else None) == row


@pytest.mark.parametrize(
    ("row", "code", "path"),
    [
        (ROW, "missing_required_field", "answers"),
        ({**ROW, "passed": 1}, "invalid_field_type", "passed"),
        ({**ROW, "passed": True, "exposure": "open"}, "invalid_enum_value", "exposure"),
        ({**ROW, "passed": True, "inclusion_prob": 0}, "value_out_of_range", "inclusion_prob"),
        ({**ROW, "passed": True, "repeat": -1}, "value_out_of_range", "repeat"),
        ({**ROW, "passed": True, "inclusion_prob": 1.5}, "value_out_of_range", "inclusion_prob"),
        ({**ROW, "passed": True, "annotator": ""}, "value_out_of_range", "annotator"),
        ({**ROW, "answers": {"trace": {"good": 2}}}, "value_out_of_range", "answers.trace.good"),
        ({**ROW, "answers": {"trace": {"god": 1}}}, "unsupported_field", "answers.trace.god"),
        (
            {**ROW, "answers": {"turns": {"turn_2": {}}}},
            "value_out_of_range",
            "answers.turns.turn_2",
        ),
        ([], "invalid_field_type", ""),
        ("{", "invalid_json", ""),
    ],
)
def test_a_wrong_label_is_refused_with_its_place(row, code, path):
    _, found = read({**ROW, "passed": True}, row)
    assert found.label is None
    finding = found.findings[0]
    assert (finding.code, finding.path or "") == (code, path)
    assert (finding.line, finding.index) == (2, 1)


def test_a_misspelt_field_is_a_warning():
    (found,) = read({**ROW, "passed": True, "inclusion_prop": 0.5})
    assert found.label is not None
    assert [(one.severity, one.hint) for one in found.findings] == [
        ("warning", "did you mean 'inclusion_prob'?")
    ]


def test_only_blind_labels_are_blind():
    blind, seen = read({**ROW, "passed": True}, {**ROW, "passed": True, "exposure": "suggested"})
    assert blind.label is not None
    assert seen.label is not None
    assert (blind.label.is_blind, seen.label.is_blind) == (True, False)
