"""Three processes of a run call a target no more often than its limit says."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checker import check_run
from fakes.projects import row
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, says, serving

if TYPE_CHECKING:
    from aiohttp import web

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
COUNT = 18
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{0}", model: m, requests_per_minute: 120}}
"""


def test_the_calls_of_three_processes_keep_to_one_pace(
    tmp_path: Path, steelyard: Steelyard
) -> None:
    asked: list[float] = []

    async def count(request: web.Request) -> web.StreamResponse:
        asked.append(time.monotonic())
        return await says(COMPLETION)(request)

    rows = [row(f"r{n}", input=f"question {n}") for n in range(COUNT)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with in_thread(serving(count)) as url:
        (tmp_path / "steelyard.yaml").write_text(SETTINGS.format(url), encoding="utf-8")
        words = ("run", "d.jsonl", "--target", "live", "--workers", "3", "--format", "json")
        done = steelyard(*words, cwd=tmp_path)
    check_run(Path(json.loads(done.stdout)["artifacts"]))

    assert len(asked) == COUNT
    assert asked[-1] - asked[0] >= (COUNT - 1) * 0.5 - 0.3
