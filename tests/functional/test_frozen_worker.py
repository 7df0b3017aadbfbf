"""A worker whose threads no longer get a turn is replaced, and the queue goes on."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

from servers.run_service import document, record
from servers.service_process import ServiceProcess

pytestmark = pytest.mark.trials

SETTINGS = 'targets: {frozen: {provider: python, callable: "frozen_agent:answer"}}\n'
AGENT = """\
import re
from pathlib import Path


def answer(prompt):
    Path(__file__).with_name("began").touch()
    return str(re.match("(a+)+$", "a" * 60 + "b"))  # no other thread runs meanwhile, for years
"""
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: any_word, kind: must_contain_any, phrases: [word]}]
scoring: {combine: all_pass}
"""


def posted(service: ServiceProcess, target: str) -> str:
    query = {"target": target, "rubric": "rubric/any@1.0"}
    url = f"http://127.0.0.1:{service.port}/v1/runs"
    answer = httpx.post(url, params=query, json=document([record("a")]), timeout=60)
    assert answer.status_code == 202, answer.text
    return answer.json()["run_id"]


def test_a_cancelled_run_that_does_not_let_go_does_not_stop_the_queue(tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "any.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "steelyard.yaml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "frozen_agent.py").write_text(AGENT, encoding="utf-8")
    service = ServiceProcess(tmp_path)
    service.start()
    try:
        [worker] = service.worker_ids()
        frozen, waiting = posted(service, "frozen"), posted(service, "echo")
        deadline = time.monotonic() + 60
        while not (tmp_path / "began").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        url = f"http://127.0.0.1:{service.port}/v1/runs/{frozen}/cancel"
        assert httpx.post(url, timeout=60).status_code == 202

        assert service.when_ended(waiting)["status"] == "completed"
        assert service.when_ended(frozen)["status"] == "cancelled"
        assert service.worker_ids() != [worker]
    finally:
        service.process.terminate()
        service.process.wait(30)
