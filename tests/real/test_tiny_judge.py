"""Judging with a real model behind a real server, which holds it to the schema of the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run
from fakes.many_commands import Done, run_many

SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{0}/v1", model: tiny-desk, temperature: 0}}
  judge: {{provider: openai, base_url: "{0}/v1", model: tiny-desk, temperature: 0, seed: 1}}
judges: {{default: {{target: judge, logprobs: true}}}}
"""
RUBRIC = """\
id: right
version: 1.0.0
checks: [{id: accurate, kind: llm_judge, judge_prompt_ref: judge/accuracy@1.0.0}]
scoring: {combine: all_pass}
"""
pytestmark = pytest.mark.trials
QUESTIONS = ("When do you open", "What does it cost", "I lost my umbrella!")


@pytest.fixture(scope="module")
def done(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """What `steelyard run` says of three questions that the model answers and judges."""
    root = tmp_path_factory.mktemp("judged")
    (root / "steelyard.yaml").write_text(SETTINGS.format(endpoint), encoding="utf-8")
    (root / "rubrics").mkdir()
    (root / "rubrics" / "right.yaml").write_text(RUBRIC, encoding="utf-8")
    records = [{"record_id": f"q{n}", "input": {"prompt": q}} for n, q in enumerate(QUESTIONS)]
    head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
    (root / "d.json").write_text(json.dumps({**head, "records": records}), encoding="utf-8")
    words = ("run", "d.json", "--target", "live", "--rubric", "rubric/right@1.0.0")
    (made,) = run_many(root, [(*words, "--format", "json")])
    return made


def folder(done: Done) -> Path:
    return Path(json.loads(done.stdout)["artifacts"])


def calls(done: Done) -> list[dict[str, Any]]:
    lines = (folder(done) / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    scores = [json.loads(line)["evaluator_scores"][0] for line in lines]
    return [call for score in scores for call in score["details"]["calls"]]


def test_the_server_is_seen_to_hold_to_a_schema(done: Done) -> None:
    manifest = json.loads((folder(done) / "run_manifest.json").read_bytes())
    attempts = (folder(done) / "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()
    probes = [row for row in map(json.loads, attempts) if row["call"] == "probe"]

    assert done.code == 0, done.stderr
    assert [judge["enforced"] for judge in manifest["judges"]] == [True]
    assert len(probes) == 1
    assert "does not hold" not in done.stderr


def test_every_answer_is_judged_in_the_form_of_the_schema(done: Done) -> None:
    metrics = json.loads(done.stdout)["metrics"]

    assert (metrics["evaluated_records"], metrics["unscored_count"]) == (3, 0)
    assert [(call["value"], call["rung"]) for call in calls(done)] == [(1, "native")] * 3
    assert all(call["is_enforced"] for call in calls(done))
    # It only ever quotes what nobody said.
    assert [call["evidence_found"] for call in calls(done)] == [False, False, True]


def test_the_tokens_of_the_judge_are_counted_apart(done: Done) -> None:
    metrics = json.loads(done.stdout)["metrics"]

    assert metrics["judging"]["calls"] == 3
    assert metrics["judging"]["tokens"]["n"] == 3
    assert metrics["judging"]["tokens"]["input"] > 10 * metrics["tokens"]["input"]
    check_run(folder(done), Trial())
