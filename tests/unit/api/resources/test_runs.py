"""Runs over HTTP."""

from __future__ import annotations

from pathlib import Path

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.service import served
from steelyard.project import open_project


def made_run(project: Project) -> str:
    """The id of a run of one record."""
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    return run.run_id


def test_lists_runs_newest_first(tmp_path: Path) -> None:
    project = Project(tmp_path)
    ids = [made_run(project) for _ in range(3)]

    with open_project(tmp_path) as opened, served(opened) as client:
        page = client.get("/v1/runs", params={"limit": 2}).json()
        rest = client.get("/v1/runs", params={"limit": 2, "cursor": page["next_cursor"]}).json()

    assert [run["run_id"] for run in (*page["data"], *rest["data"])] == ids[::-1]
    assert rest["next_cursor"] is None


def test_a_run_has_its_states_with_their_times(tmp_path: Path) -> None:
    run_id = made_run(Project(tmp_path))

    with open_project(tmp_path) as opened, served(opened) as client:
        answer = client.get(f"/v1/runs/{run_id}", headers={"x-request-id": "mine"})

    body = answer.json()
    assert [one["state"] for one in body["states"]] == [
        *("queued", "validating", "running", "finalizing", "completed")
    ]
    assert body["progress"] == {"total": 1, "done": 1, "failed": 0, "retrying": 0}
    assert body["request_id"] == answer.headers["x-request-id"] == "mine"


def test_an_unknown_run_is_not_found(tmp_path: Path) -> None:
    with open_project(tmp_path) as opened, served(opened) as client:
        answer = client.get("/v1/runs/run_unknown")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
    assert "`GET /v1/runs` lists them" in answer.json()["error"]["message"]
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
