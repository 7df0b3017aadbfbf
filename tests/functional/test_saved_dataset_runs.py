"""Runs of saved datasets are executed as they were accepted, whatever becomes of the dataset."""

from __future__ import annotations

from pathlib import Path

from servers.run_service import RunService, document, record, write_project
from servers.service import served
from steelyard.api.serving import ServerSettings
from steelyard.project import open_project
from steelyard.run_execution import executing


def test_an_accepted_run_is_executed_though_its_dataset_is_archived_or_replaced(
    tmp_path: Path,
) -> None:
    write_project(tmp_path)
    versions = ("1", "2")
    with open_project(tmp_path) as project, served(project) as client:
        service = RunService(tmp_path, client)
        for version in versions:
            posted = {**document([record("a")]), "dataset_version": version}
            assert client.post("/v1/datasets", json=posted).status_code == 201
        runs = [service.post({}, dataset=f"posted@{version}").json() for version in versions]

        archived = client.post("/v1/datasets/posted@1/archive")
        other = {**document([record("b"), record("c")]), "dataset_version": "2"}
        replaced = client.post("/v1/datasets", json=other)
        with executing(project, ServerSettings(workers=1)):
            ended = [service.when(run["run_id"]) for run in runs]

        assert (archived.status_code, replaced.status_code) == (200, 200)
        assert [run["status"] for run in ended] == ["completed", "completed"]
        assert [run["summary"]["total_records"] for run in ended] == [1, 1]
        refused = service.post({}, dataset="posted@1")
        assert refused.status_code == 400
        assert "is archived" in refused.json()["error"]["message"]
