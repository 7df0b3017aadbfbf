"""Real rows of benchmarks and real files of contracts, converted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.contracts import DATASETS
from fakes.conversions import Desk

EXTENSIONS = {
    "legal_eval": ".jsonl",
    "dataset_document": ".json",
    "question_set": ".yaml",
    "eval_cases": ".yaml",
    "evals_json": ".json",
}
BENCHMARKS = {"prbench": 2, "apexv1": 1, "lexam": 5, "includebase": 5}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_real_row_of_a_benchmark_converts_and_validates(
    conformance: Path, desk: Desk, name: str
) -> None:
    raw = conformance / "legal" / f"{name}_raw.sample.jsonl"
    made = desk.convert(str(raw), "legal_eval", "out.jsonl", made_from=name)

    assert (made.read, made.emitted, made.unwritten) == (BENCHMARKS[name], BENCHMARKS[name], ())
    assert len(desk.read("out.jsonl").cases) == BENCHMARKS[name]


def test_the_canary_of_prbench_is_kept(conformance: Path, desk: Desk) -> None:
    raw = conformance / "legal" / "prbench_raw.sample.jsonl"
    desk.convert(str(raw), "legal_eval", "out.jsonl", made_from="prbench")
    canaries = [json.loads(line)["canary"] for line in raw.read_text("utf-8").splitlines()]

    assert [case.metadata["canary"] for case in desk.read("out.jsonl").cases] == canaries


def test_rows_agree_with_those_that_another_converter_made(conformance: Path, desk: Desk) -> None:
    sample = conformance / "legal" / "legal_eval_v1.sample.jsonl"
    theirs: list[Any] = [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    ours: dict[str, Any] = {}
    for name in ("lexam", "includebase", "apexv1"):
        raw = conformance / "legal" / f"{name}_raw.sample.jsonl"
        desk.convert(str(raw), "legal_eval", f"{name}.jsonl", made_from=name)
        ours |= {str(row["prompt"]).strip(): row for row in desk.rows(f"{name}.jsonl")}
    pairs = [(row, ours[row["prompt"]]) for row in theirs if row["prompt"] in ours]

    assert len(pairs) == 7
    for row, mine in pairs:
        assert said(mine) == said(row)


def said(row: Any) -> dict[str, Any]:
    """What a row asks and how it is graded; the other converter trims its texts."""
    return {
        "task_type": row["task_type"],
        "policy": row["metadata"]["policy_id"],
        "choices": row.get("choices"),
        "correct": row.get("correct_choice_ids"),
        "answers": [answer.strip() for answer in row.get("reference_answers", [])],
        "criteria": [criterion["title"].strip() for criterion in row.get("rubric", [])],
    }


@pytest.mark.parametrize("to", DATASETS)
@pytest.mark.parametrize(
    "name",
    [
        "legal/legal_eval_v1.sample.jsonl",
        "checks/drupal_drupal-caching.evals.json",
        "checks/drupal_drupal-rules.evals.json",
        "eval-cases/examples/features/batch-cli/evals/dataset.yaml",
        "eval-cases/examples/features/rubric/evals/dataset.yaml",
    ],
)
def test_every_real_file_converts_with_every_row_accounted_for(
    conformance: Path, desk: Desk, name: str, to: str
) -> None:
    made = desk.convert(str(conformance / name), to, f"out{EXTENSIONS[to]}", flatten=True)
    outcomes = sum(rows.count for rows in made.unwritten)

    assert made.read == made.emitted + outcomes > 0
    if made.emitted:
        assert len(desk.read(f"out{EXTENSIONS[to]}").cases) == made.emitted
