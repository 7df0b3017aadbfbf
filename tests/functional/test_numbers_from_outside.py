"""Numbers that cannot be true, wherever they come from: unknown or refused, never a crash."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes.projects import row
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, Answer, sends, serving

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
BEYOND_FLOATS = 10**400
BEYOND_TRUTH = 10**20
SAYS_NINE = [{"type": "contains", "value": "nine"}]
TARGET = """
targets:
  live: {{provider: openai, base_url: "{url}", model: m, tokens_per_minute: 100000,
          price: {{input: 1, output: 1}}}}
"""


def answers(number: int) -> Answer:
    """An answer that counts its tokens so, in its usage and in a tool's arguments."""
    text = json.dumps({**COMPLETION, "usage": {"prompt_tokens": -1, "completion_tokens": 3}})
    return sends(text.replace("-1", str(number)).encode())


def write(folder: Path, settings: str, rows: list[Any]) -> None:
    (folder / "steelyard.yaml").write_text(settings, encoding="utf-8")
    lines = (json.dumps(one) + "\n" for one in rows)
    (folder / "d.jsonl").write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("number", [BEYOND_FLOATS, BEYOND_TRUTH], ids=["400", "20"])
def test_a_count_of_tokens_that_cannot_be_true_is_unknown(
    steelyard: Steelyard, tmp_path: Path, number: int
) -> None:
    with in_thread(serving(answers(number))) as url:
        rows = [row(f"r{place}", evaluators=SAYS_NINE) for place in range(3)]
        write(tmp_path, TARGET.format(url=url), rows)
        done = steelyard("run", "d.jsonl", "--target", "live", "--format", "json", cwd=tmp_path)
    metrics = json.loads(done.stdout)["metrics"]

    assert (done.returncode, metrics["pass_count"]) == (0, 3)
    assert (metrics["tokens"]["input"], metrics["cost_usd"]["total"]) == (0, None)


def test_a_recorded_number_that_cannot_be_true_is_unknown(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    said = {"role": "assistant", "content": "nine"}
    write(tmp_path, "", [row("a", evaluators=SAYS_NINE), row("b", evaluators=SAYS_NINE)])
    trace = {
        "messages": [said],
        "usage": {"input_tokens": BEYOND_TRUTH, "output_tokens": BEYOND_FLOATS},
        "latency_ms": 1e300,
        "cost_usd": BEYOND_FLOATS,
    }
    rows = [
        {"record_id": "a", "response_text": "nine", "latency_ms": BEYOND_FLOATS},
        {"record_id": "b", "trace": trace},
    ]
    text = "".join(json.dumps(one) + "\n" for one in rows)
    (tmp_path / "r.jsonl").write_text(text, encoding="utf-8")
    done = steelyard("run", "d.jsonl", "--responses", "r.jsonl", "--format", "json", cwd=tmp_path)
    metrics = json.loads(done.stdout)["metrics"]

    assert (done.returncode, metrics["pass_count"]) == (0, 2)
    assert (metrics["latency_ms"]["p50"], metrics["cost_usd"]["total"]) == (None, None)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (f"targets: {{t: {{provider: echo, timeout_s: {BEYOND_FLOATS}}}}}", "too large to hold"),
        ("targets: {t: {provider: echo, timeout_s: 1e300}}", "at most 86,400"),
        ("targets: {t: {provider: echo, max_concurrency: 1000000000}}", "at most 10,000"),
        ("retry: {max_attempts: 1000000000}", "at most 100"),
        ("limits: {deadline_s: 1e300}", "at most 31,536,000"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(
    steelyard: Steelyard, tmp_path: Path, setting: str, said: str
) -> None:
    write(tmp_path, setting, [row("a")])
    done = steelyard("run", "d.jsonl", "--target", "echo", cwd=tmp_path)

    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("weight", [BEYOND_FLOATS, 1e301], ids=["400", "301"])
def test_a_weight_that_cannot_be_meant_is_a_finding(
    steelyard: Steelyard, tmp_path: Path, weight: float
) -> None:
    heavy = [{"type": "equals", "value": "yes", "weight": weight}]
    write(tmp_path, "", [row("a", evaluators=heavy), row("b")])
    done = steelyard("validate", "d.jsonl", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)["files"][0]["findings"]

    assert done.returncode == 1
    assert {one["index"] for one in found} == {0}
    assert found[0]["code"] == "value_out_of_range"
