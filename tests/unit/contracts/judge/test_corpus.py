"""Every judge of the corpus gives exactly the findings that are written beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema_rs
import pytest

from steelyard.checks.catalog import Catalog
from steelyard.contracts.definitions import read_definition_file
from steelyard.contracts.schemas import load_schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.definition import Content
from steelyard.model.finding import Finding
from steelyard.model.judge import Judge

CORPUS = Path(__file__).parents[3] / "corpus" / "judge"
VALID = sorted((CORPUS / "valid").iterdir())
INVALID = sorted(path for path in (CORPUS / "invalid").iterdir() if ".findings" not in path.name)
PUBLISHED = jsonschema_rs.Draft202012Validator(load_schema("judge"))


def read(path: Path) -> tuple[Content | None, list[Finding]]:
    return read_definition_file(path.read_bytes(), path.suffix, "judges", Catalog())


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_valid_judge_is_read(path: Path) -> None:
    """JD-01, JD-04, JD-10"""
    judge, findings = read(path)

    assert findings == []
    assert isinstance(judge, Judge)
    assert judge.id == path.stem


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_an_invalid_judge_gives_exactly_these_findings(path: Path) -> None:
    """JD-01, JD-02, JD-03, JD-04, JD-05, JD-06, JD-07, JD-08, JD-15"""
    expected = json.loads(path.with_suffix(".findings.json").read_text(encoding="utf-8"))
    judge, findings = read(path)

    assert judge is None
    assert [asdict(finding) for finding in findings] == expected


def test_an_editor_with_the_published_schema_accepts_the_valid_ones() -> None:
    values = [parse_yaml(path.read_bytes()).value for path in VALID if path.suffix != ".json"]

    assert all(PUBLISHED.is_valid(value) for value in values)
