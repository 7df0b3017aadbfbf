"""Runs sealed in a bucket, with copies of those that were read in the project's own folder.

A copy is checked against the manifest when it is made, and can be removed at any time. What a
folder has and no bucket, because it was sealed before there was one, stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from steelyard.errors import RunError, UnreadableFileError
from steelyard.formats.json_fields import fields
from steelyard.model.json_value import JsonObject
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.pruned import PRUNED, SUMMARIES, PrunedFile, pruned_line, read_pruned
from steelyard.results.sealing import Seal, is_as_written, writer_of
from steelyard.store.artifacts import ArtifactFolder, digest_of
from steelyard.store.buckets.bucket import Bucket
from steelyard.store.buckets.bucket_artifacts import BucketArtifacts, Writers, key_of
from steelyard.store.buckets.probe import require_conditional_writes
from steelyard.store.file_names import remove_what_can_be
from steelyard.store.private_files import SEALED, make_private_folder, private
from steelyard.store.sealed_runs import DiskRuns, seals_in

_RUN_ID = re.compile(r"run_[0-9A-Z]{26}")


class BucketRuns:
    """The runs beneath an address, and the folder with copies of them."""

    def __init__(self, folder: Path, bucket: Bucket) -> None:
        self.folder = folder
        self.bucket = bucket
        self._disk = DiskRuns(folder)
        self._writers = Writers()
        self._copying: defaultdict[str, Lock] = defaultdict(Lock)
        self._is_ready = False

    def require_ready(self) -> None:
        """Refuse a store that overwrites, or that cannot be used; once a process."""
        if not self._is_ready:
            require_conditional_writes(self.bucket)
            self._is_ready = True

    def artifacts(self, run_id: str) -> ArtifactFolder:
        """The artifacts of a run that is being sealed."""
        return BucketArtifacts(self.folder / run_id, self.bucket, self._writers, self.fetch)

    def fetch(self, run_id: str, names: Collection[str] = ARTIFACTS) -> Path:
        """The folder of a run, with copies of these files; of its ancestors the summaries."""
        folder, seen = self.folder / run_id, {run_id}
        manifest = self._fetched(run_id, names)
        while manifest and len(names) > len(SUMMARIES):
            parent = _parent(manifest)
            if parent is None or parent in seen:
                break
            seen.add(parent)
            manifest = self._fetched(parent, SUMMARIES)
        return folder

    def brought(self, folder: Path) -> Path:
        """A folder, with copies of its files where it is one of a run."""
        if folder.parent == self.folder and _RUN_ID.fullmatch(folder.name):
            return self.fetch(folder.name)
        return folder

    @contextmanager
    def as_sealed(self, folder: Path) -> Generator[tuple[Path, Callable[[Path], Seal]]]:
        """The manifest that the bucket has now, and what hashes the objects that it names.

        Copies that are not what was sealed are removed.
        """
        run_id = folder.name
        data = self.bucket.read(key_of(run_id, None, MANIFEST)) if self._is_own(folder) else None
        if data is None:
            if self._is_own(folder) and writer_of(_json(folder / MANIFEST)):
                where = f"{self.bucket.address}/{key_of(run_id, None, MANIFEST)}"
                raise UnreadableFileError(f"{where} is gone; {folder} has a copy of it")
            yield folder, digest_of
            return
        scratch = self.folder.parent / f"verify-{secrets.token_hex(4)}"
        try:
            place = scratch / run_id
            make_private_folder(place)
            (place / MANIFEST).write_bytes(data)
            self._copy_notes(run_id)
            with suppress(OSError):
                (scratch.parent / PRUNED).stat()
                (scratch / PRUNED).write_bytes((scratch.parent / PRUNED).read_bytes())
            if _is_sealed(data):
                self._drop_changed(folder, data)
            yield place, lambda path: self._digest(run_id, data, path)
        finally:
            remove_what_can_be(scratch)

    def there(self, run_id: str) -> dict[str, Seal]:
        """The files of a run that are in the bucket or here, as they were sealed."""
        here = self._disk.there(run_id)
        data = self.bucket.read(key_of(run_id, None, MANIFEST))
        writer = writer_of(_json_of(data)) if data else None
        if data is None or writer is None:
            return here
        beneath = key_of(run_id, writer, "")
        names = {one.key.rpartition("/")[2] for one in self.bucket.list(beneath)} | {MANIFEST}
        own = Seal(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
        sealed = {MANIFEST: own, **seals_in(data)}
        found = {name: sealed[name] for name in ARTIFACTS if name in names and name in sealed}
        return {**here, **found}

    def note(self, files: Collection[PrunedFile]) -> None:
        """Keep in the bucket what will be pruned, for other machines."""
        for run_id in sorted({file.run_id for file in files}):
            known = self.bucket.read(key_of(run_id, None, PRUNED)) or b""
            lines = [pruned_line(file) for file in files if file.run_id == run_id]
            new = b"".join(line for line in lines if line not in known)
            if new:
                self.bucket.write(key_of(run_id, None, PRUNED), known + new)

    def remove(self, run_id: str, name: str) -> None:
        """Remove a file from the bucket, and its copy."""
        data = self.bucket.read(key_of(run_id, None, MANIFEST))
        writer = writer_of(_json_of(data)) if data else None
        if writer:
            self.bucket.delete([key_of(run_id, None if name == MANIFEST else writer, name)])
        self._disk.remove(run_id, name)

    def is_empty(self, run_id: str) -> bool:
        """Whether there is a folder here, with nothing in it but drafts."""
        return self._disk.is_empty(run_id)

    def remove_folder(self, run_id: str) -> None:
        """Remove an empty folder."""
        self._disk.remove_folder(run_id)

    def remove_orphans(self, ended: Collection[str], sealed: Collection[str]) -> int:
        """Remove what writers who did not win have left of runs that have ended; how much."""
        left: defaultdict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one in self.bucket.list("runs"):
            parts = one.key.split("/")
            if len(parts) == 4 and parts[1] in ended:
                left[parts[1]][parts[2]].append(one.key)
        count = 0
        for run_id, writers in left.items():
            data = self.bucket.read(key_of(run_id, None, MANIFEST))
            if run_id in sealed if data is None else not _is_sealed(data):
                continue  # whose files those of the run are is not known any more
            writers.pop(writer_of(_json_of(data)) or "" if data else "", None)
            for keys in writers.values():
                self.bucket.delete(keys)
                count += len(keys)
        return count

    def _fetched(self, run_id: str, names: Collection[str]) -> JsonObject | None:
        """The manifest of a run, after copies of files were made; None where there is none."""
        folder = self.folder / run_id
        with self._copying[run_id]:
            data = _content(folder / MANIFEST)
            if data is None:
                data = self._manifest(run_id)
            if data is None:
                self._copy_notes(run_id)  # it may have been pruned as a whole
                return None
            manifest = _json_of(data)
            if writer := writer_of(manifest):
                wanted = {name: seal for name, seal in seals_in(data).items() if name in names}
                self._copy_files(run_id, writer, wanted)
                if not (folder / MANIFEST).exists():
                    _keep(folder, MANIFEST, iter([data]), None)
        return manifest

    def _manifest(self, run_id: str) -> bytes | None:
        """The manifest that the bucket has."""
        key = key_of(run_id, None, MANIFEST)
        data = self.bucket.read(key)
        if data is not None and not _is_sealed(data):
            raise UnreadableFileError(
                f"{self.bucket.address}/{key} is damaged: it is not the manifest that was sealed; "
                f"`steelyard verify {run_id}` says more"
            )
        return data

    def _copy_files(self, run_id: str, writer: str, wanted: dict[str, Seal]) -> None:
        for name, seal in wanted.items():
            path = self.folder / run_id / name
            if name not in ARTIFACTS or (path.is_file() and path.stat().st_size == seal.size):
                continue
            key = key_of(run_id, writer, name)
            size = self.bucket.size(key)
            where = f"{self.bucket.address}/{key}"
            if size is None:
                self._copy_notes(run_id)
                if self._is_noted(run_id, name):
                    continue
                raise UnreadableFileError(
                    f"{where} is gone; `steelyard verify {run_id}` says more"
                )
            if size != seal.size or not _keep(
                path.parent, name, self.bucket.parts(key, size), seal
            ):
                raise UnreadableFileError(
                    f"{where} is not what was sealed; `steelyard verify {run_id}` says more"
                )

    def _copy_notes(self, run_id: str) -> None:
        """Note here what another machine has pruned."""
        data = self.bucket.read(key_of(run_id, None, PRUNED))
        path = self.folder.parent / PRUNED
        known = _content(path) or b""
        new = [line for line in (data or b"").splitlines(keepends=True) if line not in known]
        if any(True for _ in read_pruned(new)):
            make_private_folder(path.parent)
            with open(path, "ab", opener=private) as stream:
                stream.write(b"".join(new))

    def _is_noted(self, run_id: str, name: str) -> bool:
        """Whether a file was pruned."""
        lines = (_content(self.folder.parent / PRUNED) or b"").splitlines(keepends=True)
        return any((file.run_id, file.name) == (run_id, name) for file in read_pruned(lines))

    def _drop_changed(self, folder: Path, manifest: bytes) -> None:
        for name, seal in seals_in(manifest).items():
            path = folder / name
            if name in ARTIFACTS and path.is_file() and digest_of(path) != seal:
                self._disk.remove(folder.name, name)
        if (folder / MANIFEST).is_file() and (folder / MANIFEST).read_bytes() != manifest:
            self._disk.remove(folder.name, MANIFEST)

    def _digest(self, run_id: str, manifest: bytes, path: Path) -> Seal:
        """The hash of the object that a file is kept as."""
        key = key_of(run_id, writer_of(_json_of(manifest)), path.name)
        size = self.bucket.size(key)
        if size is None:
            raise FileNotFoundError(key)
        digest = hashlib.sha256()
        for part in self.bucket.parts(key, size):
            digest.update(part)
        return Seal(sha256=digest.hexdigest(), size=size)

    def _is_own(self, folder: Path) -> bool:
        return folder.parent == self.folder


def _keep(folder: Path, name: str, parts: Iterator[bytes], seal: Seal | None) -> bool:
    """Make a copy that nobody sees before it is whole; whether it is what was sealed."""
    make_private_folder(folder)
    part = folder / f".{name}.{secrets.token_hex(4)}.part"
    digest = hashlib.sha256()
    try:
        with open(part, "xb", opener=private) as stream:
            for data in parts:
                digest.update(data)
                stream.write(data)
        if seal and digest.hexdigest() != seal.sha256:
            return False
        part.chmod(SEALED)
        part.replace(folder / name)
    except OSError as error:
        raise RunError(f"cannot write {folder / name}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return True


def _parent(manifest: JsonObject) -> str | None:
    """The run whose responses another one has used."""
    derived, options = manifest.get("derived_from"), manifest.get("options")
    if isinstance(derived, dict):
        parent = str(derived.get("run_id"))
        return parent if _RUN_ID.fullmatch(parent) else None
    responses = options.get("responses") if isinstance(options, dict) else None
    path = Path(str(responses))
    is_run = path.name == PREDICTIONS and _RUN_ID.fullmatch(path.parent.name)
    return path.parent.name if is_run else None


def _is_sealed(data: bytes) -> bool:
    """Whether the content of a manifest is what was sealed in a bucket."""
    manifest = _json_of(data)
    return writer_of(manifest) is not None and is_as_written(manifest, data)


def _json(path: Path) -> JsonObject:
    return _json_of(_content(path) or b"")


def _json_of(data: bytes) -> JsonObject:
    try:
        return fields(json.loads(data))
    except (ValueError, TypeError):
        return {}


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
