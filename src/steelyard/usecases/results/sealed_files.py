"""The sealed files of a run of the store, each as it was sealed or not at all."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import ValidationError

from steelyard.engine.states import is_terminal
from steelyard.errors import ConflictError, GoneError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.json_struct import from_json
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.pruned import PrunedFile
from steelyard.results.sealing import Seal
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.ports import ResultPorts
from steelyard.usecases.results.pruned_files import pruned_files
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.results.records import Records
from steelyard.usecases.results.verify import verify, verify_file


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedFile:
    """A file of a finished run."""

    run_id: str
    name: str
    path: Path
    seal: Seal
    pruned_at: str | None = None


def sealed_folder(ports: ResultPorts, name: str, names: Collection[str] = ARTIFACTS) -> Path:
    """The folder of a finished run of the store, with these files; they may have changed."""
    run = ports.repository().find(name)
    if not is_terminal(run.status):
        raise ConflictError(f"{run.run_id} is {run.status}; its files are written when it ends")
    folder = ports.run_folder(run.run_id, names)
    if is_run_folder(folder):
        return folder
    if run.plan is None or MANIFEST in pruned_files(folder):
        raise _gone(run)
    raise ConflictError(f"{run.run_id} is {run.status} and has no files")


def intact_folder(ports: ResultPorts, name: str) -> Path:
    """The same of a run whose files are all as they were sealed, and none of them pruned."""
    folder = sealed_folder(ports, name)
    for file in verify(folder, ports.known_digest).files:
        if file.state == "pruned":
            raise GoneError(f"{file.name} of {folder.name} was pruned {file.message}")
        _require_sealed(folder.name, file.name, file.state, is_sealed=file.is_as_sealed)
    return folder


def list_files(
    ports: ResultPorts, name: str, names: Collection[str] = (MANIFEST,)
) -> Sequence[SealedFile]:
    """Every file that a run was sealed with, those that were pruned among them.

    Those that are to be read are fetched.
    """
    folder = sealed_folder(ports, name, names)
    seals, gone = _seals(ports, folder), pruned_files(folder)
    return [
        SealedFile(
            run_id=folder.name,
            name=one,
            path=folder / one,
            seal=seals[one],
            pruned_at=_pruned_at(folder / one, gone.get(one)),
        )
        for one in ARTIFACTS
        if one in seals
    ]


def sealed_file(ports: ResultPorts, run: str, name: str) -> SealedFile:
    """One file, as it was sealed; one that was pruned or changed since then is refused."""
    if name not in ARTIFACTS:
        raise NotFoundError(f"'{name}' is no artifact of a run; they are {', '.join(ARTIFACTS)}")
    found = next((file for file in list_files(ports, run, (name,)) if file.name == name), None)
    if found is None:
        raise NotFoundError(f"{run} was sealed without {name}")
    if found.pruned_at:
        raise GoneError(f"{name} of {found.run_id} was pruned on {found.pruned_at[:10]}")
    state = verify_file(found.path.parent, name, ports.known_digest)
    _require_sealed(found.run_id, name, state.state, is_sealed=state.is_as_sealed)
    return found


def sealed_json_file(ports: ResultPorts, run: str, name: str) -> JsonObject:
    """The content of a JSON file, as it was sealed."""
    return json.loads(sealed_file(ports, run, name).path.read_bytes())


def stored_records(ports: ResultPorts, name: str) -> Records:
    """The records of a run of the store, finished or not; none of its files is read as a whole.

    Where the store has no row of a finished run, its files are read, which must be as sealed.
    """
    repository = ports.repository()
    run = repository.find(name)
    is_ended = is_terminal(run.status)
    folder = ports.run_folder(run.run_id) if is_ended else ports.runs / run.run_id
    if not repository.has_results(run.run_id) and is_ended:
        if run.plan is None or PREDICTIONS in pruned_files(folder):
            raise _gone(run)
        if is_run_folder(folder):
            return FolderRecords(
                intact_folder(ports, run.run_id), lambda index: ports.judgements(folder, index)
            )
    if is_ended and is_run_folder(folder):
        # Shown are the rows of the store; but nobody should miss that a file was changed.
        for file in verify(folder, ports.known_digest).files:
            _require_sealed(run.run_id, file.name, file.state, is_sealed=file.is_as_sealed)
    return ports.records(run.run_id, run.run_id)


def _seals(ports: ResultPorts, folder: Path) -> dict[str, Seal]:
    """What the manifest says of the other files, and the hash of the manifest itself."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        seals = from_json(manifest["artifacts"], dict[str, Seal])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        raise _changed(folder.name, MANIFEST, "changed") from None
    return {MANIFEST: ports.known_digest(folder / MANIFEST), **seals}


def _pruned_at(path: Path, file: PrunedFile | None) -> str | None:
    return file.at if file and not path.exists() else None


def _require_sealed(run_id: str, name: str, state: str, *, is_sealed: bool) -> None:
    if not is_sealed:
        raise _changed(run_id, name, state)


def _changed(run_id: str, name: str, state: str) -> ConflictError:
    return ConflictError(
        f"{name} of {run_id} is not what was sealed: {state}; `steelyard verify` says more"
    )


def _gone(run: StoredRun) -> GoneError:
    return GoneError(f"the results of {run.run_id} were pruned")
