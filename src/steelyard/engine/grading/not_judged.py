"""Checks that a judge would carry out, where there is none: skipped, and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from steelyard.engine.grading.implicit import NothingGrades
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric
from steelyard.model.trace import Trace

SETTING = "no judge has a target: set judges.default.target in steelyard.yaml"


class NotJudged(FrozenStruct, frozen=True, kw_only=True):
    """What a judge is asked where none can be: it is left out of the combination."""

    kind: ClassVar[str] = "rubric"

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Skipped, with the setting that would change it."""
        return Outcome.skipped(f"not judged: {SETTING}")


def without_judges(rubric: Rubric) -> Rubric | NothingGrades:
    """The rubric with what needs a judge left out; where that is all of it, nothing grades."""
    checks = tuple(
        replace(entry, check=NotJudged()) if hasattr(entry.check, "ask") else entry
        for entry in rubric.checks
    )
    if all(isinstance(entry.check, NotJudged) for entry in checks):
        return NothingGrades(SETTING)
    return replace(rubric, checks=checks)
