"""Check a run's artifacts against its manifest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import PrunedFile
from steelyard.results.sealing import Seal, is_as_written
from steelyard.usecases.results.pruned_files import pruned_files
from steelyard.usecases.results.read_run import holds_artifacts, require_manifest


class ArtifactState(FrozenStruct, frozen=True, kw_only=True):
    """The state of one file."""

    name: str
    state: str
    """`intact`, `pruned`, `changed`, `missing`, `unreadable` or, without a manifest, `unknown`."""
    message: str = ""

    @property
    def is_as_sealed(self) -> bool:
        """Whether the file is intact or pruned."""
        return self.state in {"intact", "pruned"}


class Verification(FrozenStruct, frozen=True, kw_only=True):
    """The state of every file of a run."""

    run_id: str
    folder: str
    files: tuple[ArtifactState, ...]

    @property
    def is_intact(self) -> bool:
        """Whether every file is intact or pruned."""
        return all(file.is_as_sealed for file in self.files)


def verify(folder: Path, digest: Callable[[Path], Seal]) -> Verification:
    """Compare every artifact with its hash and size in the manifest."""
    path, pruned = folder / MANIFEST, pruned_files(folder)
    if not path.is_file() and (MANIFEST in pruned or holds_artifacts(folder)):
        return _without_manifest(folder, pruned)
    if not path.is_file():
        raise NotFoundError(f"{folder} holds no {MANIFEST}; the run is not finished, or no run")
    data = path.read_bytes()
    try:
        manifest = json.loads(data)
        sealed: JsonObject = dict(manifest["artifacts"])
        run_id: str = manifest["run_id"]
    except (ValueError, KeyError, TypeError):
        broken = ArtifactState(name=MANIFEST, state="changed", message="not a manifest any more")
        return Verification(run_id="", folder=str(folder), files=(broken,))
    files = [_own_state(manifest, data)]
    for name in ARTIFACTS[1:]:
        seal = sealed.get(name)
        is_pruned = name in pruned and _is_seal(seal, pruned[name])
        if is_pruned and not (folder / name).exists():
            files.append(_pruned(pruned[name]))
        else:
            files.append(_state(folder / name, name, seal, digest))
    return Verification(run_id=run_id, folder=str(folder), files=tuple(files))


def verify_file(folder: Path, name: str, digest: Callable[[Path], Seal]) -> ArtifactState:
    """Compare one artifact with its hash and size in the manifest."""
    try:
        data = (folder / MANIFEST).read_bytes()
        manifest = json.loads(data)
        sealed: JsonObject = dict(manifest["artifacts"])
    except OSError as error:
        return ArtifactState(name=MANIFEST, state="missing", message=str(error.strerror))
    except (ValueError, KeyError, TypeError):
        return ArtifactState(name=MANIFEST, state="changed", message="not a manifest any more")
    own = _own_state(manifest, data)
    if name == MANIFEST or not own.is_as_sealed:
        return own
    return _state(folder / name, name, sealed.get(name), digest)


def require_sealed(folder: Path, digest: Callable[[Path], Seal]) -> None:
    """Refuse a run whose sealed files were changed."""
    require_manifest(folder)
    spoiled = [
        f"{file.name} ({file.state})"
        for file in verify(folder, digest).files
        if not file.is_as_sealed
    ]
    if spoiled:
        raise UnreadableFileError(
            f"{folder} is not what was sealed: {', '.join(spoiled)}; "
            f"`steelyard verify {folder}` says more"
        )


def _without_manifest(folder: Path, pruned: Mapping[str, PrunedFile]) -> Verification:
    """The result for a run without a manifest: its files are unknown."""
    files = tuple(_unsealed(folder / name, pruned.get(name)) for name in ARTIFACTS)
    return Verification(run_id=folder.resolve().name, folder=str(folder), files=files)


def _unsealed(path: Path, pruned: PrunedFile | None) -> ArtifactState:
    if path.exists():
        message = "no manifest says what it was"
        return ArtifactState(name=path.name, state="unknown", message=message)
    if pruned:
        return _pruned(pruned)
    is_manifest = path.name == MANIFEST
    message = "it was removed, or the run is not finished" if is_manifest else "it is not there"
    return ArtifactState(name=path.name, state="missing", message=message)


def _pruned(file: PrunedFile) -> ArtifactState:
    return ArtifactState(name=file.name, state="pruned", message=f"on {file.day}")


def _is_seal(sealed: JsonValue, file: Seal | PrunedFile) -> bool:
    """Whether a pruning entry matches the manifest."""
    return sealed == {"sha256": file.sha256, "size": file.size}


def _own_state(manifest: JsonObject, data: bytes) -> ArtifactState:
    if is_as_written(manifest, data):
        return ArtifactState(name=MANIFEST, state="intact")
    return ArtifactState(name=MANIFEST, state="changed", message="its own hash does not fit")


def _state(
    path: Path, name: str, sealed: JsonValue, digest: Callable[[Path], Seal]
) -> ArtifactState:
    if not isinstance(sealed, dict):
        return ArtifactState(name=name, state="changed", message="the manifest does not name it")
    try:
        found = digest(path)
    except FileNotFoundError:
        return ArtifactState(name=name, state="missing", message="the file is not there")
    except OSError as error:
        return ArtifactState(name=name, state="unreadable", message=str(error.strerror))
    if _is_seal(sealed, found):
        return ArtifactState(name=name, state="intact")
    message = f"sealed with {sealed.get('size')} bytes and sha256 {_short(sealed.get('sha256'))}, "
    message += f"now {found.size} bytes and {_short(found.sha256)}"
    return ArtifactState(name=name, state="changed", message=message)


def _short(digest: object) -> str:
    return f"{str(digest)[:12]}…"
