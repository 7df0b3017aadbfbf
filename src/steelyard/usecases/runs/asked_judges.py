"""The judges of a run: looked up by reference or id, with their settings and targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from msgspec import field

from steelyard.checks.catalog import Catalog
from steelyard.contracts.legal_eval.policies import Policies
from steelyard.errors import InvalidError
from steelyard.execution.prepared import AskedJudge
from steelyard.judging.instrument import judges_of
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric
from steelyard.settings import JudgeSetting, Settings
from steelyard.usecases.registry.load_definition import load_judge
from steelyard.usecases.registry.references import References


class Judges(FrozenStruct, frozen=True, kw_only=True):
    """Looks up judges and their settings."""

    catalog: Catalog
    policies: Policies
    references: References
    settings: Settings
    replaced: str | None = None
    """The run's judge for implicit grading."""
    strict: bool = False
    found: dict[str, Judge] = field(default_factory=dict[str, Judge])

    def named(self, reference: str) -> Judge:
        """The judge that a rubric refers to; its reference was checked before."""
        judge = self.references.find(cast(Reference, Reference.parse(reference))).content
        if not isinstance(judge, Judge):
            raise InvalidError(f"{reference} cannot be used")
        return judge

    def judge(self, name: str) -> Judge:
        """The judge of implicit grading: the run's, or else the default."""
        wanted = self.replaced or name
        if wanted not in self.found:
            pinned = wanted if self.replaced else self._pinned(wanted)
            self.found[wanted] = load_judge(self.references, pinned, strict=self.strict)
        return self.found[wanted]

    def warn_unused(self) -> None:
        """Warn that nothing uses the run's judge; refuse one that does not exist."""
        if self.replaced and not self.found:
            self.references.warn(
                f"{self.judge(self.replaced).name} is not asked: a judge that a run names takes "
                "the place of those that records' own expectations and question rubrics ask, and "
                "none of them is asked here"
            )

    def setting(self, judge: Judge) -> JudgeSetting:
        """The settings of a judge."""
        return self.settings.judge(judge.id)

    def asked_by(self, rubric: Rubric) -> Iterator[AskedJudge]:
        """Every judge of a rubric, with its target."""
        if rubric.form is not None:
            return
        for check in rubric.all_checks:
            for judge, target in judges_of(check):
                yield AskedJudge(judge, target or self.settings.judge(judge.id).target)

    def _pinned(self, name: str) -> str:
        """A reference with id and version."""
        text = name if name.startswith("judge/") else f"judge/{name}"
        reference = Reference.parse(text)
        judge = self.references.find(reference).content if reference else None
        return judge.name if isinstance(judge, Judge) else text
