"""Runs of a project are listed page by page, and shown one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.old_runs import engine_of
from fakes.projects import Project, row
from fakes.stores import open_store
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import InvalidError, NotFoundError
from steelyard.results.runs import Progress, RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.store.runs.repository import RunStore
from steelyard.usecases.results.runs import list_runs, show_run

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    """Five runs, of which three were made in the same instant."""
    store = RunStore(open_store(tmp_path / "steelyard.db"))
    for number, (at, group) in enumerate([(1, "g"), (2, None), (2, "g"), (2, None), (3, None)]):
        name = "Desk 50 %" if group else "other"
        store.create(
            StoredRun(
                run_id=f"run_{number}",
                status="queued",
                created_at=f"2026-01-0{at}",
                dataset=name,
                target="live" if number in {1, 3} else None,
                group_id=group,
                plan=None,
            )
        )
    store.move("run_4", "validating", "now")
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, "43210"),
        ({"status": "validating"}, "4"),
        ({"group_id": "g"}, "20"),
        ({"dataset": "Desk 50 %"}, "20"),
        ({"dataset": "desk"}, ""),
        ({"dataset": "other", "target": "live"}, "31"),
        ({"target": "live"}, "31"),
        ({"text": "desk 50 %"}, "20"),
        ({"text": "RUN_3"}, "3"),
        ({"text": "%"}, "20"),
        ({"text": "nothing"}, ""),
        ({"text": "x" * 60_000}, ""),
        ({"text": "\ud800"}, ""),
        ({"status": "\ud800"}, ""),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 20])
def test_pages_miss_no_run_and_repeat_none(
    store: RunStore, wanted: dict[str, Any], found: str, limit: int
) -> None:
    page = list_runs(store, RunQuery(**wanted), limit=limit)
    listed = list(page.runs)
    while page.next_cursor:
        page = list_runs(store, RunQuery(**wanted), cursor=page.next_cursor, limit=limit)
        listed += page.runs
    store.close()

    assert [run.run_id for run in listed] == [f"run_{number}" for number in found]


@pytest.mark.parametrize("limit", [0, -1, 2**63])
def test_a_page_holds_at_least_one_run(store: RunStore, limit: int) -> None:
    with pytest.raises(InvalidError, match=f"limit must be a whole number from 1 to .*{limit}"):
        list_runs(store, limit=limit)
    store.close()


def test_a_run_is_shown_with_its_states_and_its_progress(project: Project) -> None:
    target = ScriptedTarget({"b": [fails("bad_request")]})
    ports = project.ports(target)
    run = project.run(ports, project.cases([row("a"), row("b", input="else")]), repeat=2)
    shown = show_run(engine_of(ports), "latest")

    assert (shown.run.run_id, shown.run.status) == (run.run_id, "completed_with_failures")
    assert [state for state, _ in shown.states] == [
        "queued",
        "validating",
        "running",
        "finalizing",
        "completed_with_failures",
    ]
    assert (shown.total, shown.progress) == (4, Progress(rows=4, failed_rows=2))
    for name in ("run_x", "x" * 60_000, "\ud800", "%"):
        with pytest.raises(NotFoundError):
            show_run(engine_of(ports), name)


def test_an_invalid_record_is_one_row_in_all_repeats(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    project.run(ports, project.cases([row("a"), {"id": "broken"}, row("c", input="?")]), repeat=3)
    shown = show_run(engine_of(ports), "latest")

    assert shown.run.summary
    assert shown.total == shown.progress.rows == shown.run.summary["rows"] == 7
