"""A gate on B is about what A was asked: records that B lost, edited or graded otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.claims_project import run_id, write_cases, write_responses, write_settings
from fakes.desk_project import jsonl
from fakes.many_commands import Done, run_many

pytestmark = pytest.mark.trials

JSON = ("--format", "json")
CASES = "datasets/cases.jsonl"
GATE = ("--fail-if", "worse")
Edit = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def started(root: Path, name: str, *words: str) -> str:
    command = ("run", CASES, "--target", name, "--responses", "responses.jsonl", *words, *JSON)
    return run_id(run_many(root, [command])[0].stdout)


def edited(root: Path, edit: Edit) -> None:
    path = root / CASES
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    jsonl(path, edit(rows))


def compared(root: Path, *words: str) -> list[Done]:
    pair = ("compare", *words, *GATE)
    return run_many(root, [pair, (*pair, "--strict"), (*pair, *JSON)])


def touched(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "metadata": {"v": 2}} if place >= 5 else row for place, row in enumerate(rows)]


def is_lost(place: int) -> bool:
    return place % 10 in {6, 7}


def dropped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for place, row in enumerate(rows) if not is_lost(place)]


def reworded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**row, "expected_outcome": "Else."} if is_lost(n) else row for n, row in enumerate(rows)
    ]


def spoiled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "expected_outcome": 1} if is_lost(n) else row for n, row in enumerate(rows)]


def test_five_pairs_of_a_hundred_let_no_strict_gate_pass(tmp_path: Path) -> None:
    write_settings(tmp_path)
    write_cases(tmp_path, 100)
    write_responses(tmp_path, {"a": ["y"] * 100, "b": ["n"] * 100})
    first = started(tmp_path, "a")
    edited(tmp_path, touched)
    plain, strict, as_json = compared(tmp_path, first, started(tmp_path, "b"))
    lost = json.loads(as_json.stdout)["dropped"]

    assert (plain.code, strict.code) == (0, 2)
    assert "95 of them edited (same id, other content)" in plain.stderr
    assert "95 with the same id and other content" in plain.stdout
    assert "5 records are too few to show any difference" in strict.stderr
    assert "in B: 95 edited (same id, other content)" in strict.stderr
    assert (lost["only_in_a"], lost["only_in_b"], lost["changed"]) == (95, 95, 95)


@pytest.mark.parametrize(
    ("edit", "words", "said", "codes"),
    [
        (dropped, (), "in B: 20 missing", (0, 2)),
        (reworded, (), "in B: 20 edited (same id, other content)", (0, 2)),
        (spoiled, (), "cannot be compared: scores are missing unevenly (20 records", (2, 2)),
        (None, ("--where", "id ~ 5"), "in B: 81 missing", (0, 2)),
    ],
)
def test_records_that_b_lost_let_no_strict_gate_pass(
    tmp_path: Path, edit: Edit | None, words: tuple[str, ...], said: str, codes: tuple[int, int]
) -> None:
    """B fails where A passes, on the records that are gone alone."""
    write_settings(tmp_path)
    write_cases(tmp_path, 100)
    answers = ["n" if is_lost(place) else "y" for place in range(100)]
    write_responses(tmp_path, {"a": ["y"] * 100, "b": answers})
    first = started(tmp_path, "a")
    if edit:
        edited(tmp_path, edit)
    plain, strict, _ = compared(tmp_path, first, started(tmp_path, "b", *words))

    assert (plain.code, strict.code) == codes
    assert said in strict.stderr


RUBRIC = """\
id: quick
version: 1.0.0
checks:
  - {id: says, kind: must_contain_any, phrases: [good]}
  - {id: fast, kind: latency, max_ms: 1000}
scoring: {combine: all_pass}
"""
OUTER = """\
id: outer
version: 1.0.0
checks:
  - {id: inner, kind: composite, rubric_ref: rubric/quick@1.0.0}
scoring: {combine: all_pass}
"""


@pytest.mark.parametrize("rubric", ["quick", "outer"])
def test_a_check_skipped_in_b_alone_makes_no_pairs(tmp_path: Path, rubric: str) -> None:
    write_settings(tmp_path)
    write_cases(tmp_path, 20)
    (tmp_path / "rubrics").mkdir()
    for name, text in (("quick", RUBRIC), ("outer", OUTER)):
        (tmp_path / "rubrics" / f"{name}.yaml").write_text(text, "utf-8")
    rows = [
        {"record_id": f"q{n}", "candidate_name": name, "response_text": "good", **times}
        for n in range(20)
        for name, times in (("a", {"latency_ms": 1500 if n % 2 else 500}), ("b", {}))
    ]
    jsonl(tmp_path / "responses.jsonl", rows)
    words = ("--rubric", f"rubric/{rubric}@1.0.0")
    ids = [started(tmp_path, name, *words) for name in "ab"]
    plain, strict, as_json = compared(tmp_path, *ids)
    found = json.loads(as_json.stdout)

    assert [one.code for one in (plain, strict, as_json)] == [2, 2, 2]
    assert "20 common records has a score by the same checks" in plain.stdout
    assert "20 graded by other checks" in plain.stdout
    assert "skipped for 20 record(s)" in strict.stderr
    assert found["dropped"]["other_checks"] == 20
    assert found["not_alike"][0]["what"].endswith("fast")
