"""agentv: results and baselines as responses, targets as a project file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from fakes.conversions import Desk
from steelyard.errors import RequestError
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.project_file import parse_settings

ASKED: JsonObject = {"role": "user", "content": "Capital of France?"}
PARIS: JsonObject = {"role": "assistant", "content": "Paris"}
SEARCHED: JsonObject = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "tool": "search", "input": {"q": "capital"}, "output": "Paris"}],
}
MEASURED: JsonObject = {
    "event_count": 1,
    "tool_calls_by_name": {"search": 1},
    "token_usage": {"input": 10, "output": 2, "cached": 3},
    "cost_usd": 0.001,
    "duration_ms": 340,
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def line(**more: JsonValue) -> JsonObject:
    made: JsonObject = {
        "timestamp": "2026-01-03T12:00:00.000Z",
        "eval_id": "capital",
        "score": 1,
        "hits": ["Paris is named"],
        "misses": [],
        "candidate_answer": "Paris",
        "target": "local",
    }
    return {**made, **more}


def v4(**more: JsonValue) -> JsonObject:
    made: JsonObject = {"test_id": "capital", "score": 1, "assertions": [], "target": "local"}
    return {**made, **more}


def results(desk: Desk, *rows: JsonValue) -> Conversion:
    desk.write_rows("results/eval_1.jsonl", *rows)
    return desk.convert("results", "responses", "out.jsonl", made_from="agentv")


def targets(desk: Desk, *rows: JsonValue, key: str = "targets") -> tuple[Conversion, Any]:
    desk.write("targets.yaml", yaml.safe_dump({key: list(rows)}))
    made = desk.convert("targets.yaml", "targets", "steelyard.yaml", made_from="agentv")
    written = (desk.folder / "steelyard.yaml").read_bytes() if made.files else b"{}"
    return made, yaml.safe_load(written)


@pytest.mark.parametrize(
    ("row", "messages"),
    [
        (line(), [PARIS]),
        (line(lm_provider_request={"question": "Capital of France?"}), [ASKED, PARIS]),
        (line(agent_provider_request={"chat_prompt": [ASKED]}), [ASKED, PARIS]),
        (
            line(lm_provider_request={"question": "Capital of France?", "guidelines": "Short."}),
            [{"role": "system", "content": "Short."}, ASKED, PARIS],
        ),
        (v4(input=[ASKED], output="Paris"), [ASKED, PARIS]),
        (v4(input="Capital of France?", output=[SEARCHED, PARIS]), [ASKED, SEARCHED, PARIS]),
        (v4(input=[ASKED], trace={"messages": [ASKED, PARIS]}, output="x"), [ASKED, PARIS]),
        (v4(answer_path="capital/answer.md", input_path="capital/input.md"), [ASKED, PARIS]),
    ],
)
def test_the_lines_of_every_version_become_responses(
    desk: Desk, row: JsonObject, messages: list[JsonObject]
) -> None:
    desk.write("results/capital/answer.md", "Paris\n")
    desk.write("results/capital/input.md", "Capital of France?\n")

    results(desk, row)

    (found,) = desk.rows("out.jsonl")
    assert (found["record_id"], found["candidate_name"]) == ("capital", "local")
    assert cast(JsonObject, found["trace"])["messages"] == messages


def test_time_tokens_and_cost_come_over_and_scores_are_named_as_lost(desk: Desk) -> None:
    made = results(desk, line(trace_summary=MEASURED))

    trace = cast(JsonObject, desk.rows("out.jsonl")[0]["trace"])
    assert trace["usage"] == {"input_tokens": 10, "output_tokens": 2}
    assert (trace["latency_ms"], trace["cost_usd"]) == (340, 0.001)
    assert [one.field for one in made.fields if one.is_lost] == [
        "score",
        "trace_summary.tool_calls_by_name",
    ]


def test_a_failure_is_recorded_and_a_line_without_an_answer_is_left_out(desk: Desk) -> None:
    made = results(
        desk,
        line(candidate_answer="Error occurred: boom", error="boom"),
        v4(test_id="sum"),
        {"eval_id": 3},
    )

    (found,) = desk.rows("out.jsonl")
    assert (found["error_code"], found["message"]) == ("target_error", "boom")
    assert (made.read, made.emitted, made.count("left_out"), made.count("invalid")) == (3, 1, 1, 1)


def test_runs_of_a_folder_are_repeats_and_a_baseline_is_a_candidate(desk: Desk) -> None:
    later = line(timestamp="2026-01-04T12:00:00.000Z")
    desk.write_rows("results/eval_2.jsonl", line(candidate_answer="Lyon"), later, later)
    desk.write_rows("results/qa.baseline.jsonl", line(candidate_answer="Nice"))
    desk.write_rows("results/capital/transcript.jsonl", PARIS)

    made = results(desk, line())

    found = [(row["candidate_name"], row.get("repeat", 0)) for row in desk.rows("out.jsonl")]
    assert found == [("local", 0), ("local", 1), ("local", 2), ("local-baseline", 0)]
    assert (made.read, made.emitted, made.count("skipped")) == (5, 4, 1)


@pytest.mark.parametrize("path", ["../secret.md", "/etc/hostname"])
def test_only_files_of_the_run_are_read(desk: Desk, path: str) -> None:
    desk.write("secret.md", "secret")

    made = results(desk, v4(answer_path=path))

    assert (made.emitted, made.count("left_out")) == (0, 1)


@pytest.mark.parametrize(
    ("row", "settings"),
    [
        (
            {
                "provider": "azure",
                "endpoint": "${{ AZURE_ENDPOINT }}",
                "api_key": "${{ AZURE_KEY }}",
                "model": "${{ AZURE_DEPLOYMENT }}",
                "version": "2024-12-01-preview",
            },
            {
                "provider": "openai",
                "base_url": "${AZURE_ENDPOINT}/openai/deployments/${AZURE_DEPLOYMENT}",
                "query": {"api-version": "2024-12-01-preview"},
                "model": "${AZURE_DEPLOYMENT}",
                "headers": {"api-key": "${AZURE_KEY}"},
            },
        ),
        (
            {"provider": "azure", "endpoint": "desk", "model": "m", "api_key": "${{ K }}"},
            {
                "provider": "openai",
                "base_url": "https://desk.openai.azure.com/openai/v1",
                "model": "m",
                "headers": {"api-key": "${K}"},
            },
        ),
        (
            {"provider": "google", "model": "g", "api_key": "${{ K }}", "temperature": 0},
            {
                "provider": "openai",
                "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
                "model": "g",
                "api_key_env": "K",
                "temperature": 0,
            },
        ),
        (
            {
                "provider": "anthropic",
                "model": "c",
                "api_key": "${{ K }}",
                "max_output_tokens": 9,
                "workers": 2,
            },
            {
                "provider": "anthropic",
                "model": "c",
                "api_key_env": "K",
                "max_new_tokens": 9,
                "max_concurrency": 2,
            },
        ),
        (
            {
                "provider": "cli",
                "command_template": "./bot --in {PROMPT} {FILES} --id {EVAL_ID} -o {OUTPUT_FILE}",
                "timeout_seconds": 30,
            },
            {
                "provider": "command",
                "command": ["./bot", "--in", "{PROMPT}", "--id", "{ID}", "-o", "{OUTPUT_FILE}"],
                "timeout_s": 30,
            },
        ),
    ],
)
def test_a_target_is_written_as_one_of_ours(
    desk: Desk, row: JsonObject, settings: JsonObject
) -> None:
    _, written = targets(desk, {"name": "t", **row})

    assert written == {"targets": {"t": settings}}
    parse_settings((desk.folder / "steelyard.yaml").read_bytes(), "steelyard.yaml")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"provider": "vscode"}, "no target of Steelyard stands for 'vscode'"),
        ({"provider": "mock", "response": "hi"}, "always the same"),
        ({"provider": "cli", "command": "a | b"}, "needs a shell"),
        ({"provider": "cli", "command": "a", "provider_batching": True}, "all cases"),
        ({"provider": "cli", "command": "a {ATTEMPT}"}, "no placeholder {ATTEMPT}"),
        ({"provider": "cli", "command": "a --api-key s3cr3tvalue99"}, "looks like a secret"),
        ({"provider": "openai"}, "it has no 'model'"),
    ],
)
def test_what_has_no_target_is_left_out_with_the_reason(
    desk: Desk, row: JsonObject, reason: str
) -> None:
    made, _ = targets(desk, {"name": "t", **row}, {"provider": "cli", "name": 3})

    told = made.unwritten[1].reason
    assert reason in told
    assert "s3cr3tvalue99" not in told
    assert (made.read, made.emitted, made.count("left_out"), made.count("invalid")) == (2, 0, 1, 1)


def test_a_key_is_never_written(desk: Desk) -> None:
    made, written = targets(
        desk, {"name": "t", "provider": "anthropic", "model": "c", "api_key": "s3cr3t-literal"}
    )

    assert written == {"targets": {"t": {"provider": "anthropic", "model": "c"}}}
    assert [one.field for one in made.fields] == ["t.api_key"]
    assert not any("s3cr3t" in one.message for one in made.fields)


def test_the_target_that_judges_becomes_the_default_judge(desk: Desk) -> None:
    judge: JsonObject = {"label": "judge", "id": "openai", "model": "m", "api_key": "{{ env.K }}"}
    bot: JsonObject = {"label": "bot", "id": "cli", "command": "./bot", "grader_target": "judge"}

    _, written = targets(desk, judge, bot, key="providers")

    assert written["judges"] == {"default": {"target": "judge"}}
    assert written["targets"]["judge"]["api_key_env"] == "K"


def test_a_judge_that_has_no_target_is_named(desk: Desk) -> None:
    made, written = targets(
        desk, {"name": "bot", "provider": "cli", "command": "./bot", "judge_target": "gone"}
    )

    assert "judges" not in written
    assert "'gone'" in made.fields[0].message


def test_results_are_no_cases_and_other_tools_have_no_targets(desk: Desk) -> None:
    desk.write_rows("a.jsonl", line())

    with pytest.raises(RequestError, match="holds no cases"):
        desk.convert("a.jsonl", "eval_cases", "a.yaml", made_from="agentv")
    with pytest.raises(RequestError, match=r"targets needs .* agentv"):
        desk.convert("a.jsonl", "targets", "a.yaml", made_from="inspect")
