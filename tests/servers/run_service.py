"""A server with workers, for tests that post runs."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from servers.service import served
from steelyard.api.serving import ServerSettings
from steelyard.project import open_project
from steelyard.run_execution import executing

if TYPE_CHECKING:
    import httpx

SETTINGS = """\
targets:
  slow: {provider: python, callable: "slow_agent:answer", max_concurrency: 2}
  moody: {provider: python, callable: "slow_agent:moody", model: m-1}
suites:
  saved: {dataset: datasets/saved.json, target: echo, rubric: rubric/found@1.0}
retry: {max_attempts: 2, backoff_s: [0]}
"""
AGENT = '''\
"""A target that takes its time, and one that fails until a file says otherwise."""

import asyncio
from pathlib import Path


async def answer(prompt):
    await asyncio.sleep(0.05)
    return prompt


def moody(prompt):
    if "fail" in prompt and not (Path(__file__).parent / "mended").exists():
        raise TimeoutError("not now")
    return prompt
'''
RUBRIC = """\
id: found
version: 1.0.0
checks:
  - {id: says_word, kind: must_contain_any, phrases: [word]}
scoring: {combine: all_pass}
"""
ENDED = ("completed", "completed_with_failures", "failed", "cancelled")


def record(name: str, prompt: object = "a word") -> dict[str, Any]:
    """A record of contract 2."""
    return {"record_id": name, "input": {"prompt": prompt}}


def document(records: list[Any], **more: Any) -> dict[str, Any]:
    """A dataset document of contract 2."""
    head = {"dataset_id": "posted", "dataset_version": "1", "schema_version": "1.0"}
    return {**head, "records": records, **more}


def write_project(root: Path) -> None:
    """A project with targets and a rubric for posted datasets."""
    for name in ("rubrics", "datasets"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "steelyard.yaml").write_text(SETTINGS, encoding="utf-8")
    (root / "slow_agent.py").write_text(AGENT, encoding="utf-8")
    (root / "rubrics" / "found.yaml").write_text(RUBRIC, encoding="utf-8")
    saved = '{"dataset_id": "saved", "dataset_version": "1", "schema_version": "1.0", "records": '
    rows = '[{"record_id": "s", "input": {"prompt": "a word"}}]}'
    (root / "datasets" / "saved.json").write_text(saved + rows, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class RunService:
    """A served project with a client."""

    root: Path
    client: httpx.Client

    def post(self, body: Any, headers: dict[str, str] | None = None, **query: Any) -> Any:
        """The answer to a posted document; graded by the project's rubric."""
        asked = {"target": "echo", "rubric": "rubric/found@1.0", **query}
        params = {name: value for name, value in asked.items() if value is not None}
        if isinstance(body, bytes):
            given = {"content-type": "application/json", **(headers or {})}
            return self.client.post("/v1/runs", content=body, params=params, headers=given)
        return self.client.post("/v1/runs", json=body, params=params, headers=headers)

    def run(self, run_id: str) -> Any:
        """A run as it stands."""
        return self.client.get(f"/v1/runs/{run_id}").json()

    def when(self, run_id: str, *states: str, patience_s: float = 30.0) -> Any:
        """A run once it is in one of some states; in a terminal one by default."""
        deadline = time.monotonic() + patience_s
        while True:
            found = self.run(run_id)
            if found["status"] in (states or ENDED):
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)


@contextmanager
def run_service(root: Path, workers: int = 1, **settings: Any) -> Generator[RunService]:
    """A server of the project in this process, with workers in others."""
    with (
        open_project(root) as project,
        executing(project, ServerSettings(workers=workers)),
        served(project, **settings) as client,
    ):
        yield RunService(root, client)
