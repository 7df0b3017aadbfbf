"""Real files: the good ones have no findings, each bad one has exactly the expected ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from steelyard.model.finding import RECORD_CODES
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate

CORPUS = Path(__file__).parents[3] / "corpus" / "dataset_document"
VALID = sorted(CORPUS.glob("valid/*.json"))
EXPECTED = sorted(CORPUS.glob("invalid/*.findings.json"))
# The files in which something is odd but nothing is wrong.
WARNED = {"duplicate_content"}


def report(path: Path) -> FileReport:
    (found,) = validate(DiskWorkspace(CORPUS), [str(path)], ValidateOptions()).files
    return found


def named(path: Path) -> str:
    return path.name.partition(".")[0]


@pytest.mark.parametrize("path", VALID, ids=named)
def test_a_valid_file_has_no_findings(path: Path) -> None:
    found = report(path)

    assert (found.contract, found.findings) == ("dataset_document", ())
    assert found.accepted == found.total > 0


@pytest.mark.parametrize("expected", EXPECTED, ids=named)
def test_an_invalid_file_has_exactly_the_expected_findings(expected: Path) -> None:
    found = report(expected.with_name(f"{named(expected)}.json"))

    assert [asdict(finding) for finding in found.findings] == json.loads(expected.read_bytes())
    assert found.is_valid is (named(expected) in WARNED)


def test_every_invalid_file_has_its_expectations() -> None:
    files = {path.name for path in CORPUS.glob("invalid/*.json")}
    expectations = {path.name for path in EXPECTED}

    assert files - expectations == {f"{named(path)}.json" for path in EXPECTED}


@pytest.mark.parametrize("code", RECORD_CODES)
def test_the_corpus_has_every_code_for_a_record(code: str) -> None:
    findings = [found for path in EXPECTED for found in json.loads(path.read_bytes())]

    assert any(found["code"] == code and found["index"] is not None for found in findings)
