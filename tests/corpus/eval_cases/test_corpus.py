"""Real files: the valid ones have no finding, the invalid ones exactly those beside them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.finding import CODES
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.load_eval_cases import load_eval_cases
from steelyard.usecases.datasets.validate import ValidateOptions, ValidationReport, validate

CORPUS = Path(__file__).parent
EXTENSIONS = (".jsonl", ".yaml", ".yml")
KEYS = ["severity", "code", "message", "path", "line", "index", "record_id", "hint"]
# Files with cases, by the number of their cases.
VALID = {
    "assert-only.yaml": 4,
    "cases-name.yml": 1,
    "composites.yaml": 1,
    "core-rules.yaml": 2,
    "eval-cases-name.yaml": 1,
    "first-dialect.yaml": 3,
    "guidelines.yaml": 1,
    "later-names.jsonl": 2,
    "line-ends.jsonl": 2,
    "messages.jsonl": 3,
    "minimal.yaml": 1,
    "named-tests.yaml": 6,
    "one-line.jsonl": 1,
    "sidecar.jsonl": 3,
    "tests-name.yaml": 5,
    "trajectories.yaml": 3,
}
# The files in which something is odd but nothing is wrong.
WARNED = {
    *("duplicate-content.yaml", "misnamed-weights.yaml", "near-misses.jsonl"),
    *("repeated-names.jsonl", "run-options.yaml", "settings-of-others.yaml"),
    *("unsendable-blocks.jsonl", "lists-in-two-places-earlier.jsonl"),
    *("settings-without-effect.yaml", "unfilled-names.yaml"),
}


def is_sidecar(path: Path) -> bool:
    return path.suffix == ".yaml" and path.with_suffix(".jsonl").exists()


def files(folder: str) -> list[str]:
    """The files of a folder; sidecars are looked at with theirs."""
    found = [path for path in (CORPUS / folder).iterdir() if path.suffix in EXTENSIONS]
    return sorted(path.name for path in found if not is_sidecar(path))


def checked(name: str) -> ValidationReport:
    return validate(DiskWorkspace(CORPUS), [str(CORPUS / name)], ValidateOptions())


def test_every_valid_file_is_counted_below() -> None:
    assert files("valid") == sorted(VALID)


@pytest.mark.parametrize("name", VALID)
def test_a_valid_file_has_no_finding(name: str) -> None:
    report = checked(f"valid/{name}")

    assert [finding for file in report.files for finding in file.findings] == []
    assert (report.files[0].total, report.files[0].accepted) == (VALID[name], VALID[name])
    assert len(load_eval_cases(DiskWorkspace(CORPUS), CORPUS / "valid" / name)) == VALID[name]


@pytest.mark.parametrize("name", files("invalid"))
def test_an_invalid_file_has_exactly_the_findings_beside_it(name: str) -> None:
    expected: list[dict[str, Any]] = json.loads(
        (CORPUS / "invalid" / f"{name}.findings.json").read_text(encoding="utf-8")
    )
    report = checked(f"invalid/{name}")

    assert [asdict(finding) for file in report.files for finding in file.findings] == expected
    assert all(list(finding) == KEYS and finding["code"] in CODES for finding in expected)
    assert report.is_valid is (name in WARNED)


def test_no_list_of_findings_is_left_over() -> None:
    listed = {path.name for path in (CORPUS / "invalid").glob("*.findings.json")}

    assert listed == {f"{name}.findings.json" for name in files("invalid")}
    assert len(listed) >= 35
