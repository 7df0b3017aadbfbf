"""Comparisons and groups over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.service import served
from steelyard.project import open_project
from steelyard.reports.comparison.comparison_text import comparison_json
from steelyard.usecases.results.compare import compare
from unit.api.conftest import Service


def compared(service: Service, **query: Any) -> Any:
    """What the server says of two runs."""
    return service.client.get("/v1/compare", params=query)


def test_a_comparison_is_what_the_command_prints(service: Service) -> None:
    body = compared(service, a=service.runs.done, b=service.runs.repeated).json()
    with open_project(service.runs.root) as project:
        found = compare(*project.run_folders([service.runs.done, service.runs.repeated]))

    assert body.pop("request_id")
    assert body.keys() == comparison_json(found).keys()
    assert body["verdict"] == found.verdict
    assert (body["pairs"], body["gate"], body["basis"]) == (found.passes.n, None, "raw")
    assert body["not_alike"][0]["what"] == "repeats"


def test_a_strict_comparison_refuses_runs_that_are_not_alike(service: Service) -> None:
    answer = compared(service, a=service.runs.done, b=service.runs.repeated, strict="true")

    assert answer.status_code == 400
    assert "repeats" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("", 400),
        ("run_unknown", 404),
        ("{stopped}", 409),
        ("{gone}", 410),
        ("{without_records}", 410),
        (".steelyard/runs/{done}", 404),
    ],
)
def test_only_finished_runs_are_compared(service: Service, name: str, status: int) -> None:
    runs = {
        one: getattr(service.runs, one) for one in ("done", "stopped", "gone", "without_records")
    }
    answer = compared(service, a=service.runs.done, b=name.format(**runs))

    assert answer.status_code == status


def test_both_runs_must_be_named(service: Service) -> None:
    assert compared(service, a=service.runs.done).status_code == 400


def test_a_group_lists_its_runs(tmp_path: Path) -> None:
    project = Project(tmp_path)
    ports = project.ports(ScriptedTarget())
    cases = project.cases([row("a")])
    ids = [project.run(ports, cases, group_id="both").run_id for _ in range(2)]
    project.run(ports, cases)
    project.close()

    with open_project(tmp_path) as opened, served(opened) as client:
        first = client.get("/v1/groups/both", params={"limit": 1}).json()
        rest = client.get("/v1/groups/both", params={"cursor": first["next_cursor"], "limit": 1})
        unknown = client.get("/v1/groups/other")

    assert first["group_id"] == "both"
    assert [one["run_id"] for one in (*first["data"], *rest.json()["data"])] == ids[::-1]
    assert unknown.status_code == 404
