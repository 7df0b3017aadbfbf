"""Predictions for other tools; no spreadsheet runs them as formulas."""

from __future__ import annotations

import csv
import io
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import fakes.predictions
from fakes.predictions import SCORED
from steelyard.results.predictions import Prediction, read_prediction
from steelyard.usecases.results.exports.rows import check_names, export_csv, export_jsonl


def prediction(
    index: int = 0, *, scores: dict[str, float] | None = None, **more: Any
) -> Prediction:
    """A row of predictions.jsonl."""
    entries = [{**SCORED, "check": name, "score": score} for name, score in (scores or {}).items()]
    return fakes.predictions.prediction(index, evaluator_scores=entries, **more)


def table(*rows: Prediction, checks: Sequence[str] = ()) -> list[dict[str, str]]:
    """What a spreadsheet reads."""
    return list(csv.DictReader(io.StringIO("".join(export_csv(rows, checks)), newline="")))


def test_jsonl_is_what_it_was() -> None:
    rows = [prediction(0, model_response="Zürich\n"), prediction(1)]
    lines = list(export_jsonl(rows))

    assert [read_prediction(line.encode()) for line in lines] == rows
    assert all(line.endswith("\n") and "\n" not in line[:-1] for line in lines)
    assert "Zürich" in lines[0]


STARTS = ["=", "+", "-", "@", "\t", "\r"]
UNSEEN = ["\n=", " =", "\r\n +", "\u00a0-", "\u3000@", "\ufeff=", "\u200b=", "\0="]
WIDE = ["＝", "＋", "－", "＠", "﹦", "\n ＝"]


@pytest.mark.parametrize("start", [*STARTS, *UNSEEN, *WIDE])
@pytest.mark.parametrize("column", ["record_id", "model_response", "reason", "target"])
def test_a_text_that_begins_like_a_formula_is_made_harmless(column: str, start: str) -> None:
    formula = f'{start}HYPERLINK("http://evil.example";"click")'

    assert table(structs.replace(prediction(), **{column: formula}))[0][column] == f"'{formula}"


@pytest.mark.parametrize(
    "text", ["", "plain", " 1=1", "\na=b", "'=1", ' with "quotes", and\nlines', " \n"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert table(prediction(model_response=text))[0]["model_response"] == text


def test_a_negative_number_is_a_number() -> None:
    assert table(prediction(raw_score=-0.5))[0]["raw_score"] == "-0.5"


def test_every_check_has_its_column_in_order_of_appearance(tmp_path: Path) -> None:
    predictions = [prediction(0, scores={"b": 1.0}), prediction(1, scores={"a": 0.5, "b": 0.0})]
    (tmp_path / "predictions.jsonl").write_text(
        "\n".join(json.dumps(row.json()) for row in predictions)
    )
    rows = table(*predictions, checks=check_names(tmp_path))

    assert [name for name in rows[0] if name.startswith("check:")] == ["check:b", "check:a"]
    assert [(row["check:b"], row["check:a"]) for row in rows] == [("1.0", ""), ("0.0", "0.5")]


def test_the_name_of_a_check_is_no_formula_either() -> None:
    text = "".join(export_csv([prediction(scores={"=cmd()": 1.0})], ["=cmd()"]))

    assert "check:=cmd()" in text.splitlines()[0]


@pytest.mark.parametrize("lines", [export_jsonl, partial(export_csv, checks=["a"])])
def test_a_row_is_read_when_it_is_written(
    lines: Callable[[Iterator[Prediction]], Iterator[str]],
) -> None:
    rows = map(prediction, range(1_000_000))
    written = lines(rows)
    deque(islice(written, 10), maxlen=0)

    assert next(rows).index <= 10


def test_a_run_without_rows_is_a_table_without_rows() -> None:
    assert table() == []
    assert "".join(export_csv([], [])).startswith("index,record_id,")
