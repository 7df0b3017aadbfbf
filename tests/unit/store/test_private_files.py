"""The data of a project is its user's alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.store.artifacts import ArtifactFolder
from steelyard.store.database import open_database
from steelyard.store.drafts import ScratchDraft
from steelyard.store.private_files import make_private_folder
from steelyard.store.write_once import write_once

DATABASE = "steelyard.db"


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / ".steelyard"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_every_folder_that_is_made_is_private(data: Path) -> None:
    make_private_folder(data / "runs" / "one")

    assert [mode(path) for path in (data, data / "runs", data / "runs" / "one")] == [0o700] * 3


@pytest.mark.usefixtures("umask")
def test_a_database_and_its_log_are_private(data: Path) -> None:
    engine = open_database(data / DATABASE)
    with engine.connect():
        modes = {path.name: mode(path) for path in data.iterdir()}
    engine.dispose()

    assert modes == dict.fromkeys((DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"), 0o600)


@pytest.mark.usefixtures("umask")
def test_a_draft_is_private_and_what_is_sealed_can_only_be_read(data: Path) -> None:
    draft = ArtifactFolder(data / "runs" / "one").draft("predictions.jsonl")
    (part,) = (data / "runs" / "one").iterdir()
    before = mode(part)
    draft.seal()
    write_once(data / "registry" / "a", [b"text"])

    assert before == 0o600
    assert mode(data / "runs" / "one" / "predictions.jsonl") == 0o400
    assert mode(data / "registry" / "a") == 0o400


@pytest.mark.usefixtures("umask")
def test_a_scratch_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    draft = ScratchDraft()
    modes = [mode(path) for path in tmp_path.iterdir()]
    draft.discard()

    assert modes == [0o600]


def test_an_older_project_is_closed_when_it_is_opened(data: Path) -> None:
    data.mkdir(mode=0o755)
    path = data / DATABASE
    open_database(path).dispose()
    for one in (data, path):
        one.chmod(0o755 if one.is_dir() else 0o644)
    open_database(path).dispose()

    assert (mode(data), mode(path)) == (0o700, 0o600)


def test_folders_outside_the_data_keep_their_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_database(tmp_path / ".steelyard" / DATABASE).dispose()

    assert mode(tmp_path) == 0o755
