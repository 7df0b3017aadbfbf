"""Validate a judge: compare its verdicts with human labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from steelyard.contracts.judge.validation import MOST_FINGERPRINTS
from steelyard.errors import InvalidError, SteelyardError, argument
from steelyard.execution.evaluating import OnResult
from steelyard.execution.prepared import Prepared
from steelyard.judging.questions_asked import examples_of
from steelyard.model.audit import Caller
from steelyard.model.dataset import Dataset
from steelyard.model.definition import reference_to
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.labels.label import Design
from steelyard.model.reference import Reference, exact_name
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import CanaryTally, JudgeValidation, SplitChoice
from steelyard.ports import AuditLog
from steelyard.reports.judges.judge_rates import gate_text
from steelyard.reports.judges.judge_validation import JudgeValidationReport, Kept, RatedRun
from steelyard.reports.run.run_text import RunView
from steelyard.usecases.correction.correct_run import corrected_run
from steelyard.usecases.correction.validation_rules import is_too_small, shortage
from steelyard.usecases.correction.validations import Validations, fits
from steelyard.usecases.judges.judge_against_people import (
    AskedInstrument,
    ComparedLabels,
    compared,
)
from steelyard.usecases.judges.judge_bias import judge_bias
from steelyard.usecases.judges.judge_history import judge_history
from steelyard.usecases.judges.label_contradictions import contradictions
from steelyard.usecases.judges.label_sets import People, labels_of_file
from steelyard.usecases.judges.queue_people import (
    LabelChoice,
    people_of_file,
    people_of_project,
)
from steelyard.usecases.judges.validation_runs import (
    ValidationGrading,
    canary_tally,
    grading_of_run,
    labelled_cases,
    plan_asking,
    plan_canaries,
    single_grading,
)
from steelyard.usecases.judges.write_validation import writing_of
from steelyard.usecases.registry.load_definition import load_judge
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.review.labels import LabelReader
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.ports import RunPorts

_ANNOTATIONS = "annotations of the project"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRequest:
    """The options of a validation."""

    judge: str
    """A judge, or a rubric with a check that is validated as a whole."""
    labels: Path | None = None
    """A file of labels; without one, the annotations of the project."""
    runs: tuple[str, ...] = ()
    """The runs whose verdicts are compared."""
    dataset: Path | None = None
    responses: Path | None = None
    """The responses that the judge is asked about now, without a run."""
    check: str | None = None
    rubric: str | None = None
    """The rubric that people answered, if the labels are about several."""
    queue: str | None = None
    """The review queue whose labels are used; by default those of all."""
    design: Design | None = None
    split: SplitChoice = "test"
    seed: int = 0
    threshold: float | None = None
    has_canaries: bool = True
    is_written: bool = False
    fail_under: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPorts:
    """The ports of a validation."""

    run: RunPorts
    review: ReviewPorts
    validations: Validations
    audit: AuditLog
    open: Callable[[Path], BinaryIO]
    replace_file: Callable[[Path, bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPlan:
    """A validation that is ready to start."""

    request: ValidationRequest
    judge: Judge | None
    asked: AskedInstrument
    people: People
    folders: tuple[Path, ...]
    """The runs whose verdicts are compared; empty if the judge is asked now."""
    asking: Prepared | None = None
    """The run in which it is asked."""
    grading: ValidationGrading | None = None


def plan_validation(ports: ValidationPorts, request: ValidationRequest) -> ValidationPlan:
    """Check everything that can be checked before the judge is called."""
    if bool(request.dataset) != bool(request.responses):
        raise InvalidError(
            f"{argument('dataset')} and {argument('responses')} go together: "
            "what is judged, and what on"
        )
    if request.runs and request.dataset:
        raise InvalidError(
            f"{argument('runs')} compares verdicts that are there; leave out {argument('dataset')}"
        )
    judge = None if _is_rubric(request) else load_judge(ports.run.references, request.judge)
    named = _rubric_name(ports, request.judge) if judge is None else judge.name
    if request.is_written:
        writing_of(ports.run.references, judge, request.judge)
    folders = [ports.review.run_folder(name) for name in request.runs]
    reader = LabelReader(ports.review, request.runs[0] if len(request.runs) == 1 else None)
    people = _people(ports, request, reader)
    plan = ValidationPlan(
        request=request,
        judge=judge,
        asked=AskedInstrument(
            judge=named,
            check=request.check,
            design=request.design,
            split=request.split,
            seed=request.seed,
            examples=tuple(one.id for one in examples_of(judge)) if judge else (),
            source=str(request.labels) if request.labels else _ANNOTATIONS,
            queue=request.queue or "",
            is_asked_now=request.dataset is not None,
        ),
        people=people,
        folders=tuple(folders),
    )
    if request.dataset and request.responses:
        return _asking_now(ports, plan, request.dataset, request.responses)
    plan = plan if folders else replace(plan, folders=tuple(_labelled_runs(ports, people)))
    if judge is None:
        _require_graded_by(named, plan.folders)
    if request.rubric is None:
        _require_same_question(plan)
    return plan


def _is_rubric(request: ValidationRequest) -> bool:
    return request.judge.startswith("rubric/")


def _rubric_name(ports: ValidationPorts, text: str) -> str:
    """A rubric as runs name it; a deleted one may still have graded a run."""
    reference = Reference.parse(text)
    found = ports.run.references.find(reference).content if reference else None
    return str(reference_to(found)) if found else exact_name(text)


def _require_graded_by(rubric: str, folders: Sequence[Path]) -> None:
    """Refuse a run that another rubric graded."""
    for folder in folders:
        run_id, by = _graded_by(folder)
        if rubric not in by:
            graded = ", ".join(by) or "no rubric"
            raise InvalidError(f"{run_id} was not graded by {rubric}, but by {graded}")


def _graded_by(folder: Path) -> tuple[str, list[str]]:
    manifest = read_run(folder).manifest
    return manifest.run_id, [one.rubric for one in manifest.setup.rubrics]


def _require_same_question(plan: ValidationPlan) -> None:
    """Refuse labels of another rubric than graded the run, unless the user names it.

    Plain labels may name the rubric, the judge or the check.
    """
    asked = plan.people.rubric
    if not asked or asked in {plan.request.check, plan.judge and plan.judge.id}:
        return
    for folder in plan.folders:
        run_id, by = _graded_by(folder)
        if by and not {asked, f"rubric/{asked}"} & {*by, *(one.partition("@")[0] for one in by)}:
            raise InvalidError(
                f"the labels are about '{asked}', and {run_id} was graded by {', '.join(by)}: "
                f"pass {argument('rubric')} {asked} if people were asked what the judge is asked"
            )


def _people(ports: ValidationPorts, request: ValidationRequest, reader: LabelReader) -> People:
    choice = LabelChoice(request.queue, request.rubric)
    if request.labels is None:
        return people_of_project(ports.review.annotations, reader.rubrics, choice)
    with ports.open(request.labels) as stream:
        labels = labels_of_file(reader, stream, request.labels)
    return people_of_file(labels, reader.rubrics, choice)


def _labelled_runs(ports: ValidationPorts, people: People) -> list[Path]:
    """The runs named by the labels."""
    names = sorted({place.run_id for place in people.by_response if place.run_id})
    if not names:
        raise InvalidError(
            f"say whose verdicts are compared: {argument('runs')} RUN, or {argument('dataset')} "
            f"and {argument('responses')} to ask the judge now"
        )
    return [ports.review.known_run(name) for name in names]


def _asking_now(
    ports: ValidationPorts, plan: ValidationPlan, dataset: Path, responses: Path
) -> ValidationPlan:
    request = plan.request
    if plan.judge is None:
        grading = ValidationGrading(ports.run.rubric(request.judge, strict=False))
    else:
        grading = single_grading(ports.run, plan.judge, request.check, request.threshold)
    records = {place.record_id for place in plan.people.by_response}
    asking = plan_asking(ports.run, dataset, responses, grading, records)
    return replace(plan, asking=asking, grading=grading)


async def validate_judge(
    ports: ValidationPorts,
    plan: ValidationPlan,
    on_start: Callable[[str], None],
    on_result: OnResult,
    *,
    caller: Caller | None = None,
) -> JudgeValidationReport:
    """Ask the judge if needed, compare, try canaries, and record the result."""
    ports = replace(ports, run=ports.run.called_by(caller))
    folders = plan.folders
    if plan.asking:
        folders = (await _resolved(ports.run, plan.asking, on_start, on_result),)
    request, at = plan.request, ports.run.clock.stamp()
    found = compared(plan.asked, plan.people, folders, at)
    against = contradictions(found, folders, is_asked_now=plan.asked.is_asked_now)
    found = found._replace(refusals=(*found.refusals, *against))
    is_test = request.split != "dev" and _has_looked(found.validation)
    reads = ports.validations.read_test(plan.asked.judge, at) if is_test else None
    notes: list[str] = []
    labelled = _cases(ports.run, found, notes)
    tally = await _canaries(ports.run, plan, found, labelled, (on_start, on_result))
    validation = replace(
        found.validation,
        canaries=tally,
        applicable_to=_bundles(labelled),
        refusals=found.refusals,
    )
    report = JudgeValidationReport(
        validation=validation,
        check=found.check,
        labels=plan.people.labels,
        splits=found.splits,
        refusals=found.refusals,
        jury=found.jury,
        bias=judge_bias(validation.items, folders),
        failed_gate=_gate(validation, request.fail_under),
        test_reads=reads,
        notes=tuple(notes),
    )
    return _concluded(ports, plan, report, folders)


def _concluded(
    ports: ValidationPorts,
    plan: ValidationPlan,
    report: JudgeValidationReport,
    folders: Sequence[Path],
) -> JudgeValidationReport:
    """Record a validation or refusal, and report its effect on the runs."""
    validation, lack = report.validation, shortage(report.validation)
    earlier = ports.validations.all()
    kept: Kept = "not recorded"
    written = ""
    is_kept = _has_looked(validation) and not (report.refusals and is_too_small(validation))
    if plan.request.split != "dev" and is_kept:
        word: Kept = "refusal recorded" if report.refusals else "recorded"
        kept = word if ports.validations.add(validation) else "unchanged"
        if plan.request.is_written and not report.refusals and not lack:
            writing = writing_of(ports.run.references, plan.judge, plan.request.judge)
            ports.replace_file(writing.path, writing.with_validation(validation))
            written = writing.shown
        detail: JsonObject = {"kept": kept, "written": written or None}
        ports.audit.add(ports.run.entry("validate_judge", plan.asked.judge, **detail))
    notes = list(report.notes)
    if lack and not report.refusals and kept != "not recorded":
        unwritten = ", and it is not written into the judge's file" * plan.request.is_written
        notes.append(f"{lack}; a run that requires validated judges does not take it{unwritten}")
    if written and len(validation.fingerprints) > MOST_FINGERPRINTS:
        notes.append(
            f"the judge asks {len(validation.fingerprints):,} different things, too many for its "
            "file: the registry alone knows which"
        )
    now = ports.run.clock.now()
    runs = [
        RatedRun(
            run_id=view.run_id,
            raw=_raw_rate(view, report.check),
            corrected=correction.checks.get(report.check) if correction else None,
        )
        for folder in folders
        for view, correction in [
            (read_run(folder), corrected_run(folder, [validation], now, earlier))
        ]
    ]
    is_shown = not report.refusals and not plan.asking
    return replace(
        report,
        kept=kept,
        written=written,
        notes=tuple(notes),
        runs=tuple(runs) if is_shown else (),
        history=tuple(judge_history(ports.run, validation.fingerprints, report.check)),
        earlier=tuple(
            one for one in earlier if fits(one, validation.fingerprints, validation.rule)
        ),
    )


async def _resolved(
    ports: RunPorts, prepared: Prepared, on_start: Callable[[str], None], on_result: OnResult
) -> Path:
    run = await start_run(ports.without_validations(), prepared, on_start, on_result)
    return Path(run.folder)


def _cases(ports: RunPorts, found: ComparedLabels, notes: list[str]) -> Dataset | None:
    """The labelled cases whose datasets are unchanged."""
    whole: Dataset | None = None
    for folder, indices in found.places.items():
        try:
            cases = labelled_cases(ports, folder, indices)
        except SteelyardError as error:
            notes.append(f"{error}: what the judge applies to is not known")
            continue
        whole = cases if whole is None else replace(whole, cases=(*whole.cases, *cases.cases))
    return whole


def _bundles(labelled: Dataset | None) -> tuple[str, ...] | None:
    """The domains of the labels."""
    names = {case.bundle for case in labelled.cases if case.bundle} if labelled else set[str]()
    return tuple(sorted(names)) or None


async def _canaries(
    ports: RunPorts,
    plan: ValidationPlan,
    found: ComparedLabels,
    labelled: Dataset | None,
    watch: tuple[Callable[[str], None], OnResult],
) -> CanaryTally:
    """How the judge grades answers that it must fail; or why it was not asked."""
    if not plan.request.has_canaries:
        return CanaryTally(why_not="left out as requested")
    if found.refusals or labelled is None or not labelled.cases:
        return CanaryTally(why_not="there is no case to try them on")
    try:
        grading = plan.grading or grading_of_run(ports, next(iter(found.places)))
        prepared = plan_canaries(ports, labelled, grading)
    except SteelyardError as error:
        return CanaryTally(why_not=str(error))
    return canary_tally(await _resolved(ports, prepared, *watch), found.check)


def _raw_rate(view: RunView, check: str) -> Interval:
    """The pass rate of the validated check; for one in a composite, that of the run."""
    return view.metrics.checks.get(check, view.metrics).pass_rate


def _has_looked(validation: JudgeValidation) -> bool:
    """Whether any label was compared with a verdict."""
    return bool(validation.counts.n + validation.left_out.unscored)


def _gate(validation: JudgeValidation, least: float | None) -> str:
    return "" if least is None else gate_text(validation, least)
