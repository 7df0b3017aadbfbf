"""Which file a reference stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.definitions import QUESTIONS, RUBRIC, DefinitionProject
from fakes.registry import RegistryProject
from steelyard.model.reference import Reference
from steelyard.usecases.registry.resolution import Found, resolve

BROKEN = "id: basic\nversion: 3.0.0\nchecks: []\nscoring: {combine: all_pass}\n"


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    return DefinitionProject(tmp_path)


def found(project: DefinitionProject, text: str) -> Found:
    reference = Reference.parse(text)
    assert reference
    return resolve(reference, project.references.known(reference.kind))


def leads_to(project: DefinitionProject, text: str) -> str | None:
    definition = found(project, text).definition
    return definition.shown if definition else None


def told(project: DefinitionProject, text: str) -> list[tuple[str, str, str | None]]:
    problems = found(project, text).problems
    return [(problem.code, problem.message, problem.hint) for problem in problems]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("rubric/basic@1.2", "1.2.0"),
        ("rubric/basic@1.2.0", "1.2.0"),
        ("rubric/basic@1.10", "1.10.0"),
        ("rubric/basic@2.0.0-rc.1", "2.0.0-rc.1"),
        ("rubric/basic@2.0-rc.1", "2.0.0-rc.1"),
        ("rubric/basic", "1.10.0"),
    ],
)
def test_a_reference_leads_to_its_version_or_else_to_the_highest_release(
    project: DefinitionProject, text: str, version: str
) -> None:
    """CR-19, CR-20"""
    for name in ("1.2.0", "1.10.0", "1.9.9", "2.0.0-rc.1"):
        project.rubric(f"basic@{name}")

    assert leads_to(project, text) == f"rubrics/basic@{version}.yaml"


def test_a_version_of_two_numbers_in_a_file_is_exact_too(project: DefinitionProject) -> None:
    """CR-19"""
    project.rubric("basic@1.2")

    assert leads_to(project, "rubric/basic@1.2.0") == "rubrics/basic@1.2.yaml"


def test_the_id_inside_the_file_counts(project: DefinitionProject) -> None:
    """CR-19"""
    project.write("rubrics/anything.yaml", RUBRIC.format(id="basic", version="1.0.0"))

    assert leads_to(project, "rubric/basic@1.0") == "rubrics/anything.yaml"
    assert told(project, "rubric/anything@1.0") == [
        (
            "dangling_reference",
            (
                "cannot resolve rubric/anything@1.0: "
                "rubrics/anything.yaml holds rubric/basic@1.0.0, not anything"
            ),
            None,
        )
    ]


def test_a_missing_pin_is_a_warning_that_says_what_to_write(project: DefinitionProject) -> None:
    """CR-20"""
    project.rubric("basic@1.0.0")
    (problem,) = found(project, "rubric/basic").problems

    assert (problem.severity, problem.code) == ("warning", "unpinned_reference")
    assert problem.message == "rubric/basic is not pinned; rubric/basic@1.0.0 is used"
    assert problem.hint == "write rubric/basic@1.0.0"


def test_a_pinned_reference_has_no_problem(project: DefinitionProject) -> None:
    project.rubric("basic@1.0.0")

    assert told(project, "rubric/basic@1.0") == []


def test_the_version_of_a_question_rubric_counts_as_pinned(project: DefinitionProject) -> None:
    """CR-28"""
    project.questions("agent-quality-v2")

    assert leads_to(project, "rubric/agent-quality-v2") == "rubrics/agent-quality-v2.yml"
    assert told(project, "rubric/agent-quality-v2") == []
    assert told(project, "rubric/agent-quality-v2@1.0") == [
        (
            "dangling_reference",
            "cannot resolve rubric/agent-quality-v2@1.0: there is rubric/agent-quality-v2",
            None,
        )
    ]


@pytest.mark.parametrize(("status", "codes"), [("draft", []), ("archived", ["archived_rubric"])])
def test_an_archived_question_rubric_is_not_used(
    project: DefinitionProject, status: str, codes: list[str]
) -> None:
    """CR-28"""
    project.questions("q-v1", status)

    assert [code for code, _, _ in told(project, "rubric/q-v1")] == codes


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rubric/basic@1.3", "there are rubric/basic@1.0.0, rubric/basic@1.2.0-rc.1 and "),
        ("rubric/basic@1.2", "there are rubric/basic@1.0.0, rubric/basic@1.2.0-rc.1 and "),
        ("rubric/only@2.0", "there is rubric/only@1.0.0"),
        ("rubric/early", "there is rubric/early@1.0.0-rc.1"),
        ("rubric/other@1.0", "there is no rubric of that id"),
        ("judge/other@1.0", "there is no judge of that id"),
    ],
)
def test_a_reference_to_nothing_lists_what_there_is(
    project: DefinitionProject, text: str, why: str
) -> None:
    """CR-21"""
    for name in ("basic@1.0.0", "basic@1.2.0-rc.1", "basic@2.0.0", "only@1.0.0"):
        project.rubric(name)
    project.rubric("early@1.0.0-rc.1")
    ((code, message, _),) = told(project, text)

    assert code == "dangling_reference"
    assert message.startswith(f"cannot resolve {text}: {why}")


def test_a_misspelt_id_gets_a_hint(project: DefinitionProject) -> None:
    """CR-21"""
    project.rubric("basic@1.0.0")

    assert told(project, "rubric/baisc@1.0")[0][2] == "did you mean 'basic'?"


@pytest.mark.parametrize("text", ["rubric/basic@1.0", "rubric/basic"])
def test_two_files_of_one_version_are_a_conflict_and_neither_is_used(
    project: DefinitionProject, text: str
) -> None:
    """CR-22"""
    project.rubric("basic@1.0.0")
    project.write("rubrics/other.yaml", RUBRIC.format(id="basic", version="1.0"))

    assert leads_to(project, text) is None
    assert told(project, text) == [
        (
            "version_conflict",
            (
                "rubric/basic@1.0.0 stands in rubrics/basic@1.0.0.yaml and rubrics/other.yaml; "
                "neither is used"
            ),
            None,
        )
    ]


def test_a_conflict_of_another_version_is_no_hindrance(project: DefinitionProject) -> None:
    """CR-22"""
    project.rubric("basic@1.0.0")
    project.rubric("basic@2.0.0")
    project.write("rubrics/other.yaml", RUBRIC.format(id="basic", version="1.0"))

    assert leads_to(project, "rubric/basic") == "rubrics/basic@2.0.0.yaml"


@pytest.mark.parametrize("text", ["rubric/basic", "rubric/basic@1.0"])
def test_a_question_rubric_may_not_have_the_id_of_a_check_rubric(
    project: DefinitionProject, text: str
) -> None:
    """CR-28"""
    project.rubric("basic@1.0.0")
    project.write("rubrics/asked.yaml", QUESTIONS.format(version="basic", status="draft"))

    assert told(project, text) == [
        (
            "version_conflict",
            (
                "rubrics/asked.yaml has the version that is the id of a check rubric in "
                "rubrics/basic@1.0.0.yaml"
            ),
            None,
        )
    ]


def test_a_broken_file_does_not_stop_who_names_another_version(
    project: DefinitionProject,
) -> None:
    """CR-23"""
    project.rubric("basic@1.0.0")
    project.write("rubrics/basic@3.0.0.yaml", BROKEN)
    project.write("rubrics/unrelated.yaml", "{")

    assert leads_to(project, "rubric/basic@1.0") == "rubrics/basic@1.0.0.yaml"
    assert told(project, "rubric/basic@1.0") == []


@pytest.mark.parametrize("text", ["rubric/basic", "rubric/basic@3.0.0"])
def test_a_broken_file_stops_who_names_it_or_no_version(
    project: DefinitionProject, text: str
) -> None:
    """CR-23"""
    project.rubric("basic@1.0.0")
    project.write("rubrics/basic@3.0.0.yaml", BROKEN)

    assert told(project, text) == [
        (
            "dangling_reference",
            (
                f"cannot resolve {text}: rubrics/basic@3.0.0.yaml:3: "
                "checks must have at least 1 item(s)"
            ),
            None,
        )
    ]


@pytest.fixture
def registry(tmp_path: Path) -> RegistryProject:
    """A project in which basic 1.0.0 is published, and its file is still there."""
    made = RegistryProject(tmp_path)
    made.publish(made.rubric("basic@1.0.0"))
    return made


def test_a_file_comes_before_what_was_published(registry: RegistryProject) -> None:
    assert leads_to(registry, "rubric/basic@1.0") == "rubrics/basic@1.0.0.yaml"
    assert told(registry, "rubric/basic@1.0") == []


def test_a_published_version_outlives_its_file(registry: RegistryProject) -> None:
    (registry.root / "rubrics" / "basic@1.0.0.yaml").unlink()

    assert leads_to(registry, "rubric/basic@1.0") == "registry/rubric/basic@1.0.0.json"
    assert leads_to(registry, "rubric/basic") == "registry/rubric/basic@1.0.0.json"


def test_the_highest_release_is_found_among_files_and_published_ones(
    registry: RegistryProject,
) -> None:
    (registry.root / "rubrics" / "basic@1.0.0.yaml").unlink()
    registry.rubric("basic@0.9.0")
    assert leads_to(registry, "rubric/basic") == "registry/rubric/basic@1.0.0.json"

    registry.rubric("basic@1.1.0")
    assert leads_to(registry, "rubric/basic") == "rubrics/basic@1.1.0.yaml"


def test_a_file_that_is_not_what_was_published_takes_both_away(registry: RegistryProject) -> None:
    registry.rubric("basic@1.0.0", "{id: right, kind: is_json}")

    assert leads_to(registry, "rubric/basic@1.0") is None
    assert told(registry, "rubric/basic@1.0") == [
        (
            "version_conflict",
            (
                "rubrics/basic@1.0.0.yaml is not what was published as rubric/basic@1.0.0; "
                "neither is used"
            ),
            (
                "give it a new version, or put back what `steelyard rubric show "
                "rubric/basic@1.0.0` prints"
            ),
        )
    ]


def test_a_broken_file_does_not_hide_the_published_version(registry: RegistryProject) -> None:
    registry.write("rubrics/basic@1.0.0.yaml", "id: [")

    assert leads_to(registry, "rubric/basic@1.0") == "registry/rubric/basic@1.0.0.json"
    assert leads_to(registry, "rubric/basic") is None


def test_published_content_that_is_damaged_leads_nowhere(registry: RegistryProject) -> None:
    (registry.root / "rubrics" / "basic@1.0.0.yaml").unlink()
    for content in (registry.root / ".steelyard" / "registry" / "content").iterdir():
        content.unlink()

    assert leads_to(registry, "rubric/basic@1.0") is None
    assert [code for code, _, _ in told(registry, "rubric/basic@1.0")] == ["dangling_reference"]


@pytest.mark.parametrize("is_left", [True, False])
def test_what_is_archived_in_the_registry_may_not_be_used(tmp_path: Path, is_left: bool) -> None:
    project = RegistryProject(tmp_path)
    project.publish(project.questions("quality-v1"))
    project.publish(project.questions("quality-v1", "archived"))
    path = project.questions("quality-v1")
    if not is_left:
        path.unlink()

    assert [code for code, _, _ in told(project, "rubric/quality-v1")] == ["archived_rubric"]


def test_two_files_and_a_published_version_are_a_conflict(registry: RegistryProject) -> None:
    registry.write("rubrics/again.yaml", RUBRIC.format(id="basic", version="1.0.0"))

    assert [code for code, _, _ in told(registry, "rubric/basic@1.0")] == ["version_conflict"]


def test_every_known_version_is_named_once(registry: RegistryProject) -> None:
    ((_, message, _),) = told(registry, "rubric/basic@3.0")

    assert message == "cannot resolve rubric/basic@3.0: there is rubric/basic@1.0.0"
