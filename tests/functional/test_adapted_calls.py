"""A model that refuses the usual name of the token limit: logged, and no attempt is used."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker import check_run
from fakes.projects import row
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, says, serving

if TYPE_CHECKING:
    from aiohttp import web

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
REFUSAL = {"error": {"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens"}}
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{0}", model: m, max_new_tokens: 9, max_concurrency: 1}}
judges: {{default: {{target: live}}}}
retry: {{max_attempts: 1}}
"""
GRADERS = {
    "live": {"type": "contains", "value": "nine"},
    "echo": {"type": "llm-grader", "prompt": "Is it true?"},
}


async def refuses(request: web.Request) -> web.StreamResponse:
    """Take the other name alone."""
    body = await request.json()
    return await (says(REFUSAL, 400) if "max_tokens" in body else says(COMPLETION))(request)


@pytest.mark.parametrize("target", ["live", "echo"], ids=["target", "judge"])
def test_a_refused_name_is_logged_once_and_uses_no_attempt(
    tmp_path: Path, steelyard: Steelyard, target: str
) -> None:
    rows = [row(f"r{n}", evaluators=[GRADERS[target]], input=f"q{n}") for n in "ab"]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with in_thread(serving(refuses)) as url:
        (tmp_path / "steelyard.yaml").write_text(SETTINGS.format(url), encoding="utf-8")
        done = steelyard("run", "d.jsonl", "--target", target, "--format", "json", cwd=tmp_path)
    run: dict[str, Any] = json.loads(done.stdout)
    folder, metrics = Path(run["artifacts"]), run["metrics"]
    check_run(folder)
    logged = (folder / "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()
    refused = [one for one in map(json.loads, logged) if one["error_code"] == "adapted"]

    assert len(refused) == metrics["adapted_calls"] == 1
    assert (refused[0]["attempt"], refused[0]["http_status"]) == (1, 400)
    assert refused[0]["message"].endswith("asked again with max_completion_tokens")
    assert metrics["retried_records"] == 0
    if target == "live":
        assert (metrics["pass_count"], metrics["attempts"]) == (2, 2)
