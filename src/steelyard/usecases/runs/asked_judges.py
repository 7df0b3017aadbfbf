"""The judges that a run may ask: found by reference or id, with how and through whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.legal_eval.policies import Policies
from steelyard.errors import InvalidError
from steelyard.execution.prepared import AskedJudge
from steelyard.judging.instrument import judges_of
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric
from steelyard.settings import JudgeSetting, Settings
from steelyard.usecases.registry.load_definition import load_judge
from steelyard.usecases.registry.references import References


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Finds judges, and knows how they are asked."""

    catalog: Catalog
    policies: Policies
    references: References
    settings: Settings
    replaced: str | None = None
    """The judge that the run names for implicit grading."""
    strict: bool = False
    found: dict[str, Judge] = field(default_factory=dict[str, Judge])

    def named(self, reference: str) -> Judge:
        """The judge that a rubric refers to; whether it may be used was looked at before."""
        judge = self.references.find(cast(Reference, Reference.parse(reference))).content
        if not isinstance(judge, Judge):
            raise InvalidError(f"{reference} cannot be used")
        return judge

    def judge(self, name: str) -> Judge:
        """The judge of implicit grading: the one that the run names, or else the one asked for."""
        wanted = self.replaced or name
        if wanted not in self.found:
            pinned = wanted if self.replaced else self._pinned(wanted)
            self.found[wanted] = load_judge(self.references, pinned, strict=self.strict)
        return self.found[wanted]

    def tell_unused(self) -> None:
        """Say that nothing asks the judge that the run names; one that is not there is refused."""
        if self.replaced and not self.found:
            self.references.warn(
                f"{self.judge(self.replaced).name} is not asked: a judge that a run names takes "
                "the place of those that records' own expectations and question rubrics ask, and "
                "none of them is asked here"
            )

    def setting(self, judge: Judge) -> JudgeSetting:
        """How a judge is asked."""
        return self.settings.judge(judge.id)

    def asked_by(self, rubric: Rubric) -> Iterator[AskedJudge]:
        """Every judge that a rubric asks, with the target that answers."""
        for check in rubric.all_checks:
            for judge, target in judges_of(check):
                yield AskedJudge(judge, target or self.settings.judge(judge.id).target)

    def _pinned(self, name: str) -> str:
        """An id with its version: nobody wrote a reference that could lack one."""
        text = name if name.startswith("judge/") else f"judge/{name}"
        reference = Reference.parse(text)
        judge = self.references.find(reference).content if reference else None
        return judge.name if isinstance(judge, Judge) else text
