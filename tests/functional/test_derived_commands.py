"""`steelyard retry` and `steelyard regrade` as a user gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.desk_project import AGENT, write_desk
from fakes.many_commands import Done, run_many

JSON = ("--format", "json")
MOODY = ("run", "datasets/desk.jsonl", "--target", "moody", *JSON)
HEALED = AGENT.replace('raise RuntimeError("no mood for this")', "return answer(prompt)")
GONE = AGENT.replace("def answer(prompt):\n", "def answer(prompt):\n    raise SystemExit(99)\n")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A help desk."""
    return write_desk(tmp_path)


def row_of(done: Done) -> dict[str, Any]:
    return json.loads(done.stdout)


def predictions(done: Done) -> list[dict[str, Any]]:
    text = (Path(row_of(done)["artifacts"]) / "predictions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text(encoding="utf-8").splitlines()


def test_the_failed_records_are_run_again_and_then_there_are_none(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    (desk / "desk_agent.py").write_text(HEALED, encoding="utf-8")
    before = calls(desk)
    again, none, shown = run_many(
        desk, [("retry", "latest", *JSON), ("retry", "latest"), ("show", "latest")]
    )
    manifest = json.loads((Path(row_of(again)["artifacts"]) / "run_manifest.json").read_bytes())

    assert (first.code, again.code) == (4, 0)
    assert calls(desk)[len(before) :] == ["Was kosten Bücher?"]
    copied = [row["record_id"] for row in predictions(again) if row.get("copied_from")]
    assert [row["record_id"] for row in predictions(again)] == [
        "hours",
        "loans",
        "fees",
        "parking",
    ]
    assert copied == ["hours", "loans", "parking"]
    metrics = row_of(again)["metrics"]
    assert (metrics["evaluated_records"], metrics["attempts"]) == (4, 4)
    assert metrics["copied"] == {"rows": 3, "attempts": 3, "cost_usd": 0.0}
    assert metrics["new"] == {"rows": 1, "attempts": 1, "cost_usd": None}
    assert manifest["derived_from"]["run_id"] == row_of(first)["run_id"]
    assert manifest["derived_from"]["how"] == "retry"
    assert (none.code, none.stdout) == (2, "")
    assert f"{row_of(again)['run_id']} has no failed record to try again" in none.stderr
    assert shown.code == 0
    check_run(Path(row_of(again)["artifacts"]))


def test_the_gates_of_the_first_run_hold_for_what_is_run_again(desk: Path) -> None:
    run, again = run_many(desk, [(*MOODY, "--allow-failures", "1"), ("retry", "latest", *JSON)])

    assert (run.code, again.code) == (0, 0)
    assert row_of(again)["metrics"]["failed_records"] == 1


def test_stored_traces_are_graded_anew_and_no_agent_is_called(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    (desk / "desk_agent.py").write_text(GONE, encoding="utf-8")
    before = calls(desk)
    regrade = ("regrade", "latest", "--rubric", "rubric/polite@1.0.0")
    again, text, folder = run_many(
        desk,
        [(*regrade, *JSON), regrade, ("regrade", row_of(first)["artifacts"], *regrade[2:], *JSON)],
    )

    assert calls(desk) == before
    assert (again.code, text.code, folder.code) == (4, 4, 4)
    missing = "1 of 4 record(s) have no score, more than allow-failures 0"
    assert again.stderr.splitlines() == [
        "grading stored traces, in which secrets and personal data are redacted",
        "graded by rubric/polite@1.0.0 (1 check): 4 records",
        f"steelyard: {row_of(again)['run_id']}: {missing}",
    ]
    assert [row["passed"] for row in predictions(again)] == [True, True, None, True]
    assert [row["passed"] for row in predictions(folder)] == [True, True, None, True]
    assert "desk × moody" in text.stdout
    check_run(Path(row_of(again)["artifacts"]))


def test_a_document_is_regraded_though_its_file_is_gone(desk: Path) -> None:
    run = ("run", "datasets/mixed.json", "--target", "agent", *JSON)
    (first,) = run_many(desk, [run])
    (desk / "datasets" / "mixed.json").unlink()
    (again,) = run_many(desk, [("regrade", "latest", "--rubric", "polite", *JSON)])

    assert first.code == 4
    assert (again.code, [row["record_id"] for row in predictions(again)]) == (0, ["fast"])
    assert "\nleft out: 1 record(s) never asked (1 skipped)\n" in again.stderr
    check_run(Path(row_of(again)["artifacts"]))


def test_what_cannot_be_derived_is_refused_with_the_reason(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    run_id = row_of(first)["run_id"]
    refused = {
        ("regrade", "latest", "--rubric", "rubric/no@1.0.0"): "cannot resolve rubric/no@1.0.0",
        ("regrade", "latest"): "Missing option '--rubric'",
        ("retry", "run_NO"): "no run 'run_NO' in this project",
    }
    changed = {
        ("retry", "latest"): f"datasets/desk.jsonl has changed since {run_id}; start a new run",
        ("regrade", "latest", "--rubric", "polite"): "datasets/desk.jsonl has changed since",
    }
    done = run_many(desk, refused)
    dataset = desk / "datasets" / "desk.jsonl"
    dataset.write_bytes(dataset.read_bytes().replace(b"nine", b"ten"))
    done += run_many(desk, changed)

    assert {(one.code, one.stdout) for one in done} == {(2, "")}
    for one, said in zip(done, (*refused.values(), *changed.values()), strict=True):
        assert said in one.stderr
