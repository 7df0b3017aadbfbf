"""Prompt variants are targets: each has its own words, its own answers and its own place."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.projects import Project, json_of, row, rows_of, spec
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from steelyard.engine.prompt_template import PromptTemplate
from steelyard.errors import ConfigError, RunError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prompting import expected_row
from steelyard.model.case import Case, Criterion
from steelyard.model.evaluator import RubricItem
from steelyard.model.message import Message, ToolCall

BRIEF = "Be brief. {{ input }}"
ECHO = (
    "targets: {brief: {provider: echo, prompt: 'Be brief. {{ input }}'}, plain: {provider: echo}}"
)


def variant(template: str, target: ScriptedTarget | None = None, **more: Any) -> TargetSpec:
    return spec(target or ScriptedTarget(), template=PromptTemplate(template), **more)


def test_a_variant_is_asked_in_its_own_words_and_the_manifest_tells_them(
    project: Project,
) -> None:
    target = ScriptedTarget()
    run = project.run(project.ports(variant(BRIEF, target)), project.cases([row("a"), row("b")]))
    manifest = json_of(run)

    check_run(Path(run.folder))
    assert [call.prompt.messages for call in target.calls] == [(("user", "Be brief. ?"),)] * 2
    assert manifest["targets"]["scripted"] == {"provider": "scripted", "prompt": BRIEF}
    assert manifest["templates"] == [
        {"target": "scripted", "sha256": hashlib.sha256(BRIEF.encode()).hexdigest()}
    ]


def test_the_project_file_names_variants(project: Project) -> None:
    project.write("steelyard.yaml", ECHO)
    dataset = project.cases([row("a", input="Yes?")])
    runs = [project.run(project.ports(), dataset, target=name) for name in ("brief", "plain")]
    said = [rows_of(run)[0]["model_response"] for run in runs]

    assert said == ["Be brief. Yes?", "Yes?"]


def test_a_row_with_a_policy_keeps_what_the_policy_says(project: Project) -> None:
    case = {
        "schema_version": "legal_eval_v1",
        "id": "m1",
        "dataset": "law",
        "task_type": "mcq",
        "prompt": "Which one?",
        "choices": [{"id": "A", "text": "this"}, {"id": "B", "text": "that"}],
        "correct_choice_ids": ["A"],
        "metadata": {"policy_id": "lexam_mcq_v1"},
    }
    plain, framed = ScriptedTarget(otherwise="A"), ScriptedTarget(otherwise="A")
    dataset = project.cases([case])
    project.run(project.ports(spec(plain)), dataset)
    project.run(project.ports(variant("<{{ input }}|{{ choices }}>", framed)), dataset)
    (*before, (_, asked)) = plain.calls[0].prompt.messages

    assert framed.calls[0].prompt.messages == (
        *before,
        ("user", f"<{asked}|A. this\nB. that>"),
    )


@pytest.mark.parametrize(
    ("template", "calls"),
    [("{{ input }}", 1), ("{{ input }} {{ id }}", 2), ("{{ metadata.topic }}", 2)],
)
def test_the_same_question_in_the_words_of_a_variant_is_asked_once(
    project: Project, template: str, calls: int
) -> None:
    target = ScriptedTarget()
    rows = [row("a", metadata={"topic": "x"}), row("b", metadata={"topic": "y"})]
    ports = project.ports(variant(template, target, is_cacheable=True))
    run = project.run(ports, project.cases(rows), max_concurrency=1)

    assert run.status == "completed"
    assert len(target.calls) == calls


def test_an_answer_to_other_words_is_no_answer_to_these(project: Project) -> None:
    """Even where both come to the same text."""
    dataset, targets = project.cases([row("a")]), [ScriptedTarget(), ScriptedTarget()]
    for template, target in zip(("{{ input }}", "{{{ input }}}"), targets, strict=True):
        project.run(
            project.ports(variant(template, target, is_cacheable=True)), dataset, cache=True
        )

    assert [len(target.calls) for target in targets] == [1, 1]


def test_a_name_that_a_record_cannot_fill_is_told_before_the_first_call(
    project: Project,
) -> None:
    target = ScriptedTarget()
    rows = [row("a", metadata={"topic": "x"}), row("b")]
    ports = project.ports(variant("{{ metadata.topic }}: {{ input }}", target))

    with pytest.raises(
        ConfigError,
        match=r"targets\.scripted\.prompt: 'b': the template names 'metadata\.topic', which is no",
    ):
        project.prepare(ports, project.cases(rows))
    assert target.calls == []


def test_a_run_is_not_gone_on_with_in_other_words(project: Project) -> None:
    stopping = variant(BRIEF, StoppingTarget(after=1))
    with pytest.raises(Stopped):
        project.run(project.ports(stopping), project.cases([row("a"), row("b")]))

    with pytest.raises(RunError, match=r"a target's model, sampling or prompt of run_.* has chan"):
        project.resume(project.ports(variant("Other: {{ input }}")))
    assert project.resume(project.ports(variant(BRIEF))).status == "completed"


def test_a_case_that_says_nothing_expects_nothing() -> None:
    assert expected_row(Case(id="a")) is None


def test_everything_that_a_case_says_is_kept_by_kind() -> None:
    case = Case(
        id="a",
        reference_answers=("four", "4"),
        expected_outcome="Counts.",
        correct_choice_ids=("B",),
        criteria=(Criterion(id="c", title="Right", description="Is right.", weight=2.0),),
        rubrics=(RubricItem(id="r", description="Is kind."),),
        expected={"max_latency_ms": 900},
    )

    assert expected_row(case) == {
        "answers": ["four", "4"],
        "outcome": "Counts.",
        "choices": ["B"],
        "criteria": [
            {"id": "c", "text": "Is right.", "weight": 2.0},
            {"id": "r", "text": "Is kind.", "weight": 1.0},
        ],
        "demands": {"max_latency_ms": 900},
    }


def test_expected_messages_are_kept_where_the_last_text_does_not_say_it_all() -> None:
    plain = Message(role="assistant", content="four")
    calling = Message(role="assistant", content="four", tool_calls=(ToolCall(tool="add"),))

    assert expected_row(Case(id="a", expected_messages=(plain,))) == {"answers": ["four"]}
    for said in ((calling,), (plain, plain)):
        row = expected_row(Case(id="a", expected_messages=said))
        assert row
        assert list(row) == ["answers", "messages"]
