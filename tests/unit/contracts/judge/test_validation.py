"""A validation in a judge's file: the contract's five fields, and what they rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from fakes.validations import a_validation
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.validation import (
    MOST_FINGERPRINTS,
    validation_row,
    written_validation,
)
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.validation import CanaryTally, Counts, JudgeValidation

FOUND = a_validation(
    judge="judge/short@1.0.0",
    validated_against="labels.jsonl",
    applicable_to=("fees",),
    canaries=CanaryTally(asked=12, passed=3, unscored=0),
)


def written(validation: JudgeValidation, **more: Any) -> Judge:
    """The judge as its file has it, read back."""
    row: JsonObject = {
        "id": "short",
        "version": "1.0.0",
        "template": "{{ output }}",
        "applicable_to": ["fees"],
        "validation": {**validation_row(validation), **more},
    }
    judge, findings = read_judge(parse_yaml(write_yaml(row)))
    assert findings == []
    assert judge
    return judge


def test_the_contracts_five_fields_come_first_and_the_rest_after() -> None:
    row = validation_row(FOUND)

    assert list(row)[:5] == ["tpr", "tnr", "validated_against", "validated_at", "sample_size"]
    assert (row["tpr"], row["tnr"], row["sample_size"]) == (0.9, 0.8, 150)
    assert row["counts"] == {"tp": 90, "fn": 10, "tn": 40, "fp": 10}
    assert row["tpr_interval"] == [0.8256, 0.9448]
    assert (row["exposure"], row["canary_false_pass_rate"]) == ("blind", 0.25)


def test_what_a_file_says_is_read_back() -> None:
    found = written_validation(written(FOUND))

    assert found == replace(FOUND, canaries=CanaryTally())


def test_what_is_unknown_is_left_out() -> None:
    row = validation_row(replace(FOUND, design=None, counts=Counts(tp=3), canaries=CanaryTally()))

    assert {"tnr", "tnr_interval", "design", "canary_false_pass_rate"} & set(row) == set()


@pytest.mark.parametrize(
    ("count", "is_there"), [(MOST_FINGERPRINTS, True), (MOST_FINGERPRINTS + 1, False)]
)
def test_a_file_names_no_more_fingerprints_than_people_read(count: int, is_there: bool) -> None:
    row = validation_row(replace(FOUND, fingerprints=tuple(f"{n:064}" for n in range(count))))

    assert ("fingerprints" in row) is is_there


@pytest.mark.parametrize(
    "more",
    [
        {"fingerprints": "mark"},
        {"rule": 7},
        {"counts": [1, 2, 3, 4]},
        {"counts": {"tp": 1, "fn": 1, "tn": 1}},
        {"counts": {"tp": 1, "fn": 1, "tn": 1, "fp": -1}},
        {"counts": {"tp": 1, "fn": 1, "tn": 1, "fp": True}},
    ],
)
def test_a_file_that_does_not_say_of_which_instrument_says_nothing(more: dict[str, Any]) -> None:
    assert written_validation(written(FOUND, **more)) is None


def test_a_judge_without_a_validation_or_its_time_has_none() -> None:
    judge = written(FOUND)
    assert judge.validation

    assert written_validation(a_judge()) is None
    assert (
        written_validation(replace(judge, validation=replace(judge.validation, validated_at=None)))
        is None
    )


def test_a_design_that_nobody_knows_is_none() -> None:
    found = written_validation(written(FOUND, design="by_mood"))

    assert found
    assert found.design is None
