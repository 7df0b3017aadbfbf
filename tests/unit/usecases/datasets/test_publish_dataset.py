"""Fixing versions of datasets, and running them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.projects import Project, row
from fakes.registry import WHEN, RegistryProject
from steelyard.errors import NotFoundError, RequestError
from steelyard.model.published import Published, PublishedKind
from steelyard.store.registry import FileRegistry
from steelyard.usecases.datasets.publish_dataset import publish_dataset

DOCUMENT = {
    "dataset_id": "qa",
    "dataset_version": "2026.1",
    "schema_version": "1.0",
    "records": [{"record_id": "q1", "input": {"prompt": "Why?"}, "reference": {"answer": "So."}}],
}


@pytest.fixture
def project(tmp_path: Path) -> RegistryProject:
    return RegistryProject(tmp_path)


def document(project: RegistryProject, **changes: object) -> Path:
    return project.write("datasets/qa.json", json.dumps({**DOCUMENT, **changes}))


def cases(project: RegistryProject, *names: str, **more: object) -> Path:
    text = "".join(json.dumps(row(name, **more)) + "\n" for name in names)
    return project.write("datasets/qa.jsonl", text)


def test_a_document_has_its_own_version(project: RegistryProject) -> None:
    path = document(project)
    made = publish_dataset(project.ports, str(path))

    assert (made.reference, made.outcome) == ("dataset/qa@2026.1", "published")
    assert made.published
    assert made.published.source == "datasets/qa.json"
    assert made.published.published_at == WHEN
    assert project.registry.place(made.published.sha256).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["datasets/qa.json", "dataset/qa@2026.1"])
def test_the_same_content_again_changes_nothing(
    project: RegistryProject, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    first = publish_dataset(project.ports, str(document(project)))
    again = publish_dataset(project.ports, name)

    assert again.outcome == "unchanged"
    assert again.published == first.published


def test_other_content_under_a_version_is_refused(project: RegistryProject) -> None:
    publish_dataset(project.ports, str(document(project)))
    made = publish_dataset(project.ports, str(document(project, description="x")))

    assert made.outcome == "refused"
    assert "a change needs a new version" in made.refusals[0]


class _Blind(FileRegistry):
    """A registry in which a version appears only when it is to be added."""

    def all(self, kind: PublishedKind) -> tuple[Published, ...]:  # noqa: ARG002
        return ()


@pytest.mark.parametrize(("changes", "outcome"), [({}, "unchanged"), ({"x": 1}, "refused")])
def test_another_process_may_be_faster(
    project: RegistryProject, changes: dict[str, object], outcome: str
) -> None:
    publish_dataset(project.ports, str(document(project)))
    path = document(project, **changes)
    blind = _Blind(project.root / ".steelyard" / "registry")
    made = publish_dataset(replace(project.ports, registry=blind), str(path))

    assert made.outcome == ("published" if outcome == "unchanged" else outcome)


def test_rows_need_a_version_that_is_given(project: RegistryProject) -> None:
    path = cases(project, "a")
    with pytest.raises(RequestError, match="give `version`"):
        publish_dataset(project.ports, str(path))

    assert publish_dataset(project.ports, str(path), "1").reference == "dataset/qa@1"


@pytest.mark.parametrize(
    ("changes", "version", "told"),
    [
        ({}, "3", "says that it is version 2026.1, not 3"),
        ({"dataset_version": "a b"}, None, "'a b' cannot stand in a reference"),
    ],
)
def test_a_version_is_one_and_can_be_written(
    project: RegistryProject, changes: dict[str, str], version: str | None, told: str
) -> None:
    path = document(project, **changes)

    with pytest.raises(RequestError, match=told):
        publish_dataset(project.ports, str(path), version)


@pytest.mark.parametrize(
    ("name", "told"), [("con", "the name of a device"), ("QA", "published 'qa' only in case")]
)
def test_an_id_that_other_systems_cannot_keep_apart_is_refused(
    project: RegistryProject, name: str, told: str
) -> None:
    publish_dataset(project.ports, str(document(project)))
    made = publish_dataset(project.ports, str(document(project, dataset_id=name)))

    assert made.outcome == "refused"
    assert told in made.refusals[0]
    assert [one.id for one in project.registry.all("dataset")] == ["qa"]


def test_an_id_can_stand_in_a_reference(project: RegistryProject) -> None:
    path = project.write("datasets/a b.jsonl", json.dumps(row("a")) + "\n")

    with pytest.raises(RequestError, match="'a b' cannot stand in a reference"):
        publish_dataset(project.ports, str(path), "1")


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("datasets/none.jsonl", NotFoundError, "no such file"),
        ("dataset/none@1", NotFoundError, "there is no dataset/none@1"),
        ("rubrics/r@1.0.0.yaml", RequestError, "no dataset"),
    ],
)
def test_what_names_no_dataset_is_wrong_usage(
    project: RegistryProject,
    name: str,
    error: type[Exception],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(project.root)
    project.rubric("r@1.0.0")

    with pytest.raises(error, match=told):
        publish_dataset(project.ports, name)


def test_what_strict_mode_takes_for_an_error_is_refused(project: RegistryProject) -> None:
    path = cases(project, *(f"c{number}" for number in range(30)), tagz=["x"])
    made = publish_dataset(project.ports, str(path), "1")

    assert made.outcome == "refused"
    assert len(made.refusals) == 21
    assert "qa.jsonl:1: unknown field 'tagz' (did you mean 'tags'?)" in made.refusals[0]
    assert made.refusals[-1].startswith("and 10 more; a strict validation of")


def test_a_dataset_without_records_is_refused(project: RegistryProject) -> None:
    made = publish_dataset(
        project.ports, str(project.write("datasets/qa.yaml", "tests: []\n")), "1"
    )

    assert made.outcome == "refused"
    assert "tests must have at least 1 item" in made.refusals[0]


def test_the_sidecar_belongs_to_it(project: RegistryProject) -> None:
    path = cases(project, "a")
    alone = publish_dataset(project.ports, str(path), "1")
    project.write("datasets/qa.yaml", "description: Questions.\n")
    both = publish_dataset(project.ports, str(path), "2")

    assert both.published
    assert [file.name for file in both.published.files] == ["qa.jsonl", "qa.yaml"]
    assert alone.published
    assert alone.published.sha256 == alone.published.files[0].sha256
    assert both.published.sha256 not in {file.sha256 for file in both.published.files}
    assert publish_dataset(project.ports, str(path), "2").outcome == "unchanged"


def test_a_published_dataset_is_run_without_its_file(project: RegistryProject) -> None:
    path = cases(project, "a", "b")
    project.write("datasets/qa.yaml", "description: Questions.\n")
    publish_dataset(project.ports, str(path), "1")
    path.unlink()
    project.write("datasets/qa.yaml", "description: [\n")
    runs = Project(project.root)
    ports = runs.ports()
    prepared = runs.prepare(ports, Path("dataset/qa@1"), target="echo")
    runs.close()

    assert [planned.row.record_id for planned in prepared.records()] == ["a", "b"]
    assert (prepared.dataset.id, prepared.dataset.version) == ("qa", "1")
    assert sorted(prepared.source) == ["qa.jsonl", "qa.yaml"]


def test_a_run_of_it_can_be_graded_again_and_is_checked_at_its_end(
    project: RegistryProject,
) -> None:
    path = cases(project, "a")
    publish_dataset(project.ports, str(path), "1")
    path.unlink()
    runs = Project(project.root)
    done = runs.run(runs.ports(), Path("dataset/qa@1"), target="echo")
    runs.close()

    assert done.status == "completed"
    manifest = json.loads((Path(done.folder) / "run_manifest.json").read_bytes())
    assert manifest["dataset_version"] == "1"
    assert manifest["options"]["dataset"] == "dataset/qa@1"


@pytest.mark.parametrize(
    ("damage", "told"),
    [("gone", "the content of dataset/qa@1 is gone"), ("changed", "in the registry is damaged")],
)
def test_damaged_content_is_not_run(project: RegistryProject, damage: str, told: str) -> None:
    made = publish_dataset(project.ports, str(cases(project, "a")), "1")
    assert made.published
    place = project.registry.place(made.published.sha256)
    place.chmod(0o644)
    if damage == "gone":
        place.unlink()
    else:
        place.write_bytes(place.read_bytes() + b"\n")
    runs = Project(project.root)
    ports = runs.ports()

    with pytest.raises(RequestError, match=told):
        runs.prepare(ports, Path("dataset/qa@1"), target="echo")
    runs.close()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("dataset/qa@3", "there is no dataset/qa@3; there is dataset/qa@1"),
        ("dataset/qq@1", r"did you mean 'qa'\?"),
        ("dataset/none@1", "`steelyard dataset list` shows what there is"),
    ],
)
def test_a_version_that_is_not_published_is_not_run(
    project: RegistryProject, name: str, told: str
) -> None:
    publish_dataset(project.ports, str(cases(project, "a")), "1")
    runs = Project(project.root)
    ports = runs.ports()

    with pytest.raises(NotFoundError, match=told):
        runs.prepare(ports, Path(name), target="echo")
    runs.close()
