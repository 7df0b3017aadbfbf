"""The numbers of a very small run, or of one in which all is alike, tell single verdicts."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from fakes.review_project import answers
from servers.accounts import add_users
from servers.review_service import Reviewer, make_review_run
from servers.service import served
from steelyard.library import evaluate
from steelyard.project import Project, open_project
from steelyard.usecases.access.keys import KeyRequest, create_key

PUBLIC = "https://evals.example.org"
RUBRIC = "rubric/desk-v1"


class Runs(NamedTuple):
    """A server with a large run, and a small one of the same records."""

    project: Project
    client: httpx.Client
    large: str
    small: str
    """Two records."""

    def program(self, name: str) -> tuple[Reviewer, str]:
        """A new editor, and the name under which it is noted."""
        made = create_key(self.project.access_ports(), KeyRequest(name, "editor", None))
        headers = {"authorization": f"Bearer {made.secret}"}
        return Reviewer(self.client, headers=headers), f"key:{name}:{made.key.key_id}"

    def address(self, path: str) -> str:
        """A path with the ids of the runs."""
        return path.format(large=self.large, small=self.small)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Generator[Runs]:
    root: Path = tmp_path_factory.mktemp("small")
    large = make_review_run(root)
    with open_project(root) as project:
        small = evaluate(
            root / "desk.json", target="desk", rubric=RUBRIC, limit=2, project=project
        )
        add_users(project)
        settings = {"has_login": True, "public_url": PUBLIC, "requests_per_minute": 10**6}
        with served(project, **settings) as client:
            yield Runs(project, client, large, small.run_id)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/runs",
        "/runs?part=rows",
        "/runs?dataset=desk&target=desk",
        "/compare",
        "/rubrics/desk-v1",
        "/judges/questionnaire@1.0.0",
        "/runs/{large}",
        "/runs/{small}",
        "/v1/runs",
        "/v1/runs/{small}",
        "/v1/runs/{small}/metrics",
        "/v1/runs/{small}/artifacts/metrics_summary.json",
    ],
)
def test_whoever_read_the_rate_of_two_records_is_not_blind_about_them(
    runs: Runs, path: str
) -> None:
    program, who = runs.program("door-" + "".join(filter(str.isalnum, path))[:60])
    base = f"{runs.client.base_url}".rstrip("/")
    answer = httpx.get(base + runs.address(path), headers=program.headers)

    assert answer.status_code == 200
    assert runs.project.queue_ports().seen.has_seen([who], [runs.small], 0)


def picked(runs: Runs, program: Reviewer) -> dict[str, Any]:
    """The item of record 0 in a queue over the large run."""
    fill = {"by": "picked", "records": [{"index": 0}]}
    body = {"name": "Desk", "run_id": runs.large, "fill": fill}
    queue = program.ask("POST", "/v1/queues", body).json()["queue_id"]
    return program.claimed(queue)


def test_the_answer_to_the_same_response_in_another_run_is_not_blind_either(runs: Runs) -> None:
    program, _ = runs.program("elsewhere")
    other, _ = runs.program("nowhere")
    program.get(f"/v1/runs/{runs.small}/metrics")
    other.get(f"/v1/runs/{runs.large}/metrics")
    said = [one.submit(picked(runs, one), answers(0)).json() for one in (program, other)]

    assert [one["exposure"] for one in said] == ["suggested", "blind"]


@pytest.mark.parametrize("path", ["/v1/runs/{large}", "/v1/runs/{large}/metrics"])
def test_the_rate_of_many_records_with_either_verdict_says_nothing_of_one(
    runs: Runs, path: str
) -> None:
    program, who = runs.program(f"large-{len(path)}")
    program.get(runs.address(path))
    seen = runs.project.queue_ports().seen

    assert not any(seen.has_seen([who], [runs.large], index) for index in range(40))
