"""Retention over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.served_runs import make_runs
from fakes.stores import open_store
from servers.service import served
from steelyard.project import open_project
from unit.api.conftest import Service


@pytest.mark.usefixtures("both_stores")
def test_old_results_are_pruned_and_the_change_is_logged(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    store = open_store(tmp_path / ".steelyard" / "steelyard.db")
    with store.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE run_states SET at = '2001-01-01T00:00:00.000+00:00' "
            f"WHERE run_id = '{runs.done}'"
        )
    store.dispose()
    with open_project(tmp_path) as project, served(project) as client:
        planned = client.post("/v1/prune", json={"dry_run": True}).json()
        still = client.get(f"/v1/runs/{runs.done}/records")
        done = client.post("/v1/prune", json={}, headers={"x-request-id": "mine"}).json()
        gone = client.get(f"/v1/runs/{runs.done}/records")
        entry = project.audit_log.list(1)[0]

    assert [one["run_id"] for one in planned["runs"]] == [runs.done]
    assert (planned["is_done"], done["is_done"]) == (False, True)
    assert done["files"] == 8
    assert (still.status_code, gone.status_code) == (200, 410)
    assert (entry.verb, entry.subject, entry.caller.request_id) == ("prune_run", runs.done, "mine")


@pytest.mark.parametrize(
    "body",
    [
        *({"days": 29}, {"days": 0}, {"days": -1}, {"days": 1e300}, {"days": "40"}, {"day": 40}),
        *([], None, {"dry_run": "yes"}, {"days": 10**30}),
    ],
)
def test_nothing_goes_before_its_time(service: Service, body: Any) -> None:
    answer = service.client.post(
        "/v1/prune", content=json.dumps(body), headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
