"""Files of queued runs: shared, and gone when nobody needs them."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from fakes.runs import stored_run
from fakes.stores import open_store
from steelyard.errors import InvalidError, SourceError
from steelyard.store.pruned import RetentionStore
from steelyard.store.runs.repository import RunStore
from steelyard.store.spool.run_inputs import InputFolder


def test_prune_removes_what_a_crash_has_left(tmp_path: Path) -> None:
    data = tmp_path / ".steelyard"
    engine = open_store(data / "steelyard.db")
    RunStore(engine).create(stored_run("waits"))
    inputs = InputFolder(data)
    source = tmp_path / "d.jsonl"
    source.write_text("{}\n", encoding="utf-8")
    for run_id in ("run_waits", "run_gone", "run_being_made"):
        inputs.keep(run_id, {source: source}, {}, b"{}")
    for run_id in ("run_waits", "run_gone"):
        os.utime(data / "inputs" / run_id, (0, 0))
    RetentionStore(engine, data).remove_inputs()
    engine.dispose()

    assert inputs.folder("run_gone") is None
    assert inputs.folder("run_waits")
    assert inputs.folder("run_being_made")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "d.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [None, "retry: {max_attempts: 1}"])
def test_settings_that_were_changed_or_removed_are_refused(
    text: str | None, source: Path, tmp_path: Path
) -> None:
    inputs = InputFolder(tmp_path / ".steelyard")
    inputs.keep("run_a", {source: source}, {}, b"{}")
    settings = tmp_path / ".steelyard" / "inputs" / "run_a" / "steelyard.yaml"
    settings.unlink()
    if text:
        settings.write_text(text, encoding="utf-8")

    with pytest.raises(SourceError, match="the settings kept for run_a are damaged"):
        inputs.folder("run_a")

    inputs.delete("run_a")

    assert inputs.folder("run_a") is None


def test_a_damaged_content_is_not_shared(source: Path, tmp_path: Path) -> None:
    inputs, folder = InputFolder(tmp_path / ".steelyard"), tmp_path / ".steelyard" / "inputs"
    inputs.keep("run_a", {source: source}, {}, b"{}")
    damaged = folder / "run_a" / source.name
    damaged.chmod(0o600)
    damaged.write_text("[]", encoding="utf-8")
    inputs.keep("run_b", {source: source}, {}, b"{}")

    assert (folder / "run_b" / source.name).read_bytes() == source.read_bytes()


def test_a_folder_that_others_may_read_is_closed(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".steelyard" / "inputs"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    InputFolder(folder.parent).keep("run_a", {source: source}, {}, b"{}")

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_link_in_the_place_of_the_folder_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".steelyard").mkdir()
    (tmp_path / ".steelyard" / "inputs").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(InvalidError, match="is a link"):
        InputFolder(tmp_path / ".steelyard").keep("run_a", {source: source}, {}, b"{}")

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_inputs_are_removed_though_the_shared_contents_are_gone(
    source: Path, tmp_path: Path
) -> None:
    inputs = InputFolder(tmp_path / ".steelyard")
    inputs.keep("run_a", {source: source}, {}, b"{}")
    shutil.rmtree(tmp_path / ".steelyard" / "inputs" / "content")
    inputs.delete("run_a")

    assert inputs.folder("run_a") is None
