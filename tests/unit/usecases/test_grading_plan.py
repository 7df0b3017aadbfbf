"""Who grades what: the run's rubric, the one that a case names, or what the case brings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.definitions import DefinitionProject, asks
from steelyard.checks.catalog import Catalog
from steelyard.checks.equals import Equals
from steelyard.engine.implicit import NothingGrades
from steelyard.errors import UsageError
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.message import Message
from steelyard.model.rubric import PASS_THRESHOLD, Rubric, RubricCheck
from steelyard.usecases.grading_plan import GradingPlan

OWN = Rubric(id="own", version="1.0.0", checks=(RubricCheck(id="c", check=Equals(value="yes")),))
CASE = Case(id="a", input_messages=(Message(role="user", content="?"),))
EVALUATED = replace(
    CASE, evaluators=(Evaluator(name="e", type="equals", settings={"value": "yes"}),)
)
OUTCOME = replace(CASE, expected_outcome="Is polite.")


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    """Two rubrics that can be carried out, one that needs a judge, and one of questions."""
    made = DefinitionProject(tmp_path)
    made.rubric("basic@1.0.0")
    made.rubric("other@1.0.0")
    made.rubric("asking@1.0.0", asks("judge/j@1.0.0"))
    made.judge("j@1.0.0")
    return made


def plan(
    project: DefinitionProject,
    rubric: Rubric | None = None,
    threshold: float | None = None,
    contract: str = "",
) -> GradingPlan:
    return GradingPlan(rubric, threshold, Catalog(), project.references, contract)


def refers(name: str) -> Case:
    return replace(EVALUATED, rubric_ref=f"rubric/{name}@1.0.0")


def test_the_rubric_of_the_run_wins_over_everything(project: DefinitionProject) -> None:
    made = plan(project, OWN)

    assert [made.of(case) for case in (CASE, EVALUATED, refers("basic"), OUTCOME)] == [OWN] * 4
    assert made.rubrics == (OWN,)
    assert not made.is_implicit


def test_a_rubric_that_a_case_names_wins_over_what_it_brings(project: DefinitionProject) -> None:
    made = plan(project)
    found = [made.of(refers(name)) for name in ("other", "basic", "other")]

    assert [rubric.id for rubric in found if isinstance(rubric, Rubric)] == [
        "other",
        "basic",
        "other",
    ]
    assert found[0] is found[2]
    assert [rubric.id for rubric in made.rubrics] == ["basic", "other"]
    assert not made.is_implicit


def test_a_case_is_graded_by_what_it_brings(project: DefinitionProject) -> None:
    made = plan(project)
    rubric = made.of(EVALUATED)

    assert isinstance(rubric, Rubric)
    assert [check.id for check in rubric.checks] == ["e"]
    assert rubric.pass_threshold == PASS_THRESHOLD
    assert (made.rubrics, made.is_implicit) == ((), True)


def test_a_case_that_brings_nothing_is_graded_by_nothing(project: DefinitionProject) -> None:
    assert isinstance(plan(project).of(CASE), NothingGrades)


@pytest.mark.parametrize("contract", ["eval_cases", "evals_json"])
def test_an_outcome_needs_a_judge_unless_it_is_there_for_people(
    project: DefinitionProject, contract: str
) -> None:
    made = plan(project, contract=contract)

    if contract == "evals_json":
        assert isinstance(made.of(OUTCOME), NothingGrades)
        return
    with pytest.raises(
        UsageError,
        match=r"'a' needs a judge for .*: set judges\.default\.target in steelyard\.yaml, or",
    ):
        made.of(OUTCOME)


@pytest.mark.parametrize("case", [CASE, EVALUATED, refers("basic")])
def test_a_threshold_of_the_run_holds_for_every_rubric(
    project: DefinitionProject, case: Case
) -> None:
    given = OWN if case is CASE else None
    rubric = plan(project, given, 0.3).of(case)

    assert isinstance(rubric, Rubric)
    assert rubric.pass_threshold == 0.3
    assert OWN.pass_threshold == PASS_THRESHOLD


def test_a_rubric_that_cannot_be_carried_out_refuses_the_run(project: DefinitionProject) -> None:
    with pytest.raises(
        UsageError,
        match=r"check 'asks' of rubric/asking@1\.0\.0 is of kind llm_judge; this version does not",
    ):
        plan(project).of(refers("asking"))
    with pytest.raises(UsageError, match=r"rubric/gone@1\.0\.0 cannot be used; this version"):
        plan(project).of(refers("gone"))
