"""Artifacts on disk: whole, read-only, written once.

That a file is synced before its name appears, and the folder before the call returns, cannot be
seen without cutting the power: the order of those calls is not tested here.
"""

from __future__ import annotations

import hashlib
import os
import resource
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from steelyard.errors import RunError
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.sealing import Seal
from steelyard.store.artifacts import ArtifactFolder, digest_of

ROWS = "predictions.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> ArtifactFolder:
    """The folder of a run that has no artifacts yet."""
    return ArtifactFolder(tmp_path / "runs" / "run_1")


def sealed(folder: ArtifactFolder, name: str, *parts: bytes) -> Path:
    with closing(folder.draft(name)) as draft:
        for part in parts:
            draft.write(part)
        draft.seal()
    return folder.folder / name


@contextmanager
def no_space_beyond(size: int) -> Generator[None]:
    """No file of this process may grow beyond a size."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("name", ARTIFACTS)
def test_a_sealed_artifact_is_whole_and_read_only(folder: ArtifactFolder, name: str) -> None:
    path = sealed(folder, name, b"one\n", b"two\n")

    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o400
    assert list(folder.folder.iterdir()) == [path]
    assert folder.read(name) == b"one\ntwo\n"


def test_the_seal_is_hash_and_size(folder: ArtifactFolder) -> None:
    draft = folder.draft(ROWS)
    draft.write(b"one\n")
    draft.write(b"")
    draft.write(b"two\n")
    seal = draft.seal()

    assert seal == Seal(sha256=hashlib.sha256(b"one\ntwo\n").hexdigest(), size=8)
    assert digest_of(folder.folder / ROWS) == seal


def test_a_draft_is_no_artifact(folder: ArtifactFolder) -> None:
    with closing(folder.draft(ROWS)) as draft:
        draft.write(b"half a row")

        assert folder.read(ROWS) is None


def test_a_second_write_is_refused(folder: ArtifactFolder) -> None:
    path = sealed(folder, ROWS, b"one\n")

    with pytest.raises(RunError, match=r"predictions\.jsonl is sealed; a correction needs a new"):
        folder.draft(ROWS)
    assert path.read_bytes() == b"one\n"


def test_of_two_writers_the_second_to_seal_is_refused(folder: ArtifactFolder) -> None:
    with closing(folder.draft(ROWS)) as late:
        late.write(b"late\n")
        path = folder.folder / ROWS
        path.write_bytes(b"first\n")
        with pytest.raises(RunError, match="is sealed"):
            late.seal()

    assert path.read_bytes() == b"first\n"
    assert list(folder.folder.iterdir()) == [path]


@pytest.mark.parametrize("name", ["notes.txt", "../steelyard.db", "predictions.jsonl.bak", ""])
def test_a_name_that_is_no_artifact_is_refused(folder: ArtifactFolder, name: str) -> None:
    with pytest.raises(RunError, match="is no artifact of a run"):
        folder.draft(name)
    assert not folder.folder.exists()


def test_what_a_stop_has_left_is_cleared(folder: ArtifactFolder) -> None:
    sealed(folder, ROWS, b"from an earlier try\n")
    with closing(folder.draft("failures.jsonl")) as draft:
        draft.write(b"half")
    folder.clear_drafts()

    assert list(folder.folder.iterdir()) == []


def test_a_sealed_run_keeps_all_its_artifacts(folder: ArtifactFolder) -> None:
    """A stop between the manifest's link and the end of its draft leaves that draft alone."""
    kept = [sealed(folder, name, b"x") for name in (ROWS, MANIFEST)]
    os.link(folder.folder / MANIFEST, folder.folder / f".{MANIFEST}.99.part")
    folder.clear_drafts()

    assert sorted(folder.folder.iterdir()) == sorted(kept)


def test_where_there_is_no_folder_there_is_nothing_to_clear_or_read(
    folder: ArtifactFolder,
) -> None:
    folder.clear_drafts()

    assert folder.read(ROWS) is None


FULL = r"predictions\.jsonl: File too large; mend that, then `steelyard resume` the run$"


def test_a_full_disk_is_told_and_leaves_no_artifact(folder: ArtifactFolder) -> None:
    with (
        closing(folder.draft(ROWS)) as draft,
        no_space_beyond(1000),
        pytest.raises(RunError, match=FULL),
    ):
        draft.write(b"x" * 1_000_000)

    assert folder.read(ROWS) is None


def test_a_disk_that_is_full_only_at_the_end_is_told_too(folder: ArtifactFolder) -> None:
    with closing(folder.draft(ROWS)) as draft:
        draft.write(b"x" * 2000)
        with no_space_beyond(1000), pytest.raises(RunError, match=FULL):
            draft.seal()

    assert folder.read(ROWS) is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file in its place", encoding="utf-8")

    with pytest.raises(RunError, match=r"cannot write .*: Not a directory"):
        ArtifactFolder(tmp_path / "runs" / "run_1").draft(ROWS)


def test_what_cannot_be_cleared_is_told(folder: ArtifactFolder) -> None:
    (folder.folder / "a folder").mkdir(parents=True)

    with pytest.raises(RunError, match=r"cannot write .*run_1: "):
        folder.clear_drafts()


def test_a_large_file_is_hashed_in_parts(tmp_path: Path) -> None:
    data = b"0123456789abcdef" * 200_000
    (tmp_path / "large").write_bytes(data)

    sealed = Seal(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
    assert digest_of(tmp_path / "large") == sealed


@pytest.mark.parametrize("size", [1, 1000, 65_535, 65_536, 65_537, 200_000])
def test_rows_of_any_size_come_to_the_same_file(folder: ArtifactFolder, size: int) -> None:
    rows = [bytes([number % 256]) * size for number in range(70_000 // size + 3)]
    draft = folder.draft(ROWS)
    for row in rows:
        draft.write(row)
    seal = draft.seal()

    assert (folder.folder / ROWS).read_bytes() == b"".join(rows)
    assert digest_of(folder.folder / ROWS) == seal
