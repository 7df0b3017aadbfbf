"""Evals files with inline checks in the wild."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.graders import NamedJudges
from steelyard.contracts.evals_json.writer import write_evals_json
from steelyard.engine.grading.grading import grade
from steelyard.engine.grading.implicit import implicit_rubric
from steelyard.engine.grading.not_judged import without_judges
from steelyard.model.dataset import Dataset
from steelyard.model.rubric import Rubric
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from strategies.traces import said

FILES = {"drupal_drupal-caching.evals.json": 3, "drupal_drupal-rules.evals.json": 5}
STATIC = "drupal_drupal-caching.static-checks.json"


@pytest.fixture
def folder(conformance: Path) -> Path:
    return conformance / "checks"


def dataset(folder: Path, name: str) -> Dataset:
    read, findings = read_dataset(DiskWorkspace(folder), folder / name)
    assert findings == []
    return read


def written(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / name).read_bytes())


def test_every_file_is_looked_at(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {*FILES, STATIC}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_valid_in_strict_mode(folder: Path, name: str) -> None:
    """EJ-01"""
    options = ValidateOptions(strict=True)
    (report,) = validate(DiskWorkspace(folder), [str(folder / name)], options).files

    assert (report.contract, report.findings) == ("evals_json", ())
    assert report.accepted == report.total == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_whole(folder: Path, name: str) -> None:
    """EJ-10, EJ-13, EJ-23"""
    original = written(folder, name)
    cases = dataset(folder, name).cases

    assert [case.id for case in cases] == [str(one["id"]) for one in original["evals"]]
    assert [case.input_messages[0].content for case in cases] == [
        one["prompt"] for one in original["evals"]
    ]
    for case, one in zip(cases, original["evals"], strict=True):
        inline = ("must_contain_any", "must_not_contain", "check_php_lint")
        *checks, statements = case.evaluators
        assert len(checks) == sum(bool(one[field]) for field in inline)
        assert [item.description for item in statements.rubrics] == one["expectations"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_back_but_for_empty_checks(folder: Path, name: str) -> None:
    """EJ-19"""
    original = written(folder, name)
    for one in original["evals"]:
        for field in ("must_contain_any", "must_not_contain", "check_php_lint"):
            if not one[field]:
                del one[field]

    assert json.loads(write_evals_json(dataset(folder, name))) == original


@pytest.mark.parametrize("name", FILES)
def test_a_case_is_graded_by_its_inline_checks(folder: Path, name: str) -> None:
    """EJ-20"""
    for case, one in zip(dataset(folder, name).cases, written(folder, name)["evals"], strict=True):
        rubric = implicit_rubric(case, NamedJudges())
        assert isinstance(rubric, Rubric)
        rubric = without_judges(rubric)
        assert isinstance(rubric, Rubric)
        good = one["must_contain_any"][0].upper()

        assert grade(rubric, said(good), case).passed
        assert grade(rubric, said("nothing of the sort"), case).passed is False
        for bad in one["must_not_contain"]:
            assert grade(rubric, said(f"{good} {bad}"), case).passed is False


def test_static_checks_are_no_dataset_and_say_what_is_supported(folder: Path) -> None:
    """EJ-22"""
    (report,) = validate(DiskWorkspace(folder), [str(folder / STATIC)], ValidateOptions()).files
    (finding,) = report.findings

    assert (report.contract, report.total, finding.code) == (None, 0, "unsupported_format")
    assert "evals files (.json with 'evals')" in finding.message
