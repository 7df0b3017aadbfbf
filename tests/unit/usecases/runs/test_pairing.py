"""Which records of two runs can be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import NotFoundError, RequestError
from steelyard.usecases.runs.pairing import Partner, pair_records

ANSWER: dict[str, Any] = {"messages": [{"role": "assistant", "content": "Yes."}]}


def a_run(folder: Path, *rows: tuple[int, str | None, str | None, bool]) -> Path:
    """A run's predictions: the place, the hash, the target and whether it answered."""
    folder.mkdir()
    text = "".join(
        json.dumps(
            {
                "index": index,
                "record_sha256": sha256,
                "target": target,
                "trace": ANSWER if is_answered else None,
            }
        )
        + "\n"
        for index, sha256, target, is_answered in rows
    )
    (folder / "predictions.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_records_are_the_same_where_their_content_is(tmp_path: Path) -> None:
    first = a_run(tmp_path / "a", (0, "x", "one", True), (1, "y", "one", True))
    second = a_run(tmp_path / "b", (0, "y", "two", True), (1, "z", "two", True))

    found = pair_records(first, second)

    assert found.partners == {0: Partner("two", 1, "one")}
    assert found.left_out == {
        "only_in_a": 1,
        "only_in_b": 1,
        "no_answer_in_a": 0,
        "no_answer_in_b": 0,
        "no_answer_in_both": 0,
    }


def test_records_without_an_answer_are_counted_by_run(tmp_path: Path) -> None:
    answered = ((True, True), (True, False), (False, True), (False, False))
    first, second = (
        a_run(
            tmp_path / name, *((n, f"r{n}", name, both[side]) for n, both in enumerate(answered))
        )
        for side, name in enumerate("ab")
    )

    found = pair_records(first, second)

    assert list(found.partners) == [0]
    counted = [found.left_out[f"no_answer_in_{where}"] for where in ("a", "b", "both")]
    assert counted == [1, 1, 1]


def test_equal_records_are_paired_in_their_order(tmp_path: Path) -> None:
    first = a_run(tmp_path / "a", (0, "x", "one", True), (1, "x", "one", True))
    second = a_run(tmp_path / "b", (5, "x", "two", True), (6, "x", "two", True))

    found = pair_records(first, second)

    assert {place: one.other_index for place, one in found.partners.items()} == {5: 0, 6: 1}


def test_one_answered_repeat_is_enough_and_invalid_records_are_none(tmp_path: Path) -> None:
    first = a_run(tmp_path / "a", (0, None, None, False), (1, "x", None, True))
    second = a_run(tmp_path / "b", (0, "x", None, False), (0, "x", "two", True))

    assert pair_records(first, second).partners == {0: Partner("two", 1, "")}


def test_a_run_without_predictions_is_an_error(tmp_path: Path) -> None:
    first = a_run(tmp_path / "a", (0, "x", "one", True))

    with pytest.raises((NotFoundError, RequestError), match="cannot read"):
        pair_records(first, tmp_path / "gone")
