"""A name is taken once, with links and without them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.store import file_names
from steelyard.store.file_names import (
    remove_file,
    remove_folder,
    remove_what_can_be,
    share_file,
    take_name,
)


def no_links(source: object, _target: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted", str(source))


def as_linux(_monkeypatch: pytest.MonkeyPatch) -> None:
    """Links, as everywhere but here below."""


def as_fat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", no_links)


@pytest.fixture(params=[as_linux, as_fat])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    system: Callable[[pytest.MonkeyPatch], None] = request.param
    system(monkeypatch)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    path = tmp_path / ".draft.part"
    path.write_bytes(b"new")
    path.chmod(0o400)
    return path


@pytest.mark.usefixtures("_system")
def test_a_draft_takes_a_free_name(part: Path, tmp_path: Path) -> None:
    take_name(part, tmp_path / "name")

    assert [path.name for path in tmp_path.iterdir()] == ["name"]
    assert (tmp_path / "name").read_bytes() == b"new"
    assert (tmp_path / "name").stat().st_mode & 0o777 == 0o400


@pytest.mark.usefixtures("_system")
def test_a_taken_name_keeps_its_file(part: Path, tmp_path: Path) -> None:
    (tmp_path / "name").write_bytes(b"old")

    with pytest.raises(FileExistsError):
        take_name(part, tmp_path / "name")
    assert (tmp_path / "name").read_bytes() == b"old"
    assert part.exists()


def test_windows_renames(part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_names, "IS_WINDOWS", True)
    monkeypatch.setattr(os, "link", no_links)

    take_name(part, tmp_path / "name")

    assert [path.name for path in tmp_path.iterdir()] == ["name"]


def test_another_fault_of_a_link_is_no_lack_of_links(
    part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: object, _target: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)

    for give in (take_name, share_file):
        with pytest.raises(OSError, match="No space left"):
            give(part, tmp_path / "name")


@pytest.mark.usefixtures("_system")
def test_a_shared_file_has_two_names(part: Path, tmp_path: Path) -> None:
    share_file(part, tmp_path / "place")

    assert sorted(path.name for path in tmp_path.iterdir()) == [".draft.part", "place"]
    assert (tmp_path / "place").read_bytes() == part.read_bytes() == b"new"


@pytest.mark.parametrize("is_windows", [False, True])
def test_what_is_read_only_is_removed(
    part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_windows: bool
) -> None:
    monkeypatch.setattr(file_names, "IS_WINDOWS", is_windows)
    folder = tmp_path / "folder"
    folder.mkdir()
    part.rename(folder / "file")
    remove_file(folder / "file")
    (folder / "other").touch(0o400)
    remove_folder(folder)

    assert not folder.exists()
    remove_what_can_be(folder)
