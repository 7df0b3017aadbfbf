"""Every contract runs, in one project, to the same kind of result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.five_contracts import write_five
from fakes.many_commands import Done, run_many

GRADED = ("--responses", "answers.jsonl", "--format", "json")
RUNS: dict[str, tuple[tuple[str, ...], int]] = {
    "legal_eval": (("datasets/legal.jsonl",), 0),
    "dataset_document": (("datasets/desk.json", "--rubric", "rubric/hours@1.0"), 0),
    "question_set": (("datasets/questions.yaml",), 4),
    "evals_json": (("datasets/caching.evals.json",), 4),
    "eval_cases": (("datasets/cases.jsonl",), 0),
}
JUDGED: dict[str, dict[str, object]] = {
    "reference": {"task_type": "reference_qa", "reference_answers": ["yes"]},
    "criterion": {"task_type": "rubric_qa", "rubric": [{"id": "c", "title": "Says so"}]},
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What the run of each contract's dataset came to."""
    root = tmp_path_factory.mktemp("five")
    write_five(root)
    commands = [("run", *words, *GRADED) for words, _ in RUNS.values()]
    return dict(zip(RUNS, run_many(root, commands), strict=True))


def rows(run: dict[str, Any], name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    text = (Path(run["artifacts"]) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("contract", RUNS)
def test_a_dataset_of_every_contract_runs_to_a_sealed_result(
    done: dict[str, Done], contract: str
) -> None:
    found = done[contract]
    assert found.code == RUNS[contract][1], found.stderr
    run = json.loads(found.stdout)
    manifest = json.loads((Path(run["artifacts"]) / "run_manifest.json").read_bytes())

    check_run(Path(run["artifacts"]))
    assert manifest["contract"] == contract
    assert list(run["metrics"]["pass_rate"]) == [
        "value",
        "low",
        "high",
        "method",
        "n",
        "clusters",
        "n_effective",
    ]


def test_multiple_choice_is_graded_without_a_judge(done: dict[str, Done]) -> None:
    first, second = rows(json.loads(done["legal_eval"].stdout))
    (choice,) = first["evaluator_scores"]

    assert (choice["kind"], choice["passed"], choice["details"]["rule"]) == (
        "choice",
        True,
        "hashes",
    )
    assert (second["passed"], second["score"]) == (False, 0.0)
    assert second["evaluator_scores"][0]["details"]["no_choice"] is True


def test_a_question_is_graded_by_its_rubric_or_by_what_it_expects(done: dict[str, Done]) -> None:
    run = json.loads(done["question_set"].stdout)
    kinds = [[score["kind"] for score in row["evaluator_scores"]] for row in rows(run)]
    manifest = json.loads((Path(run["artifacts"]) / "run_manifest.json").read_bytes())

    assert kinds == [["must_contain_any"], ["format"], ["fact_match"], []]
    assert [row["passed"] for row in rows(run)] == [True, True, True, None]
    assert [rubric["rubric"] for rubric in manifest["rubrics"]] == [
        "rubric/hours@1.0.0",
        "rubric/implicit@1.0.0",
    ]


def test_a_reference_that_leads_nowhere_makes_its_row_invalid(done: dict[str, Done]) -> None:
    run = json.loads(done["question_set"].stdout)
    (failure,) = rows(run, "failures.jsonl")

    assert (failure["record_id"], failure["status"]) == ("q4", "invalid_record")
    assert failure["label"] == "dangling_reference"
    assert (run["metrics"]["valid_records"], run["metrics"]["invalid_records"]) == (3, 1)


def test_an_eval_passes_by_all_its_inline_checks_and_one_without_any_is_skipped(
    done: dict[str, Done],
) -> None:
    first, second = rows(json.loads(done["evals_json"].stdout))

    assert [score["kind"] for score in first["evaluator_scores"]] == [
        "must_contain_any",
        "markdown_structure",
    ]
    assert (first["passed"], second["status"]) == (True, "skipped")


@pytest.mark.parametrize("judge", JUDGED)
def test_what_needs_a_judge_without_a_target_is_refused_by_the_name_of_the_setting(
    tmp_path: Path, judge: str
) -> None:
    head = {"schema_version": "legal_eval_v1", "id": "r", "dataset": "d", "prompt": "?"}
    row = json.dumps({**head, **JUDGED[judge]}) + "\n"
    (tmp_path / "legal.jsonl").write_text(row, encoding="utf-8")
    (told,) = run_many(tmp_path, [("run", "legal.jsonl", "--target", "echo")])

    assert (told.code, told.stdout) == (2, "")
    assert f"judge/{judge}@1.0.0" in told.stderr
    assert f"judges.{judge}.target or judges.default.target" in told.stderr
    assert not (tmp_path / ".steelyard/runs").exists()


def test_the_choices_and_the_context_reach_the_target(tmp_path: Path) -> None:
    write_five(tmp_path)
    words = ("run", "datasets/legal.jsonl", "--target", "echo", "--format", "json")
    (told,) = run_many(tmp_path, [words])
    said = rows(json.loads(told.stdout))[0]["model_response"]

    assert "Which court hears the appeal?" in said
    assert "A. The cantonal court\nB. None" in said
    assert "The case was heard in Zurich." in said
