"""The judges of a run and their targets, known before the first call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

from steelyard.errors import InvalidError, Suggestion
from steelyard.execution.ports import TargetSpec
from steelyard.execution.run_options import RunOptions
from steelyard.judging.instrument import judges_of
from steelyard.model.case import Case
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.usecases.correction.validation_status import ValidationWatch
from steelyard.usecases.correction.validations import MinimumValidation
from steelyard.usecases.registry.load_definition import at_root
from steelyard.usecases.runs.asked_judges import Judges
from steelyard.usecases.runs.grading_plan import IMPLICIT
from steelyard.usecases.runs.ports import RunPorts

EXPECTED_ANSWER = Suggestion(
    arguments={"rubric": "expected.yaml"},
    files={
        "expected.yaml": "{id: expected, version: 1.0.0, checks: [{id: answer, kind: "
        "must_contain_any}], scoring: {combine: all_pass}}"
    },
)
"""A rubric that looks for the expected answer of a record in the response."""
_LISTED = ("criteria", "items", "orders")
_SHOWN = 3


class Load(NamedTuple):
    """The estimated load of a judge target per record, without the answer."""

    calls: int = 0
    characters: int = 0
    """Of the templates."""


class JudgePlan:
    """Collects the judges of rubrics."""

    def __init__(self, judges: Judges, spec: Callable[[str], TargetSpec]) -> None:
        self._judges = judges
        self._spec = spec
        self._last: Rubric | None = None
        self._loads: dict[str, Load] = {}
        self.judges: dict[str, Judge] = {}
        """By their references."""
        self.specs: dict[str, TargetSpec] = {}
        """Their targets, by name."""
        self._recorded: list[tuple[str, TargetSpec]] = []
        """The checks of the last rubric whose judges were recorded."""
        self._missing: list[str] = []
        self._missing_count = 0

    def see(self, rubric: Rubric, case: Case) -> Mapping[str, Load]:
        """Add the judges of a rubric; return the estimated load per target for one record.

        A judge without a target is an error: none is guessed.
        """
        if rubric is not self._last:
            self._last = rubric
            self._loads = self._seen(rubric, case) if rubric.is_judged else {}
            self._recorded = list(self._recordings(rubric)) if self._loads else []
        for check, spec in self._recorded:
            if spec.has_replies and not spec.has_replies(case.id, check):
                self._missing_count += 1
                if len(self._missing) < _SHOWN:
                    self._missing.append(f"{case.id} × {check}")
        return self._loads

    def warn_missing(self) -> None:
        """Warn about records without recorded judge replies."""
        if self._missing:
            more = self._missing_count - len(self._missing)
            rest = f", and {more} more" if more else ""
            self._judges.references.warn(
                f"no reply of a judge was recorded for {self._missing_count} pair(s) of record "
                f"and check, which will be unscored: {', '.join(self._missing)}{rest}"
            )

    def warn_unused(self) -> None:
        """Warn that nothing uses the run's judge."""
        self._judges.warn_unused()

    def add(self, name: str) -> None:
        """Open a target by its name, once."""
        if name not in self.specs:
            self.specs[name] = self._spec(name)

    def spec_of(self, judge: Judge, named: str | None) -> TargetSpec | None:
        """The target of a judge, after a rubric with this judge was added."""
        return self.specs.get(self._target(judge, named) or "")

    def target_of(self, call: JudgeCall) -> str | None:
        """The name of a judge's target."""
        return self._target(call.judge, call.target)

    def _seen(self, rubric: Rubric, case: Case) -> dict[str, Load]:
        loads: dict[str, Load] = {}
        for check in rubric.all_checks:
            count = _calls_of(check)
            for judge, named in judges_of(check):
                name = self._target(judge, named)
                if name is None:
                    raise _no_judge(rubric, judge, case)
                self.judges.setdefault(judge.name, judge)
                self.add(name)
                calls, characters = loads.get(name, Load())
                loads[name] = Load(calls + count, characters + count * len(judge.template))
        return loads

    def _recordings(self, rubric: Rubric) -> Iterator[tuple[str, TargetSpec]]:
        for entry in rubric.checks:
            for judge, named in judges_of(entry.check):
                spec = self.spec_of(judge, named)
                if spec and spec.has_replies:
                    yield entry.id, spec

    def _target(self, judge: Judge, named: str | None) -> str | None:
        return named or self._judges.setting(judge).target


def _no_judge(rubric: Rubric, judge: Judge, case: Case) -> InvalidError:
    wrong = InvalidError(without_target(rubric.name, judge))
    has_answers = rubric.name == IMPLICIT and case.answers
    return wrong.suggesting(EXPECTED_ANSWER) if has_answers else wrong


def without_target(rubric: str | None, judge: Judge) -> str:
    """Why a judge without a target cannot be asked, by a rubric or by what records expect."""
    entries = f"set judges.{judge.id}.target or judges.default.target in steelyard.yaml"
    if rubric in {None, IMPLICIT}:
        return (
            f"the records' own expectations are graded by {judge.name}, which has no target: "
            f"{entries}, or name a rubric that asks no judge"
        )
    return f"{rubric} asks {judge.name}, which has no target: {entries}"


def _calls_of(check: object) -> int:
    """The estimated number of calls per record, for each judge of a check."""
    listed = [len(getattr(check, name)) for name in _LISTED if hasattr(check, name)]
    rubric = getattr(check, "rubric", None)
    listed += [len(rubric.questions)] if isinstance(rubric, QuestionRubric) else []
    count = 1 if getattr(check, "is_grouped", False) else max(1, sum(listed))
    return count * cast(int, getattr(check, "samples", 1))


def judges_of_run(ports: RunPorts, options: RunOptions) -> Judges:
    """The judges of a run."""
    return Judges(
        catalog=ports.catalog,
        policies=ports.policies,
        references=ports.references,
        settings=ports.settings,
        replaced=at_root(ports.root, options.judge) if options.judge else None,
        strict=options.strict,
    )


def validation_watch(
    ports: RunPorts, judges: JudgePlan, options: RunOptions
) -> ValidationWatch | None:
    """Warns about unvalidated judges; None if this is not checked."""
    if ports.validations is None:
        return None
    wanted = options.require_validated
    return ValidationWatch(
        ports.validations.all,
        ports.clock.now(),
        judges.spec_of,
        strict=options.strict,
        warn=ports.warn,
        least=None if wanted is None else MinimumValidation(**wanted),  # pyright: ignore[reportArgumentType]
    )
