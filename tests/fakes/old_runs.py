"""Runs that ended some days ago, and a `prune` that is stopped on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from fakes.projects import Project, row
from fakes.stops import Stopped
from fakes.targets import ScriptedTarget, fails
from steelyard.model.audit import AuditEntry
from steelyard.results.pruned import PrunedFile
from steelyard.settings import RetentionSettings
from steelyard.store.pruned import RetentionStore
from steelyard.store.runs.repository import RunStore
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prune import plan_pruning, prune

CANARY = "a canary that sings"


def old_run(project: Project) -> Path:
    """The folder of a run in which no artifact is empty."""
    dataset = project.cases([row("a"), row("b"), row("c")])
    target = ScriptedTarget({"b": [fails("bad_request")]}, otherwise=CANARY)
    run = project.run(project.ports(target), dataset)
    return Path(run.folder)


def engine_of(ports: RunPorts) -> RunStore:
    """The store of some ports."""
    return cast(RunStore, ports.repository)


def shelf_of(project: Project) -> RetentionStore:
    """What `prune` clears."""
    return RetentionStore(engine_of(project.ports()).engine, project.root / ".steelyard")


def later(project: Project, days: float) -> datetime:
    """So many days after the first run of a project ended."""
    ended = shelf_of(project).finished()[0].finished_at
    return datetime.fromisoformat(ended) + timedelta(days=days)


def clear(project: Project, days: float, shelf: RetentionStore | None = None) -> None:
    """Prune so many days after the run, with the days that everybody has by default."""
    shelf = shelf or shelf_of(project)
    prune(shelf, plan_pruning(shelf, RetentionSettings(), later(project, days)))


class StoppingShelf(RetentionStore):
    """Dies before its nth step, or in the middle of it."""

    def __init__(self, project: Project, step: int, *, is_begun: bool = False) -> None:
        super().__init__(engine_of(project.ports()).engine, project.root / ".steelyard")
        self._notes = project.root / ".steelyard" / "pruned.jsonl"
        self._left = step
        self._is_begun = is_begun
        self.steps: list[str] = []

    def note(self, files: Sequence[PrunedFile]) -> None:
        """Write down what goes; the last line may be torn."""

        def tear() -> None:
            super(StoppingShelf, self).note(files)
            data = self._notes.read_bytes()
            self._notes.write_bytes(data[:-20])

        self._step("note", tear)
        super().note(files)

    def forget(self, entry: AuditEntry, files: Sequence[PrunedFile], *, is_last: bool) -> None:
        """Remove rows; what is not committed did not happen."""
        self._step("forget", lambda: None)
        super().forget(entry, files, is_last=is_last)

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file; it may have become writable only."""
        path = self._notes.parent / "runs" / run_id / name
        self._step(f"remove {name}", lambda: path.chmod(0o600))
        super().remove(run_id, name)

    def remove_folder(self, run_id: str) -> None:
        """Remove the folder."""
        self._step("folder", lambda: None)
        super().remove_folder(run_id)

    def settle(self) -> None:
        """Empty the log."""
        self._step("settle", lambda: None)
        super().settle()

    def _step(self, name: str, begin: Callable[[], None]) -> None:
        if self._left == 0:
            if self._is_begun:
                begin()
            raise Stopped
        self._left -= 1
        self.steps.append(name)
