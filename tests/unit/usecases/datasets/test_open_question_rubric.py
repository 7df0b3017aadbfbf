"""Opening a question rubric, as JSON and as YAML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import Opened, open_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from strategies.question_rubrics import question, rubric

GOOD = rubric()
WRONG = rubric(question(key="A"), version="X", dimensions=["x"])


def written(value: JsonObject, extension: str) -> bytes:
    return json.dumps(value).encode() if extension == ".json" else write_yaml(value)


def opened(folder: Path, name: str, data: bytes, kind: str | None = None) -> Opened:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return open_dataset(DiskWorkspace(folder), path, kind)


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml", "rubrics/helpdesk-v1.json"])
def test_a_question_rubric_is_one_thing(tmp_path: Path, name: str) -> None:
    """QR-18"""
    found = opened(tmp_path, name, written(GOOD, Path(name).suffix))

    assert (found.contract, found.is_single, found.findings) == ("question_rubric", True, ())


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "rubrics/a.json"])
def test_a_bom_and_windows_line_ends_change_nothing(tmp_path: Path, name: str) -> None:
    """QR-18"""
    data = written(GOOD, Path(name).suffix).replace(b"\n", b"\r\n")
    found = opened(tmp_path, name, b"\xef\xbb\xbf" + data)

    assert (found.contract, found.findings) == ("question_rubric", ())


def test_json_and_yaml_have_the_same_findings_and_yaml_has_lines(tmp_path: Path) -> None:
    """QR-16, QR-18"""
    from_json, from_yaml = (
        opened(tmp_path, f"a{extension}", written(WRONG, extension)).findings
        for extension in (".json", ".yaml")
    )

    assert [(one.code, one.path, one.hint) for one in from_json] == [
        (one.code, one.path, one.hint) for one in from_yaml
    ]
    assert [(one.path, one.line) for one in from_yaml] == [
        ("dimensions", 7),
        ("questions[0].key", 4),
        ("version", 2),
    ]
    assert {one.line for one in from_json} == {None}


@pytest.mark.parametrize("top", [{"questions": []}, {"questions": [{"label": "?"}]}, GOOD])
def test_in_its_folder_a_file_with_questions_is_a_question_rubric(
    tmp_path: Path, top: JsonObject
) -> None:
    assert opened(tmp_path, "rubrics/a.json", written(top, ".json")).contract == "question_rubric"


@pytest.mark.parametrize("name", ["a.json", "rubrics/a.json"])
@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('"Is it good?"', '"\\ud800"', ("invalid_encoding", "questions[0].label")),
        ('"Is it good?"', '"\\u0000"', ("invalid_encoding", "questions[0].label")),
        ('"Help desk"', "1e999", ("value_out_of_range", "name")),
    ],
)
def test_what_the_fast_parser_refuses_is_a_finding_of_its_field(
    tmp_path: Path, name: str, old: str, new: str, found: tuple[str, str]
) -> None:
    """QR-17"""
    data = json.dumps(GOOD).replace(old, new).encode()
    made = opened(tmp_path, name, data)

    assert made.contract == "question_rubric"
    assert [(one.code, one.path) for one in made.findings] == [found]


def test_a_number_too_large_inside_the_questions_does_not_hide_the_contract(
    tmp_path: Path,
) -> None:
    """QR-17"""
    value = rubric(question("score", scale={"min": 0, "max": 7}))
    data = json.dumps(value).replace("7", "1e999").encode()
    made = opened(tmp_path, "a.json", data)

    assert made.contract == "question_rubric"
    assert [(one.code, one.path) for one in made.findings] == [
        ("value_out_of_range", "questions[0].scale.max")
    ]


def test_a_rubric_counts_as_one_and_strict_refuses_a_misspelt_field(tmp_path: Path) -> None:
    """QR-15"""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rubric(guidence=[])), encoding="utf-8")
    reports = [
        validate(DiskWorkspace(tmp_path), [str(path)], ValidateOptions(strict=strict)).files[0]
        for strict in (False, True)
    ]

    assert [(one.total, one.accepted, one.is_valid) for one in reports] == [
        (1, 1, True),
        (1, 0, False),
    ]


def test_the_kind_settles_what_a_file_without_questions_is(tmp_path: Path) -> None:
    found = opened(tmp_path, "a.json", b"{}", "question_rubric")

    assert found.contract == "question_rubric"
    assert [one.path for one in found.findings] == ["name", "questions", "version"]
