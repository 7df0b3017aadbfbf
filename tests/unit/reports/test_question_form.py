"""The form that annotators fill in."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.model.finding import error
from steelyard.reports.question_form import FormQuestion, question_form


def question(**fields: Any) -> FormQuestion:
    form = question_form({"questions": [{"key": "a", "label": "A?", **fields}], "scale": "0-5"})
    assert form
    return (*form.trace, *form.turn)[0]


def options(*labels: str) -> list[dict[str, str]]:
    return [{"value": label.lower(), "label": label} for label in labels]


@pytest.mark.parametrize(
    ("fields", "widget", "values"),
    [
        ({"type": "yes_no"}, "joined", ["1", "0"]),
        ({"type": "score"}, "joined", list("012345")),
        ({"type": "score", "scale": "1-3"}, "joined", list("123")),
        ({"type": "score", "scale": {"min": 0, "max": 100}}, "number", []),
        ({"type": "score", "scale": {"min": 0, "max": 10, "step": 5}}, "joined", ["0", "5", "10"]),
        ({"type": "button_group", "options": options("A", "B")}, "joined", ["a", "b"]),
        ({"type": "button_group", "options": options(*"ABCDEFGHIJK")}, "joined", None),
        ({"type": "button_group", "options": options(*"ABCDEFGHIJKL")}, "menu", None),
        ({"type": "score", "scale": {"min": 0, "max": 10}}, "joined", None),
        ({"type": "single_select", "options": options("A", "B")}, "joined", ["a", "b"]),
        ({"type": "single_select", "options": options(*"ABCDEFG")}, "joined", list("abcdefg")),
        ({"type": "single_select", "options": options(*"ABCDEFGH")}, "menu", list("abcdefgh")),
        ({"type": "single_select", "options": options("x" * 40, "y" * 40)}, "list", None),
        ({"type": "multi_select", "options": options("A")}, "pills", ["a"]),
        ({"type": "comment"}, "text", []),
        ({"type": "slider"}, "", []),
        ({"type": "single_select", "options": "none"}, "joined", []),
    ],
)
def test_a_type_has_its_widget_and_its_answers(
    fields: dict[str, Any], widget: str, values: list[str] | None
) -> None:
    found = question(**fields)

    assert found.widget == widget
    if values is not None:
        assert [one.value for one in found.choices] == values


def test_questions_are_numbered_by_scope_and_carry_their_findings() -> None:
    rows: list[Any] = [
        {"key": "a", "label": "A", "type": "yes_no"},
        {"key": "b", "label": "B", "type": "yes_no", "scope": "turn"},
        {"key": "c", "type": "comment", "required": True},
        "not a question",
    ]
    wrong = error("missing_required_field", "missing label", path="questions[2].label")

    form = question_form({"questions": rows}, [wrong, error("x", "y", path="questions[20]")])

    assert form
    assert [(one.number, one.label) for one in form.trace] == [
        (1, "A"),
        (2, "c"),
        (3, "question 3"),
    ]
    assert [one.number for one in form.turn] == [1]
    assert [one.findings for one in form.trace] == [(), (wrong,), ()]
    assert [one.is_judged for one in form.trace] == [True, False, False]


def test_dimensions_are_scores_from_0_to_5() -> None:
    form = question_form({"dimensions": ["Tone"], "scale": "1-3"})

    assert form
    assert [one.value for one in form.trace[0].choices] == list("012345")


@pytest.mark.parametrize("row", [{}, {"questions": []}, {"questions": "none"}])
def test_without_questions_there_is_no_form(row: dict[str, Any]) -> None:
    assert question_form(row) is None
