"""One pass over the records before the first call: what would be asked, and whether it can be."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.engine.implicit import NothingGrades
from steelyard.engine.records import CHARACTERS_A_TOKEN
from steelyard.errors import ConfigError, UsageError
from steelyard.model.case import Case
from steelyard.model.rubric import Rubric
from steelyard.usecases.derive import PREDICTIONS
from steelyard.usecases.grading_plan import GradingPlan
from steelyard.usecases.record_selection import selected
from steelyard.usecases.run_options import RunOptions
from steelyard.usecases.run_ports import RunDoor, TargetSpec

_SHOWN_GAPS = 10
_SHOWN_WARNINGS = 3
_DEFAULT_TARGET = "default"
_log = logging.getLogger("steelyard")


@dataclass(slots=True)
class Outlook:
    """What the plan counted."""

    total: int = 0
    valid: int = 0
    skipped: int = 0
    calls: int = 0
    input_tokens: int = 0
    cost_usd: float | None = None
    targets: dict[str, int] = field(default_factory=dict[str, int])


class Planned(NamedTuple):
    """A record of the run with what grades it; an invalid one has no case."""

    row: Row
    case: Case | None
    graded: Rubric | NothingGrades | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the records come from."""

    name: str
    reading: DatasetReading
    contract: str
    digests: dict[str, str]
    paths: tuple[Path, ...] = ()
    size: int = 0
    """The bytes of those files."""


class Survey:
    """One pass over the records: what would be asked, and whether it can be."""

    def __init__(
        self,
        door: RunDoor,
        options: RunOptions,
        source: Source,
        rubric: Rubric | None,
        specs: dict[str, TargetSpec],
    ) -> None:
        self._door = door
        self.options = options
        self._reading = source.reading
        self.grading = GradingPlan(
            rubric, options.pass_threshold, door.catalog, door.references, source.contract
        )
        self._gaps: list[str] = []
        self._gap_count = 0
        self._warnings = 0
        self.outlook = Outlook()
        self.shown = hashlib.sha256()
        self.specs = specs
        self.kept: list[Planned] | None = []
        if options.from_conversation:
            spec = door.conversation()
            self.specs[spec.name] = spec
        elif options.responses:
            spec = door.recorded(door.root / options.responses, options.candidate)
            self.specs[spec.name] = spec

    def look(self) -> None:
        rows = self._watched(self._reading.rows())
        for row, case in selected(self._reading, self.options, rows):
            self.outlook.total += 1
            if row.findings:
                self._check_findings(row)
            graded = None
            if case is not None:
                self.outlook.valid += 1
                graded = self._look_at(case)
            if self.kept is not None:
                self.kept.append(Planned(row, case, graded))
        # What spoils the file does so beyond the limit, too.
        deque(rows, maxlen=0)
        if self._warnings > _SHOWN_WARNINGS:
            more = self._warnings - _SHOWN_WARNINGS
            _log.warning("%s: %d more warning(s); validate lists them", self.options.dataset, more)
        self._check_counts()
        self._check_gaps()

    def _watched(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows; one that spoils the whole file ends the survey."""
        for row in rows:
            if self._reading.is_spoiled:
                raise UsageError(f"{self.options.dataset}: {row.findings[0].message}")
            yield row

    def _check_counts(self) -> None:
        outlook, name = self.outlook, self.options.dataset
        if not outlook.total:
            raise UsageError(f"{name}: no record is selected")
        if not outlook.valid:
            raise UsageError(
                f"{name}: none of {outlook.total} record(s) is valid; "
                "`steelyard validate` says why"
            )
        if outlook.valid == outlook.skipped:
            raise UsageError(
                f"{name}: nothing grades any of the selected records; name a rubric with --rubric"
            )

    def _check_findings(self, row: Row) -> None:
        """In strict mode a misspelt field refuses the run; else it is told, the first few."""
        for finding in row.findings:
            hint = f" ({finding.hint})" if finding.hint else ""
            place = f":{finding.line}" if finding.line else ""
            message = finding.message.removeprefix(f"Line {finding.line}: ")
            if self.options.strict and finding.strict().is_error:
                raise UsageError(f"{self.options.dataset}{place}: strict: {message}{hint}")
            if not finding.is_error:
                self._warnings += 1
                if self._warnings <= _SHOWN_WARNINGS:
                    _log.warning("%s%s: %s%s", self.options.dataset, place, message, hint)

    def _look_at(self, case: Case) -> Rubric | NothingGrades:
        outlook, repeats = self.outlook, self.options.repeat
        graded = self.grading.of(case)
        if isinstance(graded, NothingGrades):
            outlook.skipped += 1
            return graded
        spec = self.spec(target_name(self.options, self.specs, case))
        outlook.targets[spec.name] = outlook.targets.get(spec.name, 0) + repeats
        outlook.calls += repeats
        is_regrade = self.options.derived and self.options.derived.how == "regrade"
        if spec.covers and not is_regrade:  # of a cancelled run some repeats were never asked
            self._look_for_gaps(spec.name, spec.covers, case)
        if hashes := file_hashes(case):
            self.shown.update(json.dumps([case.id, hashes], sort_keys=True).encode("ascii"))
            self.kept = None  # the texts of files are not in the size of the dataset
        said = sum(len(message.text) for message in case.input_messages) + len(case.context)
        tokens = said // CHARACTERS_A_TOKEN * repeats
        outlook.input_tokens += tokens
        if spec.price:
            outlook.cost_usd = (outlook.cost_usd or 0.0) + tokens * spec.price[0] / 1_000_000
        return graded

    def _look_for_gaps(self, name: str, covers: Callable[[Case, int], bool], case: Case) -> None:
        for repeat in range(self.options.repeat):
            if not covers(case, repeat):
                self._gap_count += 1
                if len(self._gaps) < _SHOWN_GAPS:
                    shown = f" repeat {repeat}" if repeat else ""
                    self._gaps.append(f"{case.id} × {name}{shown}")

    def spec(self, name: str) -> TargetSpec:
        """A target by its name, made once."""
        derived = self.options.derived
        if name not in self.specs and derived and derived.how == "regrade":
            self.specs[name] = self._door.recorded(derived.folder / PREDICTIONS, name)
        elif name not in self.specs:
            self.specs[name] = self._door.target(name)
        return self.specs[name]

    def limit(self) -> None:
        """The option for calls at once holds for every target."""
        most = self.options.max_concurrency
        if most:
            self.specs = {
                name: replace(spec, max_concurrency=most) for name, spec in self.specs.items()
            }

    def _check_gaps(self) -> None:
        if not self._gaps:
            return
        more = self._gap_count - len(self._gaps)
        rest = f", and {more} more" if more else ""
        what = "assistant message" if self.options.from_conversation else "recorded response"
        raise ConfigError(
            f"{self._gap_count} selected pair(s) have no {what}: {', '.join(self._gaps)}{rest}"
        )


def target_name(options: RunOptions, specs: Mapping[str, TargetSpec], case: Case) -> str:
    """The name of the target that answers a case."""
    if options.responses or options.from_conversation:
        return next(iter(specs))
    return options.target or case.target or _DEFAULT_TARGET
