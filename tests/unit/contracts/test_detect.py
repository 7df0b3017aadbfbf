"""Which contract a file follows."""

from __future__ import annotations

import pytest

from fakes.contracts import CONTRACTS
from steelyard.contracts import detect
from steelyard.contracts.catalog import KINDS
from steelyard.contracts.contract import Contract
from steelyard.contracts.eval_cases.contract import EVAL_CASES
from steelyard.model.json_value import JsonObject, JsonValue

EVERYWHERE = (".json", ".yaml", ".yml")
YAML = (".yaml", ".yml")


def detect_document(top: JsonObject, extension: str, folder: str = "") -> str | None:
    return named(detect.detect_document(CONTRACTS, top, extension, folder))


def of_kind(kind: str, detected: str | None, extension: str) -> str | None:
    found = CONTRACTS[detected] if detected else None
    return named(detect.of_kind(CONTRACTS, kind, found, extension))


def named(contract: Contract | None) -> str | None:
    return contract.name if contract else None


@pytest.mark.parametrize(
    ("row", "contract"),
    [
        ({"schema_version": "legal_eval_v1"}, "legal_eval"),
        ({"task_type": "mcq"}, "legal_eval"),
        ({"id": "a", "taskType": "mcq"}, "legal_eval"),
        ({"id": "a", "schema_versoin": "1"}, "legal_eval"),
        ({"id": "a", "input": "?"}, "eval_cases"),
        ({"records": []}, "eval_cases"),
        ({}, "eval_cases"),
        ([], "eval_cases"),
        ("text", "eval_cases"),
        (None, "eval_cases"),
    ],
)
def test_a_jsonl_file_is_told_by_its_first_row(row: JsonValue, contract: str) -> None:
    found = detect.detect_jsonl(CONTRACTS, row) or CONTRACTS.default(".jsonl")

    assert found.name == contract


@pytest.mark.parametrize(
    ("top", "extensions", "contract"),
    [
        ({"records": None}, EVERYWHERE, "dataset_document"),
        ({"dataset_id": None}, EVERYWHERE, "dataset_document"),
        ({"evalcases": []}, YAML, "eval_cases"),
        ({"eval_cases": []}, YAML, "eval_cases"),
        ({"cases": []}, YAML, "eval_cases"),
        ({"tests": []}, YAML, "eval_cases"),
        ({"questions": [{"input": "?"}]}, EVERYWHERE, "question_set"),
        ({"questions": [{"key": "k"}]}, EVERYWHERE, "question_rubric"),
        ({"dimensions": []}, EVERYWHERE, "question_rubric"),
        ({"checks": []}, EVERYWHERE, "check_rubric"),
        ({"template": "?"}, EVERYWHERE, "judge"),
        ({"evals": []}, EVERYWHERE, "evals_json"),
        ({}, EVERYWHERE, None),
        ({"name": "x", "version": "1"}, EVERYWHERE, None),
    ],
)
def test_a_document_is_told_by_its_top_level_keys(
    top: JsonObject, extensions: tuple[str, ...], contract: str | None
) -> None:
    assert {detect_document(top, extension) for extension in extensions} == {contract}


@pytest.mark.parametrize("key", ["evalcases", "eval_cases", "cases", "tests"])
def test_cases_in_a_json_file_are_no_eval_cases(key: str) -> None:
    assert detect_document({key: []}, ".json") is None


@pytest.mark.parametrize(
    ("top", "contract"),
    [
        ({"record": []}, "dataset_document"),
        ({"datasetId": "d"}, "dataset_document"),
        ({"evalCases": []}, "eval_cases"),
        ({"eval-cases": []}, "eval_cases"),
        ({"test": []}, "eval_cases"),
        ({"question": [{"inputs": "?"}]}, "question_set"),
        ({"Questions": [{"keys": "k"}]}, "question_rubric"),
        ({"dimension": []}, "question_rubric"),
        ({"check": []}, "check_rubric"),
        ({"tempalte": "?"}, "judge"),
        ({"eval": []}, "evals_json"),
        ({"rcrds": []}, "dataset_document"),
        ({"recs": []}, None),
    ],
)
def test_a_near_miss_counts_as_the_key_it_was_meant_to_be(
    top: JsonObject, contract: str | None
) -> None:
    assert detect_document(top, ".yaml") == contract


@pytest.mark.parametrize(
    ("top", "contract"),
    [
        ({"template": "?", "records": []}, "dataset_document"),
        ({"checks": [], "tests": []}, "eval_cases"),
        ({"record": [], "template": "?"}, "judge"),
        ({"questions": [], "dimensions": []}, "question_rubric"),
        ({"questions": [], "checks": []}, "check_rubric"),
    ],
)
def test_the_earlier_row_of_the_table_wins_and_an_exact_key_before_a_near_one(
    top: JsonObject, contract: str
) -> None:
    assert detect_document(top, ".yaml") == contract


@pytest.mark.parametrize(
    ("items", "contract"),
    [
        ([{"text": "?"}, {"input": "?"}], "question_set"),
        ([7, None, {"key": "k"}], "question_rubric"),
        ([{"key": "k"}, {"input": "?"}], "question_set"),
        ([{"text": "?"}], None),
        ([], "question_set"),
        ({"input": "?"}, None),
        (None, None),
    ],
)
def test_questions_are_decided_by_any_item(items: JsonValue, contract: str | None) -> None:
    assert detect_document({"questions": items}, ".json") == contract


@pytest.mark.parametrize(
    ("top", "contract"),
    [
        ({"name": "Quality", "version": "v-1", "questions": []}, "question_rubric"),
        ({"scale": "0-5", "questions": None}, "question_rubric"),
        ({"guidance": ["?"], "questions": {}}, "question_rubric"),
        ({"version": "v-1", "questions": []}, "question_set"),
        ({"name": "Quality", "questions": []}, "question_set"),
        ({"name": "Quality", "version": "1", "id": "set", "questions": []}, "question_set"),
        ({"name": "Quality", "version": "1", "questions": [{"text": "?"}]}, None),
        ({"name": "Quality", "status": "draft"}, None),
    ],
)
def test_a_rubric_that_asks_nothing_is_known_by_its_other_keys(
    top: JsonObject, contract: str | None
) -> None:
    assert detect_document(top, ".json") == contract


@pytest.mark.parametrize(
    ("folder", "top", "contract"),
    [
        ("rubrics", {"name": "Quality", "version": "v-1"}, "question_rubric"),
        ("rubrics", {"status": "draft"}, "question_rubric"),
        ("rubrics", {"name": "Quality", "version": "1.0", "id": "a"}, "check_rubric"),
        ("rubrics", {"name": "Quality"}, "check_rubric"),
        ("rubrics", {"version": "1.0.0"}, "check_rubric"),
        ("rubrics", {"name": "Quality", "checks": []}, "check_rubric"),
        ("rubrics", {}, "check_rubric"),
        ("rubrics", {"records": []}, "check_rubric"),
        ("rubrics", {"questions": [{"key": "k"}]}, "question_rubric"),
        ("rubrics", {"questions": []}, "question_rubric"),
        ("rubrics", {"question": [{"label": "?"}]}, "question_rubric"),
        ("rubrics", {"checks": []}, "check_rubric"),
        ("judges", {}, "judge"),
        ("judges", {"checks": []}, "judge"),
        ("datasets", {"template": "?"}, "judge"),
        ("datasets", {}, None),
    ],
)
def test_files_under_rubrics_and_judges_are_of_that_kind(
    folder: str, top: JsonObject, contract: str | None
) -> None:
    assert detect_document(top, ".yaml", folder) == contract


@pytest.mark.parametrize(
    ("names", "holds"),
    [
        (["tests"], True),
        (["description", "evalcases"], True),
        (["eval_case"], True),
        (["dataset", "execution"], False),
        ([], False),
    ],
)
def test_a_yaml_file_with_cases_is_no_sidecar(names: list[str], holds: bool) -> None:
    assert detect.has_any(names, EVAL_CASES.keys) is holds


@pytest.mark.parametrize("contract", CONTRACTS.names)
def test_an_exact_name_settles_the_contract(contract: str) -> None:
    assert of_kind(contract, "eval_cases", ".json") == contract


@pytest.mark.parametrize(
    ("kind", "detected", "extension", "contract"),
    [
        ("dataset", "question_set", ".json", "question_set"),
        ("dataset", "check_rubric", ".json", "dataset_document"),
        ("dataset", None, ".json", "dataset_document"),
        ("dataset", None, ".yaml", "eval_cases"),
        ("dataset", None, ".jsonl", "eval_cases"),
        ("dataset", "legal_eval", ".jsonl", "legal_eval"),
        ("rubric", "question_rubric", ".json", "question_rubric"),
        ("rubric", "dataset_document", ".json", "check_rubric"),
        ("rubric", None, ".yaml", "check_rubric"),
        ("judge", None, ".yaml", "judge"),
    ],
)
def test_a_family_keeps_what_fits_and_names_its_usual_member_otherwise(
    kind: str, detected: str | None, extension: str, contract: str
) -> None:
    assert of_kind(kind, detected, extension) == contract


def test_every_contract_belongs_to_one_family() -> None:
    assert {contract.kind for contract in CONTRACTS.all} == set(KINDS)
    assert len(CONTRACTS.names) == len(set(CONTRACTS.names)) == len(CONTRACTS.all)
