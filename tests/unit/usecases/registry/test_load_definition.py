"""Loading the one rubric or judge that a run or a caller names."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.definitions import RUBRIC, DefinitionProject, asks
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.usecases.registry.load_definition import load_judge, load_rubric


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    made = DefinitionProject(tmp_path)
    made.rubric("basic@1.2.0")
    made.judge("tone@1.0.0")
    return made


def refusal(
    project: DefinitionProject,
    name: str,
    kind: type[RequestError] = RequestError,
    *,
    strict: bool = False,
) -> str:
    with pytest.raises(kind) as caught:
        load_rubric(project.references, name, strict=strict)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["rubric/basic@1.2", "basic@1.2", "rubric/basic", "basic", "rubrics/basic@1.2.0.yaml"]
)
def test_a_rubric_is_named_by_reference_id_or_path(project: DefinitionProject, name: str) -> None:
    """CR-24"""
    rubric = load_rubric(project.references, name)

    assert isinstance(rubric, Rubric)
    assert rubric.name == "rubric/basic@1.2.0"


@pytest.mark.parametrize("name", ["judge/tone@1.0", "tone", "judges/tone@1.0.0.yaml"])
def test_a_judge_is_named_the_same_way(project: DefinitionProject, name: str) -> None:
    """CR-24"""
    assert load_judge(project.references, name).name == "judge/tone@1.0.0"


def test_a_judge_that_comes_along_needs_no_file(project: DefinitionProject) -> None:
    """JD-12"""
    assert load_judge(project.references, "accuracy", strict=False).version == "1.0.0"


@pytest.mark.parametrize("name", ["judge/tone@1.0", "rubric/", "a/b", "rubric/basic@", ""])
def test_what_is_no_reference_to_a_rubric_is_refused(
    project: DefinitionProject, name: str
) -> None:
    assert refusal(project, name) == f"'{name}' is no rubric; write rubric/id@version or a path"


def test_a_reference_to_nothing_is_refused(project: DefinitionProject) -> None:
    """CR-21"""
    assert refusal(project, "rubric/basic@1.3", NotFoundError) == (
        "cannot resolve rubric/basic@1.3: there is rubric/basic@1.2.0"
    )


def test_a_hint_is_part_of_the_refusal(project: DefinitionProject) -> None:
    """CR-21"""
    assert refusal(project, "baisc@1.2", NotFoundError).endswith("(did you mean 'basic'?)")


def test_a_path_to_nothing_is_refused(project: DefinitionProject) -> None:
    """CR-24"""
    assert refusal(project, "rubrics/gone.yaml", NotFoundError) == (
        "no such rubric file: rubrics/gone.yaml"
    )


def test_a_path_to_another_thing_is_refused(project: DefinitionProject) -> None:
    """CR-24"""
    assert refusal(project, "judges/tone@1.0.0.yaml") == (
        "judges/tone@1.0.0.yaml holds judge/tone@1.0.0, which is no rubric"
    )


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("id: a\nid: b\n", UnreadableFileError, ":2: duplicate key 'id'"),
        (RUBRIC.format(id="basic", version="one"), RequestError, ":2: version is no sem"),
    ],
)
def test_a_broken_file_is_refused_with_file_and_line(
    project: DefinitionProject, text: str, kind: type[RequestError], said: str
) -> None:
    """CR-07"""
    project.write("rubrics/own.yaml", text)

    assert refusal(project, "rubrics/own.yaml", kind).startswith(f"rubrics/own.yaml{said}")


def test_a_conflict_is_refused(project: DefinitionProject) -> None:
    """CR-22"""
    project.write("rubrics/other.yaml", RUBRIC.format(id="basic", version="1.2"))

    assert refusal(project, "rubric/basic@1.2").startswith("rubric/basic@1.2.0 stands in ")


def test_what_a_rubric_refers_to_must_be_there(project: DefinitionProject) -> None:
    """CR-27"""
    project.rubric("asking@1.0.0", asks("judge/absent@1.0"))

    assert refusal(project, "asking@1.0", NotFoundError) == (
        "rubric/asking@1.0.0: checks[0].judge_prompt_ref: cannot resolve judge/absent@1.0: "
        "there is no judge of that id"
    )


def test_what_is_doubtful_is_a_warning(
    project: DefinitionProject, caplog: pytest.LogCaptureFixture
) -> None:
    """CR-20, CR-29"""
    project.judge("old@1.0.0", "validation: {validated_at: 2026-01-15}\n")
    text = RUBRIC.format(id="a", version="1.0.0").replace("kind: equals", "kind: equals, negat: 1")
    project.write("rubrics/a.yaml", text)
    load_rubric(project.references, "a")
    load_judge(project.references, "old@1.0")

    assert caplog.messages == [
        "rubric/a is not pinned; rubric/a@1.0.0 is used (write rubric/a@1.0.0)",
        "rubrics/a.yaml:4: unknown field 'negat' (did you mean 'negate'?)",
        (
            "judge/old@1.0.0 was validated 137 days ago (2026-01-15); after 90 days a judge is "
            "stale (validate it again)"
        ),
    ]


def test_a_pinned_reference_warns_of_nothing(
    project: DefinitionProject, caplog: pytest.LogCaptureFixture
) -> None:
    load_rubric(project.references, "rubric/basic@1.2", strict=True)

    assert caplog.messages == []


def test_strict_mode_refuses_what_is_doubtful(project: DefinitionProject) -> None:
    """CR-20, CR-29"""
    project.judge("old@1.0.0", "validation: {validated_at: 2026-01-15}\n")
    project.rubric("asking@1.0.0", asks("judge/old@1.0"))

    assert refusal(project, "basic", strict=True).startswith("strict: rubric/basic is not pinned")
    assert refusal(project, "asking@1.0", strict=True).startswith("strict: rubric/asking@1.0.0: ")


def test_a_rubric_of_questions_is_loaded_too(project: DefinitionProject) -> None:
    """CR-28"""
    project.questions("q-v1")

    assert isinstance(load_rubric(project.references, "q-v1"), QuestionRubric)
