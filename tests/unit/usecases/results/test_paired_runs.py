"""Compared runs with their records: regressions first, page by page, and what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakes.predictions
from fakes.compared_runs import passes, run
from steelyard.model.labels.votes import ResponseVotes
from steelyard.results.predictions import Prediction
from steelyard.usecases.results.changed_records import pair_parts, read_pairs
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.pair_listing import matching_pairs, page_of, read_first
from steelyard.usecases.results.paired_runs import PairedRuns, paired_runs


def compared(folder: Path, a: str, b: str) -> PairedRuns:
    return paired_runs(run(folder / "a", passes(a)), run(folder / "b", passes(b)))


def full(index: int, passed: bool, **others: Any) -> dict[str, Any]:
    row = fakes.predictions.prediction(
        index,
        record_sha256=f"hash-{index}",
        passed=passed,
        score=float(passed),
        request={"messages": [{"role": "user", "content": f"Question {index}?"}], "sha256": "x"},
        **others,
    )
    assert isinstance(row, Prediction)
    return row.json()


def written(folder: Path) -> PairedRuns:
    """Two runs with questions and answers: 0 gets worse, 1 better, 2 stays."""
    a = [full(n, n != 1, model_response=f"old answer {n}") for n in range(3)]
    b = [full(n, n != 0, model_response=f"new answer {n}") for n in range(3)]
    return paired_runs(run(folder / "a", a), run(folder / "b", b))


def test_pairs_are_sorted_by_what_became_of_them(tmp_path: Path) -> None:
    runs = compared(tmp_path, "yynny?", "ynyny?")

    assert [pair.index_b for pair in runs.select("worse")] == [1]
    assert [pair.index_b for pair in runs.select("better")] == [2]
    assert [pair.index_b for pair in runs.select("different")] == [1, 2]
    assert [pair.index_b for pair in runs.select("all")] == [1, 2, 0, 3, 4]
    assert runs.counts == (1, 1, 2, 1, 0)
    assert runs.found.passes.n == 5


def test_the_largest_losses_come_first(tmp_path: Path) -> None:
    rows_a = [*passes("yy"), *passes("yy", repeat=1)]
    rows_b = [*passes("nn"), *passes("yn", repeat=1)]
    runs = paired_runs(run(tmp_path / "a", rows_a), run(tmp_path / "b", rows_b))

    assert [(pair.index_b, pair.change) for pair in runs.worse] == [(1, -1.0), (0, -0.5)]


def test_records_without_a_score_are_named_by_what_is_missing(tmp_path: Path) -> None:
    runs = compared(tmp_path, "y??yyyyyyy", "yy????????")

    assert [(one.record_id, one.missing) for one in runs.left_out] == [
        ("r1", "no score in A"),
        ("r2", "no score in both"),
        *((f"r{place}", "no score in B") for place in range(3, 8)),
    ]


def test_without_pairs_there_is_nothing_to_count(tmp_path: Path) -> None:
    runs = compared(tmp_path, "?", "y")

    assert runs.counts == (0, 0, 0, 0, 0)
    assert runs.select("all") == ()


def test_both_answers_are_read_with_what_people_said(tmp_path: Path) -> None:
    runs = written(tmp_path)
    votes = {("q0", 0): ResponseVotes(3, 3)}, {("0", 0): ResponseVotes(0, 3)}
    worse, better, same = read_pairs(runs.folders, runs.select("all"), votes)

    assert (worse.asked, worse.a.answer, worse.b.answer) == (
        "Question 0?",
        "old answer 0",
        "new answer 0",
    )
    assert worse.people is not None
    assert worse.people.word == "People agree"
    assert (better.change, better.people, same.change) == (1.0, None, 0.0)


def test_a_file_has_the_first_records_of_each_outcome(tmp_path: Path) -> None:
    parts = pair_parts(written(tmp_path), most=1)

    assert [(part.kind, part.total, part.pairs[0].name) for part in parts] == [
        ("fail", 1, "q0"),
        ("pass", 1, "q1"),
        ("", 1, "q2"),
    ]


@pytest.mark.parametrize(
    ("text", "found"), [("question 1", [1]), ("OLD", [0, 1, 2]), ("nothing", []), ("", [0, 1, 2])]
)
def test_a_search_looks_at_both_runs(tmp_path: Path, text: str, found: list[int]) -> None:
    runs = written(tmp_path)
    pairs = matching_pairs(runs, text, lambda run_id: FolderRecords(tmp_path / run_id))

    assert sorted(one.index_b for one in pairs.select("all")) == found


def test_records_that_people_read_come_first_in_their_part(tmp_path: Path) -> None:
    runs = compared(tmp_path, "yyyn", "nnny")
    pairs = read_first(matching_pairs(runs, None, FolderRecordsOf), {"r2"})

    assert [one.record_id for one in pairs.select("different")] == ["r2", "r0", "r1", "r3"]


def FolderRecordsOf(_run_id: str) -> FolderRecords:  # noqa: N802 - never called
    raise AssertionError


@pytest.mark.parametrize(
    ("page", "rows", "first", "shown"),
    [(1, 25, 1, 10), (3, 25, 21, 5), (9, 25, 21, 5), (1, 0, 0, 0)],
)
def test_a_list_has_pages(page: int, rows: int, first: int, shown: int) -> None:
    found = page_of(range(rows), page, 10)

    assert (found.first, len(found.rows), found.total) == (first, shown, rows)
    assert found.pages == max(1, -(-rows // 10))
