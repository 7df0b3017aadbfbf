"""Who grades what: the run's rubric, the one that a case names, or what the case brings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.definitions import DefinitionProject, asks
from fakes.programs import ScriptedPrograms
from fakes.run_judges import judges_in
from steelyard.checks.choice import LADDER_REVISION, Choice
from steelyard.checks.command import Command
from steelyard.checks.equals import Equals
from steelyard.checks.php_lint import PhpLint
from steelyard.checks.programs import ProgramCall
from steelyard.contracts.contract import Contract
from steelyard.contracts.eval_cases.contract import EVAL_CASES
from steelyard.contracts.evals_json.contract import EVALS_JSON
from steelyard.engine.grading.composite import composite
from steelyard.engine.grading.implicit import NothingGrades
from steelyard.engine.grading.not_judged import NotJudged
from steelyard.errors import RequestError
from steelyard.judging.criteria import Criteria
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.case import AnswerChoice, Case, Criterion
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import PASS_THRESHOLD, Rubric, RubricCheck
from steelyard.usecases.registry.load_definition import load_rubric
from steelyard.usecases.runs.grading_plan import GradingPlan

ENTRIES: dict[str, JsonObject] = {"default": {"target": "live"}, "j": {"target": "small"}}
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
    made.judge("other@1.0.0")
    return made


def plan(
    project: DefinitionProject,
    rubric: Rubric | QuestionRubric | None = None,
    threshold: float | None = None,
    contract: Contract | None = None,
    **more: Any,
) -> GradingPlan:
    return GradingPlan(rubric, threshold, judges_in(project, ENTRIES, **more), contract)


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


def test_an_outcome_is_judged(project: DefinitionProject) -> None:
    graded = plan(project, contract=EVAL_CASES).of(OUTCOME)

    assert isinstance(graded, Rubric)
    assert isinstance(graded.checks[0].check, LlmJudge)


def test_without_a_judge_an_eval_runs_on_its_other_checks(project: DefinitionProject) -> None:
    stated = Evaluator(name="s", type="rubric", rubrics=(RubricItem(id="1", description="x"),))
    both = replace(EVALUATED, evaluators=(*EVALUATED.evaluators, stated))

    def graded_by(case: Case) -> Rubric | NothingGrades:
        return GradingPlan(None, None, judges_in(project), EVALS_JSON).of(case)

    graded = graded_by(both)

    assert isinstance(graded, Rubric)
    assert [isinstance(entry.check, NotJudged) for entry in graded.checks] == [False, True]
    for alone in (OUTCOME, replace(EVALUATED, evaluators=(stated,))):
        nothing = graded_by(alone)
        assert isinstance(nothing, NothingGrades)
        assert "judges.default.target" in nothing.reason


@pytest.mark.parametrize(
    ("policy_id", "judge", "aggregation"),
    [
        ("prbench_v1", "prbench_criterion", "points_over_maximum"),
        ("apexv1_extended_v1", "apex_criterion", "share_met"),
        ("lexam_oq_v1", "criterion", "points_over_maximum"),
        ("unheard_of", "criterion", "points_over_maximum"),
    ],
)
def test_the_criteria_of_a_legal_row_are_judged_as_its_policy_says(
    project: DefinitionProject, policy_id: str, judge: str, aggregation: str
) -> None:
    case = replace(
        CASE,
        task_type="rubric_qa",
        criteria=(Criterion(id="c", title="Says so"),),
        metadata={"policy_id": policy_id},
    )
    graded = plan(project).of(case)

    assert isinstance(graded, Rubric)
    (entry,) = graded.checks
    assert isinstance(entry.check, Criteria)
    assert (entry.check.judge.id, entry.check.aggregation) == (judge, aggregation)


def test_the_judge_of_the_run_replaces_what_cases_bring_and_no_rubric(
    project: DefinitionProject,
) -> None:
    made = plan(project, replaced="judge/other@1.0.0")
    brought, named = made.of(OUTCOME), made.of(refers("asking"))

    assert [judge_of(graded) for graded in (brought, named)] == ["other", "j"]


def judge_of(graded: Rubric | NothingGrades) -> str:
    assert isinstance(graded, Rubric)
    check = graded.checks[0].check
    assert isinstance(check, LlmJudge)
    return check.judge.id


@pytest.mark.parametrize("case", [CASE, EVALUATED, refers("basic")])
def test_a_threshold_of_the_run_holds_for_every_rubric(
    project: DefinitionProject, case: Case
) -> None:
    given = OWN if case is CASE else None
    rubric = plan(project, given, 0.3).of(case)

    assert isinstance(rubric, Rubric)
    assert rubric.pass_threshold == 0.3
    assert OWN.pass_threshold == PASS_THRESHOLD


def test_a_rubric_that_leads_nowhere_refuses_the_run(project: DefinitionProject) -> None:
    with pytest.raises(RequestError, match=r"rubric/gone@1\.0\.0 cannot be used"):
        plan(project).of(refers("gone"))


def test_an_archived_rubric_of_questions_refuses_a_run(project: DefinitionProject) -> None:
    """CR-28"""
    rubric = QuestionRubric(name="Q", version="q-v1", questions=(), status="archived")
    with pytest.raises(RequestError, match=r"rubric/q-v1 is archived"):
        plan(project, rubric)


def test_what_is_asked_is_remembered_with_the_targets(project: DefinitionProject) -> None:
    made = plan(project)
    for case in (OUTCOME, refers("asking"), refers("asking"), EVALUATED):
        made.of(case)

    assert [(asked.judge.name, asked.target) for asked in made.judges] == [
        ("judge/accuracy@1.0.0", "live"),
        ("judge/j@1.0.0", "small"),
    ]


def test_cases_are_counted_by_what_grades_them(project: DefinitionProject) -> None:
    made = plan(project)
    nothing = made.of(CASE)
    for case in (OUTCOME, EVALUATED, EVALUATED, refers("basic")):
        made.note(made.of(case))
    made.note(nothing)

    assert (made.graded, made.bringing) == ({"rubric/basic@1.0.0": 1}, 3)
    assert made.brought == {"equals": 2, "llm_judge": 1}


PROGRAM = Evaluator(name="p", type="code_judge", settings={"script": ["judge"]})


def test_a_program_without_leave_refuses_the_run_by_the_name_of_the_setting(
    project: DefinitionProject,
) -> None:
    case = replace(CASE, evaluators=(PROGRAM,))
    rubric = Rubric(
        id="own", version="1.0.0", checks=(RubricCheck(id="p", check=Command(script="judge")),)
    )
    with pytest.raises(RequestError, match=r"'a' is graded by a program.*allow\.commands"):
        plan(project).of(case)
    with pytest.raises(RequestError, match=r"rubric/own@1\.0\.0 is graded by a program"):
        plan(project, rubric)
    assert isinstance(plan(project, programs=ScriptedPrograms()).of(case), Rubric)


def test_a_check_that_can_do_without_programs_refuses_nothing(project: DefinitionProject) -> None:
    rubric = Rubric(id="own", version="1.0.0", checks=(RubricCheck(id="p", check=PhpLint()),))

    assert plan(project, rubric).of(CASE) == rubric


def test_a_judge_out_of_its_scope_is_told_of_once_and_strict_mode_refuses_it(
    project: DefinitionProject, caplog: pytest.LogCaptureFixture
) -> None:
    project.judge("narrow@1.0.0", "applicable_to: [rag]\n")
    inside, outside = (replace(OUTCOME, bundle=name) for name in ("rag", "agent"))
    made = plan(project, replaced="judge/narrow@1.0.0")
    for case in (inside, outside, outside, OUTCOME):
        made.of(case)

    assert caplog.messages == [
        "'a': judge/narrow@1.0.0 has not been validated for 'agent'; it has for rag"
    ]
    strict = plan(project, replaced="judge/narrow@1.0.0", strict=True)
    strict.of(inside)
    with pytest.raises(RequestError, match=r"strict: 'a': judge/narrow@1\.0\.0 has not been"):
        strict.of(outside)


def test_the_scope_counts_for_the_rubric_of_the_run_too(project: DefinitionProject) -> None:
    project.judge("narrow@1.0.0", "applicable_to: []\n")
    project.rubric("narrow@1.0.0", asks("judge/narrow@1.0.0"))
    rubric = load_rubric(project.references, "narrow@1.0")
    made = plan(project, rubric, strict=True)

    assert isinstance(made.of(CASE), Rubric)
    with pytest.raises(RequestError, match="it has for nothing"):
        made.of(replace(CASE, bundle="rag"))


def test_cases_with_the_same_evaluators_share_a_rubric(project: DefinitionProject) -> None:
    grading = plan(project)
    first = grading.of(EVALUATED)

    assert grading.of(replace(EVALUATED, id="b", tags=("x",))) is first


def test_the_needs_of_every_form_of_rubric_are_noted(project: DefinitionProject) -> None:
    made = plan(project)
    kinds = [("equals",), ("equals",), ("regex",), ("equals", "regex"), ("equals",)]
    for number, named in enumerate(kinds):
        evaluators = tuple(
            Evaluator(name=kind, type=kind, settings={"value": f"yes {number}"}) for kind in named
        )
        made.note(made.of(replace(CASE, evaluators=evaluators)))

    assert set(made.revisions) == {"equals", "regex"}
    assert made.brought == {"equals": 4, "regex": 2}


class _NamedPrograms(ScriptedPrograms):
    """Each has a file of its own."""

    def files(self, call: ProgramCall) -> dict[str, str]:
        return {call.argv[-1]: "1"}


def test_each_program_of_cases_is_noted(project: DefinitionProject) -> None:
    made = plan(project, programs=_NamedPrograms())
    for script in ("one.py", "other.py"):
        judged = Evaluator(name="p", type="code_judge", settings={"script": [script]})
        made.of(replace(CASE, evaluators=(judged,)))

    assert made.runs_commands
    assert set(made.programs) == {"one.py", "other.py"}


@pytest.mark.parametrize(
    "other",
    [
        {"evaluators": (Evaluator(name="e", type="equals", settings={"value": "no"}),)},
        {"evaluators": ()},
        {"reference_answers": ("yes",)},
        {"expected": {"max_latency_ms": 5}},
        {"criteria": (Criterion(id="c", title="kind"),)},
    ],
)
def test_whatever_else_grades_a_case_makes_another_rubric(
    project: DefinitionProject, other: dict[str, Any]
) -> None:
    case = replace(EVALUATED, **other)
    grading, first, second = plan(project), plan(project).of(EVALUATED), plan(project).of(case)

    assert first != second
    assert [grading.of(one) for one in (EVALUATED, case, EVALUATED)] == [first, second, first]


CHOSEN = replace(CASE, choices=(AnswerChoice("A", "yes"),), correct_choice_ids=("A",))


def test_cases_with_expectations_of_one_kind_share_a_rubric(project: DefinitionProject) -> None:
    grading = plan(project)
    first = grading.of(CHOSEN)
    other = replace(CHOSEN, id="b", choices=(AnswerChoice("B", "no"),), correct_choice_ids=("B",))

    assert grading.of(other) is first


@pytest.mark.parametrize(
    "other",
    [
        {"expected": {"format": "json"}},
        {"expected": {"expected_facts": ["yes"]}},
        {"expected": {"expected_tools": ["look_up"]}},
        {"expected": {"max_latency_ms": 5}},
        {"expected": {"required_criteria": ["Is kind."]}},
        {"expected_outcome": "Is kind."},
        {"reference_answers": ("yes",), "choices": ()},
        {"criteria": (Criterion(id="c", title="kind"),)},
        {"choices": (), "evaluator": "none"},
    ],
)
def test_other_expectations_make_another_rubric_whatever_came_before(
    project: DefinitionProject, other: dict[str, Any]
) -> None:
    case = replace(CHOSEN, **other)
    alone = [plan(project).of(one) for one in (CHOSEN, case)]
    grading = plan(project)

    assert [grading.of(one) for one in (CHOSEN, case)] == alone
    assert [grading.of(one) for one in (case, CHOSEN)] == alone[::-1]
    assert alone[0] != alone[1]


def test_criteria_of_a_case_are_never_those_of_the_case_before(
    project: DefinitionProject,
) -> None:
    grading = plan(project)
    kind, short = (
        replace(CASE, criteria=(Criterion(id=name, title=name),)) for name in ("kind", "short")
    )

    assert grading.of(kind) != grading.of(short)


def test_the_revisions_and_policies_of_the_cases_seen_are_remembered(
    project: DefinitionProject,
) -> None:
    found = plan(project)
    legal = replace(CASE, task_type="mcq", metadata={"policy_id": "lexam_mcq_v1"})
    for case in (EVALUATED, OUTCOME, legal):
        found.of(case)

    assert found.revisions == {"equals": Equals.revision, "llm_judge": 1}
    assert [(one.id, one.revision) for one in found.policies] == [("lexam_mcq_v1", 1)]


def test_a_composite_tells_the_revisions_of_its_checks() -> None:
    choice = Rubric(id="c", version="1.0.0", checks=(RubricCheck(id="c", check=Choice()),))
    outer = Rubric(id="o", version="1.0.0", checks=(RubricCheck(id="o", check=composite(choice)),))

    assert outer.revisions == {"composite": 2, "choice": 1, "choice_ladder": LADDER_REVISION}
