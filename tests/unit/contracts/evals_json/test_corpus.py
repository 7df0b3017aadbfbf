"""Real files: the good ones have no findings, each bad one has exactly the expected ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema_rs
import pytest

from steelyard.contracts.evals_json.reader import EvalsJsonReading
from steelyard.contracts.schemas import load_schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate

CORPUS = Path(__file__).parents[3] / "corpus" / "evals_json"
VALID = sorted((CORPUS / "valid").iterdir())
EXPECTED = sorted((CORPUS / "invalid").glob("*.findings.json"))
# The files in which something is odd but nothing is wrong.
WARNED = {"duplicate_content.json.findings.json"}


def report(path: Path) -> FileReport:
    (found,) = validate(DiskWorkspace(CORPUS), [str(path)], ValidateOptions()).files
    return found


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_valid_file_has_no_findings(path: Path) -> None:
    """EJ-01, EJ-15, EJ-16"""
    found = report(path)

    assert (found.contract, found.findings) == ("evals_json", ())
    assert found.accepted == found.total > 0


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name.partition(".")[0])
def test_an_invalid_file_has_exactly_the_expected_findings(expected: Path) -> None:
    found = report(expected.with_name(expected.name.removesuffix(".findings.json")))

    assert [asdict(finding) for finding in found.findings] == json.loads(expected.read_bytes())
    assert found.is_valid is (expected.name in WARNED)
    assert found.total == found.accepted + found.rejected


def test_every_invalid_file_has_its_expectations() -> None:
    files = {path.name for path in (CORPUS / "invalid").iterdir()}
    expectations = {path.name for path in EXPECTED}

    assert files - expectations == {name.removesuffix(".findings.json") for name in expectations}


def test_an_editor_with_the_published_schema_accepts_the_valid_ones() -> None:
    published = jsonschema_rs.Draft202012Validator(load_schema("evals_json"))

    assert all(published.is_valid(parse_yaml(path.read_bytes()).value) for path in VALID)


def test_the_place_of_a_case_names_its_file() -> None:
    path = CORPUS / "valid" / "minimal.json"
    reading = EvalsJsonReading(path.read_bytes(), path.stem, file=str(path))
    (row,) = reading.rows()

    assert reading.case(row).place.file == str(path)
