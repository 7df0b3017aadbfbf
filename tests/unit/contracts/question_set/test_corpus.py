"""Every question set of the corpus gives exactly the findings that are written beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema_rs
import pytest

from steelyard.contracts.schemas import load_schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate

CORPUS = Path(__file__).parents[3] / "corpus" / "question_set"
VALID = sorted((CORPUS / "valid").iterdir())
INVALID = sorted(path for path in (CORPUS / "invalid").iterdir() if ".findings" not in path.name)
PUBLISHED = jsonschema_rs.Draft202012Validator(load_schema("question_set"))


def report(path: Path) -> FileReport:
    (found,) = validate(DiskWorkspace(CORPUS), [str(path)], ValidateOptions()).files
    return found


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_valid_file_has_no_findings(path: Path) -> None:
    """QS-01, QS-07, QS-09"""
    found = report(path)

    assert (found.contract, found.findings) == ("question_set", ())
    assert found.accepted == found.total > 0


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_an_invalid_file_has_exactly_the_expected_findings(path: Path) -> None:
    """QS-01, QS-02, QS-03, QS-04, QS-05, QS-06, QS-07, QS-10"""
    expected = path.with_suffix(".findings.json")

    assert [asdict(finding) for finding in report(path).findings] == json.loads(
        expected.read_bytes()
    )


def test_an_editor_with_the_published_schema_accepts_the_valid_ones() -> None:
    values = [parse_yaml(path.read_bytes()).value for path in VALID if path.suffix != ".json"]

    assert all(PUBLISHED.is_valid(value) for value in values)
