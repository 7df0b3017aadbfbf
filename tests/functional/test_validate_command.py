"""`steelyard validate`, started as a user starts it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

CASE = '{"id": "a", "expected_outcome": "Says so.", "input": "Is it so?"}\n'
BAD_DOCUMENT = """{
  "dataset_id": "d", "dataset_version": "1", "schema_version": "1.0",
  "records": [
    {"record_id": "q_0001", "input": {"prompt": "Is 7 prime?"}},
    {"record_id": "q_0002", "input": {"prompt": 7}},
    {"record_id": "q_0003", "input": {"prompt": "Is 9 prime?"}}
  ]
}
"""
FILES = {
    "data/good.json": BAD_DOCUMENT.replace('"prompt": 7', '"prompt": "Is 8 prime?"'),
    "data/bad.json": BAD_DOCUMENT,
    "data/cases.jsonl": CASE,
    "data/cases.yaml": "dataset: help\n",
    "data/typo.yaml": (
        "evalcases:\n"
        "  - id: a\n"
        "    expected_outcome: Says so.\n"
        "    input: Is it so?\n"
        "    expected_mesages: []\n"
    ),
    "data/notes.txt": "no evaluation file",
    "data/package.json": '{"name": "other"}',
    "data/.hidden/bad.json": "{",
    "data/x.json/inner.jsonl": CASE,
    "lonely.jsonl": CASE,
    "steelyard.yaml": "slices: [tags]\n",
    "comma,100%.jsonl": "{\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with good files, bad files and others."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "empty").mkdir()
    return folder


def test_a_valid_file_is_ok_and_exits_with_0(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "data/good.json", cwd=folder)

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "data/good.json  dataset_document  3 record(s): 3 accepted, 0 rejected  ok",
        "1 of 1 file(s) valid, 0 error(s), 0 warning(s)",
    ]


def test_an_invalid_file_is_shown_with_line_and_mark(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "data/bad.json", cwd=folder)

    assert done.returncode == 1
    assert done.stderr == ""
    headline, finding, line, mark, _ = done.stdout.splitlines()
    assert headline.endswith("3 record(s): 2 accepted, 1 rejected  invalid")
    assert finding == (
        "  data/bad.json:5: error: records[1]: input.prompt must be a string [invalid_field_type]"
    )
    assert line == '         5 |     {"record_id": "q_0002", "input": {"prompt": 7}},'
    assert line[mark.index("^") : mark.rindex("^") + 1] == '"prompt"'


def test_json_has_the_published_shape(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "data/bad.json", "--format", "json", cwd=folder)

    assert done.returncode == 1
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "files": [
            {
                "path": "data/bad.json",
                "contract": "dataset_document",
                "valid": False,
                "total": 3,
                "accepted": 2,
                "rejected": 1,
                "findings": [
                    {
                        "severity": "error",
                        "code": "invalid_field_type",
                        "message": "input.prompt must be a string",
                        "path": "records[1].input.prompt",
                        "line": None,
                        "index": 1,
                        "record_id": "q_0002",
                        "hint": None,
                    }
                ],
            }
        ],
        "summary": {"files": 1, "valid": 0, "errors": 1, "warnings": 0},
    }


def test_json_lists_a_file_that_cannot_be_parsed(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "data/.hidden/bad.json", "--format", "json", cwd=folder)
    (entry,) = json.loads(done.stdout)["files"]

    assert done.returncode == 1
    assert (entry["valid"], entry["total"], entry["contract"]) == (False, 0, None)
    assert [finding["code"] for finding in entry["findings"]] == ["invalid_json"]


def test_github_points_at_lines_and_escapes_what_it_must(
    steelyard: Steelyard, folder: Path
) -> None:
    done = steelyard(
        "validate", "data/bad.json", "comma,100%.jsonl", "--format", "github", cwd=folder
    )
    document, row = done.stdout.splitlines()

    assert done.returncode == 1
    assert document == (
        "::error file=data/bad.json,line=5,title=invalid_field_type::input.prompt must be a string"
    )
    assert row.startswith("::error file=comma%2C100%25.jsonl,line=1,title=invalid_json::Invalid")


def test_junit_is_xml_with_a_failure_for_each_bad_record(
    steelyard: Steelyard, folder: Path
) -> None:
    done = steelyard(
        "validate", "data/bad.json", "data/typo.yaml", "--format", "junit", cwd=folder
    )
    bad, typo = ET.fromstring(done.stdout)

    assert done.returncode == 1
    assert bad.attrib == {"name": "data/bad.json", "tests": "2", "failures": "1"}
    assert [case.get("name") for case in bad.iter("testcase")] == ["file", "q_0002"]
    assert [failure.get("type") for failure in bad.iter("failure")] == ["invalid_field_type"]
    assert typo.get("failures") == "0"
    assert "did you mean 'expected_messages'?" in (typo.findtext(".//system-out") or "")


@pytest.mark.parametrize(
    ("options", "code", "severity"), [((), 0, "warning"), (("--strict",), 1, "error")]
)
def test_strict_makes_a_misspelt_field_an_error(
    steelyard: Steelyard, folder: Path, options: tuple[str, ...], code: int, severity: str
) -> None:
    done = steelyard("validate", "data/typo.yaml", *options, cwd=folder)

    assert done.returncode == code
    assert (
        f"data/typo.yaml:5: {severity}: evalcases[0]: unknown field 'expected_mesages'"
        in done.stdout
    )
    assert "= did you mean 'expected_messages'?" in done.stdout


@pytest.mark.parametrize(
    ("words", "contract", "finding"),
    [
        (("dataset", "data/cases.jsonl"), "eval_cases", None),
        (("dataset", "data/package.json"), "dataset_document", "missing_required_field"),
        (("eval_cases", "data/package.json"), "eval_cases", "missing_required_field"),
        (("dataset_document", "data/cases.jsonl"), "dataset_document", "missing_required_field"),
        (("rubric", "data/package.json"), "check_rubric", "missing_required_field"),
        (("judge", "data/cases.jsonl"), "judge", "missing_required_field"),
        (("rubric", "data/cases.jsonl"), "check_rubric", "missing_required_field"),
        (("question_rubric", "data/cases.jsonl"), "question_rubric", "missing_required_field"),
        (("question_set", "data/cases.jsonl"), "question_set", "missing_required_field"),
        (("evals_json", "data/cases.jsonl"), "evals_json", "missing_required_field"),
    ],
)
def test_kind_settles_the_contract(
    steelyard: Steelyard, folder: Path, words: tuple[str, str], contract: str, finding: str | None
) -> None:
    done = steelyard("validate", "--kind", *words, "--format", "json", cwd=folder)
    entry = json.loads(done.stdout)["files"][0]

    assert entry["contract"] == contract
    assert {found["code"] for found in entry["findings"]} == ({finding} if finding else set())
    assert done.returncode == (1 if finding else 0)


def test_an_unknown_kind_is_wrong_usage(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "--kind", "datset", "data", cwd=folder)

    assert done.returncode == 2
    assert done.stdout == ""
    assert "unknown kind 'datset'; known are dataset, rubric, judge, legal_eval" in done.stderr


@pytest.mark.parametrize(("options", "warns"), [((), False), (("--verbose",), True)])
def test_verbose_says_that_a_sidecar_is_missing(
    steelyard: Steelyard, folder: Path, options: tuple[str, ...], warns: bool
) -> None:
    done = steelyard("validate", "lonely.jsonl", *options, cwd=folder)

    assert done.returncode == 0
    assert ("no sidecar lonely.yaml; defaults are used" in done.stdout) is warns


@pytest.fixture(scope="module")
def walk(steelyard: Steelyard, folder: Path) -> subprocess.CompletedProcess[str]:
    """A whole folder, for programs."""
    return steelyard("validate", "data", "--format", "json", cwd=folder)


def test_a_folder_is_walked_without_its_dot_folders(
    walk: subprocess.CompletedProcess[str],
) -> None:
    report: dict[str, Any] = json.loads(walk.stdout)

    assert walk.returncode == 1
    assert [entry["path"] for entry in report["files"]] == [
        "data/bad.json",
        "data/cases.jsonl",
        "data/cases.yaml",
        "data/good.json",
        "data/typo.yaml",
        "data/x.json/inner.jsonl",
    ]
    assert report["summary"] == {"files": 6, "valid": 5, "errors": 1, "warnings": 1}


def test_what_a_walk_passes_over_is_said_beside_the_report(
    walk: subprocess.CompletedProcess[str],
) -> None:
    assert walk.stderr == "2 other file(s) skipped: data/notes.txt, data/package.json\n"


def test_a_glob_is_expanded_and_the_text_says_what_was_passed_over(
    steelyard: Steelyard, folder: Path
) -> None:
    done = steelyard("validate", "**/[cn]*.*", cwd=folder)

    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines if not line.startswith(" ")][:3] == [
        "comma,100%.jsonl",
        "data/cases.jsonl",
        "data/cases.yaml",
    ]
    assert "1 other file(s) skipped: data/notes.txt" in lines


def test_a_named_file_that_fits_nothing_is_a_finding(steelyard: Steelyard, folder: Path) -> None:
    done = steelyard("validate", "data/notes.txt", cwd=folder)

    assert done.returncode == 1
    assert "data/notes.txt: error: '.txt' files are not read; supported are " in done.stdout
    assert "[unsupported_format]" in done.stdout


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.json", "no such file or folder: nowhere.json"),
        ("*.csv", "nothing matches *.csv"),
        ("empty", "no evaluation file in empty; 0 file(s) skipped"),
        ("", "an argument is empty; leave it out, or name what is meant"),
    ],
)
def test_a_path_that_leads_to_nothing_is_wrong_usage(
    steelyard: Steelyard, folder: Path, path: str, message: str
) -> None:
    done = steelyard("validate", path, cwd=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"steelyard: {message}\n"


def test_a_very_long_line_is_shown_around_the_spot(steelyard: Steelyard, tmp_path: Path) -> None:
    row = {"id": "a", "input": "x" * 500_000, "expected_outcome": 7, "notes": "y" * 500_000}
    (tmp_path / "long.jsonl").write_text(json.dumps(row), encoding="utf-8")
    done = steelyard("validate", "long.jsonl", cwd=tmp_path)

    assert done.returncode == 1
    line, mark = done.stdout.splitlines()[2:4]
    assert line[mark.index("^") : mark.rindex("^") + 1] == '"expected_outcome"'
    assert max(map(len, done.stdout.splitlines())) < 120
