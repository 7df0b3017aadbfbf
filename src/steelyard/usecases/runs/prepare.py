"""Plan and check a run before the first call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.engine.redaction.own_rules import OwnPattern
from steelyard.engine.redaction.redactor import is_redacted
from steelyard.errors import InvalidError, SourceError
from steelyard.execution.parts import Part
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding, RefusedFileError
from steelyard.model.published import dataset_name
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.model.upload import upload_of
from steelyard.ports import Warn
from steelyard.settings import MIN_SECRET, LimitSettings, RedactionRules, Settings
from steelyard.usecases.datasets.open_dataset import no_such_file, open_dataset
from steelyard.usecases.datasets.published_datasets import Staged
from steelyard.usecases.datasets.referenced_rows import with_references
from steelyard.usecases.runs.derived_runs import (
    dataset_of,
    invalid_results,
    only_derived,
    require_changes,
    require_same_dataset,
    unanswered_of,
    unread_before,
    warn_of_unanswered,
)
from steelyard.usecases.runs.kept_documents import rejected_records
from steelyard.usecases.runs.option_ranges import require_ranges
from steelyard.usecases.runs.pairwise import pairwise_rubric
from steelyard.usecases.runs.plan_builder import PlanBuilder, Source
from steelyard.usecases.runs.ports import RunPorts

UPLOADED = "dataset_document"
"""The contract of datasets that are posted."""
KEPT_BYTES = 160 * 1024 * 1024
"""Memory that records may take to be kept from the plan to the run, and read once."""


def prepare(ports: RunPorts, options: RunOptions) -> Prepared:
    """Check everything that can be checked before the first call."""
    require_ranges(options)
    ports = ports.gathering()
    source = open_source(ports, options)
    if source.unanswered:
        warn_of_unanswered(ports.warn, source.unanswered)
    if options.derived and options.derived.against:
        # A validation does not apply to pairwise judging.
        ports = ports.without_validations()
    prepared = prepare_source(ports, options, source, _rubric(ports, options), {})
    require_changes(options, prepared.forecast.valid)
    return prepared


def open_source(ports: RunPorts, options: RunOptions) -> Source:
    """Open the dataset file with its sidecar; errors of the whole file stop the run."""
    path, workspace, held = dataset_of(ports.root, options), ports.workspace, None
    if not workspace.is_file(path) and dataset_name(options.dataset.as_posix()):
        held = ports.published(options.dataset.as_posix(), ports.began_with)
        path, workspace = held.path, Staged(workspace, held.files)
    is_upload = upload_of(path) is not None
    if not workspace.is_file(path):
        raise _no_upload() if is_upload else no_such_file(path, options.dataset)
    kind = UPLOADED if is_upload else None
    opened = open_dataset(workspace, path, kind, contracts=ports.contracts)
    name = "the dataset" if is_upload else str(options.dataset)
    if opened.reading is None:
        raise RefusedFileError(f"{name}: {opened.refusal}", opened.findings)
    paths = [path]
    if opened.sidecar and opened.sidecar.is_found:
        paths.append(opened.sidecar.path)
        _refuse(opened.sidecar.path.name, opened.sidecar.findings, strict=options.strict)
    stored = [held.files[found] for found in paths] if held else paths
    digests = {found.name: ports.digest(at) for found, at in zip(paths, stored, strict=True)}
    if held and [at.name for at in stored] != list(digests.values()):
        raise InvalidError(f"{options.dataset}: its content in the registry is damaged")
    require_same_dataset(options, path, digests)
    _warn_of_rejected(ports, options)
    reading = with_references(opened.reading, lambda: ports.references)
    return Source(
        name=name,
        reading=only_derived(reading, options, path),
        contract=ports.contracts[opened.reading.contract],
        digests=digests,
        paths=tuple(stored),
        size=sum(workspace.size(found) for found in paths),
        version=held.published.version if held else None,
        unanswered=unanswered_of(options),
    )


def _warn_of_rejected(ports: RunPorts, options: RunOptions) -> None:
    """Say which records of a posted dataset a retry cannot read again."""
    derived = options.derived
    if derived and derived.how == "retry" and upload_of(options.dataset):
        rejected = rejected_records(derived)
        if rejected:
            ports.warn(f"{rejected:,} invalid record(s) of {derived.run_id} stay invalid")


def _no_upload() -> SourceError:
    return SourceError("the posted dataset is gone: it is kept for 7 days; post it again")


def prepare_source(
    ports: RunPorts,
    options: RunOptions,
    source: Source,
    rubric: Rubric | QuestionRubric | None,
    specs: Mapping[str, TargetSpec],
) -> Prepared:
    """The same for an open dataset with known targets."""
    _refuse(source.name, source.reading.findings, strict=options.strict)
    for finding in source.reading.findings if not options.derived else ():
        hint = f" ({finding.hint})" if finding.hint else ""
        ports.warn(f"{source.name}: {finding.message}{hint}")
    survey = PlanBuilder(ports, options, source, rubric, dict(specs))
    if source.paths:
        # Other processes read their records themselves.
        survey.keep_within(0 if options.workers > 1 else KEPT_BYTES)
    survey.look()
    survey.limit()
    # Canaries, which are in no file, repeat questions on purpose; the parent of a derived run
    # has already warned.
    repeated = survey.duplicates.summary(survey.forecast.valid)
    if repeated and source.paths and not options.derived:
        ports.warn(f"{source.name}: {repeated}")
    for spec in {**survey.specs, **survey.judges.specs}.values():
        _warn_of_short_secrets(spec, ports.warn)
        _warn_of_half_a_price(spec, ports.warn)
        if _limits(ports.settings, options).budget_usd is not None:
            _warn_of_missing_price(spec, ports.warn)
    return _prepared(ports, source, survey)


def prepare_part(
    ports: RunPorts,
    options: RunOptions,
    targets: Sequence[str],
    part: Part,
    judges: Sequence[str] = (),
    *,
    is_sound: bool = False,
) -> Prepared:
    """The part of one process, of a run that was checked as a whole.

    The names of its targets and judge targets are known, and whether every row of its dataset
    is valid.
    """
    source = open_source(ports, options)
    survey = PlanBuilder(ports, options, source, _rubric(ports, options), {})
    for name in targets:
        survey.spec(name)
    for name in judges:
        survey.judges.add(name)
    survey.limit()
    survey.specs, survey.judges.specs = (
        {name: limited(spec, part) for name, spec in specs.items()}
        for specs in (survey.specs, survey.judges.specs)
    )
    survey.kept, survey.is_sound = None, is_sound
    return replace(_prepared(ports, source, survey), part=part)


def limited(spec: TargetSpec, part: Part) -> TargetSpec:
    """A target with the calls at once that one process of several has at first."""
    return replace(spec, max_concurrency=part.concurrency(spec.max_concurrency))


def _rubric(ports: RunPorts, options: RunOptions) -> Rubric | QuestionRubric | None:
    """The rubric of a run; None if cases define their own."""
    if options.derived and options.derived.against:
        return pairwise_rubric(ports, options)
    return ports.rubric(options.rubric, strict=options.strict) if options.rubric else None


def _prepared(ports: RunPorts, source: Source, survey: PlanBuilder) -> Prepared:
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
        retry=ports.settings.retry,
        limits=_limits(ports.settings, survey.options),
        slices=ports.settings.slices,
        redacted=redaction_rules(ports.settings),
        secrets=ports.secrets,
        forecast=survey.forecast,
        kept=survey.kept,
        carried=invalid_results(survey.options, ports.settings.slices),
        no_answer=source.unanswered.of if source.unanswered else None,
        unread=unread_before(survey.options),
        is_sound=survey.is_sound,
        warnings=ports.gathered,
    )


def _dataset(source: Source) -> Dataset:
    """The dataset with its own version, or else its published version."""
    dataset = source.reading.dataset(())
    return replace(dataset, version=dataset.version or source.version)


def _refuse(name: str, findings: Sequence[Finding], *, strict: bool) -> None:
    """Stop if the file as a whole is invalid."""
    for finding in findings:
        if finding.is_error or (strict and finding.strict().is_error):
            hint = f" ({finding.hint})" if finding.hint else ""
            raise RefusedFileError(f"{name}: {finding.message}{hint}", findings)


def _warn_of_missing_price(spec: TargetSpec, warn: Warn) -> None:
    if spec.price is None and spec.response_source == "sampled":
        warn(f"targets.{spec.name} has no price, so that the budget does not count its calls")


def _warn_of_half_a_price(spec: TargetSpec, warn: Warn) -> None:
    if half := spec.unpriced:
        warn(
            f"targets.{spec.name}.price has no `{half}`, so that {half} tokens cost nothing here, "
            f"in a budget as well; add it, or write {half}: 0 if they are free"
        )


def _warn_of_short_secrets(spec: TargetSpec, warn: Warn) -> None:
    short = sum(not is_redacted(secret) for secret in spec.secrets)
    if short:
        warn(
            f"targets.{spec.name}: {short} key(s) or header value(s) have fewer than {MIN_SECRET} "
            "characters and are not redacted"
        )


def _limits(settings: Settings, options: RunOptions) -> LimitSettings:
    given = options.budget_usd
    return settings.limits if given is None else replace(settings.limits, budget_usd=given)


def redaction_rules(settings: Settings) -> RedactionRules:
    """The redaction of a project; an invalid custom pattern is an error."""
    for name, pattern in settings.redaction.custom:
        OwnPattern(name, pattern)
    return settings.redaction
