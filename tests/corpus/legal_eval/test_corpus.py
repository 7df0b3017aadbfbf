"""Real files: the valid ones have no finding, the invalid ones exactly those beside them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.finding import CODES
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate

CORPUS = Path(__file__).parent
KEYS = ["severity", "code", "message", "path", "line", "index", "record_id", "hint"]
# Files by the number of their rows.
VALID = {
    "blank.jsonl": 1,
    "conversations.jsonl": 3,
    "documents.jsonl": 1,
    "every-field.jsonl": 3,
    "line-ends.jsonl": 2,
    "minimal.jsonl": 3,
    "words-as-ids.jsonl": 1,
}
# The files in which something is odd but nothing is wrong.
WARNED = {
    *("duplicate-content.jsonl", "missing-documents.jsonl", "repeated-names.jsonl"),
    "names-of-no-part.jsonl",
    *("unknown-fields.jsonl", "unknown-policies.jsonl", "unshown-documents.jsonl"),
}
INVALID = sorted(path.name for path in (CORPUS / "invalid").glob("*.jsonl"))


def checked(name: str) -> FileReport:
    # A misspelt key of the first row must not decide what the file is.
    options = ValidateOptions(kind="legal_eval")
    (report,) = validate(DiskWorkspace(CORPUS), [str(CORPUS / name)], options).files
    return report


def test_every_valid_file_is_counted_above() -> None:
    assert sorted(path.name for path in (CORPUS / "valid").glob("*.jsonl")) == sorted(VALID)


@pytest.mark.parametrize("name", VALID)
def test_a_valid_file_has_no_finding(name: str) -> None:
    report = checked(f"valid/{name}")
    dataset, findings = read_dataset(DiskWorkspace(CORPUS), CORPUS / "valid" / name)

    assert (list(report.findings), list(findings)) == ([], [])
    assert (report.total, report.accepted) == (VALID[name], VALID[name])
    assert (dataset.contract, len(dataset.cases)) == ("legal_eval", VALID[name])


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_file_has_exactly_the_findings_beside_it(name: str) -> None:
    expected: list[dict[str, Any]] = json.loads(
        (CORPUS / "invalid" / f"{name}.findings.json").read_text(encoding="utf-8")
    )
    report = checked(f"invalid/{name}")
    rejected = {finding["index"] for finding in expected if finding["severity"] == "error"}

    assert [asdict(finding) for finding in report.findings] == expected
    assert all(list(finding) == KEYS and finding["code"] in CODES for finding in expected)
    assert report.rejected == len(rejected)
    assert report.is_valid is (name in WARNED)


def test_no_list_of_findings_is_left_over() -> None:
    listed = {path.name for path in (CORPUS / "invalid").glob("*.findings.json")}

    assert listed == {f"{name}.findings.json" for name in INVALID}
    assert len(listed) >= 20
