"""How soon a free worker looks at what has changed, on a clock that only moves where it waits."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.served_runs import ServedRuns, make_runs
from servers.run_service import document, record, write_project
from steelyard import worker
from steelyard.event_loop import run_async
from steelyard.execution.run_options import RunOptions
from steelyard.project import Project, open_project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.execute import create_run, execute_run
from steelyard.usecases.runs.queue import enqueue_run
from steelyard.usecases.runs.queue_derived import FinishedRuns

_CHANGED_AT = 100.0


@dataclass
class Clock:
    """Time that passes only while somebody sleeps, and a change at a moment of it."""

    change: Callable[[], StoredRun]
    now: float = 0.0
    changed: list[str] = field(default_factory=list[str])

    def monotonic(self) -> float:
        """The moment."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass; what is due is done on the way."""
        self.now += seconds
        if self.now >= _CHANGED_AT and not self.changed:
            self.changed.append(self.change().run_id)


class BegunError(Exception):
    """The worker executes a run: the end of a test."""


def _resumed(project: Project, runs: ServedRuns) -> StoredRun:
    return enqueue_run(project.run_ports(), project.run_queue, runs.stopped)


def _retried(project: Project, runs: ServedRuns) -> StoredRun:
    made = FinishedRuns(project.run_ports(), project.run_folder)
    return run_async(lambda: made.queue_retry(runs.done))


def _regraded(project: Project, runs: ServedRuns) -> StoredRun:
    made = FinishedRuns(project.run_ports(), project.run_folder)
    return run_async(lambda: made.queue_regrade(runs.done, "rubric/found@1.0"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> ServedRuns:
    """A project with a stopped run, and with one whose only record has failed."""
    made = make_runs(tmp_path_factory.mktemp("worked"))
    write_project(made.root)
    failing = made.root / "datasets" / "failing.json"
    failing.write_text(json.dumps(document([record("a", "fail")])), encoding="utf-8")
    options = RunOptions(
        dataset=Path("datasets/failing.json"), target="moody", rubric="rubric/found@1.0"
    )
    with open_project(made.root) as project:
        ports = project.run_ports()
        run_id = asyncio.run(create_run(ports, options, in_place=True)).run_id
        asyncio.run(execute_run(ports, run_id, lambda _: None))
    return replace(made, done=run_id)


@pytest.mark.parametrize("change", [_resumed, _retried, _regraded])
def test_a_free_worker_begins_what_was_asked_for_within_a_second(
    runs: ServedRuns,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Project, ServedRuns], StoredRun],
) -> None:
    begun: list[str] = []

    def execute(_root: str, run: StoredRun, *_: Any) -> None:
        begun.append(run.run_id)
        raise BegunError

    with open_project(runs.root) as project:
        clock = Clock(lambda: change(project, runs))
        _stand_in(monkeypatch, tmp_path, clock)
        monkeypatch.setattr(worker, "_execute", execute)
        with pytest.raises(BegunError):
            worker.work(str(runs.root), pytest.fail)

        for run_id in begun:
            project.run_queue.remove(run_id, "2026-01-15T10:00:00Z", "the test is over")

    assert begun == clock.changed
    assert clock.now - _CHANGED_AT < 0.5


def _stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, clock: Clock) -> None:
    """Replace what a worker does to the whole process: its folder, signals, memory and clock."""
    monkeypatch.chdir(folder)
    signals = SimpleNamespace(
        signal=_ignored,
        SIGTERM=signal.SIGTERM,
        SIGINT=signal.SIGINT,
        SIG_DFL=signal.SIG_DFL,
        SIG_IGN=signal.SIG_IGN,
    )
    monkeypatch.setattr(worker, "signal", signals)
    monkeypatch.setattr(worker, "time", clock)
    monkeypatch.setattr(worker, "tune_garbage_collection", _ignored)
    monkeypatch.setattr(worker, "_end_when_frozen", _ignored)


def _ignored(*_: object) -> None:
    """Do nothing."""


def test_a_run_whose_cluster_is_away_stays_in_the_queue(
    runs: ServedRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("STEELYARD_ENGINE_NAME", "ray")
    monkeypatch.setenv("STEELYARD_ENGINE_ADDRESS", address)
    told: list[str] = []

    def warn(message: str) -> None:
        told.append(message)
        if len(told) == 2:
            raise BegunError

    with open_project(runs.root) as project:
        clock = Clock(lambda: pytest.fail("nothing changes"))
        _stand_in(monkeypatch, tmp_path, clock)
        run = _resumed(project, runs)
        with pytest.raises(BegunError):
            worker.work(str(runs.root), warn)
        found = project.store.find(run.run_id)
        project.run_queue.remove(run.run_id, "2026-01-15T10:00:00Z", "the test is over")

    assert [f"no Ray cluster answers at {address}: " in message for message in told] == [True] * 2
    assert (found.is_queued, found.owner) == (True, run.owner)
    assert clock.now == pytest.approx(5.0, abs=0.1)
