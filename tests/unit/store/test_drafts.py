"""Drafts: a file stands whole under its name, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.errors import RequestError
from steelyard.store.drafts import FileDraft, ScratchDraft


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_stands_only_once_it_is_settled(tmp_path: Path) -> None:
    place = tmp_path / "new" / "a.json"
    draft = FileDraft(place, force=False)
    draft.write(b"one ")
    draft.write(b"two")
    with draft.read() as stream:
        so_far = stream.read()

    assert (so_far, place.exists()) == (b"one two", False)

    draft.settle()

    assert (place.read_bytes(), names(place.parent)) == (b"one two", ["a.json"])


def test_a_settled_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    draft = FileDraft(tmp_path / "a", force=False)
    draft.settle()

    assert (tmp_path / "a").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_name_that_was_taken_meanwhile_is_refused(tmp_path: Path) -> None:
    draft = FileDraft(tmp_path / "a", force=False)
    (tmp_path / "a").write_bytes(b"precious")

    with pytest.raises(RequestError, match="exists; `force` writes over it"):
        draft.settle()
    draft.discard()

    assert (tmp_path / "a").read_bytes() == b"precious"
    assert names(tmp_path) == ["a"]


def test_force_takes_the_name(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    draft = FileDraft(tmp_path / "a", force=True)
    draft.write(b"new")
    draft.settle()
    draft.discard()

    assert ((tmp_path / "a").read_bytes(), names(tmp_path)) == (b"new", ["a"])


def test_a_discarded_draft_leaves_nothing(tmp_path: Path) -> None:
    drafts = [FileDraft(tmp_path / "a", force=False) for _ in range(2)]
    for draft in drafts:
        draft.discard()
        draft.discard()

    assert names(tmp_path) == []


def test_a_scratch_draft_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    draft = ScratchDraft()
    draft.write(b"x")
    with draft.read() as stream:
        shown = stream.read()
    draft.discard()

    assert (shown, names(tmp_path)) == (b"x", [])


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(RequestError, match="cannot write"):
        FileDraft(tmp_path / "file" / "a", force=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_usage_error(tmp_path: Path) -> None:
    draft = FileDraft(tmp_path / "a", force=False)
    os.dup2(os.open("/dev/full", os.O_WRONLY), draft._stream.fileno())  # pyright: ignore[reportPrivateUsage]

    with pytest.raises(RequestError, match="No space left"):
        draft.write(b"x" * (1 << 20))
    draft.discard()

    other = FileDraft(tmp_path / "b", force=False)
    other.write(b"x")
    os.dup2(os.open("/dev/full", os.O_WRONLY), other._stream.fileno())  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(RequestError, match="No space left"):
        other.settle()
    other.discard()

    assert names(tmp_path) == []
