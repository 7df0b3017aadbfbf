"""What targets need of the nodes that ask them, and that no run is another one for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fakes.projects import Project, row, rows_of
from fakes.runs import evaluated
from fakes.stops import Stopped, stopping_at_state
from fakes.workers import PaperCrew, PaperWorker, batch_of
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from steelyard.project_file import parse_settings, write_settings
from steelyard.usecases.runs.derived_runs import regrade_options, retry_options
from steelyard.usecases.runs.execute import FinishedRun, start_run
from steelyard.usecases.runs.prepare import prepare

NEEDED = {"GPU": 1, "near_model": 2}
JUDGE_NEEDS = {"GPU": 2, "CPU": 0.5}
RUBRIC = """\
id: judged
version: 1.0.0
checks: [{id: good, kind: llm_judge, judge_prompt_ref: judge/right@1.0.0}]
scoring: {combine: all_pass}
"""
JUDGE = """\
id: right
version: 1.0.0
score_type: binary
template: "Is this right? {{ input }} {{ output }}"
"""
ROWS = [row("a"), row("b", input="!")]
RESPONSES = [
    {"record_id": one["id"], "candidate_name": "c", "response_text": "yes"} for one in ROWS
]


@dataclass
class Endpoint:
    """Answers questions, but for the first so many."""

    url: str = ""
    asked: int = 0
    refused: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.asked += 1
        if self.asked <= self.refused:
            return web.json_response({"error": {"message": "no"}}, status=400)
        said = {"role": "assistant", "content": "yes"}
        return web.json_response({**COMPLETION, "choices": [{"index": 0, "message": said}]})


@pytest.fixture
def endpoint() -> Generator[Endpoint]:
    """An endpoint that counts."""
    made = Endpoint()
    with in_thread(serving(made.answer)) as made.url:
        yield made


def written(project: Project, url: str = "http://127.0.0.1:9/v1", **needs: Any) -> None:
    """A project whose targets need something of a node."""
    model = {"provider": "openai", "base_url": url, "model": "m"}
    targets = {
        "live": {**model, **({"resources": needs} if needs else {})},
        "scripted": {"provider": "echo", "resources": NEEDED},
        "judging": {**model, "resources": JUDGE_NEEDS},
        "other": {"provider": "echo", "resources": {"TPU": 4}},
    }
    settings = {"targets": targets, "judges": {"default": {"target": "judging"}}}
    project.write("steelyard.yaml", json.dumps(settings))
    project.write("rubrics/judged.yaml", RUBRIC)
    project.write("judges/right.yaml", JUDGE)


def test_a_worker_takes_of_each_name_the_most_that_a_target_or_judge_needs(
    project: Project,
) -> None:
    written(project)
    ports, cases = project.ports(), project.cases(ROWS)

    assert project.prepare(ports, cases).resources == NEEDED
    assert project.prepare(ports, cases, target="live").resources == {}
    judged = project.prepare(ports, cases, rubric="judged")
    assert judged.resources == {"GPU": 2, "CPU": 0.5, "near_model": 2}


def test_answers_that_are_there_need_what_their_judges_do(project: Project) -> None:
    written(project)
    cases = project.cases(ROWS)
    project.write("r.jsonl", "".join(json.dumps(one) + "\n" for one in RESPONSES))
    first = project.run(project.ports(), cases)
    ports, recorded = project.ports(), {"target": None, "responses": Path("r.jsonl")}
    runs = [
        prepare(ports, regrade_options(Path(first.folder), "judged")),
        project.prepare(ports, cases, rubric="judged", **recorded),
        project.prepare(ports, cases, **recorded),
    ]
    for one in runs:
        asyncio.run(one.close())

    assert [one.resources for one in runs] == [JUDGE_NEEDS, JUDGE_NEEDS, {}]


def test_the_processes_of_a_run_are_started_with_what_they_take(project: Project) -> None:
    written(project)
    crew = PaperCrew(
        [
            [
                PaperWorker(
                    [batch_of(replace(evaluated(one), record_sha256="0" * 64), run_id="run_x")]
                )
            ]
            for one in range(2)
        ]
    )
    ports = project.ports(worker_pool=crew, new_run_id=lambda: "run_x")
    project.run(ports, project.cases([row("r0"), row("r1")]), workers=2)

    assert crew.taken == [NEEDED, NEEDED]


def test_a_queued_run_keeps_them() -> None:
    settings = parse_settings(b"targets: {a: {provider: echo, resources: {GPU: 0.5}}}")

    assert parse_settings(write_settings(settings)) == settings


def dead(_owner: str) -> bool:
    return False


# --- where work runs is no part of what was asked


def test_a_run_goes_on_with_other_resources(project: Project, endpoint: Endpoint) -> None:
    written(project, endpoint.url)
    ports = replace(stopping_at_state(project.ports(), "finalizing"), owner="gone:1:1")
    with pytest.raises(Stopped):
        project.run(ports, project.cases(ROWS), target="live")
    written(project, endpoint.url, near_model=1)
    done = project.resume(project.ports(is_alive=dead))

    assert (done.status, endpoint.asked) == ("completed", 2)


def test_a_run_is_retried_with_other_resources(project: Project, endpoint: Endpoint) -> None:
    endpoint.refused = 1
    written(project, endpoint.url)
    first = project.run(project.ports(), project.cases(ROWS), target="live", max_concurrency=1)
    written(project, endpoint.url, near_model=1)
    again = retried(project, first)

    assert first.status == "completed_with_failures"
    assert (again.status, endpoint.asked) == ("completed", 3)


def retried(project: Project, first: FinishedRun) -> FinishedRun:
    ports = project.ports()
    prepared = prepare(ports, retry_options(Path(first.folder)))
    return asyncio.run(start_run(ports, prepared, lambda _: None, lambda _: None))


def test_cached_answers_and_artifacts_know_nothing_of_resources(
    project: Project, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    written(project, endpoint.url)
    project.run(project.ports(), project.cases(ROWS), target="live")
    before = endpoint.asked
    written(project, endpoint.url, near_model=1)
    done = project.run(project.ports(), project.cases(ROWS), target="live", cache=True)
    artifacts = b"".join(path.read_bytes() for path in Path(done.folder).iterdir())

    assert [one["model_response"] for one in rows_of(done)] == ["yes", "yes"]
    assert endpoint.asked == before > 0
    assert b"near_model" not in artifacts
    assert "near_model" not in caplog.text
