"""The judges that a run may ask."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from fakes.definitions import DefinitionProject
from fakes.graders import judge_called
from fakes.run_judges import judges_in
from steelyard.checks.equals import Equals
from steelyard.engine.grading.composite import composite
from steelyard.engine.grading.evaluator_composite import JudgedEvaluatorComposite
from steelyard.errors import NotFoundError, RequestError
from steelyard.judging.criteria import Criteria
from steelyard.judging.jury import Juror, Jury
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.project_file import parse_settings
from steelyard.settings import JudgeSetting, Settings

OLD = "validation: {validated_at: 2026-01-15}\n"
BUILT_IN = (
    *(
        "accuracy",
        "reference",
        "criterion",
        "criteria",
        "questionnaire",
        "rubric_items",
        "pairwise",
    ),
    *("prbench_criterion", "apex_criterion", "lexam_reference"),
)


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    made = DefinitionProject(tmp_path)
    made.judge("tone@1.0.0")
    made.judge("tone@1.1.0")
    return made


@pytest.mark.parametrize(
    ("entries", "setting"),
    [
        ({}, JudgeSetting()),
        ({"default": {"target": "live"}}, JudgeSetting(target="live")),
        ({"tone": {"target": "big"}, "default": {"target": "live"}}, JudgeSetting(target="big")),
        (
            {"tone": {"samples": 3, "logprobs": True}, "default": {"target": "live"}},
            JudgeSetting(target="live", samples=3, logprobs=True),
        ),
        (
            {"tone": {"grouped": False}, "default": {"target": "live", "grouped": True}},
            JudgeSetting(target="live", grouped=False),
        ),
        ({"other": {"target": "big"}}, JudgeSetting()),
    ],
)
def test_a_judge_is_asked_as_its_entry_says_and_else_as_the_default_does(
    entries: dict[str, JsonObject], setting: JudgeSetting
) -> None:
    settings = parse_settings(json.dumps({"judges": entries}).encode())

    assert settings.judge("tone") == setting


def test_settings_are_those_of_the_project_file() -> None:
    settings = parse_settings(b"judges: {default: {target: live, samples: 3}}\n")

    assert settings.judge("x").samples == 3
    assert Settings().judge("x") == JudgeSetting()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_judge_of_implicit_grading_comes_along(
    project: DefinitionProject, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "steelyard"):
        judge = judges_in(project, strict=True).judge(name)

    assert judge.name == f"judge/{name}@1.0.0"
    assert caplog.messages == []


@pytest.mark.parametrize("name", ["tone", "judge/tone@1.0.0", "judge/tone"])
def test_the_judge_of_the_run_replaces_every_one(project: DefinitionProject, name: str) -> None:
    judges = judges_in(project, replaced=name)

    assert judges.judge("accuracy") is judges.judge("criterion")
    assert judges.judge("accuracy").id == "tone"
    assert judges.judge("accuracy").version == ("1.0.0" if "@" in name else "1.1.0")


def test_the_judge_of_the_run_may_be_a_file(project: DefinitionProject) -> None:
    path = project.write("mine.yaml", "{id: mine, version: 2.0.0, template: '{{ output }}'}\n")

    assert judges_in(project, replaced=str(path)).judge("accuracy").name == "judge/mine@2.0.0"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("gone", NotFoundError, "cannot resolve judge/gone"),
        ("rubric/tone", RequestError, "'rubric/tone' is no judge"),
    ],
)
def test_a_judge_that_is_not_there_refuses_the_run(
    project: DefinitionProject, name: str, kind: type[RequestError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        judges_in(project, replaced=name).judge("accuracy")
    with pytest.raises(NotFoundError, match="cannot resolve judge/my_own"):
        judges_in(project).judge("my_own")


def test_a_stale_judge_is_told_of_and_strict_mode_refuses_it(
    project: DefinitionProject, caplog: pytest.LogCaptureFixture
) -> None:
    project.judge("accuracy@3.0.0", OLD)

    assert judges_in(project).judge("accuracy").version == "3.0.0"
    assert "was validated 137 days ago" in caplog.text
    with pytest.raises(RequestError, match=r"strict: judge/accuracy@3\.0\.0 was validated"):
        judges_in(project, strict=True).judge("accuracy")


def test_strict_mode_refuses_a_judge_of_the_run_without_a_version(
    project: DefinitionProject,
) -> None:
    with pytest.raises(RequestError, match="strict: judge/tone is not pinned"):
        judges_in(project, replaced="tone", strict=True).judge("accuracy")


def test_a_judge_that_a_rubric_names_is_found_by_its_reference(
    project: DefinitionProject,
) -> None:
    judges = judges_in(project, replaced="judge/tone@1.0.0")

    assert judges.named("judge/tone@1.1").version == "1.1.0"
    with pytest.raises(RequestError, match=r"judge/gone@1\.0 cannot be used"):
        judges.named("judge/gone@1.0")


def test_every_judge_of_a_rubric_is_known_with_its_target(project: DefinitionProject) -> None:
    one, two, three, four = (judge_called(name) for name in ("one", "two", "three", "four"))
    inner = Rubric(
        id="inner",
        version="1.0.0",
        checks=(RubricCheck(id="c", check=Criteria(criteria=(), judge=three)),),
    )
    jury = Jury(jurors=(Juror(judge=one), Juror(judge=two, target="small")))
    joined = JudgedEvaluatorComposite(
        members=(RubricCheck(id="m", check=LlmJudge(judge=one)),),
        judge=LlmJudge(judge=four, target="join"),
    )
    rubric = Rubric(
        id="outer",
        version="1.0.0",
        checks=(
            RubricCheck(id="plain", check=Equals()),
            RubricCheck(id="one", check=LlmJudge(judge=one, target="own")),
            RubricCheck(id="jury", check=jury),
            RubricCheck(id="inner", check=composite(inner)),
            RubricCheck(id="joined", check=joined),
        ),
    )
    entries: dict[str, JsonObject] = {"default": {"target": "live"}, "three": {"target": "big"}}
    asked = judges_in(project, entries).asked_by(rubric)

    assert [(judge.id, target) for judge, target in asked] == [
        *(("one", "own"), ("one", "live"), ("two", "small"), ("three", "big")),
        *(("four", "join"), ("one", "live")),
    ]
