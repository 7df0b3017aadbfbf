"""Find a run by id, prefix, `latest`, `latest~1` or its folder."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from steelyard.errors import NotFoundError, RunError
from steelyard.model.names import can_be_path
from steelyard.model.run import no_such_run
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.ports import ResultPorts
from steelyard.usecases.results.read_run import holds_artifacts, is_run_folder, require_finished
from steelyard.usecases.results.records import Records
from steelyard.usecases.results.run_folders import folder_by_name, sealed_runs
from steelyard.usecases.results.verify import require_sealed

_SEALED = ("completed", "completed_with_failures", "cancelled")


def run_folders(ports: ResultPorts, names: Sequence[str]) -> list[Path]:
    """The folders of finished runs whose files are as they were sealed."""
    folders = [find_run_folder(ports, name) for name in names]
    with ThreadPoolExecutor(thread_name_prefix="steelyard") as pool:
        list(pool.map(partial(require_sealed, digest=ports.digest), folders))
    return folders


def find_run_folder(ports: ResultPorts, name: str) -> Path:
    """The folder of a finished run, intact or not."""
    found = find_run(ports, name)
    if isinstance(found, Path):
        return found
    folder = ports.run_folder(found.run_id)
    require_finished(folder, found)
    return folder


def find_run(ports: ResultPorts, name: str) -> StoredRun | Path:
    """A run from the store; if it is unknown there or the store fails, from its folder."""
    path = ports.base / name
    if can_be_path(path) and holds_artifacts(path):
        return path
    if not ports.has_data():
        raise no_such_run(name, has_runs=False)
    try:
        return ports.repository().find(name)
    except NotFoundError:
        folder = None if name.startswith("latest") else folder_by_name(ports.runs, name)
        if folder is None:
            raise
    except RunError as error:
        folder = folder_by_name(ports.runs, name)
        if folder is None:
            raise
        ports.warn(f"{error}. {folder.name} is read from its folder")
    return folder


def has_ended(ports: ResultPorts, run: StoredRun) -> bool:
    """Whether a run was sealed; a failed run was not."""
    return (
        is_run_folder(ports.runs / run.run_id) or run.status in _SEALED or not _is_described(run)
    )


def find_unfinished(ports: ResultPorts, name: str) -> StoredRun | None:
    """An unfinished or failed run; None for any other."""
    found = find_run(ports, name) if ports.has_data() else None
    return found if isinstance(found, StoredRun) and not has_ended(ports, found) else None


def _is_described(run: StoredRun) -> bool:
    """Whether its plan has the setup of the manifest; plans of early versions do not."""
    return run.plan is not None and bool(run.plan.setup)


def records_of(ports: ResultPorts, name: str) -> Records:
    """The records of a run: those in the store, or else those in the folder of a finished run."""
    found = find_run(ports, name)
    if isinstance(found, StoredRun):
        run_id = found.run_id
        if not has_ended(ports, found):
            return ports.records(run_id, f"what {run_id} has kept so far; it is not finished")
        found = ports.run_folder(run_id)
        require_sealed(found, ports.digest)
        if any(ports.repository().done(run_id)):
            return ports.records(run_id, run_id)
    else:
        require_sealed(found, ports.digest)
    return FolderRecords(found, partial(ports.judgements, found))


def known_run(ports: ResultPorts, run_id: str) -> Path:
    """The folder of a finished run of the project by its whole id."""
    if ports.repository().find(run_id).run_id != run_id:
        raise NotFoundError(f"no run '{run_id}' in this project; labels name the whole id")
    return run_folders(ports, [run_id])[0]


def unknown_runs(ports: ResultPorts) -> list[str]:
    """The finished runs that have a folder, newest first, and are not in the store."""
    folders = sealed_runs(ports.runs)
    known = ports.repository().ids() if folders else set[str]()
    return [folder.name for folder in folders if folder.name not in known]
