"""A validation of a judge, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias, cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.judge_bias import CovariateBias
from steelyard.model.statistics.validation import (
    JudgeValidation,
    JuryCounts,
    LeftOut,
    SliceCounts,
)
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.judges.correction import (
    corrected_text,
    drift_text,
    needed_text,
)
from steelyard.reports.judges.judge_bias import bias_json, bias_lines
from steelyard.reports.judges.judge_history import earlier_lines, earlier_row, history_lines
from steelyard.reports.judges.judge_rates import (
    about_rates,
    interval_row,
    rate,
    rate_lines,
    rates_json,
)
from steelyard.reports.judges.jury import jury_json, jury_lines
from steelyard.reports.numbers import count, rate_text, share_text
from steelyard.stats.confusion import Rates, differing_rates, pooled_rates, rates_of

Kept: TypeAlias = Literal["recorded", "refusal recorded", "unchanged", "not recorded"]
_SHOWN_SLICES = 5
_FEW = 5
"""Minimum number of good and of bad answers for the rates of a slice."""
_LEFT_OUT = {
    "not_blind": "not blind",
    "other_rubrics": "of other rubrics",
    "other_content": "given under other content of the rubric",
    "other_queues": "given in another queue",
    "picked": "of records picked without chance",
    "other_runs": "of other runs",
    "no_run": "that name no run",
    "no_pass": "without a pass or fail",
}
_ITEMS_OUT = {
    "other_splits": "in other splits",
    "ties": "with tied labels",
    "without_judgement": "without a verdict of the judge",
    "unscored": "unscored by the judge",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRun:
    """A labelled run: its raw pass rate, and the corrected one."""

    run_id: str
    raw: Interval
    corrected: CorrectedRate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeValidationReport:
    """The result of a validation."""

    validation: JudgeValidation
    check: str
    labels: int
    """Number of labels."""
    splits: dict[str, int]
    refusals: tuple[str, ...] = ()
    """Why the validation is refused."""
    failed_gate: str = ""
    """The gate that its lower bounds fail, if one was set."""
    test_reads: int | None = None
    """How often test labels were read for this judge; None if not this time."""
    jury: JuryCounts | None = None
    """Each juror separately, for a jury."""
    bias: tuple[CovariateBias, ...] = ()
    kept: Kept = "not recorded"
    runs: tuple[RatedRun, ...] = ()
    history: tuple[JsonObject, ...] = ()
    """The runs graded by the judge, oldest first."""
    earlier: tuple[JudgeValidation, ...] = ()
    """Earlier validations in the registry, oldest first."""
    written: str = ""
    """The judge's file, if the validation was written to it."""
    notes: tuple[str, ...] = ()

    @property
    def queue_labels(self) -> int:
        """Those of the queue, where the labels of one are used."""
        return self.labels - self.validation.left_out.other_queues

    @property
    def is_good(self) -> bool:
        """Whether the validation is neither refused nor fails its gate."""
        return not self.refusals and not self.failed_gate


def validation_lines(report: JudgeValidationReport, paint: Paint = plain) -> Iterator[str]:
    """The report, line by line."""
    found = report.validation
    yield f"{paint(printable(found.judge), 'title')} against {_people(found)}"
    yield f"  labels     {_labels(report)}"
    yield f"  split      {_split(report)}"
    yield from rate_lines(found)
    if report.jury:
        yield from jury_lines(report.jury)
        if about_rates(found):
            yield "             juror rates are of the labelled sample, unweighted"
    yield from bias_lines(report.bias)
    yield from _slice_lines(found)
    yield f"  canaries   {_canaries(found)}"
    yield f"  judge      {_instrument(found)}"
    if found.applicable_to is not None:
        yield f"  applies to {printable(', '.join(found.applicable_to))}"
    yield f"  design     {_design(found)}"
    for run in report.runs:
        yield from _run_lines(run)
    yield from history_lines(report.history, paint)
    yield from earlier_lines(report.earlier)
    yield from _conclusion(report, paint)


def _conclusion(report: JudgeValidationReport, paint: Paint) -> Iterator[str]:
    for note in report.notes:
        yield f"  {paint('note', 'warning')}       {printable(note)}"
    for refusal in report.refusals:
        yield f"  {paint('refused', 'error')}    {printable(refusal)}"
    if report.failed_gate:
        yield f"  {paint('too low', 'error')}    {report.failed_gate}"
    yield f"  {_kept(report)}"


def validation_json(report: JudgeValidationReport) -> JsonObject:
    """The report as one JSON object."""
    found = report.validation
    row: JsonObject = {
        "judge": found.judge,
        "check": report.check,
        "valid": report.is_good,
        "refusals": list(report.refusals),
        "failed_gate": report.failed_gate or None,
        **rates_json(found),
        **cast(JsonObject, asdict(found.counts)),
        "sample_size": found.counts.n,
        "labels": report.labels,
        "left_out": cast(JsonObject, asdict(found.left_out)),
        "annotators": found.annotators,
        "rubric": found.rubric,
        "splits": cast(JsonObject, dict(report.splits)),
        "split": found.split,
        "seed": found.seed,
        "test_reads": report.test_reads,
        "design": found.design,
        "label_set_sha256": found.label_set_sha256,
        "validated_against": found.validated_against,
        "queue_id": found.queue_id or None,
        "validated_at": found.validated_at,
        "fingerprints": list(found.fingerprints),
        "rule": found.rule,
        "applicable_to": None if found.applicable_to is None else list(found.applicable_to),
        "canaries": {
            **cast(JsonObject, asdict(found.canaries)),
            "false_pass_rate": found.canaries.rate,
        },
        "jury": jury_json(report.jury) if report.jury else None,
        "bias": cast("list[JsonValue]", bias_json(report.bias)),
        "slices": [_slice_row(found, one) for one in found.slices],
        "runs": [cast(JsonObject, asdict(run)) for run in report.runs],
        "history": list(report.history),
        "earlier_validations": [earlier_row(one) for one in report.earlier],
        "kept": report.kept,
        "written": report.written or None,
        "notes": list(report.notes),
    }
    return row


def _people(found: JudgeValidation) -> str:
    people = "one person" if found.annotators == 1 else f"{count(found.annotators)} people"
    asked = f" about {printable(found.rubric)}" if found.rubric else ""
    queue = f", {printable(found.queue_id)}" if found.queue_id else ""
    return f"{people}{asked} ({printable(found.validated_against)}{queue})"


def queue_lines(report: JudgeValidationReport) -> tuple[str, str]:
    """The labels of a queue and the splits of its items, each with what is left out."""
    own = replace(report.validation.left_out, other_queues=0)
    return f"{count(report.queue_labels)} labels{_labels_out(own)}", _split(report)


def _labels(report: JudgeValidationReport) -> str:
    return f"{count(report.labels)} in all{_labels_out(report.validation.left_out)}"


def _labels_out(left: LeftOut) -> str:
    out = [
        f"{count(number)} {word}"
        for name, word in _LEFT_OUT.items()
        if (number := cast(int, getattr(left, name)))
    ]
    return f", left out: {', '.join(out)}" if out else ""


def _split(report: JudgeValidationReport) -> str:
    found = report.validation
    names = ("train", "dev", "test")
    sizes = ", ".join(f"{count(report.splits.get(name, 0))} {name}" for name in names)
    out = [
        f"{count(number)} {word}"
        for name, word in _ITEMS_OUT.items()
        if (number := cast(int, getattr(found.left_out, name)))
    ]
    rest = f"; left out: {', '.join(out)}" if out else ""
    reads = ""
    if report.test_reads is not None:
        times = "once" if report.test_reads == 1 else f"{count(report.test_reads)} times"
        reads = f"; test labels were read {times} for this judge"
    return f"{found.split}: {count(found.counts.n)} responses ({sizes}){rest}{reads}"


def _slice_rates(found: JudgeValidation, one: SliceCounts) -> Rates:
    """TPR and TNR within a slice; labels of one conversation are not independent."""
    items = [item for item in found.items if (one.slice, one.value) in item.slices]
    return pooled_rates(replace(found, items=tuple(items))) if items else rates_of(one.counts)


def _slice_lines(validation: JudgeValidation) -> Iterator[str]:
    """The slices with the lowest TPR or TNR, among those with enough good and bad answers."""
    if differing_rates(validation):
        return
    rated: list[tuple[float, SliceCounts]] = []
    for one in validation.slices:
        cells = one.counts
        if cells.tp + cells.fn >= _FEW and cells.tn + cells.fp >= _FEW:
            found = _slice_rates(validation, one)
            rated.append((min(cast(float, found.tpr.value), cast(float, found.tnr.value)), one))
    rated.sort(key=lambda entry: entry[0])
    for _, one in rated[:_SHOWN_SLICES]:
        found = _slice_rates(validation, one)
        name = printable(f"{one.slice} = {one.value}")
        yield (
            f"  slice      {name}  TPR {rate(found.tpr)} ({share_text(found.tpr)}), "
            f"TNR {rate(found.tnr)} ({share_text(found.tnr)})  n = {count(one.counts.n)}"
        )


def _slice_row(validation: JudgeValidation, one: SliceCounts) -> JsonObject:
    found = _slice_rates(validation, one)
    return {
        "slice": one.slice,
        "value": one.value,
        **cast(JsonObject, asdict(one.counts)),
        "tpr": interval_row(found.tpr),
        "tnr": interval_row(found.tnr),
    }


def _canaries(found: JudgeValidation) -> str:
    tally = found.canaries
    if not tally.asked:
        return f"not tested: {printable(tally.why_not)}"
    scored = tally.asked - tally.unscored
    if not scored:
        return f"none of {count(tally.asked)} has a score"
    text = f"the judge passes {count(tally.passed)} of {count(scored)} answers that it must fail"
    which = f": {', '.join(tally.passed_ids)}" if tally.passed_ids else ""
    rest = f"; {count(tally.unscored)} unscored" if tally.unscored else ""
    return f"{text}{which}{rest}"


def _instrument(found: JudgeValidation) -> str:
    marks = found.fingerprints
    first = marks[0][:12] if marks else "–"
    more = f" and {count(len(marks) - 1)} more" if len(marks) > 1 else ""
    return f"fingerprint {first}{more}, {printable(found.rule)}"


def _design(found: JudgeValidation) -> str:
    """The sampling design, and its consequence for corrected rates."""
    both = "labels correct the pass rate of their own run; TPR and TNR correct that of others"
    if found.has_weights and found.design == "by_verdict":
        return f"by_verdict, with known inclusion probabilities: {both}"
    if found.has_weights and found.design != "by_label":
        return f"known inclusion probabilities: {both}"
    return {
        "random": f"random: {both}",
        "by_label": "by_label: TPR and TNR correct pass rates (Rogan–Gladen)",
        "by_verdict": "by_verdict: pass rates stay uncorrected without inclusion probabilities",
        None: "unknown: pass rates stay uncorrected, and TPR and TNR reach no bound",
    }[found.design]


def _run_lines(run: RatedRun) -> Iterator[str]:
    yield f"  {run.run_id}  pass rate {rate_text(run.raw)}"
    if run.corrected:
        word = "corrected" if run.corrected.is_corrected else "uncorrected:"
        yield f"             {word} {corrected_text(run.corrected)}"
        if run.corrected.is_corrected:
            yield f"             {needed_text(run.corrected)}"
            if drift := drift_text(run.corrected):
                yield f"             {drift}"


def _kept(report: JudgeValidationReport) -> str:
    if report.kept == "unchanged":
        text = "the same validation is already recorded"
    elif report.kept == "recorded":
        text = "recorded in the registry"
    elif report.kept == "refusal recorded":
        text = "the refusal is recorded in the registry; no rate is corrected by this judge until "
        text += "a newer validation succeeds"
    elif report.refusals:
        text = "not recorded"
    else:
        text = "not recorded: dev labels are for tuning; use --split test"
    return f"{text}, and written into {printable(report.written)}" if report.written else text
