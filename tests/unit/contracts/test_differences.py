"""What differs between two versions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.definitions import fixed_bytes
from steelyard.contracts.differences import definition_differences, record_differences
from steelyard.model.json_value import JsonObject
from strategies.json_values import TEXTS, VALUES

RUBRIC: JsonObject = {
    "id": "basic",
    "version": "1.0.0",
    "description": "Says it right.",
    "checks": [
        {"id": "right", "kind": "equals", "weight": 2},
        {"id": "short", "kind": "format", "max_chars": 80, "description": "For phones."},
    ],
    "scoring": {"combine": "weighted_avg", "pass_threshold": 0.7},
    "owner": "desk",
}
QUESTIONS: JsonObject = {
    "name": "Quality",
    "version": "q-v1",
    "status": "draft",
    "scale": "0-5",
    "questions": [
        {"key": "good", "label": "Good?", "type": "yes_no"},
        {"key": "tone", "label": "Tone", "type": "score"},
    ],
}
JUDGE: JsonObject = {
    "id": "tone",
    "version": "1.0.0",
    "template": "Is it kind?\n{{ output }}",
    "score_type": "binary",
    "applicable_to": ["rag"],
}
RIGHT: JsonObject = {"id": "right", "kind": "equals", "weight": 2}
SHORT: JsonObject = {
    "id": "short",
    "kind": "format",
    "max_chars": 80,
    "description": "For phones.",
}
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)
CLEAN: JsonObject = {"id": "clean", "kind": "is_json"}


def told(old: JsonObject, change: JsonObject, contract: str) -> list[tuple[str, str, bool]]:
    new = {name: value for name, value in {**old, **change}.items() if value != "gone"}
    found = definition_differences(old, new, contract)
    return [(one.kind, one.path, one.is_breaking) for one in found]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"version": "1.1.0"}, [("changed", "version", False)]),
        ({"description": "x"}, [("changed", "description", False)]),
        ({"owner": "gone"}, [("removed", "owner", False)]),
        ({"notes": 1}, [("added", "notes", False)]),
        (
            {"scoring": {"combine": "min", "pass_threshold": 0.7}},
            [("changed", "scoring.combine", True)],
        ),
        (
            {"scoring": {"combine": "weighted_avg"}},
            [("removed", "scoring.pass_threshold", True)],
        ),
        ({"checks": [RIGHT]}, [("removed", "checks.short", True)]),
        ({"checks": [RIGHT, SHORT, CLEAN]}, [("added", "checks.clean", True)]),
        (
            {"checks": [{**RIGHT, "weight": 1}, SHORT]},
            [("changed", "checks.right.weight", True)],
        ),
        (
            {"checks": [RIGHT, {**SHORT, "description": "x"}]},
            [("changed", "checks.short.description", False)],
        ),
        ({"checks": [SHORT, RIGHT]}, [("changed", "checks (order)", False)]),
        ({"checks": [RIGHT, RIGHT]}, [("changed", "checks", True)]),
        ({"checks": "none"}, [("changed", "checks", True)]),
    ],
)
def test_a_check_rubric_differs_where_it_checks_counts_or_describes(
    change: Any, expected: list[tuple[str, str, bool]]
) -> None:
    assert told(RUBRIC, change, "check_rubric") == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "x", "status": "published"}, [("name", False), ("status", False)]),
        ({"scale": "0-10"}, [("scale", True)]),
        ({"guidance": ["Be fair."]}, [("guidance", True)]),
        ({"scoring": {"good": 2}}, [("scoring", True)]),
        ({"questions": []}, [("questions.good", True), ("questions.tone", True)]),
    ],
)
def test_a_question_rubric_differs_where_it_asks_or_describes(
    change: Any, expected: list[tuple[str, bool]]
) -> None:
    found = told(QUESTIONS, change, "question_rubric")

    assert [(path, is_breaking) for _, path, is_breaking in found] == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"template": "{{ output }}"}, [("template", True)]),
        ({"score_type": "continuous"}, [("score_type", True)]),
        ({"level_names": ["bad", "good"]}, [("level_names", True)]),
        ({"applicable_to": ["agent"], "validation": {"tpr": 1}}, [
            ("applicable_to", False),
            ("validation", False),
        ]),
    ],
)  # fmt: skip
def test_a_judge_differs_where_it_asks_or_was_validated(
    change: Any, expected: list[tuple[str, bool]]
) -> None:
    found = told(JUDGE, change, "judge")

    assert [(path, is_breaking) for _, path, is_breaking in found] == expected


def test_a_check_may_be_called_like_a_field_for_people() -> None:
    old: JsonObject = {"checks": [{"id": "description", "kind": "equals"}]}
    new: JsonObject = {"checks": [{"id": "description", "kind": "is_json"}]}
    found = definition_differences(old, new, "check_rubric")

    assert [(one.path, one.is_breaking) for one in found] == [("checks.description.kind", True)]


def test_true_is_not_one_and_one_is_one() -> None:
    assert record_differences({"a": [True]}, {"a": [1]}, "r") != ()
    assert definition_differences({"checks": 1}, {"checks": 1.0}, "check_rubric") == ()


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}}, ["records.x.b.c"]),
        ("a", "b", ["records.x"]),
        ({"a": 1}, None, ["records.x"]),
    ],
)
def test_every_field_of_a_record_counts(old: Any, new: Any, paths: list[str]) -> None:
    found = record_differences(old, new, "records.x")

    assert [one.path for one in found] == paths
    assert all(one.is_breaking for one in found)


@given(OBJECTS)
def test_nothing_differs_from_itself(value: JsonObject) -> None:
    assert definition_differences(value, value, "check_rubric") == ()


@given(OBJECTS, OBJECTS)
def test_what_is_not_the_same_differs_somewhere(old: JsonObject, new: JsonObject) -> None:
    found = definition_differences(old, new, "judge")

    assert bool(found) == (fixed_bytes(old, "check_rubric") != fixed_bytes(new, "check_rubric"))
