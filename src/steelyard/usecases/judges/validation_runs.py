"""Runs made by a validation: of a judge on labelled responses, and on canaries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from steelyard.engine.grading.graders import single_judge
from steelyard.errors import InvalidError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.judging.canaries import CANARIES, Canary, canary_trace, truncated
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.run import CANARIES as CANARY_SET
from steelyard.model.run import VALIDATION
from steelyard.model.statistics.validation import CanaryCount, CanaryTally
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.usecases.correction.judged_rows import JudgedRows
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.runs.derived_runs import SomeRows, regrade_options
from steelyard.usecases.runs.in_memory import DatasetInMemory
from steelyard.usecases.runs.plan_builder import Source
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import open_source, prepare_source

CANARY_CASES = 3
"""The number of labelled cases on which each canary is tried."""
_TOO_LONG = 100_000
"""Longer canaries would test the harness, not the judge, and cost too many tokens."""
TRIED = tuple(canary for canary in CANARIES if len(canary.text) <= _TOO_LONG)
"""The canaries that every validation tries."""


class ValidationGrading(NamedTuple):
    """How a judge is used: by a rubric, or for cases graded by their own expectations."""

    rubric: Rubric | QuestionRubric | None
    judge: str | None = None
    """The judge for cases that are graded by their own expectations."""


def single_grading(
    ports: RunPorts, judge: Judge, check: str | None, threshold: float | None
) -> ValidationGrading:
    """A single judge with the settings of the project."""
    setting = ports.settings.judge(judge.id)
    entry = RubricCheck(id=check or judge.id, check=single_judge(judge, setting, threshold))
    return ValidationGrading(
        Rubric(id="validation", version="1.0.0", checks=(entry,), combine="all_pass")
    )


def grading_of_run(ports: RunPorts, folder: Path) -> ValidationGrading:
    """How a finished run was graded."""
    options = read_run(folder).manifest.setup.options
    rubric = ports.rubric(options.rubric, strict=False) if options.rubric else None
    return ValidationGrading(rubric, options.judge)


def plan_asking(
    ports: RunPorts,
    dataset: Path,
    responses: Path,
    grading: ValidationGrading,
    records: Iterable[str],
) -> Prepared:
    """A run of the judge over only the labelled responses."""
    options = RunOptions(
        dataset=project_path(ports.root, dataset),
        responses=project_path(ports.root, responses),
        judge=grading.judge,
        group_id=_group(ports),
    )
    source = open_source(ports, options)
    wanted = set(records)
    indices = {row.index for row in source.reading.rows() if row.record_id in wanted}
    if not indices:
        raise InvalidError(f"{dataset} has none of the labelled records")
    some = replace(source, reading=SomeRows(source.reading, indices, None))
    alone = ports.without_validations().gathering()
    return prepare_source(alone, options, some, grading.rubric, {})


def labelled_cases(ports: RunPorts, folder: Path, indices: Iterable[int]) -> Dataset:
    """The cases of some records of a finished run, whose dataset must still be the same."""
    wanted = set(indices)
    reading = open_source(ports, regrade_options(folder, None)).reading
    return reading.dataset(
        tuple(
            reading.case(row) for row in reading.rows() if row.index in wanted and row.is_accepted
        )
    )


def plan_canaries(ports: RunPorts, labelled: Dataset, grading: ValidationGrading) -> Prepared:
    """A run of the judge over canaries in place of the answers to some cases."""
    contract = ports.contracts.in_memory(labelled.contract)
    distinct = {case.id: case for case in labelled.cases}.values()
    chosen = sorted(distinct, key=lambda case: hashlib.sha256(case.id.encode()).digest())
    answers: dict[str, Trace] = {}
    asked: list[Case] = []
    for case in chosen[:CANARY_CASES]:
        for canary in _canaries(case):
            name = f"{canary.id} {case.id}"
            answers[name] = canary_trace(canary)
            asked.append(replace(case, id=name, conversation_id=None))
    dataset = Dataset(id=CANARY_SET, contract=contract.name, cases=tuple(asked))
    reading = DatasetInMemory(dataset, contract)
    source = Source(
        name=CANARY_SET,
        reading=reading,
        contract=contract,
        digests={CANARY_SET: reading.digest()},
    )
    options = RunOptions(
        dataset=Path(CANARY_SET),
        target=CANARY_SET,
        judge=grading.judge,
        group_id=_group(ports),
    )
    target = CanaryTarget(answers)
    spec = TargetSpec(name=CANARY_SET, target=target, sampling={}, response_source="prefilled")
    alone = ports.without_validations().gathering()
    return prepare_source(alone, options, source, grading.rubric, {CANARY_SET: spec})


def canary_tally(folder: Path, check: str) -> CanaryTally:
    """The judge's verdicts on the canaries."""
    seen: dict[str, list[bool | None]] = {}
    for row in JudgedRows(folder):
        decision = row.decisions.get(check)
        name = (row.record_id or "").partition(" ")[0]
        seen.setdefault(name, []).append(decision.passed if decision else None)
    counts = tuple(
        CanaryCount(
            id=name,
            asked=len(found),
            passed=sum(one is True for one in found),
            unscored=sum(one is None for one in found),
        )
        for name, found in seen.items()
    )
    return CanaryTally(
        asked=sum(one.asked for one in counts),
        passed=sum(one.passed for one in counts),
        unscored=sum(one.unscored for one in counts),
        passed_ids=tuple(one.id for one in counts if one.passed),
        by_canary=counts,
    )


class CanaryTarget:
    """Answers every case with the canary in its name."""

    def __init__(self, answers: Mapping[str, Trace]) -> None:
        self.name = CANARY_SET
        self._answers = answers

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": CANARY_SET}

    async def ask(self, request: Request) -> Trace:
        """The canary."""
        return self._answers[request.case.id]

    async def close(self) -> None:
        """There is nothing to close."""


def _canaries(case: Case) -> list[Canary]:
    cut = truncated(case)
    return [*TRIED, cut] if cut else [*TRIED]


def _group(ports: RunPorts) -> str:
    """Marks such runs so that `latest` skips them."""
    return ports.new_run_id().replace("run_", VALIDATION, 1)
