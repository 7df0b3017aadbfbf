"""What grades a case: the run's rubric, the case's rubric, or its own expectations."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from steelyard.contracts.contract import Contract
from steelyard.contracts.judge.template import is_pairwise
from steelyard.engine.grading.implicit import NothingGrades, implicit_rubric
from steelyard.engine.grading.not_judged import without_judges
from steelyard.errors import InvalidError, argument
from steelyard.execution.prepared import AskedJudge
from steelyard.judging.instrument import judges_of
from steelyard.judging.pairwise import Pairwise
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.policy import Policy
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import PASS_THRESHOLD, Check, JudgedCheck, Rubric, StatedCheck
from steelyard.usecases.registry.references import ONLY_PAIRWISE, out_of_scope
from steelyard.usecases.runs.asked_judges import Judges
from steelyard.usecases.runs.grading_programs import GradingPrograms, Sources, no_sources
from steelyard.usecases.runs.resolved_rubrics import resolve_rubric

IMPLICIT = "rubric/implicit@1.0.0"
_DEMANDS = ("format", "expected_facts", "expected_tools")
_Grounds: TypeAlias = tuple[tuple[bool, ...], str | None, str | None, str | None, str | None]


class GradingPlan:
    """Determines what grades a case, and collects all rubrics and judges."""

    def __init__(
        self,
        rubric: Rubric | QuestionRubric | None,
        pass_threshold: float | None,
        judges: Judges,
        contract: Contract | None = None,
        sources: Sources = no_sources,
    ) -> None:
        self._needs_judges = contract is None or contract.needs_judges
        self._threshold = pass_threshold
        self._judges = judges
        self._named: dict[str, Rubric] = {}
        self._asked: dict[tuple[str, str | None], AskedJudge] = {}
        self._warned: set[str] = set()
        self._is_implicit = False
        self._brought: Counter[str] = Counter()
        self._graded: Counter[str] = Counter()
        self._revisions: dict[str, int] = {}
        self._programs = GradingPrograms(sources)
        self.runs_commands = False
        """Whether a program grades any of the cases seen so far."""
        self._policies: dict[str, Policy] = {}
        self._known: set[tuple[type, ...]] = set()
        """The forms of the rubrics seen so far."""
        self._recent: tuple[tuple[Evaluator, ...], _Grounds, Rubric | NothingGrades] | None = None
        self._rubric = self._resolved(rubric) if rubric else None

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """The rubrics of the cases seen so far, without implicit ones."""
        given = (self._rubric,) if self._rubric else ()
        return (*given, *(self._named[name] for name in sorted(self._named)))

    @property
    def is_implicit(self) -> bool:
        """Whether any case seen so far is graded by its own expectations."""
        return self._is_implicit

    @property
    def judges(self) -> tuple[AskedJudge, ...]:
        """The judges of the cases seen so far, each with its target."""
        return tuple(self._asked[key] for key in sorted(self._asked, key=str))

    @property
    def revisions(self) -> dict[str, int]:
        """The revisions of the check kinds of the cases seen so far."""
        return dict(sorted(self._revisions.items()))

    @property
    def programs(self) -> dict[str, str]:
        """The sha256 of the files of programs and plug-ins that grade, by path."""
        return self._programs.hashes

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies of the cases seen so far."""
        return tuple(self._policies[name] for name in sorted(self._policies))

    @property
    def brought(self) -> dict[str, int]:
        """The number of cases seen so far that define a check of each kind."""
        return dict(sorted(self._brought.items()))

    @property
    def bringing(self) -> int:
        """The number of cases seen so far that are graded by their own expectations."""
        return self._graded[IMPLICIT]

    @property
    def graded(self) -> dict[str, int]:
        """The number of cases seen so far by rubric."""
        return {name: self._graded[name] for name in sorted(self._graded) if name != IMPLICIT}

    def of(self, case: Case) -> Rubric | NothingGrades:
        """What grades a case; refuses a judge without a target."""
        if case.task_type is not None:
            policy = self._judges.policies.of(case)
            self._policies[policy.id] = policy
        if self._rubric:
            self._require_scope(self._rubric, case)
            return self._rubric
        if case.rubric_ref:
            return self._named.get(case.rubric_ref) or self._referred(case.rubric_ref)
        return self._implicit(case)

    def note(self, graded: Rubric | NothingGrades) -> None:
        """Count a case by what grades it."""
        if isinstance(graded, Rubric):
            name = graded.name
            self._graded[name] += 1
            if name == IMPLICIT:
                for kind in {entry.check.kind for entry in graded.checks}:
                    self._brought[kind] += 1

    def _implicit(self, case: Case) -> Rubric | NothingGrades:
        is_typed = case.task_type is not None
        grounds = _grounds(case, self._judges.policies.of(case).id if is_typed else None)
        if grounds is None:
            return self._brought_by(case)
        # Many files have the same evaluators, or expectations of one kind, for every case.
        recent, evaluators = self._recent, case.evaluators
        if recent is None or recent[0] is not evaluators or recent[1] != grounds:
            self._recent = recent = (evaluators, grounds, self._brought_by(case))
        elif case.bundle is not None and isinstance(recent[2], Rubric):
            self._require_scope(recent[2], case)
        return recent[2]

    def _brought_by(self, case: Case) -> Rubric | NothingGrades:
        self._is_implicit = True
        threshold = PASS_THRESHOLD if self._threshold is None else self._threshold
        policy = self._judges.policies.of(case) if case.task_type is not None else None
        graded = implicit_rubric(case, self._judges, policy, threshold)
        if isinstance(graded, Rubric) and not (self._needs_judges or self._can_ask(graded)):
            graded = without_judges(graded)
        if isinstance(graded, Rubric):
            self._require(graded, f"'{case.id}'")
            self._require_scope(graded, case)
        return graded

    def _can_ask(self, rubric: Rubric) -> bool:
        return all(target is not None for _, target in self._judges.asked_by(rubric))

    def _referred(self, text: str) -> Rubric:
        """The rubric of a case; an invalid reference was already an error of its row."""
        found = self._judges.references.rubric(text).rubric
        if found is None:
            raise InvalidError(f"{text} cannot be used")
        self._named[text] = self._resolved(found)
        return self._named[text]

    def _resolved(self, rubric: Rubric | QuestionRubric) -> Rubric:
        if isinstance(rubric, QuestionRubric) and rubric.status == "archived":
            raise InvalidError(f"{rubric.reference} is archived; name one that is in use")
        made = resolve_rubric(rubric, self._judges, self._threshold)
        self._require(made, made.name)
        return made

    def _require(self, rubric: Rubric, who: str) -> None:
        """Refuse checks that cannot run, before any call."""
        form = rubric.form
        if form in self._known:
            return
        if rubric.needs_commands and not self._judges.catalog.allows_commands:
            raise InvalidError(
                f"{who} is graded by a program, which is off: set allow.commands to true in "
                f"steelyard.yaml if you trust it, or grade with {argument('rubric')}"
            )
        self.runs_commands |= rubric.needs_commands
        for check in rubric.all_checks:
            if not isinstance(check, Pairwise):
                _require_grading(who, check)
        self._revisions |= rubric.revisions
        self._programs.note(rubric)
        for asked in self._judges.asked_by(rubric):
            self._asked.setdefault((asked.judge.name, asked.target), asked)
        if form is not None:
            self._known.add(form)

    def _require_scope(self, rubric: Rubric, case: Case) -> None:
        """Warn about judges not validated for the domain of a case; refuse in strict mode."""
        if case.bundle is None:
            return
        for judge, _ in self._judges.asked_by(rubric):
            problem = out_of_scope(judge, case.bundle)
            if problem is None or problem in self._warned:
                continue
            if self._judges.strict:
                raise InvalidError(f"strict: '{case.id}': {problem}")
            self._warned.add(problem)
            self._judges.references.warn(f"'{case.id}': {problem}")


def _require_grading(who: str, check: Check | JudgedCheck | StatedCheck) -> None:
    """Refuse a pairwise judge, because there is only one answer."""
    for judge, _ in judges_of(check):
        if is_pairwise(judge):
            raise InvalidError(f"{who} asks {judge.name}, which {ONLY_PAIRWISE}")


def _grounds(case: Case, policy: str | None) -> _Grounds | None:
    """What the rubric of a case depends on beside its evaluators; None if it is the case's own."""
    if case.criteria or (case.expected and case.expected.get("required_criteria")):
        return None
    demands: tuple[bool, ...] = ()
    if case.expected:
        demands = tuple(bool(case.expected.get(name)) for name in _DEMANDS)
        demands = (*demands, "max_latency_ms" in case.expected)
    brought = (
        bool(case.expected_outcome),
        bool(case.reference_answers),
        bool(case.choices),
        *demands,
    )
    return brought, case.evaluator, policy, case.bundle, case.place.file
