"""A whole run against a real model behind a real server, llama.cpp's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from fakes.desk_project import jsonl
from fakes.many_commands import Done, run_many

QUESTIONS = {
    "hours": ("When do you open", {"type": "contains", "value": "at nine"}),
    "days": ("When are you closed", {"type": "icontains", "value": "SUNDAY"}),
    "loans": ("How long may I keep a book", {"type": "regex", "value": "^ ?three weeks$"}),
    "fees": ("What does it cost", {"type": "contains_any", "value": ["nothing", "free"]}),
    "lost": ("I lost my umbrella!", {"type": "contains", "value": "sorry"}),
    "late": ("Until when are you open", {"type": "contains", "value": "ten"}),
}
WAYS = ("streamed", "responses", "responses_streamed", "messages", "messages_streamed")
SETTINGS = """\
targets:
  live:
    {{provider: openai, base_url: "{0}/v1", model: tiny-desk, temperature: 0, seed: 1,
      extra: {{cache_prompt: true}}}}
  streamed:
    {{provider: openai, base_url: "{0}/v1", model: tiny-desk, temperature: 0, stream: true}}
  responses:
    {{provider: openai, api: responses, base_url: "{0}/v1", model: tiny-desk, temperature: 0}}
  responses_streamed:
    {{provider: openai, api: responses, base_url: "{0}/v1", model: tiny-desk, temperature: 0,
      stream: true}}
  messages: {{provider: anthropic, base_url: "{0}", model: tiny-desk, temperature: 0}}
  messages_streamed:
    {{provider: anthropic, base_url: "{0}", model: tiny-desk, temperature: 0, stream: true}}
  short: {{provider: openai, base_url: "{0}/v1", model: tiny-desk, max_new_tokens: 1}}
  astray: {{provider: openai, base_url: "{0}/no/such", model: tiny-desk}}
"""


@pytest.fixture(scope="module")
def project(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six questions, and three ways to put them to the model."""
    root = tmp_path_factory.mktemp("desk")
    (root / "steelyard.yaml").write_text(SETTINGS.format(endpoint), encoding="utf-8")
    jsonl(
        root / "desk.jsonl",
        [
            {
                "id": name,
                "expected_outcome": "Answers.",
                "input_messages": [{"role": "user", "content": asked}],
                "evaluators": [{"name": "says", **evaluator}],
            }
            for name, (asked, evaluator) in QUESTIONS.items()
        ],
    )
    return root


@pytest.fixture(scope="module")
def told(project: Path) -> dict[str, Done]:
    """What `steelyard run` says about each target, and `verify` about its last run."""
    runs = {
        name: ("run", "desk.jsonl", "--target", name, "--format", "json")
        for name in ("live", *WAYS, "short", "astray")
    }
    commands = {**runs, "verify": ("verify", "latest")}
    return dict(zip(commands, run_many(project, commands.values()), strict=True))


def folder(done: Done) -> Path:
    return Path(json.loads(done.stdout)["artifacts"])


def rows(done: Done, name: str = "predictions.jsonl") -> dict[str, dict[str, Any]]:
    lines = (folder(done) / name).read_text(encoding="utf-8").splitlines()
    return {row["record_id"]: row for row in map(json.loads, lines)}


def test_the_answers_are_graded_as_they_should_be(told: dict[str, Done]) -> None:
    done = told["live"]
    found = rows(done)

    said = "graded by their own expectations: 6 records (must_contain_any 5, regex 1)\n"
    assert (done.code, done.stderr) == (0, said)
    assert {name: row["passed"] for name, row in found.items()} == {
        **dict.fromkeys(QUESTIONS, True),
        "late": False,
    }
    assert found["hours"]["model_response"] == " at nine"
    assert found["late"]["reason"] == "says: does not contain 'ten'"


def test_a_trace_holds_what_the_server_said(told: dict[str, Done]) -> None:
    row = rows(told["live"])["hours"]
    trace = row["trace"]

    assert trace["messages"] == [{"role": "assistant", "content": " at nine"}]
    assert (trace["model"], trace["finish_reason"]) == ("tiny-desk", "stop")
    assert trace["usage"]["output_tokens"] == 3
    assert trace["usage"]["input_tokens"] > 3
    assert trace["response_id"].startswith("chatcmpl-")
    assert row["total_tokens"] == sum(trace["usage"].values())
    assert 0 < row["latency_ms"] < 30_000


@pytest.mark.parametrize("way", WAYS)
def test_in_every_protocol_and_streamed_or_not_the_answers_are_the_same(
    told: dict[str, Done], way: str
) -> None:
    live, found = rows(told["live"]), rows(told[way])
    metrics = json.loads(told[way].stdout)["metrics"]

    assert {name: row["model_response"] for name, row in found.items()} == {
        name: row["model_response"] for name, row in live.items()
    }
    assert {row["trace"]["finish_reason"] for row in found.values()} <= {"stop", "end_turn"}
    assert {row["trace"]["model"] for row in found.values()} == {"tiny-desk"}
    assert metrics["tokens"]["n"] == 6
    assert metrics["first_token_ms"]["n"] == (6 if way.endswith("streamed") else 0)
    for row in found.values():
        assert (row["first_token_ms"] is not None) is way.endswith("streamed")
        assert (row["first_token_ms"] or 0) <= row["latency_ms"]


def test_metrics_and_manifest_tell_of_the_model(told: dict[str, Done]) -> None:
    metrics = json.loads(told["live"].stdout)["metrics"]
    manifest = json.loads((folder(told["live"]) / "run_manifest.json").read_bytes())

    assert (metrics["pass_count"], metrics["evaluated_records"]) == (5, 6)
    assert (metrics["tokens"]["n"], metrics["attempts"]) == (6, 6)
    assert (manifest["model"], manifest["temperature"], manifest["seed"]) == ("tiny-desk", 0, 1)
    assert manifest["targets"]["live"]["provider"] == "openai"


def test_the_artifacts_are_sealed(told: dict[str, Done]) -> None:
    manifest = json.loads((folder(told["live"]) / "run_manifest.json").read_bytes())
    sealed = {name: entry["sha256"] for name, entry in manifest["artifacts"].items()}

    assert len(sealed) == 7
    assert sealed == {
        name: hashlib.sha256((folder(told["live"]) / name).read_bytes()).hexdigest()
        for name in sealed
    }
    assert told["verify"].code == 0


def test_a_model_that_may_not_finish_says_so(told: dict[str, Done]) -> None:
    found = rows(told["short"])

    assert told["short"].code == 0
    assert {row["trace"]["finish_reason"] for row in found.values()} == {"length"}
    assert {row["output_tokens"] for row in found.values()} == {1}


def test_an_address_that_leads_nowhere_is_a_failure_of_each_record(told: dict[str, Done]) -> None:
    attempts = rows(told["astray"], "attempt_logs.jsonl")

    assert told["astray"].code == 4
    assert {(row["error_code"], row["http_status"]) for row in attempts.values()} == {
        ("not_found", 404)
    }
    assert json.loads(told["astray"].stdout)["metrics"]["attempts"] == 6
