"""A project with runs in every condition: finished, stopped, and pruned in part or as a whole."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import update

from fakes.projects import Project
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget, fails
from steelyard.project import open_project
from steelyard.store.tables import states
from steelyard.usecases.runs.execute import FinishedRun
from steelyard.usecases.runs.prune import plan_pruning, prune

_AGREES = "rubric/agrees@1.0"
_RUBRIC = """\
id: agrees
version: 1.0.0
checks:
  - {id: says_yes, kind: must_contain_any, phrases: [yes]}
  - {id: is_short, kind: must_contain_any, phrases: [yes, no]}
scoring: {combine: all_pass}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRuns:
    """The ids of the runs of a project."""

    root: Path
    done: str
    """Four records, one of which fails and one of which has no answer."""
    repeated: str
    """The same records, twice each."""
    stopped: str
    """One of four records has a result."""
    without_records: str
    """Its raw results were pruned."""
    gone: str
    """All of it was pruned."""


def make_runs(root: Path) -> ServedRuns:
    """Make the project in a folder."""
    project = Project(root)
    project.write("rubrics/agrees.yaml", _RUBRIC)
    records = [
        {"record_id": "a", "input": {"prompt": "Well?"}, "tags": ["short", "kind"]},
        {"record_id": "b", "input": {"prompt": "And now?"}, "tags": ["short"]},
        {"record_id": "c", "input": {"prompt": "Why?"}},
        {"record_id": "ü", "input": {"prompt": "Is this a much longer Question?"}},
    ]
    cases = project.document(records)
    gone, without_records, done, repeated = (
        _run(project, cases, repeat=repeat) for repeat in (1, 1, 1, 2)
    )
    with suppress(Stopped):
        project.run(
            project.ports(StoppingTarget(after=1)), cases, rubric=_AGREES, max_concurrency=1
        )
    stopped = project.ports().repository.find("latest").run_id
    project.close()
    _prune(root, {gone.run_id: 400, without_records.run_id: 60})
    return ServedRuns(
        root=root,
        done=done.run_id,
        repeated=repeated.run_id,
        stopped=stopped,
        without_records=without_records.run_id,
        gone=gone.run_id,
    )


def _run(project: Project, cases: Path, **options: int) -> FinishedRun:
    target = ScriptedTarget({"b": ["no"], "c": [fails("timeout")]})
    return project.run(project.ports(target), cases, rubric=_AGREES, **options)


def _prune(root: Path, ages: dict[str, int]) -> None:
    """Let runs have ended so many days ago, and prune what is old."""
    with open_project(root) as project:
        now = project.clock.now()
        with project.store.engine.begin() as connection:
            for run_id, days in ages.items():
                at = (now - timedelta(days=days)).isoformat(timespec="milliseconds")
                connection.execute(update(states).where(states.c.run_id == run_id).values(at=at))
        with closing(project.retention_store()) as store:
            prune(store, plan_pruning(store, project.settings.retention, now))
