"""Finds and opens finished runs, as `wiring` does for what makes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from steelyard import wiring
from steelyard.model.json_value import JsonObject
from steelyard.store.private_files import STEELYARD_FOLDER

if TYPE_CHECKING:
    from steelyard.model.run import StoredRun
    from steelyard.store.runs import RunStore
    from steelyard.usecases.read_run import RecordView
    from steelyard.usecases.unfinished import UnfinishedRun

_SEALED = ("completed", "completed_with_failures", "cancelled")


def run_folder(name: str) -> Path:
    """The folder of a finished run whose files are as they were sealed."""
    folder = find_run_folder(name)
    wiring.require_sealed(folder)
    return folder


def find_run_folder(name: str) -> Path:
    """The folder of a finished run, whatever became of it.

    By id, prefix, `latest`, `latest~1` or the folder itself.
    """
    from steelyard.usecases.read_run import holds_artifacts, require_finished

    path = Path(name)
    if holds_artifacts(path):
        return path
    root = wiring.project().root
    if not (root / STEELYARD_FOLDER).is_dir():
        from steelyard.store.runs import no_such_run

        raise no_such_run(name, has_runs=False)
    found = wiring.run_store(root).find(name)
    folder = root / STEELYARD_FOLDER / "runs" / found.run_id
    require_finished(folder, found)
    return folder


def unfinished_run(name: str) -> UnfinishedRun | None:
    """What there is of a run that has not ended, or that failed; None of any other."""
    from steelyard.store.owners import is_alive
    from steelyard.usecases.unfinished import read_unfinished

    found = _unfinished(name)
    return read_unfinished(*found, is_alive) if found else None


def record_of(name: str, record: str) -> tuple[RecordView, list[JsonObject]]:
    """All about a record of a run, finished or not, with what judges said about it."""
    from steelyard.usecases.read_run import read_record
    from steelyard.usecases.unfinished import read_unfinished_record

    found = _unfinished(name)
    if found:
        store, run = found
        view = read_unfinished_record(store, run.run_id, record)
        folder = wiring.project().root / STEELYARD_FOLDER / "runs" / run.run_id
    else:
        folder = run_folder(name)
        view = read_record(folder, record)
    told = (*view.rows, *view.attempts)
    indices = dict.fromkeys(cast(int, row["index"]) for row in told)
    return view, [row for index in indices for row in kept_judgements(folder, index)]


def _unfinished(name: str) -> tuple[RunStore, StoredRun] | None:
    """A run that has not ended, or that failed, where it is kept."""
    from steelyard.usecases.read_run import holds_artifacts, is_run_folder

    root = wiring.project().root
    if holds_artifacts(Path(name)) or not (root / STEELYARD_FOLDER).is_dir():
        return None
    store = wiring.run_store(root)
    found = store.find(name)
    is_sealed = is_run_folder(root / STEELYARD_FOLDER / "runs" / found.run_id)
    has_ended = is_sealed or found.status in _SEALED or "about" not in found.plan
    return None if has_ended else (store, found)


def kept_judgements(folder: Path, index: int) -> list[JsonObject]:
    """What judges said about a record, with their prompts, where the project still has them."""
    from steelyard.store.database import open_database
    from steelyard.store.judgements import JudgementStore

    database = folder.resolve().parents[1] / "steelyard.db"
    if not database.is_file():
        return []
    engine = open_database(database)
    try:
        return list(JudgementStore(engine).of_record(folder.resolve().name, index))
    finally:
        engine.dispose()
