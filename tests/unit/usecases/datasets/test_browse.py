"""Browse a dataset: pages of cases by a text, and the files that may be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from pathlib import Path

import pytest

from steelyard.errors import NotFoundError
from steelyard.project import open_project
from steelyard.usecases.datasets.browse import (
    CasePage,
    browse_dataset,
    checked_files,
    dataset_files,
    require_dataset_file,
)
from steelyard.usecases.datasets.validate import FileReport


def _project(root: Path, count: int = 5) -> Path:
    folder = root / "datasets"
    folder.mkdir()
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    rows = [
        {"id": f"c{n}", "expected_outcome": f"outcome {n}", "input": f"Question {n}?"}
        for n in range(count)
    ]
    lines = [*map(json.dumps, rows), '{"id": "bad"}']
    (folder / "some.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "notes.md").write_text("no dataset\n", encoding="utf-8")
    return root


def _browsed(root: Path, **options: object) -> CasePage:
    with open_project(root) as project:
        ports = project.registry_ports()
        path = require_dataset_file(ports, "datasets/some.jsonl")
        return browse_dataset(ports, path, **options)  # pyright: ignore[reportArgumentType]


def test_pages_follow_each_other(tmp_path: Path) -> None:
    """With how many there are in all, rejected records among them."""
    _project(tmp_path)
    first, second = (_browsed(tmp_path, begin=begin, limit=4) for begin in (0, 4))
    assert [one.record_id for one in first.cases] == ["c0", "c1", "c2", "c3"]
    assert [one.is_accepted for one in second.cases] == [True, False]
    assert first.total == second.total == 6
    assert second.cases[1].findings


def test_a_text_is_looked_for_in_ids_questions_and_expectations(tmp_path: Path) -> None:
    """In letters of either case."""
    _project(tmp_path)
    for text, found in (("QUESTION 3", ["c3"]), ("outcome 1", ["c1"]), ("c4", ["c4"])):
        page = _browsed(tmp_path, text=text)
        assert [one.record_id for one in page.cases] == found
        assert page.total == 1


def test_files_come_with_what_was_found_in_them(tmp_path: Path) -> None:
    """Unchanged ones are not read again; a changed one is."""
    folder = _project(tmp_path) / "datasets"
    asked: list[object] = []
    kept: dict[Hashable, FileReport] = {}

    def keep(key: Hashable, make: Callable[[], FileReport]) -> FileReport:
        if key not in kept:
            asked.append(key)
            kept[key] = make()
        return kept[key]

    with open_project(tmp_path) as project:
        ports = project.registry_ports()
        first, again = checked_files(ports, keep), checked_files(ports, keep)
        read = len(asked)
        (folder / "some.jsonl").write_text('{"id": "alone"}\n', encoding="utf-8")
        changed = checked_files(ports, keep)

    found = next(one for one in first if one.path == "datasets/some.jsonl").report
    assert found
    assert (found.total, found.rejected) == (6, 1)
    assert first == again
    assert len(asked) == read + 1
    assert changed != first


def test_only_dataset_files_are_offered(tmp_path: Path) -> None:
    """Neither other files of the folder nor files elsewhere."""
    _project(tmp_path)
    with open_project(tmp_path) as project:
        ports = project.registry_ports()
        assert dataset_files(ports) == ["datasets/some.jsonl"]
        for name in ("datasets/notes.md", "steelyard.yaml", "/etc/passwd", "../x.json", ""):
            with pytest.raises(NotFoundError):
                require_dataset_file(ports, name)


def test_a_link_that_leaves_the_project_or_leads_nowhere_is_no_dataset_file(
    tmp_path: Path,
) -> None:
    """A link to another file of the project is one."""
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    _project(root)
    (outside / "secret.jsonl").write_text('{"id": "secret"}\n', encoding="utf-8")
    folder = root / "datasets"
    (folder / "again.jsonl").symlink_to("some.jsonl")
    links = {"out": outside / "secret.jsonl", "loop": "loop.jsonl", "nothing": "gone.jsonl"}
    for name, target in links.items():
        (folder / f"{name}.jsonl").symlink_to(target)

    with open_project(root) as project:
        ports = project.registry_ports()
        assert dataset_files(ports) == ["datasets/again.jsonl", "datasets/some.jsonl"]
        for name in links:
            with pytest.raises(NotFoundError):
                require_dataset_file(ports, f"datasets/{name}.jsonl")


def test_a_folder_of_datasets_that_is_a_link_out_of_the_project_offers_nothing(
    tmp_path: Path,
) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    _project(outside)
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    (root / "datasets").symlink_to(outside / "datasets")

    with open_project(root) as project:
        assert dataset_files(project.registry_ports()) == []
