"""A validation in a judge's file: the contract's five fields, and what they rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from fakes.validations import a_validation, an_item
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.validation import (
    MOST_FINGERPRINTS,
    FileClaim,
    file_claim,
    validation_row,
)
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.statistics.validation import CanaryTally, Counts, JudgeValidation

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
    found = file_claim(written(FOUND))

    assert found == FileClaim(FOUND.validated_at, 150, FOUND.fingerprints, FOUND.rule)


def test_rates_are_those_that_everything_else_uses() -> None:
    items = tuple(
        an_item(n, is_passed=n % 2 == 0, inclusion_prob=0.2 if n % 2 else 0.8) for n in range(10)
    )

    assert validation_row(replace(FOUND, items=items))["tpr"] == 0.2


def test_what_the_author_wrote_beside_it_stays() -> None:
    row = validation_row(FOUND, {"notes": "by the desk", "tpr": 0.1, "design": "random", "x-a": 1})

    assert (row["notes"], row["x-a"], row["tpr"]) == ("by the desk", 1, 0.9)
    assert list(row)[-2:] == ["notes", "x-a"]


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
    ("more", "is_about"),
    [
        ({}, True),
        ({"fingerprints": ["mark", "other"]}, True),
        ({"fingerprints": "none that can be read"}, True),
        ({"fingerprints": ["other"]}, False),
        ({"rule": "llm_judge at 0.5"}, False),
        ({"fingerprints": None, "rule": None}, True),
    ],
)
def test_a_file_is_taken_at_its_word_about_what_was_validated(
    more: dict[str, Any], is_about: bool
) -> None:
    claim = file_claim(written(FOUND, **more))

    assert claim
    assert claim.is_about(["mark"], FOUND.rule) is is_about


def test_a_judge_without_a_validation_or_its_time_claims_nothing() -> None:
    judge = written(FOUND)
    assert judge.validation

    assert file_claim(a_judge()) is None
    timeless = replace(judge, validation=replace(judge.validation, validated_at=None))
    assert file_claim(timeless) is None
