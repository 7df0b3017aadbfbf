"""A finished run is read from its folder alone."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import get_args

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.run import TERMINAL, RunState
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.read_run import (
    is_run_folder,
    read_predictions,
    read_run,
    require_finished,
)


@pytest.fixture
def folder(project: Project) -> Path:
    """The folder of a run whose second record has the first one's index as its id."""
    target = ScriptedTarget({"0": [fails("timeout"), "yes"]})
    dataset = project.cases([row("a"), row("0"), row("c")])
    return Path(project.run(project.ports(target), dataset, repeat=2).folder)


def test_a_run_is_its_manifest_its_metrics_and_its_slices(folder: Path) -> None:
    view = read_run(folder)

    assert view.run_id == folder.name
    assert view.metrics.total_records == 3
    assert view.slices
    assert view.folder == str(folder)


def test_a_run_can_be_read_without_its_project(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path / "moved")

    assert is_run_folder(moved)
    assert read_run(moved).metrics.rows == 6
    assert len(list(read_predictions(moved))) == 6


@pytest.mark.parametrize("status", get_args(RunState))
def test_a_run_that_has_not_ended_has_nothing_to_read(tmp_path: Path, status: RunState) -> None:
    run = StoredRun(run_id="run_1", status=status, created_at="", dataset="d", plan=None)
    with pytest.raises(NotFoundError) if status not in TERMINAL else nullcontext() as told:
        require_finished(tmp_path, run)

    if told:
        assert str(told.value) == (
            f"run_1 is not finished: {status}; if it was interrupted, resume it with: "
            "steelyard resume run_1"
        )
    # The last thing that a run writes may be there before its end is noted.
    (tmp_path / "run_manifest.json").write_text("{}", encoding="utf-8")
    require_finished(tmp_path, run)


def test_a_folder_that_holds_no_run_is_told(tmp_path: Path) -> None:
    assert not is_run_folder(tmp_path)
    with pytest.raises(NotFoundError, match=r"holds no run_manifest\.json: no finished run"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [("metrics_summary.json", "{"), ("metrics_summary.json", "[]"), ("failures.jsonl", "{")],
)
def test_a_damaged_file_is_told_with_the_remedy(folder: Path, name: str, text: str) -> None:
    (folder / name).unlink()
    (folder / name).write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableFileError, match="is damaged; `steelyard verify` says how"):
        _ = read_run(folder) if name.endswith(".json") else list(read_run(folder).failures())


@pytest.mark.parametrize("name", ["metrics_by_slice.json", "failures.jsonl"])
def test_a_missing_file_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()

    with pytest.raises(UnreadableFileError, match=r"cannot read .*: No such file or directory"):
        _ = read_run(folder) if name.endswith(".json") else list(read_run(folder).failures())
