"""A planned run: the input of execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from steelyard.contracts.contract import Contract
from steelyard.contracts.reading import DatasetReading, Rereadable, Row
from steelyard.engine.grading.implicit import NothingGrades
from steelyard.errors import ParseError, SourceError
from steelyard.execution.parts import WHOLE, Part
from steelyard.execution.ports import TargetSpec
from steelyard.execution.record_selection import selected
from steelyard.execution.run_options import RunOptions
from steelyard.execution.sendable import refused
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.policy import Policy
from steelyard.model.rubric import Rubric
from steelyard.model.run import RecordStatus, Result
from steelyard.ports import Prompt
from steelyard.settings import LimitSettings, RedactionRules, RetrySettings

_DEFAULT_TARGET = "default"
_MISREAD = (ParseError, KeyError, TypeError, ValueError, AttributeError)
"""The error for a row that changed since it was checked."""


def _everything(_index: int) -> bool:
    return True


class AskedJudge(NamedTuple):
    """A judge and its target; None if none is configured."""

    judge: Judge
    target: str | None


class Grading(Protocol):
    """What grades each case, and all rubrics and programs found so far."""

    @property
    def rubrics(self) -> tuple[Rubric, ...]: ...
    @property
    def is_implicit(self) -> bool: ...
    @property
    def runs_commands(self) -> bool: ...
    @property
    def revisions(self) -> dict[str, int]: ...
    @property
    def programs(self) -> dict[str, str]: ...
    @property
    def policies(self) -> tuple[Policy, ...]: ...
    @property
    def judges(self) -> Sequence[AskedJudge]: ...
    @property
    def graded(self) -> dict[str, int]: ...
    @property
    def brought(self) -> dict[str, int]: ...
    @property
    def bringing(self) -> int: ...
    def of(self, case: Case) -> Rubric | NothingGrades: ...


class AskedJudges(Protocol):
    """The judges of a run, and their targets by name."""

    @property
    def judges(self) -> Mapping[str, Judge]: ...
    @property
    def specs(self) -> Mapping[str, TargetSpec]: ...
    def target_of(self, call: JudgeCall) -> str | None: ...


@dataclass(slots=True)
class Forecast:
    """The counts of the plan."""

    total: int = 0
    in_dataset: int = 0
    """The records of the dataset, selected or not."""
    valid: int = 0
    skipped: int = 0
    calls: int = 0
    recorded: int = 0
    """Recorded answers, which need no call."""
    input_tokens: int = 0
    cost_usd: float | None = None
    targets: dict[str, int] = field(default_factory=dict[str, int])
    judges: dict[str, int] = field(default_factory=dict[str, int])
    """Estimated number of judge calls, by target."""
    judge_input_tokens: int = 0
    """Without the judged answers, which are not known yet."""
    judge_cost_usd: float | None = None
    omitted_blocks: int = 0
    """Unsupported content that is left out, because the project allows it."""
    documents_not_shown: int = 0
    """Documents and files whose text is in no prompt."""

    @property
    def answers(self) -> int:
        """The dataset."""
        return self.calls + self.recorded


class NoAnswer(NamedTuple):
    """Why there is nothing to grade in a record and repeat of a run that is regraded."""

    status: RecordStatus
    label: str
    message: str


class Unread(NamedTuple):
    """Records of the run that is regraded which have no row there, and none in the new run."""

    why: str
    records: int
    valid: int


class Planned(NamedTuple):
    """A record of the run with its rubric; an invalid one has no case."""

    row: Row
    case: Case | None
    graded: Rubric | NothingGrades | None
    prompt: Prompt | None = None
    """What its target is asked, if that has been made for the plan and kept."""


class Prepared(FrozenStruct, frozen=True, kw_only=True):
    """A checked run, ready to start."""

    options: RunOptions
    reading: DatasetReading
    dataset: Dataset
    contract: Contract
    source: dict[str, str]
    """The sha256 of the dataset file and its sidecar, by name."""
    paths: tuple[Path, ...]
    """The paths of those files; empty for a dataset in memory."""
    shown: str
    """The sha256 of all files of the selected cases."""
    specs: Mapping[str, TargetSpec]
    judges: AskedJudges
    """The judges and their targets."""
    grading: Grading
    retry: RetrySettings
    limits: LimitSettings
    slices: tuple[str, ...]
    redacted: RedactionRules
    """The redaction patterns."""
    secrets: tuple[str, ...]
    """Secrets to redact, in addition to those of the targets."""
    forecast: Forecast
    kept: Sequence[Planned] | None = None
    """All records, if the dataset is small enough."""
    carried: Sequence[Result] = ()
    """Results of the run that is regraded, of records that are not in the reading."""
    no_answer: Callable[[int, int], NoAnswer | None] | None = None
    """For regraded answers: what became of an index and repeat without one."""
    unread: Unread | None = None
    part: Part = WHOLE
    is_sound: bool = False
    """Whether every row of the dataset is accepted, the ones that are not selected, too."""
    warnings: Sequence[str] = ()
    """What was warned of while it was planned."""

    def records(self) -> Iterator[Planned]:
        """Every selected record, in dataset order."""
        if self.kept is not None:
            yield from self.kept
            return
        is_mine = self.part.reader(2 * self._most_at_once)
        rows = self._rows(is_mine or _everything)
        try:
            chosen = selected(self.reading, self.options, rows, is_mine, refused=self._refused)
            for row, case in chosen:
                graded = self.grading.of(case) if case else None
                yield Planned(row, case, graded)
        except _MISREAD as error:
            if rows is None:
                raise
            raise SourceError(
                f"{self.options.dataset} has changed while its run was going on; put the old "
                "file back and resume it with: steelyard resume"
            ) from error

    def unanswered(self, index: int, repeat: int) -> NoAnswer | None:
        """What became of a record and repeat that there is nothing to grade in."""
        return self.no_answer(index, repeat) if self.no_answer else None

    def is_asked(self, index: int) -> bool:
        """Whether there is something to ask or to grade in any repeat of a record."""
        repeats = range(self.options.repeat if self.no_answer else 1)
        return any(self.unanswered(index, repeat) is None for repeat in repeats)

    def _refused(self, row: Row, case: Case) -> Row | None:
        """The row with findings if its target does not support its content and it is graded."""
        spec = self.specs.get(self.target_of(case))
        if spec is None or isinstance(self.grading.of(case), NothingGrades):
            return None
        return refused(row, case, spec)

    @property
    def _most_at_once(self) -> int:
        return max((spec.max_concurrency for spec in self.specs.values()), default=1)

    def _rows(self, is_mine: Callable[[int], bool]) -> Iterator[Row] | None:
        """Skip validation of a valid dataset, and skip rows of other parts unparsed."""
        limit = self.options.limit
        if not self.is_sound or not isinstance(self.reading, Rereadable):
            return None
        if limit is None:
            return self.reading.reread(is_mine)
        # With a limit, only the selection knows which records are included.
        return (
            None
            if self.options.where
            else self.reading.reread(lambda index: index < limit and is_mine(index))
        )

    @property
    def judge_specs(self) -> Mapping[str, TargetSpec]:
        """The targets of judges."""
        return self.judges.specs

    @property
    def resources(self) -> dict[str, float]:
        """What a process that asks its targets and judges takes of a cluster.

        One process asks all of them, so that of each name it needs what the greediest does.
        """
        found: dict[str, float] = {}
        for spec in (*self.specs.values(), *self.judge_specs.values()):
            for name, much in spec.resources.items():
                found[name] = max(much, found.get(name, 0.0))
        return found

    @property
    def files(self) -> frozenset[Path]:
        """Files of the project that its targets and judges read."""
        specs = (*self.specs.values(), *self.judge_specs.values())
        return frozenset(file for spec in specs for file in spec.files)

    def limited(self) -> Iterator[tuple[str, TargetSpec]]:
        """Everything with limits of its own, by a name that all processes of the run know."""
        known: set[int] = set()
        for kind, specs in (("", self.specs), ("judge ", self.judge_specs)):
            for name, spec in specs.items():
                if id(spec.target) not in known:
                    known.add(id(spec.target))
                    yield (f"{kind}{name}" if kind and name in self.specs else name), spec

    async def close(self) -> None:
        """Close all targets; one may be used for both answers and judging."""
        specs = (*self.specs.values(), *self.judge_specs.values())
        for target in {id(spec.target): spec.target for spec in specs}.values():
            await target.close()

    def concurrency_of(self, name: str) -> int:
        """Maximum concurrent calls to a target."""
        return self.specs[name].max_concurrency

    def target_of(self, case: Case) -> str:
        """The name of the target of a case."""
        return target_name(self.options, self.specs, case)


def target_name(options: RunOptions, specs: Mapping[str, TargetSpec], case: Case) -> str:
    """The name of the target of a case."""
    if options.responses or options.from_conversation:
        return next(iter(specs))
    return options.target or case.target or _DEFAULT_TARGET
