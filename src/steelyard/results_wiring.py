"""Finds and opens finished runs, as `wiring` does for what makes them."""

from __future__ import annotations

from pathlib import Path

from steelyard import wiring
from steelyard.model.json_value import JsonObject
from steelyard.store.private_files import STEELYARD_FOLDER


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
