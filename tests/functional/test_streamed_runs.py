"""A run whose answers are streamed: the time to the first token is kept, a cut-off stream too."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker import check_run
from fakes.projects import row
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.streams import chat_events, streams, written

if TYPE_CHECKING:
    from aiohttp import web

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{0}", model: m, stream: true, max_concurrency: 1}}
retry: {{max_attempts: 2, backoff_s: [0.01], jitter: 0}}
"""


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_a_stream_is_timed_to_its_first_token_and_tried_again_when_cut_off(
    tmp_path: Path, steelyard: Steelyard
) -> None:
    stream = written(chat_events(COMPLETION))
    answers = [streams(stream, is_cut=True, cut_after=len(stream) // 2)]

    async def answer(request: web.Request) -> web.StreamResponse:
        return await (answers.pop() if answers else streams(stream))(request)

    check = {"type": "contains", "value": "nine"}
    cases = [row(name, evaluators=[check], input="When?") for name in "ab"]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    with in_thread(serving(answer)) as url:
        (tmp_path / "steelyard.yaml").write_text(SETTINGS.format(url), encoding="utf-8")
        done = steelyard("run", "d.jsonl", "--target", "live", "--format", "json", cwd=tmp_path)
    run: dict[str, Any] = json.loads(done.stdout)
    folder, metrics = Path(run["artifacts"]), run["metrics"]
    check_run(folder)
    cut, *answered = sorted(
        rows(folder, "attempt_logs.jsonl"), key=lambda one: one["error_code"] is None
    )

    assert (cut["error_code"], cut["attempt"]) == ("internal_error", 1)
    assert (cut["message"], cut["first_token_ms"]) == ("the answer was cut off", None)
    for one in (*answered, *rows(folder, "predictions.jsonl")):
        assert 0 < one["first_token_ms"] <= one["latency_ms"]
    assert metrics["first_token_ms"]["n"] == metrics["pass_count"] == 2
    assert metrics["first_token_ms"]["p50"] <= metrics["latency_ms"]["p95"]
    shown = steelyard("show", "latest", cwd=tmp_path).stdout
    assert "; first token p50 " in shown
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    assert manifest["targets"]["live"]["stream"] is True
