"""Finds and opens finished runs, as `wiring` does for what makes them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, cast

from steelyard import wiring
from steelyard.model.json_value import JsonObject
from steelyard.store.private_files import STEELYARD_FOLDER

if TYPE_CHECKING:
    from steelyard.model.run import StoredRun
    from steelyard.store.runs import RunStore
    from steelyard.usecases.results.read_run import RecordView
    from steelyard.usecases.runs.unfinished import UnfinishedRun

_log = logging.getLogger("steelyard")
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
    from steelyard.usecases.results.read_run import holds_artifacts, require_finished

    path = Path(name)
    if holds_artifacts(path):
        return path
    root = wiring.project().root
    if not (root / STEELYARD_FOLDER).is_dir():
        from steelyard.store.run_rows import no_such_run

        raise no_such_run(name, has_runs=False)
    runs = root / STEELYARD_FOLDER / "runs"
    found = _found(root, name)
    if isinstance(found, Path):
        return found
    require_finished(runs / found.run_id, found)
    return runs / found.run_id


def _found(root: Path, name: str) -> StoredRun | Path:
    """A run as the store knows it; where that does not know it or fails, its folder alone."""
    from steelyard.errors import NotFoundError, RunError
    from steelyard.usecases.results.run_folders import folder_by_name

    runs = root / STEELYARD_FOLDER / "runs"
    try:
        return wiring.run_store(root).find(name)
    except NotFoundError:
        folder = None if name.startswith("latest") else folder_by_name(runs, name)
        if folder is None:
            raise
    except RunError as error:
        folder = folder_by_name(runs, name)
        if folder is None:
            raise
        _log.warning("%s. %s is read from its folder", error, folder.name)
    return folder


def unknown_runs(root: Path) -> list[str]:
    """The finished runs that have a folder, newest first, and are not in the store."""
    from steelyard.usecases.results.run_folders import sealed_runs

    folders = sealed_runs(root / STEELYARD_FOLDER / "runs")
    known = wiring.run_store(root).ids() if folders else set[str]()
    return [folder.name for folder in folders if folder.name not in known]


def unfinished_run(name: str) -> UnfinishedRun | None:
    """What there is of a run that has not ended, or that failed; None of any other."""
    from steelyard.store.owners import is_alive
    from steelyard.usecases.runs.unfinished import read_unfinished

    found = _unfinished(name)
    return read_unfinished(*found, is_alive) if found else None


def record_of(name: str, record: str) -> tuple[RecordView, list[JsonObject]]:
    """All about a record of a run, finished or not, with what judges said about it."""
    from steelyard.usecases.results.read_run import read_record
    from steelyard.usecases.runs.unfinished import read_unfinished_record

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
    from steelyard.usecases.results.read_run import holds_artifacts, is_run_folder

    root = wiring.project().root
    if holds_artifacts(Path(name)) or not (root / STEELYARD_FOLDER).is_dir():
        return None
    found = _found(root, name)
    if isinstance(found, Path):
        return None
    is_sealed = is_run_folder(root / STEELYARD_FOLDER / "runs" / found.run_id)
    has_ended = is_sealed or found.status in _SEALED or "about" not in found.plan
    return None if has_ended else (wiring.run_store(root), found)


def kept_judgements(folder: Path, index: int) -> list[JsonObject]:
    """What judges said about a record, with their prompts, where the project still has them."""
    from steelyard.errors import RunError
    from steelyard.store.database import open_database
    from steelyard.store.judgements import JudgementStore

    database = folder.resolve().parents[1] / "steelyard.db"
    if not database.is_file():
        return []
    try:
        engine = open_database(database)
    except RunError as error:
        _log.warning("%s. What judges said is not shown", error)
        return []
    try:
        return list(JudgementStore(engine).of_record(folder.resolve().name, index))
    finally:
        engine.dispose()
