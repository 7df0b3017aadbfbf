"""What happens to a run can be followed, and read again from any event on."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.old_runs import engine_of
from fakes.old_stores import take_back_to_8
from fakes.projects import Project, row, spec
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import InvalidError, NotFoundError
from steelyard.store.runs import row_writer
from steelyard.usecases.results.run_events import run_events

STATES = ["queued", "validating", "running", "finalizing"]


def told(project: Project, after: int = 0, limit: int = 100) -> list[tuple[str, Any]]:
    store = engine_of(project.ports())
    found = run_events(store, store.find("latest").run_id, after, limit=limit)
    assert [event.sequence for event in found] == [*range(after + 1, after + 1 + len(found))]
    assert [event.at for event in found] == sorted(event.at for event in found)
    return [(event.kind, next(iter(event.data.values()))) for event in found]


def test_a_run_tells_its_states_and_at_its_end_all_its_rows(project: Project) -> None:
    target = ScriptedTarget({"b": [fails("bad_request")]})
    project.run(project.ports(target), project.cases([row("a"), row("b", input="b?")]), repeat=2)
    store = engine_of(project.ports())
    run_id = store.find("latest").run_id
    last, end = run_events(store, run_id)[-2:]
    seen = told(project)

    assert [value for kind, value in seen if kind == "state"][:-1] == STATES
    assert (last.kind, last.data) == (
        "progress",
        {"rows": 4, "failed_rows": 2, "retrying_rows": 0},
    )
    assert (end.kind, end.data) == ("state", {"state": "completed_with_failures"})
    assert told(project, after=2) == seen[2:]
    assert told(project, after=1, limit=2) == seen[1:3]
    assert told(project, after=len(seen)) == []


@pytest.mark.parametrize(("every_s", "most"), [(3600.0, 1), (0.0, 40)])
def test_progress_is_told_now_and_then(
    project: Project, monkeypatch: pytest.MonkeyPatch, every_s: float, most: int
) -> None:
    monkeypatch.setattr(row_writer, "PROGRESS_S", every_s)
    rows = [row(f"r{number}", input=f"{number}?") for number in range(40)]
    project.run(project.ports(spec(ScriptedTarget(), max_concurrency=2)), project.cases(rows))
    counts = [value for kind, value in told(project) if kind == "progress"]

    assert counts == sorted(counts)
    assert counts[-1] == 40
    assert 1 <= len(counts) - 1 <= most


def test_a_resumed_run_counts_on(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_writer, "PROGRESS_S", 0.0)
    dataset = project.cases([row("a"), row("b"), row("c")])
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(1)), dataset, max_concurrency=1)
    before = told(project)
    project.resume(project.ports(ScriptedTarget()))
    counts = [value for kind, value in told(project) if kind == "progress"]

    assert told(project)[: len(before)] == before
    assert (counts[0], counts[-1]) == (1, 3)
    assert counts == sorted(counts)


def test_warnings_of_a_run_are_told_without_secrets(project: Project) -> None:
    target = spec(ScriptedTarget(), price=(1_000_000.0, 1_000_000.0), secrets=("are kept as",))
    rows = [row(f"r{number}", input=f"{number}?") for number in range(4)]
    project.run(project.ports(target), project.cases(rows), max_concurrency=1, budget_usd=20.0)
    (warning,) = [value for kind, value in told(project) if kind == "warning"]

    assert "the records that are left [redacted] cancelled" in warning


def test_the_states_of_older_runs_are_events_as_well(project: Project) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    take_back_to_8(project.root / ".steelyard" / "steelyard.db")

    assert told(project) == [("state", state) for state in (*STATES, "completed")]


@pytest.mark.parametrize("name", ["run_0", "\ud800", ""])
def test_events_of_an_unknown_run_are_refused(project: Project, name: str) -> None:
    store = engine_of(project.ports())

    with pytest.raises(NotFoundError):
        run_events(store, name)


@pytest.mark.parametrize(
    "numbers", [{"after": 10**30}, {"after": -1}, {"limit": 10**30}, {"limit": -1}]
)
def test_events_beyond_the_store_are_refused(project: Project, numbers: dict[str, int]) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))

    with pytest.raises(InvalidError, match="must be a whole number from"):
        run_events(engine_of(project.ports()), "latest", **numbers)
