"""Rubrics with the judges and rubrics that they refer to."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.definitions import DefinitionProject, asks, composed_of
from fakes.run_judges import judges_in
from steelyard.checks.equals import Equals
from steelyard.engine.grading.composite import Composite, JudgedComposite
from steelyard.errors import RequestError
from steelyard.judging.jury import Jury
from steelyard.judging.llm_judge import LlmJudge
from steelyard.judging.questionnaire import Questionnaire
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.usecases.registry.load_definition import load_rubric
from steelyard.usecases.runs.asked_judges import Judges
from steelyard.usecases.runs.resolved_rubrics import resolve_rubric

JURY = """{id: jury, kind: llm_judge, weight: 2, required: true, threshold: 0.8, jury: {judges:
      [{judge_prompt_ref: judge/tone@1.0, weight: 3, target: small},
      {judge_prompt_ref: judge/j@1.0}], aggregation: majority}}"""
ENTRIES: dict[str, JsonObject] = {"default": {"target": "live"}, "tone": {"samples": 3}}


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    made = DefinitionProject(tmp_path)
    made.rubric("basic@1.0.0")
    made.judge("tone@1.0.0")
    made.judge("j@1.0.0")
    made.questions("quality-v2")
    return made


def carried(project: DefinitionProject, name: str, judges: Judges | None = None) -> Rubric:
    return resolve_rubric(
        load_rubric(project.references, name), judges or judges_in(project, ENTRIES)
    )


def test_a_rubric_without_references_is_carried_out_as_it_is(project: DefinitionProject) -> None:
    rubric = load_rubric(project.references, "basic@1.0")

    assert isinstance(rubric, Rubric)
    assert resolve_rubric(rubric, judges_in(project)) is rubric


def test_a_check_that_asks_a_judge_is_made_with_it(project: DefinitionProject) -> None:
    """CR-11"""
    project.rubric("asking@1.0.0", "{id: same, kind: equals}", asks("judge/tone@1.0"))
    same, entry = carried(project, "asking@1.0").checks

    assert same.check == Equals()
    assert isinstance(entry.check, LlmJudge)
    assert entry.check.judge.name == "judge/tone@1.0.0"
    assert (entry.check.samples, entry.check.threshold, entry.check.target) == (3, None, None)


def test_a_jury_has_its_judges_with_their_weights_and_targets(project: DefinitionProject) -> None:
    """CR-11"""
    project.rubric("asking@1.0.0", JURY)
    (entry,) = carried(project, "asking@1.0").checks

    assert isinstance(entry.check, Jury)
    assert (entry.weight, entry.required) == (2.0, True)
    assert (entry.check.aggregation, entry.check.threshold) == ("majority", 0.8)
    assert [(one.judge.id, one.weight, one.target, one.samples) for one in entry.check.jurors] == [
        ("tone", 3.0, "small", 3),
        ("j", 1.0, None, 1),
    ]


def test_a_rubric_within_a_rubric_is_carried_out_too(project: DefinitionProject) -> None:
    """CR-11"""
    project.rubric("asking@1.0.0", asks("judge/tone@1.0"))
    project.rubric(
        "outer@1.0.0",
        composed_of("rubric/basic@1.0"),
        composed_of("rubric/asking@1.0").replace("inner", "judged"),
        composed_of("rubric/quality-v2").replace("inner", "questions"),
    )
    plain, judged, questions = (one.check for one in carried(project, "outer@1.0").checks)

    assert isinstance(plain, Composite)
    assert isinstance(judged, JudgedComposite)
    assert isinstance(judged.rubric.checks[0].check, LlmJudge)
    assert isinstance(questions, JudgedComposite)
    assert questions.rubric.name == "rubric/quality-v2"


def test_a_rubric_of_questions_is_one_check_that_asks_them_all(project: DefinitionProject) -> None:
    """CR-28"""
    rubric = carried(project, "quality-v2")
    (entry,) = rubric.checks

    assert (rubric.name, rubric.pass_threshold, rubric.is_judged) == (
        "rubric/quality-v2",
        0.7,
        True,
    )
    assert rubric.sha256
    assert isinstance(entry.check, Questionnaire)
    assert entry.check.judge.name == "judge/questionnaire@1.0.0"
    assert (entry.id, entry.check.is_grouped) == ("questions", False)


def test_the_judge_of_questions_is_the_one_that_the_run_names(project: DefinitionProject) -> None:
    judges = judges_in(project, {"default": {"grouped": True}}, replaced="judge/j@1.0")
    (entry,) = carried(project, "quality-v2", judges).checks

    assert isinstance(entry.check, Questionnaire)
    assert (entry.check.judge.id, entry.check.is_grouped) == ("j", True)


def test_a_threshold_of_the_run_replaces_that_of_the_rubric(project: DefinitionProject) -> None:
    for name in ("basic@1.0", "quality-v2"):
        rubric = load_rubric(project.references, name)

        assert resolve_rubric(rubric, judges_in(project), 0.4).pass_threshold == 0.4


def test_a_reference_that_leads_nowhere_is_refused(project: DefinitionProject) -> None:
    stated = StatedCheck(kind="composite", settings={"rubric_ref": "rubric/gone@1.0"})
    rubric = Rubric(id="a", version="1.0.0", checks=(RubricCheck(id="c", check=stated),))
    with pytest.raises(RequestError, match=r"rubric/gone@1\.0 cannot be used"):
        resolve_rubric(rubric, judges_in(project))
