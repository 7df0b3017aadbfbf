"""A run as it was planned: what executing it needs to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from steelyard.contracts.contract import Contract
from steelyard.contracts.reading import DatasetReading, Rereadable, Row
from steelyard.engine.grading.implicit import NothingGrades
from steelyard.errors import ParseError, SourceError
from steelyard.execution.ports import WHOLE, Part, TargetSpec
from steelyard.execution.record_selection import selected
from steelyard.execution.run_options import RunOptions
from steelyard.execution.sendable import refused
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.policy import Policy
from steelyard.model.rubric import Rubric
from steelyard.settings import LimitSettings, RedactionRules, RetrySettings

_DEFAULT_TARGET = "default"
_MISREAD = (ParseError, KeyError, TypeError, ValueError, AttributeError)
"""What reading a row ends in that is not what it was when it was checked."""


class AskedJudge(NamedTuple):
    """A judge together with the target that answers; None where nobody named one."""

    judge: Judge
    target: str | None


class Grading(Protocol):
    """What grades each case, and every rubric and program that was found for the cases seen."""

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
    """The judges of a run, and the targets through which they are asked, by name."""

    @property
    def judges(self) -> Mapping[str, Judge]: ...
    @property
    def specs(self) -> Mapping[str, TargetSpec]: ...
    def target_of(self, call: JudgeCall) -> str | None: ...


@dataclass(slots=True)
class Forecast:
    """What the plan counted."""

    total: int = 0
    valid: int = 0
    skipped: int = 0
    calls: int = 0
    recorded: int = 0
    """Answers that were given before, for which nobody is called."""
    input_tokens: int = 0
    cost_usd: float | None = None
    targets: dict[str, int] = field(default_factory=dict[str, int])
    judges: dict[str, int] = field(default_factory=dict[str, int])
    """About how many calls to judges there are, by target."""
    judge_input_tokens: int = 0
    """Without the answers that are judged, which nobody knows yet."""
    judge_cost_usd: float | None = None
    omitted_blocks: int = 0
    """What targets cannot be sent and is left out, because the project says so."""
    documents_not_shown: int = 0
    """Documents and files that are there, or should be, and stand in no prompt with their text."""

    @property
    def answers(self) -> int:
        """What is to be graded."""
        return self.calls + self.recorded


class Planned(NamedTuple):
    """A record of the run with what grades it; an invalid one has no case."""

    row: Row
    case: Case | None
    graded: Rubric | NothingGrades | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that may start."""

    options: RunOptions
    reading: DatasetReading
    dataset: Dataset
    contract: Contract
    source: dict[str, str]
    """The sha256 of the dataset file and its sidecar, by name."""
    paths: tuple[Path, ...]
    """Where those files are; none of a dataset that is in memory."""
    shown: str
    """The sha256 over all files that the selected cases show."""
    specs: Mapping[str, TargetSpec]
    judges: AskedJudges
    """Which judges are asked, and through which targets."""
    grading: Grading
    retry: RetrySettings
    limits: LimitSettings
    slices: tuple[str, ...]
    redacted: RedactionRules
    """The patterns that are replaced in everything that is written."""
    secrets: tuple[str, ...]
    """What is replaced there wherever it stands, beside the secrets of the targets asked."""
    forecast: Forecast
    kept: Sequence[Planned] | None = None
    """All records, of a dataset that is small enough."""
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
        rows = self._rows()
        try:
            chosen = selected(self.reading, self.options, rows, self.part, refused=self._refused)
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

    def _refused(self, row: Row, case: Case) -> Row | None:
        """A row whose case its target cannot be sent; one that nothing grades is not sent."""
        spec = self.specs.get(self.target_of(case))
        if spec is None or isinstance(self.grading.of(case), NothingGrades):
            return None
        return refused(row, case, spec)

    def _rows(self) -> Iterator[Row] | None:
        """The rows of a sound dataset need not be checked again, nor those of others be read."""
        limit, part = self.options.limit, self.part
        if not self.is_sound or not isinstance(self.reading, Rereadable):
            return None
        if limit is None:
            return self.reading.reread(part.has)
        # Which records come first among those of a selection, only the selection knows.
        return (
            None
            if self.options.where
            else self.reading.reread(lambda index: index < limit and part.has(index))
        )

    @property
    def judge_specs(self) -> Mapping[str, TargetSpec]:
        """The targets through which judges are asked."""
        return self.judges.specs

    async def close(self) -> None:
        """Let go of all targets; one may answer and judge as well."""
        specs = (*self.specs.values(), *self.judge_specs.values())
        for target in {id(spec.target): spec.target for spec in specs}.values():
            await target.close()

    def concurrency_of(self, name: str) -> int:
        """Calls at once to a target."""
        return self.specs[name].max_concurrency

    def target_of(self, case: Case) -> str:
        """The name of the target that answers a case."""
        return target_name(self.options, self.specs, case)


def target_name(options: RunOptions, specs: Mapping[str, TargetSpec], case: Case) -> str:
    """The name of the target that answers a case."""
    if options.responses or options.from_conversation:
        return next(iter(specs))
    return options.target or case.target or _DEFAULT_TARGET
