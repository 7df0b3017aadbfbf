"""What a run would do, decided and checked before the first call."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.contracts.reading import DatasetReading, Rereadable, Row
from steelyard.engine.circuit import OUTAGE_S
from steelyard.engine.implicit import NothingGrades
from steelyard.engine.redaction import MIN_SECRET, is_redacted
from steelyard.engine.redaction_own import OwnPattern, RedactionRules
from steelyard.engine.retries import RetryPolicy
from steelyard.errors import ParseError, SourceError, UsageError
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.model.published import dataset_name
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.settings import Settings
from steelyard.usecases.derive import (
    dataset_of,
    only_derived,
    require_same_dataset,
)
from steelyard.usecases.grading_plan import GradingPlan
from steelyard.usecases.judge_plan import JudgePlan
from steelyard.usecases.open_dataset import no_such_file, open_dataset
from steelyard.usecases.pairwise import pairwise_rubric
from steelyard.usecases.published_datasets import Staged
from steelyard.usecases.record_selection import selected
from steelyard.usecases.referenced_rows import with_references
from steelyard.usecases.run_options import RunOptions
from steelyard.usecases.run_ports import WHOLE, Part, RunDoor, TargetSpec
from steelyard.usecases.sendable import refused
from steelyard.usecases.survey import Outlook, Planned, Source, Survey, target_name

KEPT_BYTES = 8 * 1024 * 1024
"""Datasets up to this size are read once, and their records kept from the plan to the run."""
_UNUSED = ("artifacts",)
_DEFAULT_SLICES = ("tags", "task_type")
_MISREAD = (ParseError, KeyError, TypeError, ValueError, AttributeError)
"""What reading a row ends in that is not what it was when it was checked."""
_log = logging.getLogger("steelyard")


class RunLimits(NamedTuple):
    """What ends a run before its last record."""

    budget_usd: float | None = None
    deadline_s: float | None = None
    outage_s: float = OUTAGE_S


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
    judges: JudgePlan
    """Which judges are asked, and through which targets."""
    grading: GradingPlan
    retry: RetryPolicy
    limits: RunLimits
    slices: tuple[str, ...]
    redacted: RedactionRules
    """The patterns that are replaced in everything that is written."""
    secrets: tuple[str, ...]
    """What is replaced there wherever it stands, beside the secrets of the targets asked."""
    outlook: Outlook
    kept: Sequence[Planned] | None = None
    """All records, of a dataset that is small enough."""
    part: Part = WHOLE
    is_sound: bool = False
    """Whether every row of the dataset is accepted, the ones that are not selected, too."""

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
                "file back and go on with: steelyard resume"
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


def prepare(door: RunDoor, options: RunOptions) -> Prepared:
    """Check everything that can be checked before the first call."""
    source = open_source(door, options)
    if options.derived and options.derived.against:
        # A validation says how well a judge passes and fails answers, and nothing of pairs.
        door = replace(door, validations=None)
    return prepare_source(door, options, source, _rubric(door, options), {})


def open_source(door: RunDoor, options: RunOptions) -> Source:
    """The dataset file of a run with its sidecar, whose faults as a whole stop it."""
    path, workspace, held = dataset_of(door.root, options), door.workspace, None
    if not workspace.is_file(path) and dataset_name(options.dataset.as_posix()):
        held = door.published(options.dataset.as_posix())
        path, workspace = held.path, Staged(workspace, held.files)
    if not workspace.is_file(path):
        raise no_such_file(path, options.dataset)
    opened = open_dataset(workspace, path, policies=door.policies)
    if opened.reading is None:
        raise UsageError(f"{options.dataset}: {opened.refusal}")
    paths = [path]
    if opened.sidecar and opened.sidecar.is_found:
        paths.append(opened.sidecar.path)
        _refuse(opened.sidecar.path.name, opened.sidecar.findings, strict=options.strict)
    stored = [held.files[found] for found in paths] if held else paths
    digests = {found.name: door.digest(at) for found, at in zip(paths, stored, strict=True)}
    if held and [at.name for at in stored] != list(digests.values()):
        raise UsageError(f"{options.dataset}: its content in the registry is damaged")
    require_same_dataset(options, path, digests)
    reading = with_references(opened.reading, lambda: door.references)
    return Source(
        name=str(options.dataset),
        reading=only_derived(reading, options, path),
        contract=cast(str, opened.contract),
        digests=digests,
        paths=tuple(stored),
        size=sum(workspace.size(found) for found in paths),
        version=held.published.version if held else None,
    )


def prepare_source(
    door: RunDoor,
    options: RunOptions,
    source: Source,
    rubric: Rubric | QuestionRubric | None,
    specs: Mapping[str, TargetSpec],
) -> Prepared:
    """The same for records that are open already, with targets that are known already."""
    _refuse(source.name, source.reading.findings, strict=options.strict)
    survey = Survey(door, options, source, rubric, dict(specs))
    if source.size > KEPT_BYTES or (source.paths and options.workers > 1):
        survey.kept = None  # other processes read their records themselves
    survey.look()
    survey.limit()
    # Canaries, which no file holds, repeat questions on purpose; of a run made of another run
    # that one has told.
    repeated = survey.duplicates.summary(survey.outlook.valid)
    if repeated and source.paths and not options.derived:
        _log.warning("%s: %s", source.name, repeated)
    for spec in {**survey.specs, **survey.judges.specs}.values():
        _warn_of_short_secrets(spec)
        if _limits(door.settings, options).budget_usd is not None:
            _warn_of_missing_price(spec)
    for name in unused_settings(door.settings):
        _log.warning("steelyard.yaml: this version does not use '%s' yet", name)
    return _prepared(door, source, survey)


def prepare_part(
    door: RunDoor,
    options: RunOptions,
    targets: Sequence[str],
    part: Part,
    judges: Sequence[str] = (),
    *,
    is_sound: bool = False,
) -> Prepared:
    """One process's part of a run that has been checked as a whole.

    The names of its targets are known, and of those through which judges are asked; and whether
    every row of its dataset was accepted.
    """
    source = open_source(door, options)
    survey = Survey(door, options, source, _rubric(door, options), {})
    for name in targets:
        survey.spec(name)
    for name in judges:
        survey.judges.add(name)
    survey.limit()
    survey.specs, survey.judges.specs = (
        {name: part.limited(spec) for name, spec in specs.items()}
        for specs in (survey.specs, survey.judges.specs)
    )
    survey.kept, survey.is_sound = None, is_sound
    made = _prepared(door, source, survey)
    limits = made.limits._replace(budget_usd=part.share(made.limits.budget_usd))
    return replace(made, part=part, limits=limits)


def _rubric(door: RunDoor, options: RunOptions) -> Rubric | QuestionRubric | None:
    """The one rubric of a run; None where cases name or bring what grades them."""
    if options.derived and options.derived.against:
        return pairwise_rubric(door, options)
    return door.rubric(options.rubric, options.strict) if options.rubric else None


def _prepared(door: RunDoor, source: Source, survey: Survey) -> Prepared:
    return Prepared(
        options=survey.options,
        reading=source.reading,
        dataset=_dataset(source),
        contract=source.contract,
        source=source.digests,
        paths=source.paths,
        shown=survey.shown.hexdigest(),
        specs=survey.specs,
        judges=survey.judges,
        grading=survey.grading,
        retry=_retry(door.settings),
        limits=_limits(door.settings, survey.options),
        slices=_slices(door.settings),
        redacted=redaction_rules(door.settings),
        secrets=door.secrets,
        outlook=survey.outlook,
        kept=survey.kept,
        is_sound=survey.is_sound,
    )


def _dataset(source: Source) -> Dataset:
    """The dataset with the version that it says, or else with the one it was published under."""
    dataset = source.reading.dataset(())
    return replace(dataset, version=dataset.version or source.version)


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


def _warn_of_missing_price(spec: TargetSpec) -> None:
    if spec.price is None and spec.response_source == "sampled":
        _log.warning(
            "targets.%s has no price, so that the budget does not count its calls", spec.name
        )


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


def _limits(settings: Settings, options: RunOptions) -> RunLimits:
    row = cast(dict[str, float], settings.values.get("limits", {}))
    budget = row.get("budget_usd") if options.budget_usd is None else options.budget_usd
    return RunLimits(budget, row.get("deadline_s"), row.get("outage_s", OUTAGE_S))


def _slices(settings: Settings) -> tuple[str, ...]:
    named = settings.values.get("slices")
    return tuple(cast(list[str], named)) if isinstance(named, list) else _DEFAULT_SLICES


def redaction_rules(settings: Settings) -> RedactionRules:
    """What a project never writes; a pattern of its own that is none is told at once."""
    rules = RedactionRules.of(cast(JsonObject, settings.values.get("redaction", {})))
    for name, pattern in rules.custom:
        OwnPattern(name, pattern)
    return rules
