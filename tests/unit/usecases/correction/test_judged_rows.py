"""What judges decided, read from the rows of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.judged_runs import a_row, a_score, write_run
from fakes.validations import JUDGE, RULE
from steelyard.errors import UnreadableFileError
from steelyard.usecases.correction.judged_rows import Decision, JudgedRows


def decisions(tmp_path: Path, *scores: dict[str, Any]) -> dict[str, Decision]:
    folder = write_run(tmp_path / "r", [a_row(0, True, evaluator_scores=list(scores))])
    (row,) = JudgedRows(folder)
    return row.decisions


def test_a_check_that_no_judge_decides_is_left_out(tmp_path: Path) -> None:
    odd = {"details": {"calls": 7, "items": "none"}, "judge": None, "kind": "equals"}

    assert decisions(tmp_path, a_score(True, **odd)) == {}


A, B = {"fingerprint": "a"}, {"fingerprint": "b"}
DETAILS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"calls": [A, A, {}]}, ("a",)),
    ({"items": [A, B]}, ("a", "b")),
    ({"jurors": [{"calls": [A]}, {"calls": [{}]}]}, ("a",)),
    ({}, ()),
]


@pytest.mark.parametrize(("details", "marks"), DETAILS)
def test_fingerprints_are_those_of_all_calls(
    tmp_path: Path, details: dict[str, Any], marks: tuple[str, ...]
) -> None:
    found = decisions(tmp_path, a_score(True, details={"rule": RULE, **details}))

    assert found["right"].fingerprints == marks


def test_checks_within_composites_are_called_after_both(tmp_path: Path) -> None:
    inner = a_score(False)
    outer = a_score(True, check="both", kind="composite", judge=None, details={"results": [inner]})
    found = decisions(tmp_path, outer)

    assert list(found) == ["both/right"]
    assert found["both/right"] == Decision(JUDGE, RULE, ("mark",), passed=False)


@pytest.mark.parametrize(
    ("status", "passed", "is_skipped"),
    [("scored", True, False), ("unscored", None, False), ("skipped", None, True)],
)
def test_only_a_score_is_a_decision(
    tmp_path: Path, status: str, passed: bool | None, is_skipped: bool
) -> None:
    found = decisions(tmp_path, a_score(True, status=status))["right"]

    assert (found.passed, found.is_skipped) == (passed, is_skipped)


def test_a_record_without_a_result_has_no_verdict(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [a_row(0, True, status="timeout", trace=None)])
    (row,) = JudgedRows(folder)

    assert row.passed is None


def test_a_damaged_row_is_told(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", [])
    (folder / "predictions.jsonl").write_text("{}\n", encoding="utf-8")

    with pytest.raises(UnreadableFileError, match="is damaged"):
        list(JudgedRows(folder))
