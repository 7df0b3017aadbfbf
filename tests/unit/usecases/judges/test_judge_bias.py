"""Covariates of labelled responses, from the predictions of their run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.manifests import manifest_row
from fakes.metrics import write_metrics
from steelyard.model.statistics.judge_bias import CovariateBias
from steelyard.model.statistics.validation import LabelledItem
from steelyard.usecases.judges.judge_bias import judge_bias


def a_run(root: Path, rows: list[dict[str, object]]) -> Path:
    text = json.dumps(manifest_row(run_id="run_1"))
    (root / "run_manifest.json").write_text(text, encoding="utf-8")
    write_metrics(root)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "predictions.jsonl").write_text(lines, encoding="utf-8")
    return root


def item(number: int, **more: object) -> LabelledItem:
    given: dict[str, object] = {
        "run_id": "run_1",
        "index": number,
        "repeat": 0,
        "record_id": f"q{number}",
        "is_good": False,
        "is_passed": number % 2 == 0,
        "slices": (("age", str(number)), ("tags", "a"), ("tags", "b"), ("topic", "fees")),
    }
    return LabelledItem(**{**given, **more})  # pyright: ignore[reportArgumentType]


def found(root: Path, items: list[LabelledItem], **row: object) -> dict[str, CovariateBias]:
    rows = [
        {"index": n, "repeat": 0, "model_response": "x" * (100 if n % 2 == 0 else 10), **row}
        for n in range(60)
    ]
    folder = a_run(root, rows)
    return {f"{one.covariate} {one.error}": one for one in judge_bias(items, [folder])}


def test_length_and_slices_that_are_numbers_are_looked_at(tmp_path: Path) -> None:
    biases = found(tmp_path, [item(n) for n in range(40)])

    # the judge passes every long response, whatever its age
    assert sorted(biases) == ["age false_pass", "response_length false_pass"]
    length, age = biases["response_length false_pass"], biases["age false_pass"]
    assert (length.rate_above, length.rate_below, length.split_at, length.n) == (1, 0, 55, 40)
    assert (length.is_notable, age.is_notable, age.estimate) == (True, False, 0)
    assert length.adjusted_p == pytest.approx(2 * length.p_value)


def test_good_responses_show_what_is_failed_wrongly(tmp_path: Path) -> None:
    biases = found(tmp_path, [item(n, is_good=True) for n in range(40)])

    assert biases["response_length false_fail"].estimate == -1


def test_without_a_response_there_is_no_length(tmp_path: Path) -> None:
    assert sorted(found(tmp_path, [item(n) for n in range(40)], model_response=None)) == [
        "age false_pass"
    ]


def test_few_labels_show_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, [item(n) for n in range(12)]) == {}


def test_responses_of_one_conversation_are_not_independent(tmp_path: Path) -> None:
    biases = found(tmp_path, [item(n) for n in range(40)], cluster="talk")

    assert biases["response_length false_pass"].low is None
    assert not biases["response_length false_pass"].is_notable
