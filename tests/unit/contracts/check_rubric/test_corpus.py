"""Every rubric of the corpus gives exactly the findings that are written beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema_rs
import pytest

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.check_rubric.schema import check_rubric_schema
from steelyard.contracts.definitions import read_definition_file
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.rubric import Rubric

CORPUS = Path(__file__).parents[3] / "corpus" / "check_rubric"
VALID = sorted(path for path in (CORPUS / "valid").iterdir())
INVALID = sorted((CORPUS / "invalid").glob("*.yaml"))
PUBLISHED = jsonschema_rs.Draft202012Validator(check_rubric_schema(Catalog()))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_valid_rubric_is_read(path: Path) -> None:
    """CR-01, CR-06, CR-25"""
    rubric, findings = read_definition_file(path.read_bytes(), path.suffix, "rubrics", Catalog())

    assert findings == []
    assert isinstance(rubric, Rubric)
    assert rubric.id == path.stem


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_rubric_gives_exactly_these_findings(path: Path) -> None:
    """CR-01, CR-02, CR-03, CR-04, CR-05, CR-06, CR-07, CR-09, CR-10, CR-11"""
    expected = json.loads(path.with_suffix(".findings.json").read_text(encoding="utf-8"))
    _, findings = read_check_rubric(parse_yaml(path.read_bytes()), Catalog())

    assert [asdict(finding) for finding in findings] == expected


def test_an_editor_with_the_published_schema_accepts_the_valid_ones() -> None:
    values = [parse_yaml(path.read_bytes()).value for path in VALID if path.suffix != ".json"]

    assert all(PUBLISHED.is_valid(value) for value in values)
