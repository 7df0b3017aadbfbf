"""What a project and its registry hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.definitions import asks, composed_of
from fakes.registry import WHEN, RegistryProject
from steelyard.errors import NotFoundError, RequestError
from steelyard.usecases.datasets.dataset_versions import list_datasets
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.registry.look_up import (
    compare_definitions,
    list_definitions,
    show_definition,
)

SUITES = "suites:\n  release: {rubric: rubric/kind@1.0.0, judge: judge/tone@1.0.0}\n"


@pytest.fixture
def project(tmp_path: Path) -> RegistryProject:
    return RegistryProject(tmp_path, SUITES)


def test_files_and_published_versions_are_listed_with_what_became_of_them(
    project: RegistryProject,
) -> None:
    project.publish(project.rubric("a@1.0.0"))
    project.publish(project.rubric("b@1.0.0"))
    (project.root / "rubrics" / "b@1.0.0.yaml").unlink()
    project.publish(project.rubric("c@1.0.0"))
    project.rubric("c@1.0.0", "{id: right, kind: is_json}")
    project.rubric("d@1.10.0")
    project.rubric("d@1.9.0")
    project.write("rubrics/e.yaml", "id: [")
    project.publish(project.questions("f-v1"))
    project.publish(project.questions("f-v1", "archived"))
    found = list_definitions(project.ports, "rubric")

    assert [(one.id, one.version, one.status, one.source) for one in found] == [
        ("a", "1.0.0", "published", "rubrics/a@1.0.0.yaml"),
        ("b", "1.0.0", "published", "registry/rubric/b@1.0.0.json"),
        ("c", "1.0.0", "changed", "rubrics/c@1.0.0.yaml"),
        ("d", "1.9.0", "not published", "rubrics/d@1.9.0.yaml"),
        ("d", "1.10.0", "not published", "rubrics/d@1.10.0.yaml"),
        ("e", None, "broken", "rubrics/e.yaml"),
        ("f-v1", None, "archived", "rubrics/f-v1.yml"),
    ]
    assert found[0].published_at == WHEN
    assert found[3].published_at is None
    assert found[3].sha256


def test_judges_that_come_along_are_listed(project: RegistryProject) -> None:
    found = {one.id: one.status for one in list_definitions(project.ports, "judge")}

    assert found["accuracy"] == "built in"


def test_datasets_are_listed_when_they_are_published(project: RegistryProject) -> None:
    path = project.write("datasets/qa.yaml", "questions: [{id: a, input: Why?, expected: So.}]\n")
    before = list_datasets(project.ports)
    made = publish_dataset(project.ports, str(path), "1")
    (found,) = list_datasets(project.ports)

    assert before == []
    assert made.published
    assert (found.id, found.version, found.status) == ("qa", "1", "published")
    assert found.sha256 == made.published.sha256


def test_a_rubric_is_shown_with_its_neighbours(project: RegistryProject) -> None:
    project.judge("tone@1.0.0")
    project.rubric("kind@1.0.0", asks("judge/tone@1.0"))
    project.rubric("outer@1.0.0", composed_of("rubric/kind@1.0"))
    shown = show_definition(project.ports, "rubric", "kind@1.0")

    assert (shown.reference, shown.contract) == ("rubric/kind@1.0.0", "check_rubric")
    assert shown.listed.status == "not published"
    assert list(shown.content) == ["id", "version", "checks", "scoring"]
    assert shown.refers_to == ("judge/tone@1.0",)
    assert shown.used_by == ("rubric/outer@1.0.0", "suite release")


@pytest.mark.parametrize(
    ("named", "users"),
    [
        ("rubric/kind@1.1.0", {"1.1.0"}),
        ("rubric/kind@1.1", {"1.1.0"}),
        ("rubric/kind", {"1.1.0"}),
        ("kind@1.0", {"1.0.0"}),
        ("rubrics/kind@1.0.0.yaml", {"1.0.0"}),
        ("rubric/kind@2.0", set[str]()),
    ],
)
def test_a_suite_uses_the_version_that_its_reference_leads_to(
    tmp_path: Path, named: str, users: set[str]
) -> None:
    project = RegistryProject(tmp_path, f"suites:\n  release: {{rubric: {named}}}\n")
    project.rubric("kind@1.0.0")
    project.rubric("kind@1.1.0")
    shown = {
        version: show_definition(project.ports, "rubric", f"kind@{version}").used_by
        for version in ("1.0.0", "1.1.0")
    }

    assert {version for version, found in shown.items() if found == ("suite release",)} == users


def test_a_suite_is_named_beside_a_version_that_drifted(tmp_path: Path) -> None:
    project = RegistryProject(tmp_path, "suites:\n  release: {rubric: rubric/kind@1.0}\n")
    project.publish(project.rubric("kind@1.0.0"))
    project.rubric("kind@1.0.0", "{id: right, kind: is_json}")

    assert show_definition(project.ports, "rubric", "kind@1.0").used_by == ("suite release",)


def test_a_judge_is_shown_with_the_rubrics_that_ask_it(project: RegistryProject) -> None:
    project.publish(project.judge("tone@1.0.0", "validation: {tpr: 1}\n"), "judge")
    (project.root / "judges" / "tone@1.0.0.yaml").unlink()
    project.rubric("kind@1.0.0", asks("judge/tone@1.0"))
    project.rubric("other@1.0.0")
    shown = show_definition(project.ports, "judge", "judge/tone@1.0")

    assert shown.refers_to == ()
    assert shown.used_by == ("rubric/kind@1.0.0", "suite release")
    assert shown.content == {
        "id": "tone",
        "version": "1.0.0",
        "template": "{{ output }}",
        "validation": {"tpr": 1},
    }
    assert list(shown.content)[:2] == ["id", "version"]


def test_a_question_rubric_and_a_judge_that_comes_along_are_shown(
    project: RegistryProject,
) -> None:
    project.questions("quality-v1")

    assert show_definition(project.ports, "rubric", "quality-v1").contract == "question_rubric"
    assert show_definition(project.ports, "judge", "accuracy").listed.status == "built in"


def test_what_was_published_is_shown_although_a_file_says_otherwise(
    project: RegistryProject,
) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    project.rubric("basic@1.0.0", "{id: right, kind: is_json}")
    shown = show_definition(project.ports, "rubric", "rubric/basic@1.0")
    by_id = show_definition(project.ports, "rubric", "basic@1.0.0")

    assert shown.content["checks"] == [{"id": "right", "kind": "equals"}]
    assert by_id.content == shown.content


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("rubric/none@1.0", NotFoundError, "there is no rubric of that id"),
        ("rubrics/e.yaml", RequestError, r"rubrics/e\.yaml:1: "),
        ("rubric/twice@1.0", RequestError, "stands in"),
    ],
)
def test_what_cannot_be_shown_is_wrong_usage(
    project: RegistryProject,
    name: str,
    error: type[Exception],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(project.root)
    project.write("rubrics/e.yaml", "id: [")
    project.rubric("twice@1.0.0")
    project.rubric("twice@1.0.0").rename(project.root / "rubrics" / "again.yaml")
    project.rubric("twice@1.0.0")

    with pytest.raises(error, match=told):
        show_definition(project.ports, "rubric", name)


def test_two_versions_are_compared_by_reference_or_path(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    path = project.rubric("basic@2.0.0", "{id: right, kind: is_json}")
    found = compare_definitions(project.ports, "rubric", "rubric/basic@1.0", str(path))

    assert found.old == "rubric/basic@1.0.0"
    assert found.new == "rubric/basic@2.0.0 (rubrics/basic@2.0.0.yaml)"
    assert [(one.path, one.is_breaking) for one in found.differences] == [
        ("version", False),
        ("checks.right.kind", True),
    ]


def test_a_rubric_of_questions_is_not_compared_with_one_of_checks(
    project: RegistryProject,
) -> None:
    project.questions("quality-v1")
    project.rubric("basic@1.0.0")

    with pytest.raises(RequestError, match="nothing to compare"):
        compare_definitions(project.ports, "rubric", "quality-v1", "basic@1.0")
