"""What people write into cells, as the answers that are stored."""

from __future__ import annotations

import pytest

from steelyard.model.question import Option, Question, QuestionRubric, Scale
from steelyard.review.sheet_cells import cell_answers, passed_value

OPTIONS = (Option(value="tool_error", label="Tool error"), Option(value="none", label="None, ok"))
RUBRIC = QuestionRubric(
    name="Desk",
    version="desk-v1",
    questions=(
        Question(key="right", label="Right?", type="yes_no", answered_by_auto=True),
        Question(
            key="score", label="S", type="score", scale=Scale(min=0, max=5), answered_by_auto=True
        ),
        Question(
            key="kind", label="K", type="single_select", options=OPTIONS, answered_by_auto=True
        ),
        Question(
            key="tags", label="T", type="multi_select", options=OPTIONS, answered_by_auto=True
        ),
        Question(key="answer", label="A", type="comment", answered_by_auto=False),
        Question(key="fine", label="F", type="yes_no", scope="turn", answered_by_auto=True),
    ),
)


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        ("right", "Yes", 1),
        ("right", " n ", 0),
        ("right", "FALSE", 0),
        ("right", "perhaps", "perhaps"),
        ("score", "4", 4),
        ("score", "4.0", 4),
        ("score", "4.5", "4.5"),
        ("kind", "Tool Error", "tool_error"),
        ("kind", "tool_error", "tool_error"),
        ("kind", "broken", "broken"),
        ("tags", "Tool error; none", ["tool_error", "none"]),
        ("tags", "None, ok", ["none"]),
        ("trace.right", "1", 1),
        ("trace.answer", " as it is ", " as it is "),
    ],
)
def test_a_cell_is_read_as_its_question_asks(column: str, cell: str, value: object) -> None:
    key = column.removeprefix("trace.")

    assert cell_answers({column: cell}, RUBRIC) == {"trace": {key: value}}


def test_turns_have_columns_of_their_own_and_empty_cells_are_no_answers() -> None:
    cells = {"right": "", "turn_2.fine": "no", "turn_3.fine": " ", "turn_1.right": "yes"}

    assert cell_answers(cells, RUBRIC) == {"trace": {}, "turns": {"turn_2": {"fine": 0}}}


def test_a_question_called_like_another_column_needs_its_prefix() -> None:
    assert cell_answers({"answer": "what the model said"}, RUBRIC) == {"trace": {}}


@pytest.mark.parametrize(
    ("cell", "value"),
    [("yes", True), ("Pass", True), ("0", False), ("BAD", False), ("maybe", "maybe")],
)
def test_a_pass_is_written_in_many_ways(cell: str, value: object) -> None:
    assert passed_value(cell) == value


@pytest.mark.parametrize(
    ("cell", "value"),
    [("WAHR", True), ("FALSCH", False), ("Ja", True), ("oui", True), ("non", False)],
)
def test_truth_is_read_as_spreadsheets_of_other_languages_write_it(cell: str, value: bool) -> None:
    assert passed_value(cell) is value
