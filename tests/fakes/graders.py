"""Judges that are there by whatever name a test asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.checks.catalog import Catalog
from steelyard.model.judge import Judge
from steelyard.settings import JudgeSetting


def judge_called(name: str) -> Judge:
    """A judge of that id."""
    return Judge(id=name, version="1.0.0", template="Q: {{ input }}\nA: {{ output }}")


@dataclass(frozen=True, slots=True)
class NamedJudges:
    """Makes a judge for every name."""

    catalog: Catalog = field(default_factory=Catalog)
    settings: dict[str, JudgeSetting] = field(default_factory=dict[str, JudgeSetting])

    def judge(self, name: str) -> Judge:
        """The judge of that id."""
        return judge_called(name)

    def setting(self, judge: Judge) -> JudgeSetting:
        """How it is asked: as the test says, else once and alone."""
        return self.settings.get(judge.id, JudgeSetting())
