"""The shelf that `prune` clears: durable notes, and errors that say what stands in the way."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest

from fakes.old_runs import clear, engine_of, later, old_run, shelf_of
from fakes.projects import Project
from steelyard.errors import RunError
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import PrunedFile
from steelyard.settings import RetentionSettings
from steelyard.store.artifacts import digest_of
from steelyard.store.pruned import RetentionStore
from steelyard.usecases.runs.prune import plan_pruning

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A new project."""
    return Project(tmp_path.resolve())


def file(name: str) -> PrunedFile:
    return PrunedFile(run_id="run_1", name=name, at="2026-01-15", sha256="0", size=1)


def noted(project: Project) -> list[str]:
    lines = (project.root / ".steelyard" / "pruned.jsonl").read_bytes().splitlines()
    return [json.loads(line)["name"] for line in lines if line.endswith(b"}")]


def test_a_note_is_made_once_whoever_makes_it(project: Project) -> None:
    shelf_of(project).note([file("a")])
    shelf = shelf_of(project)
    shelf.note([file("a"), file("b")])
    shelf.note([file("b")])
    shelf.note([])

    assert noted(project) == ["a", "b"]


def test_a_line_that_was_torn_is_written_again(project: Project) -> None:
    shelf_of(project).note([file("a"), file("b")])
    path = project.root / ".steelyard" / "pruned.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    shelf_of(project).note([file("a"), file("b")])

    assert noted(project) == ["a", "b"]
    assert len(path.read_bytes().splitlines()) == 3


def test_files_are_as_they_were_sealed(project: Project) -> None:
    folder = old_run(project)
    sealed = {name: digest_of(folder / name) for name in ARTIFACTS}
    (folder / "failures.jsonl").chmod(stat.S_IRWXU)
    (folder / "failures.jsonl").write_bytes(b"changed")

    assert shelf_of(project).artifacts(folder.name) == sealed


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"artifacts": 7}', '{"artifacts": {"a": 7}}'])
def test_a_manifest_that_says_nothing_is_done_without(project: Project, text: str) -> None:
    folder = old_run(project)
    (folder / MANIFEST).chmod(stat.S_IRWXU)
    (folder / MANIFEST).write_text(text, encoding="utf-8")

    assert shelf_of(project).artifacts(folder.name) == {
        name: digest_of(folder / name) for name in ARTIFACTS
    }


@pytest.mark.sqlite
def test_the_database_notes_what_went(project: Project) -> None:
    folder = old_run(project)
    clear(project, 180)
    connection = sqlite3.connect(project.root / ".steelyard" / "steelyard.db")
    found = connection.execute("SELECT run_id, name, at FROM pruned").fetchall()
    connection.close()
    at = later(project, 180).isoformat(timespec="milliseconds")

    assert sorted(found) == sorted((folder.name, name, at) for name in ARTIFACTS)


def test_notes_that_cannot_be_written_leave_everything(project: Project) -> None:
    folder = old_run(project)
    (project.root / ".steelyard" / "pruned.jsonl.d").mkdir()
    (project.root / ".steelyard" / "pruned.jsonl.d").rename(
        project.root / ".steelyard" / "pruned.jsonl"
    )

    with pytest.raises(RunError, match=r"cannot write .*pruned\.jsonl: Is a directory; nothing"):
        clear(project, 30)
    assert len(list(folder.iterdir())) == len(ARTIFACTS)
    assert shelf_of(project).rows(folder.name) > 0


def test_a_file_that_cannot_be_removed_is_told(project: Project) -> None:
    folder = old_run(project)
    shelf = shelf_of(project)
    (folder / "x").mkdir()

    with pytest.raises(RunError, match=r"cannot remove .*/x: "):
        shelf.remove(folder.name, "x")
    shelf.remove(folder.name, "gone")
    shelf.remove("run_gone", "gone")


def test_a_folder_with_anything_else_in_it_is_left_alone(project: Project) -> None:
    folder = old_run(project)
    (folder / "my notes.txt").write_text("mine", encoding="utf-8")
    clear(project, 180)

    assert [path.name for path in folder.iterdir()] == ["my notes.txt"]
    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 180)) == []


def test_drafts_that_were_never_sealed_go_with_the_folder(project: Project) -> None:
    folder = old_run(project)
    (folder / ".predictions.jsonl.7.part").write_bytes(b"half")
    clear(project, 180)

    assert not folder.exists()


def test_a_folder_that_cannot_be_removed_is_told(project: Project) -> None:
    folder = old_run(project)
    (folder / ".x.part").mkdir()

    with pytest.raises(RunError, match=f"cannot remove .*{folder.name}: Is a directory"):
        clear(project, 180)


@pytest.mark.sqlite
def test_a_store_that_fails_is_told(project: Project) -> None:
    old_run(project)
    now = later(project, 30)
    connection = sqlite3.connect(project.root / ".steelyard" / "steelyard.db")
    connection.execute("DROP TABLE check_results")
    connection.close()

    with pytest.raises(RunError, match="fails: no such table: check_results"):
        plan_pruning(shelf_of(project), RetentionSettings(), now)


def test_the_shelf_lets_go_of_the_database(project: Project) -> None:
    shelf = RetentionStore(engine_of(project.ports()).engine, project.root)

    shelf.close()
    assert shelf.finished() == []
