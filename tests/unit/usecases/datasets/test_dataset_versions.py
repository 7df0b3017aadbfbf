"""Two versions of a dataset side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.projects import row
from fakes.registry import RegistryProject
from steelyard.errors import NotFoundError, RequestError
from steelyard.usecases.datasets.dataset_versions import compare_datasets, show_dataset
from steelyard.usecases.datasets.publish_dataset import publish_dataset

SUITES = "suites:\n  release: {dataset: dataset/qa@1, target: echo}\n"


@pytest.fixture
def project(tmp_path: Path) -> RegistryProject:
    return RegistryProject(tmp_path, SUITES)


def cases(project: RegistryProject, *rows: dict[str, object], name: str = "qa.jsonl") -> Path:
    return project.write(f"datasets/{name}", "".join(json.dumps(one) + "\n" for one in rows))


def test_records_are_compared_by_their_ids(project: RegistryProject) -> None:
    old = cases(project, row("a"), row("b"), row("c"), row("d"))
    publish_dataset(project.ports, str(old), "1")
    new = cases(project, row("d"), row("a"), row("b", input="Why?"), row("e"))
    found = compare_datasets(project.ports, "dataset/qa@1", str(new))

    assert [(one.kind, one.path, one.is_breaking) for one in found.differences] == [
        ("changed", "records.b.input_messages", True),
        ("removed", "records.c", True),
        ("added", "records.e", False),
    ]
    assert found.is_breaking
    assert found.differences[0].new == [{"content": "Why?", "role": "user"}]


def test_records_that_were_added_break_nothing(project: RegistryProject) -> None:
    old = cases(project, row("a"))
    new = cases(project, row("a"), row("b"), name="more.jsonl")
    found = compare_datasets(project.ports, str(old), str(new))

    assert [one.path for one in found.differences] == ["id", "records.b"]
    assert not found.is_breaking


def test_a_file_that_a_record_shows_belongs_to_it(project: RegistryProject) -> None:
    asked = [{"role": "user", "content": [{"type": "file", "value": "notes.md"}]}]
    shown = row("a")
    del shown["input"]
    shown["input_messages"] = asked
    project.write("datasets/notes.md", "old")
    publish_dataset(project.ports, str(cases(project, shown)), "1")
    project.write("other/notes.md", "new")
    project.write("other/qa.jsonl", json.dumps(shown) + "\n")
    found = compare_datasets(project.ports, "dataset/qa@1", str(project.root / "other/qa.jsonl"))

    assert [one.path for one in found.differences] == ["records.a.files.notes.md"]


def test_the_heads_are_compared(project: RegistryProject) -> None:
    old, new = (
        project.write(
            f"datasets/{version}.json",
            json.dumps(
                {
                    "dataset_id": "qa",
                    "dataset_version": version,
                    "schema_version": "1.0",
                    "metadata": {"owner": version},
                    "records": [{"record_id": "q1", "input": {"prompt": "Why?"}}],
                }
            ),
        )
        for version in ("1", "2")
    )
    found = compare_datasets(project.ports, str(old), str(new))

    assert [one.path for one in found.differences] == ["version", "metadata"]


def test_a_published_dataset_is_shown_with_what_uses_it(project: RegistryProject) -> None:
    made = publish_dataset(project.ports, str(cases(project, row("a"), row("b"))), "1")
    shown = show_dataset(project.ports, "dataset/qa@1")

    assert made.published
    assert shown.reference == "dataset/qa@1"
    assert (shown.listed.status, shown.listed.sha256) == ("published", made.published.sha256)
    assert shown.content == {
        "dataset_id": "qa",
        "dataset_version": "1",
        "records": 2,
        "accepted": 2,
    }
    assert shown.used_by == ("suite release",)


def test_a_file_is_shown_as_not_published(project: RegistryProject) -> None:
    shown = show_dataset(project.ports, str(cases(project, row("a"), {"id": "b"})))

    assert (shown.listed.status, shown.used_by) == ("not published", ())
    assert (shown.content["records"], shown.content["accepted"]) == (2, 1)


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("datasets/none.jsonl", NotFoundError, "no such file"),
        ("dataset/qa@1", NotFoundError, "there is no dataset/qa@1"),
        ("rubrics/r@1.0.0.yaml", RequestError, "no dataset"),
    ],
)
def test_what_is_no_dataset_is_wrong_usage(
    project: RegistryProject,
    name: str,
    error: type[Exception],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(project.root)
    project.rubric("r@1.0.0")

    with pytest.raises(error, match=told):
        show_dataset(project.ports, name)
