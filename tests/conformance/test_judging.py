"""PRBench, APEX and LEXam: scores of real rows as the benchmarks themselves work them out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fakes.graders import NamedJudges
from fakes.judge_replies import TIMEOUT, deciding, shown
from fakes.scripted_judges import ScriptedAsker, answer, in_turn
from steelyard.contracts.importers.apexv1 import import_apexv1
from steelyard.contracts.importers.lexam import import_lexam
from steelyard.contracts.importers.prbench import import_prbench
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.engine.grading.grading import grade_judged
from steelyard.engine.grading.implicit import implicit_rubric
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.formats.yaml_text import parse_yaml
from steelyard.judging.jury import Juror, Jury
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.message import Message
from steelyard.model.rubric import Rubric
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from strategies.run_facts import facts

Import = Callable[[JsonObject], list[JsonObject]]
TRACE = Trace(messages=(Message(role="assistant", content="It depends on the contract."),))
# What the weights of the first PRBench task of the sample are, read off its source row.
WEIGHTS = [8, 6, 9, 7, 6, 6, 5, 5, -6, -9]


@dataclass(frozen=True, slots=True)
class BuiltIn(NamedJudges):
    """The judges that come along."""

    def judge(self, name: str) -> Judge:
        folder = files("steelyard.contracts.judge").joinpath("built_in")
        judge, _ = read_judge(parse_yaml(folder.joinpath(f"{name}.yaml").read_bytes()))
        assert judge
        return judge


@pytest.fixture
def source(conformance: Path, tmp_path: Path) -> Callable[[str, Import], list[Case]]:
    """The cases that a benchmark's own rows become."""

    def read(name: str, make: Import) -> list[Case]:
        text = (conformance / "legal" / f"{name}_raw.sample.jsonl").read_text(encoding="utf-8")
        rows = [row for line in text.splitlines() for row in make(json.loads(line))]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return list(read_dataset(DiskWorkspace(tmp_path), path)[0].cases)

    return read


def graded(case: Case, asker: ScriptedAsker) -> Verdict:
    """The verdict that a row's own policy leads to."""
    rubric = implicit_rubric(case, BuiltIn(), built_in_policies().of(case))
    assert isinstance(rubric, Rubric)
    return asyncio.run(grade_judged(rubric, TRACE, case, asker))


def ruling(case: Case, met: list[Any]) -> ScriptedAsker:
    """A judge that says this of the criteria of a case, in their order."""
    said = {criterion.id: value for criterion, value in zip(case.criteria, met, strict=True)}
    return deciding(lambda call, _: said[call.item or ""])


@pytest.mark.parametrize(
    ("met", "official", "normalised"),
    [
        # 52 points can be had, and 15 lost
        ([1, 1, 1, 1, 1, 1, 1, 1, 0, 0], Fraction(52, 52), Fraction(1)),
        ([1, 0, 1, 0, 1, 0, 1, 0, 1, 0], Fraction(28 - 6, 52), Fraction(22 + 15, 67)),
        ([0, 0, 0, 0, 0, 0, 0, 0, 1, 1], Fraction(-15, 52), Fraction(0)),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Fraction(0), Fraction(15, 67)),
    ],
)
def test_prbench_counts_points_over_the_maximum(
    source: Any, met: list[int], official: Fraction, normalised: Fraction
) -> None:
    case: Case = source("prbench", import_prbench)[0]
    found = graded(case, ruling(case, met))
    details = found.results[0].outcome.details

    assert [criterion.weight for criterion in case.criteria] == WEIGHTS
    assert found.raw_score == pytest.approx(float(official))
    assert found.score == pytest.approx(max(0.0, float(official)))
    assert details["min_max"] == pytest.approx(float(normalised))


def test_prbench_clips_the_mean_and_not_the_tasks(source: Any) -> None:
    """Its own figure is max(0, mean of points over maximum)."""
    cases: list[Case] = source("prbench", import_prbench)
    verdicts = [
        graded(cases[0], ruling(cases[0], [0] * 8 + [1, 1])),
        graded(cases[1], ruling(cases[1], [int(one.weight > 0) for one in cases[1].criteria])),
    ]
    rows = [
        facts(index, passed=bool(one.passed), score=one.score, raw_score=one.raw_score)
        for index, one in enumerate(verdicts)
    ]
    summary: Any = metrics_of(rows)[0].json()

    assert summary["score"]["value"] == pytest.approx((1 - 15 / 52) / 2)


def test_prbench_leaves_out_what_no_judge_decided(source: Any) -> None:
    """The benchmark would call these not met."""
    case: Case = source("prbench", import_prbench)[0]
    found = graded(case, ruling(case, [1, 0, TIMEOUT, "cannot_judge", 0, 0, 0, 0, 0, TIMEOUT]))
    details = found.results[0].outcome.details

    assert (details["scored"], details["total"]) == (7, 10)
    assert found.raw_score == pytest.approx(8 / 36)


def test_prbench_shows_the_conversation_and_the_text_of_one_criterion(source: Any) -> None:
    case: Case = source("prbench", import_prbench)[0]
    asker = ruling(case, [0] * 10)
    graded(case, asker)

    assert len(asker.calls) == 10
    for call, criterion in zip(asker.calls, case.criteria, strict=True):
        assert call.judge.name == "judge/prbench_criterion@1.0.0"
        assert criterion.title in shown(call)
        assert case.input_messages[-1].text[:200] in shown(call)


def test_apex_counts_every_criterion_once(source: Any) -> None:
    (case,) = source("apexv1", import_apexv1)
    found = graded(case, ruling(case, [1, 1, 1, 1, 1, 0, 0, 0]))

    assert len(case.criteria) == 8
    assert found.raw_score == found.score == 5 / 8
    assert found.results[0].outcome.details["share_met"] == 5 / 8


def test_apex_shows_neither_the_task_nor_why_a_criterion_is_right(
    source: Any, conformance: Path
) -> None:
    (case,) = source("apexv1", import_apexv1)
    raw = (conformance / "legal" / "apexv1_raw.sample.jsonl").read_text(encoding="utf-8")
    rubric: dict[str, Any] = json.loads(json.loads(raw.splitlines()[0])["Rubric JSON"])
    asker = ruling(case, [1] * 8)
    graded(case, asker)

    for call, criterion in zip(asker.calls, rubric.values(), strict=True):
        assert criterion["description"] in shown(call)
        assert criterion["justification"] not in shown(call)
        assert case.input_messages[-1].text[:100] not in shown(call)


@pytest.mark.parametrize(
    ("said", "mark"), [(0.7, 0.7), (0.95, 1.0), (0.25, 0.3), (0.34, 0.3), (1, 1.0), ("0.4", 0.4)]
)
def test_lexam_marks_are_tenths(source: Any, said: Any, mark: float) -> None:
    case = next(case for case in source("lexam", import_lexam) if case.reference_answers)
    found = graded(case, ScriptedAsker(in_turn(answer(said))))

    assert found.score == found.raw_score == mark
    assert found.passed is (mark >= 0.7)


def test_lexam_shows_the_model_answer(source: Any) -> None:
    case = next(case for case in source("lexam", import_lexam) if case.reference_answers)
    asker = ScriptedAsker(in_turn(answer(0.5)))
    graded(case, asker)

    assert asker.calls[0].judge.name == "judge/lexam_reference@1.0.0"
    assert case.reference_answers[0][:200] in shown(asker.calls[0])


def test_lexam_of_several_judges_takes_the_lowest_mark(source: Any) -> None:
    """The later figures of the benchmark are the least of three judges, row by row."""
    case = next(case for case in source("lexam", import_lexam) if case.reference_answers)
    judge = BuiltIn().judge("lexam_reference")
    marks = {"a": 0.8, "b": 0.65, "c": 0.9}
    jurors = tuple(Juror(judge=judge, target=target) for target in marks)
    asker = ScriptedAsker(lambda call: answer(marks[call.target or ""]))
    found = asyncio.run(Jury(jurors=jurors, aggregation="min").ask(TRACE, case, asker))

    assert found.score == 0.7


def test_real_verdicts_on_criteria_are_read(source: Any, conformance: Path) -> None:
    """The replies of a real judge had another form, which is taken where one thing is asked."""
    text = (conformance / "legal" / "real_model_outputs.jsonl").read_text(encoding="utf-8")
    replies = [json.loads(line) for line in text.splitlines()]
    grades = [reply["text"] for reply in replies if reply["shape"] == "criterion"]
    case: Case = source("prbench", import_prbench)[0]
    first = Case(
        id="a",
        input_messages=case.input_messages,
        criteria=case.criteria[:3],
        metadata=case.metadata,
    )
    found = graded(first, ScriptedAsker(in_turn(*grades)))
    rows: Any = found.results[0].outcome.details["items"]

    assert [row["value"] for row in rows] == [json.loads(grade)["grade"] for grade in grades]
    assert {row["rung"] for row in rows} == {"coerced"}
