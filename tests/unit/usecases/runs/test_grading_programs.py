"""The files of programs and plug-ins that grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fakes.programs import ScriptedPrograms
from steelyard.checks.command import Command
from steelyard.checks.equals import Equals
from steelyard.engine.grading.evaluator_composite import EvaluatorComposite, JoinedByProgram
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Check, Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.usecases.runs.evaluate import rubric_of
from steelyard.usecases.runs.grading_programs import GradingPrograms


@dataclass
class Mine:
    """A kind of a plug-in; such objects need not be hashable."""

    kind: ClassVar[str] = "mine"

    def check(self, trace: Trace, case: Case) -> Outcome:
        raise NotImplementedError


def rubric(*checks: Check) -> Rubric:
    entries = tuple(RubricCheck(id=str(place), check=one) for place, one in enumerate(checks))
    return Rubric(id="r", version="1.0.0", checks=entries)


def program(**files: str) -> Command:
    return Command(script=("sh", *files), programs=ScriptedPrograms(files=files))


def test_programs_and_plug_ins_are_known_by_their_files() -> None:
    asked: list[str] = []

    def sources(module: str) -> dict[str, str]:
        asked.append(module)
        return {"mine.py": "3"}

    joined = EvaluatorComposite(
        members=rubric(program(inner="2"), Mine()).checks, joined=JoinedByProgram(program(out="1"))
    )
    found = GradingPrograms(sources)
    for _ in range(2):
        found.note(rubric(joined, Mine(), Equals(value="x")))

    assert found.hashes == {"inner": "2", "mine.py": "3", "out": "1"}
    assert asked == [__name__]


def test_checks_made_in_code_are_another_rubric_where_their_settings_differ() -> None:
    hashes = {
        made.grading_sha256
        for checks in ([Equals(value="x")], [Equals(value="y")], [Mine()], [Equals(value="x")])
        if (made := rubric_of(checks))
    }

    assert len(hashes) == 3
    assert None not in hashes
