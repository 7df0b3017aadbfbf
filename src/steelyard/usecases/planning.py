"""What a run would do, decided and checked before the first call."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.engine.implicit import NeedsJudge, NothingGrades, implicit_rubric
from steelyard.engine.redaction import MIN_SECRET, is_redacted
from steelyard.engine.retries import RetryPolicy
from steelyard.errors import ConfigError, UsageError
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import PASS_THRESHOLD, Rubric
from steelyard.settings import Settings
from steelyard.usecases.open_dataset import open_dataset
from steelyard.usecases.record_selection import selected
from steelyard.usecases.run_options import RunOptions
from steelyard.usecases.run_ports import RunDoor, TargetSpec

KEPT_BYTES = 8 * 1024 * 1024
"""Datasets up to this size are read once, and their records kept from the plan to the run."""
_SHOWN_GAPS = 10
_SHOWN_WARNINGS = 3
_CHARACTERS_A_TOKEN = 4
_UNUSED = ("judges", "limits", "redaction", "artifacts")
_DEFAULT_SLICES = ("tags", "task_type")
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
class Prepared:
    """A run that may start."""

    options: RunOptions
    reading: DatasetReading
    dataset: Dataset
    contract: str
    source: dict[str, str]
    """The sha256 of the dataset file and its sidecar, by name."""
    paths: tuple[Path, ...]
    """Where those files are; none of a dataset that is in memory."""
    shown: str
    """The sha256 over all files that the selected cases show."""
    specs: Mapping[str, TargetSpec]
    rubric: Rubric | None
    retry: RetryPolicy
    slices: tuple[str, ...]
    outlook: Outlook
    kept: Sequence[Planned] | None = None
    """All records, of a dataset that is small enough."""

    def records(self) -> Iterator[Planned]:
        """Every selected record, in dataset order."""
        if self.kept is not None:
            yield from self.kept
            return
        for row, case in selected(self.reading, self.options):
            graded = _grading(case, self.rubric, self.options) if case else None
            yield Planned(row, case, graded)

    @property
    def concurrency(self) -> int:
        """Calls at once: the option, or what the targets allow."""
        allowed = max((spec.max_concurrency for spec in self.specs.values()), default=1)
        return self.options.max_concurrency or allowed

    @property
    def limits(self) -> dict[str, int]:
        """Calls at once that one target of several allows, unless the option says otherwise."""
        if self.options.max_concurrency or len(self.specs) == 1:
            return {}
        return {name: spec.max_concurrency for name, spec in self.specs.items()}

    def target_of(self, case: Case) -> str:
        """The name of the target that answers a case."""
        return _target_name(self.options, self.specs, case)


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


def prepare(door: RunDoor, options: RunOptions) -> Prepared:
    """Check everything that can be checked before the first call."""
    source = open_source(door, options)
    rubric = door.rubric(options.rubric) if options.rubric else None
    if rubric and options.pass_threshold is not None:
        rubric = replace(rubric, pass_threshold=options.pass_threshold)
    return prepare_source(door, options, source, rubric, {})


def open_source(door: RunDoor, options: RunOptions) -> Source:
    """The dataset file of a run with its sidecar, whose faults as a whole stop it."""
    path = door.root / options.dataset
    if not door.workspace.is_file(path):
        raise UsageError(f"no such file: {options.dataset}")
    opened = open_dataset(door.workspace, path)
    if opened.reading is None:
        raise UsageError(f"{options.dataset}: {opened.findings[0].message}")
    paths = [path]
    if opened.sidecar and opened.sidecar.is_found:
        paths.append(opened.sidecar.path)
        _refuse(opened.sidecar.path.name, opened.sidecar.findings, strict=options.strict)
    return Source(
        name=str(options.dataset),
        reading=opened.reading,
        contract=cast(str, opened.contract),
        digests={found.name: door.digest(found) for found in paths},
        paths=tuple(paths),
        size=sum(door.workspace.size(found) for found in paths),
    )


def prepare_source(
    door: RunDoor,
    options: RunOptions,
    source: Source,
    rubric: Rubric | None,
    specs: Mapping[str, TargetSpec],
) -> Prepared:
    """The same for records that are open already, with targets that are known already."""
    _refuse(source.name, source.reading.findings, strict=options.strict)
    survey = _Survey(door, options, source.reading, rubric, dict(specs))
    if source.size > KEPT_BYTES:
        survey.kept = None
    survey.look()
    for spec in survey.specs.values():
        _warn_of_short_secrets(spec)
    for name in unused_settings(door.settings):
        _log.warning("steelyard.yaml: this version does not use '%s' yet", name)
    return Prepared(
        options=options,
        reading=source.reading,
        dataset=source.reading.dataset(()),
        contract=source.contract,
        source=source.digests,
        paths=source.paths,
        shown=survey.shown.hexdigest(),
        specs=survey.specs,
        rubric=rubric,
        retry=_retry(door.settings),
        slices=_slices(door.settings),
        outlook=survey.outlook,
        kept=survey.kept,
    )


def unused_settings(settings: Settings) -> list[str]:
    """Settings that a user may count on and that runs do not heed yet."""
    names = [name for name in _UNUSED if name in settings.values]
    return [*names, "store"] if settings.values.get("store", "sqlite") != "sqlite" else names


def _refuse(name: str, findings: Sequence[Finding], *, strict: bool) -> None:
    """What is wrong with a file as a whole stops a run."""
    for finding in findings:
        if finding.is_error or (strict and finding.strict().is_error):
            hint = f" ({finding.hint})" if finding.hint else ""
            raise UsageError(f"{name}: {finding.message}{hint}")


class _Survey:
    """One pass over the records: what would be asked, and whether it can be."""

    def __init__(
        self,
        door: RunDoor,
        options: RunOptions,
        reading: DatasetReading,
        rubric: Rubric | None,
        specs: dict[str, TargetSpec],
    ) -> None:
        self._door = door
        self._options = options
        self._reading = reading
        self._rubric = rubric
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
        for row, case in selected(self._reading, self._options, rows):
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
            _log.warning(
                "%s: %d more warning(s); validate lists them", self._options.dataset, more
            )
        self._check_counts()
        self._check_gaps()

    def _watched(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows; one that spoils the whole file ends the survey."""
        for row in rows:
            if self._reading.is_spoiled:
                raise UsageError(f"{self._options.dataset}: {row.findings[0].message}")
            yield row

    def _check_counts(self) -> None:
        outlook, name = self.outlook, self._options.dataset
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
            if self._options.strict and finding.strict().is_error:
                raise UsageError(f"{self._options.dataset}{place}: strict: {message}{hint}")
            if not finding.is_error:
                self._warnings += 1
                if self._warnings <= _SHOWN_WARNINGS:
                    _log.warning("%s%s: %s%s", self._options.dataset, place, message, hint)

    def _look_at(self, case: Case) -> Rubric | NothingGrades:
        outlook, repeats = self.outlook, self._options.repeat
        graded = _grading(case, self._rubric, self._options)
        if isinstance(graded, NothingGrades):
            outlook.skipped += 1
            return graded
        spec = self._spec(_target_name(self._options, self.specs, case))
        outlook.targets[spec.name] = outlook.targets.get(spec.name, 0) + repeats
        outlook.calls += repeats
        if spec.covers:
            self._look_for_gaps(spec.name, spec.covers, case)
        if hashes := file_hashes(case):
            self.shown.update(json.dumps([case.id, hashes], sort_keys=True).encode("ascii"))
            self.kept = None  # the texts of files are not in the size of the dataset
        said = sum(len(message.text) for message in case.input_messages) + len(case.context)
        tokens = said // _CHARACTERS_A_TOKEN * repeats
        outlook.input_tokens += tokens
        if spec.price:
            outlook.cost_usd = (outlook.cost_usd or 0.0) + tokens * spec.price[0] / 1_000_000
        return graded

    def _look_for_gaps(self, name: str, covers: Callable[[Case, int], bool], case: Case) -> None:
        for repeat in range(self._options.repeat):
            if not covers(case, repeat):
                self._gap_count += 1
                if len(self._gaps) < _SHOWN_GAPS:
                    shown = f" repeat {repeat}" if repeat else ""
                    self._gaps.append(f"{case.id} × {name}{shown}")

    def _spec(self, name: str) -> TargetSpec:
        if name not in self.specs:
            self.specs[name] = self._door.target(name)
        return self.specs[name]

    def _check_gaps(self) -> None:
        if not self._gaps:
            return
        more = self._gap_count - len(self._gaps)
        rest = f", and {more} more" if more else ""
        what = "assistant message" if self._options.from_conversation else "recorded response"
        raise ConfigError(
            f"{self._gap_count} selected pair(s) have no {what}: {', '.join(self._gaps)}{rest}"
        )


def _target_name(options: RunOptions, specs: Mapping[str, TargetSpec], case: Case) -> str:
    if options.responses or options.from_conversation:
        return next(iter(specs))
    return options.target or case.target or _DEFAULT_TARGET


def _grading(case: Case, rubric: Rubric | None, options: RunOptions) -> Rubric | NothingGrades:
    """The run's rubric, or what the case brings; a judge that is needed has no target yet."""
    threshold = options.pass_threshold
    graded = rubric or implicit_rubric(case, PASS_THRESHOLD if threshold is None else threshold)
    if isinstance(graded, NeedsJudge):
        raise UsageError(
            f"'{case.id}' needs a judge for {graded.what}, and no judge has a target: set "
            "judges.default.target in steelyard.yaml, or grade with --rubric"
        )
    return graded


def _warn_of_short_secrets(spec: TargetSpec) -> None:
    short = sum(not is_redacted(secret) for secret in spec.secrets)
    if short:
        _log.warning(
            "targets.%s: %d key(s) or header value(s) have fewer than %d characters and are not "
            "redacted",
            spec.name,
            short,
            MIN_SECRET,
        )


def _retry(settings: Settings) -> RetryPolicy:
    row = cast(JsonObject, settings.values.get("retry", {}))
    backoff = cast(list[float], row.get("backoff_s", [2.0, 6.0, 14.0]))
    return RetryPolicy(
        max_attempts=cast(int, row.get("max_attempts", 3)),
        backoff_s=tuple(float(wait) for wait in backoff),
        jitter=float(cast(float, row.get("jitter", 0.2))),
    )


def _slices(settings: Settings) -> tuple[str, ...]:
    named = settings.values.get("slices")
    return tuple(cast(list[str], named)) if isinstance(named, list) else _DEFAULT_SLICES
