"""Who grades what: the run's rubric, the one that a case names, or what the case brings."""

from __future__ import annotations

from dataclasses import replace

from steelyard.checks.catalog import Catalog
from steelyard.engine.implicit import NeedsJudge, NothingGrades, implicit_rubric
from steelyard.errors import UsageError
from steelyard.model.case import Case
from steelyard.model.rubric import PASS_THRESHOLD, Rubric
from steelyard.usecases.load_definition import refusal_of
from steelyard.usecases.references import References

# Contracts whose expected outcome is there for people and never graded.
_PROSE = ("evals_json",)


class GradingPlan:
    """Finds what grades a case, and remembers every rubric that was found."""

    def __init__(
        self,
        rubric: Rubric | None,
        pass_threshold: float | None,
        catalog: Catalog,
        references: References,
        contract: str = "",
    ) -> None:
        self._is_prose = contract in _PROSE
        self._rubric = self._adjusted(rubric, pass_threshold) if rubric else None
        self._threshold = pass_threshold
        self._catalog = catalog
        self._references = references
        self._named: dict[str, Rubric] = {}
        self._is_implicit = False

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """The rubrics that grade the cases seen so far; those that cases bring are left out."""
        given = (self._rubric,) if self._rubric else ()
        return (*given, *(self._named[name] for name in sorted(self._named)))

    @property
    def is_implicit(self) -> bool:
        """Whether a case was seen that is graded by what it brings."""
        return self._is_implicit

    def of(self, case: Case) -> Rubric | NothingGrades:
        """What grades a case; a run that would need a judge is refused."""
        if self._rubric:
            return self._rubric
        if case.rubric_ref:
            return self._named.get(case.rubric_ref) or self._referred(case.rubric_ref)
        self._is_implicit = True
        threshold = PASS_THRESHOLD if self._threshold is None else self._threshold
        if self._is_prose and case.expected_outcome:
            case = replace(case, expected_outcome="")
        graded = implicit_rubric(case, self._catalog, threshold)
        if isinstance(graded, NeedsJudge):
            raise UsageError(
                f"'{case.id}' needs a judge for {graded.what}, and no judge has a target: set "
                "judges.default.target in steelyard.yaml, or grade with --rubric"
            )
        return graded

    def _referred(self, text: str) -> Rubric:
        """The rubric that cases name; one that leads nowhere was an error of its row before."""
        found = self._references.rubric(text).rubric
        why = refusal_of(found) if found else f"{text} cannot be used"
        if why or not isinstance(found, Rubric):
            raise UsageError(f"{why}; this version does not carry that out")
        self._named[text] = self._adjusted(found, self._threshold)
        return self._named[text]

    @staticmethod
    def _adjusted(rubric: Rubric, threshold: float | None) -> Rubric:
        return rubric if threshold is None else replace(rubric, pass_threshold=threshold)
