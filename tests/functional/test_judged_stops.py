"""A run that is stopped while its judge is slow or refuses loses no answer and hides no call."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from servers.judge_server import JUDGE_MODEL, JudgeEndpoint

SETTINGS = """
targets:
  live: {{provider: openai, base_url: "{url}", model: m, max_concurrency: 8}}
  judge: {{provider: openai, base_url: "{url}", model: j, max_concurrency: 1}}
judges: {{default: {{target: judge}}}}
"""
RECORDS = 30
RUN = ("run", "cases.jsonl", "--target", "live", "--format", "json")


def write_project(root: Path, url: str) -> None:
    cases = (
        {"id": f"r{place}", "expected_outcome": "Says nine.", "input": f"Open, {place}?"}
        for place in range(RECORDS)
    )
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (root / "cases.jsonl").write_text(lines, encoding="utf-8")
    (root / "steelyard.yaml").write_text(SETTINGS.format(url=url), encoding="utf-8")


def started(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_until_stuck(endpoint: JudgeEndpoint) -> None:
    """Until the target is asked nothing more, because answers wait for the judge."""
    asked, deadline = -1, time.monotonic() + 120
    while time.monotonic() < deadline:
        now = endpoint.calls["m"]
        if endpoint.calls[JUDGE_MODEL] > 3 and now == asked:
            return
        asked = now
        time.sleep(0.5)


def kept(root: Path, rows: str) -> int:
    with closing(sqlite3.connect(root / ".steelyard" / "steelyard.db")) as connection:
        return connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]


def logged(root: Path) -> list[dict[str, Any]]:
    (path,) = (root / ".steelyard" / "runs").glob("*/attempt_logs.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_answers_that_wait_for_a_slow_judge_are_kept_and_not_asked_for_again(
    tmp_path: Path,
) -> None:
    with JudgeEndpoint(stuck_after=3).serving() as endpoint:
        write_project(tmp_path, endpoint.url)
        process = started(tmp_path, *RUN)
        wait_until_stuck(endpoint)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        answers = endpoint.calls["m"]

        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert answers > kept(tmp_path, "results") + 2
        assert kept(tmp_path, "results") + kept(tmp_path, "answered") == answers
        assert kept(tmp_path, "attempts") == endpoint.calls.total()

        endpoint.stuck_after = None
        resumed = started(tmp_path, "resume", "latest", "--format", "json")
        output, said = resumed.communicate(timeout=120)

    assert resumed.returncode == 0, said
    assert json.loads(output)["metrics"]["evaluated_records"] == RECORDS
    assert endpoint.calls["m"] == RECORDS
    assert len(logged(tmp_path)) == endpoint.calls.total()


def test_answers_are_kept_where_the_judge_refuses_its_first_ten_calls(tmp_path: Path) -> None:
    refused = 401, {"error": {"message": "no such key"}}
    with JudgeEndpoint(fault=lambda _: refused).serving() as endpoint:
        write_project(tmp_path, endpoint.url)
        process = started(tmp_path, *RUN)
        _, said = process.communicate(timeout=120)

    assert process.returncode == 3, said
    assert "its first 10 calls all failed for good" in said
    answers = "attempts WHERE call = 'target' AND CAST(row AS TEXT) NOT LIKE '%interrupted%'"
    assert kept(tmp_path, "results") + kept(tmp_path, "answered") == kept(tmp_path, answers)
    assert kept(tmp_path, "attempts") == endpoint.calls.total()
