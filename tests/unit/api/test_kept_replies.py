"""Answers that are given again while the store is unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.service import served
from steelyard.api.application import operations
from steelyard.api.kept_replies import KeptReplies
from steelyard.project import open_project


def test_an_answer_is_given_again_until_the_store_changes() -> None:
    kept = KeptReplies()
    kept.keep(b"/v1/runs?", 7, b"{}")

    assert kept.find(b"/v1/runs?", 7) == b"{}"
    assert kept.find(b"/v1/runs?", 8) is None
    assert kept.find(b"/v1/runs?limit=1", 7) is None


def test_large_answers_are_not_kept() -> None:
    kept = KeptReplies()
    kept.keep(b"/v1/runs?", 7, b"x" * 100_000)

    assert kept.find(b"/v1/runs?", 7) is None


def test_a_change_by_another_process_is_seen_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with open_project(tmp_path) as opened, served(opened) as client:
        before = [client.get("/v1/runs").json()["data"] for _ in range(2)]
        run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
        after = client.get("/v1/runs").json()["data"]
    project.close()

    assert before == [[], []]
    assert [one["run_id"] for one in after] == [run.run_id]


def test_an_answer_that_is_given_again_has_the_id_of_its_own_request(tmp_path: Path) -> None:
    with open_project(tmp_path) as opened, served(opened) as client:
        ids = [
            client.get("/v1/runs", headers={"x-request-id": name}).json()["request_id"]
            for name in ("one", "two")
        ]

    assert ids == ["one", "two"]


@pytest.mark.parametrize("operation", [one for one in operations() if one.is_kept])
def test_only_reading_of_runs_is_kept(operation: object) -> None:
    assert getattr(operation, "method", "") == "GET"
    assert getattr(operation, "scope", "") == "runs:read"
