"""What grading by what a case brings needs from outside: kinds of checks, and judges."""

from __future__ import annotations

from typing import Protocol

from steelyard.checks.catalog import Catalog
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.judge import Judge
from steelyard.settings import JudgeSetting


class Graders(Protocol):
    """Kinds of checks, and the judges of implicit grading."""

    @property
    def catalog(self) -> Catalog:
        """The kinds of checks."""
        ...

    def judge(self, name: str) -> Judge:
        """The judge of that id, or the one that the run names instead."""
        ...

    def setting(self, judge: Judge) -> JudgeSetting:
        """How a judge is asked."""
        ...


def single_judge(
    judge: Judge,
    setting: JudgeSetting,
    threshold: float | None = None,
    target: str | None = None,
) -> LlmJudge:
    """The check that asks one judge, as its settings say."""
    return LlmJudge(
        judge=judge,
        threshold=threshold,
        target=target,
        samples=setting.samples,
        wants_logprobs=setting.logprobs,
    )
