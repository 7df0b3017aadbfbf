"""Probes and figures for whoever operates a server."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from fakes.audit import an_entry
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.service import served
from steelyard.errors import UnavailableError
from steelyard.project import open_project
from steelyard.usecases.operations.readiness import require_ready

SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [-+0-9.e]+')


def test_a_server_is_alive_and_ready(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, served(project) as client:
        assert client.get("/healthz").json()["status"] == "ok"
        assert client.get("/readyz").json()["status"] == "ready"


def test_a_store_of_another_version_makes_a_server_unready_and_refuses_writes(
    tmp_path: Path,
) -> None:
    with open_project(tmp_path) as project, served(project) as client:
        assert client.get("/readyz").status_code == 200
        migrate_by_another_version(tmp_path)

        answer = client.get("/readyz")
        with pytest.raises(UnavailableError, match="schema version 999"):
            project.audit_log.add(an_entry())

    assert answer.status_code == 503
    assert "999" in answer.json()["error"]["message"]
    assert not rows(tmp_path, "audit_log")


def test_a_store_that_was_deleted_makes_a_server_unready(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, served(project) as client:
        assert client.get("/readyz").status_code == 200
        (tmp_path / ".steelyard" / "steelyard.db").unlink()

        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200


def test_a_full_disk_is_not_ready() -> None:
    class Full:
        def require_own_schema(self) -> None: ...

        def free_bytes(self) -> int:
            return 5_000_000

    with pytest.raises(UnavailableError, match="5 MB of free space"):
        require_ready(Full())


def test_figures_are_in_the_text_format_of_prometheus(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()

    with open_project(tmp_path) as opened, served(opened) as client:
        for path in ("/v1/runs", "/v1/runs/run_a", "/v1/runs/run_b", "/no/where"):
            client.get(path)
        client.request("PURGE", "/healthz")
        answer = client.get("/metrics")

    lines = answer.text.splitlines()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in lines)
    assert 'steelyard_runs{status="completed"} 1' in lines
    assert count(lines, method="GET", route="/v1/runs/{run_id}", status="404") == 2
    assert count(lines, method="GET", route="unmatched", status="404") == 1
    assert not [line for line in lines if "run_a" in line or "/no/where" in line]
    names = Counter(line.split()[2] for line in lines if line.startswith("# TYPE"))
    assert set(names.values()) == {1}


def test_the_buckets_of_a_histogram_add_up(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, served(project) as client:
        for _ in range(5):
            client.get("/healthz")
        lines = client.get("/metrics").text.splitlines()

    name = "steelyard_http_request_duration_seconds"
    found = [
        int(line.split()[-1]) for line in lines if f"{name}_bucket" in line and "/healthz" in line
    ]
    assert found == sorted(found)
    assert found[-1] == 5


def count(lines: list[str], **labels: str) -> int:
    shown = ",".join(f'{name}="{value}"' for name, value in labels.items())
    start = f"steelyard_http_requests_total{{{shown}}} "
    return next(int(line.removeprefix(start)) for line in lines if line.startswith(start))


def migrate_by_another_version(root: Path) -> None:
    with sqlite3.connect(root / ".steelyard" / "steelyard.db") as database:
        database.execute("UPDATE schema_version SET version = 999")
    database.close()


def rows(root: Path, table: str) -> list[object]:
    database = sqlite3.connect(root / ".steelyard" / "steelyard.db")
    found = database.execute(f"SELECT * FROM {table}").fetchall()
    database.close()
    return found
