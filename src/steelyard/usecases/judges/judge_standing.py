"""How far a judge can be relied on today: its validations, and how it was asked since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from steelyard.contracts.judge.reader import time_of
from steelyard.errors import RequestError
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric
from steelyard.model.statistics.judge_bias import CovariateBias
from steelyard.model.statistics.validation import JudgeValidation, LabelledItem
from steelyard.results.metrics import Interval
from steelyard.results.predictions import PREDICTIONS
from steelyard.stats.confusion import Rates, known_rates
from steelyard.usecases.correction.validation_rules import refusal_of, shortage
from steelyard.usecases.judges.judge_bias import judge_bias
from steelyard.usecases.judges.judge_history import judge_history
from steelyard.usecases.registry.references import age_of, is_ahead, is_stale, references_in
from steelyard.usecases.results.graded_runs import GradedRun, graded_runs
from steelyard.usecases.runs.ports import RunPorts

State: TypeAlias = Literal["validated", "stale", "refused", "too few labels", "never validated"]
Cell: TypeAlias = Literal["tp", "fn", "tn", "fp"]
MOST_BYTES = 20_000_000
"""Larger runs are not read to measure bias, unless that is asked for."""
_JUDGED = ("llm_judge", "questionnaire")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStanding:
    """Whether a judge counts as validated, and why not."""

    state: State
    reasons: tuple[str, ...] = ()
    newest: JudgeValidation | None = None
    rates: Rates | None = None
    days: int | None = None
    """How old the newest validation is."""

    @property
    def low_rates(self) -> tuple[str, ...]:
        """The names of those rates in which the judge is wrong more often than right."""
        named = zip(("TPR", "TNR"), self.rates or (), strict=False)
        return tuple(name for name, one in named if one.value is not None and one.value < 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckHistory:
    """The runs in which a judge decided one check, oldest first."""

    check: str
    rows: tuple[tuple[JsonObject, Interval], ...]
    """What `judge_history` says of each run, with the check's pass rate there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasReport:
    """What was measured of a judge's errors, or why nothing was."""

    found: tuple[CovariateBias, ...] = ()
    why_not: str = ""
    is_large: bool = False
    """Whether it was left out because the runs are large."""


def validations_of(judge: str, known: Iterable[JudgeValidation]) -> list[JudgeValidation]:
    """The validations of a judge in any version, oldest first; a judge by its reference."""
    name = judge.partition("@")[0]
    return [one for one in known if one.judge.partition("@")[0] == name]


def standing_of(
    judge: Judge,
    known: Iterable[JudgeValidation],
    now: datetime,
    asked: frozenset[str],
    current: frozenset[str] = frozenset(),
) -> JudgeStanding:
    """What the newest validation of a version says today.

    A validation of another template, question or model says nothing of a judge: `current` is how
    it would be asked today, and `asked`, where that is not known, how its newest run asked it.
    """
    own = [one for one in known if one.judge == judge.name]
    if not own:
        return JudgeStanding(state="never validated", reasons=_claim(judge))
    newest = own[-1]
    if current:
        if not current & set(newest.fingerprints):
            return JudgeStanding(
                state="never validated", reasons=(_changed(judge.name, newest),), newest=newest
            )
        asked = frozenset()
    old = list(_staleness(judge.name, newest, now, asked))
    state: State = "stale" if old else "validated"
    reasons = tuple(old)
    if why := refusal_of(newest):
        state, reasons = "refused", (why, *old)
    elif lack := shortage(newest):
        state, reasons = "too few labels", (lack, *old)
    return JudgeStanding(
        state=state,
        reasons=reasons,
        newest=newest,
        rates=known_rates(newest),
        days=(now - time_of(newest.validated_at)).days,
    )


def _changed(name: str, newest: JudgeValidation) -> str:
    return (
        f"{name}, as it is now, has never been validated: its template, questions, model, "
        f"sampling or recorded replies changed since {newest.validated_at[:10]}; TPR and TNR of "
        "that day are those of another instrument"
    )


def _claim(judge: Judge) -> tuple[str, ...]:
    """What the judge's file says of a validation that the project has no record of."""
    claimed = judge.validation
    if claimed is None or claimed.validated_at is None:
        return ()
    rates = [
        f"{name} {value:.2f}"
        for name, value in (("TPR", claimed.tpr), ("TNR", claimed.tnr))
        if value is not None
    ]
    if rates:
        number = claimed.sample_size
        rates.append("number of labels not stated" if number is None else f"{number:,} labels")
    day = claimed.validated_at[:10]
    said = f" ({', '.join(rates)})" if rates else ""
    return (
        f"its file says that it was validated on {day}{said}; the labels behind that are not here",
    )


def _staleness(
    name: str, newest: JudgeValidation, now: datetime, asked: frozenset[str]
) -> Iterator[str]:
    if is_ahead(newest.validated_at, now):
        yield f"{name} was validated in the future ({newest.validated_at[:10]})"
    elif is_stale(newest.validated_at, now):
        yield f"{name} {age_of(newest.validated_at, now)}"
    if asked and not asked & set(newest.fingerprints):
        yield (
            "its newest run asked it as another instrument than was validated: another template, "
            "question, model or sampling"
        )


def asked_lately(ports: RunPorts, runs: Sequence[GradedRun], judge: str) -> frozenset[str]:
    """The fingerprints under which a judge was asked in the newest of its runs."""
    for one in runs:
        used = {
            each.fingerprint
            for each in ports.judgements.used(one.run.run_id)
            if each.judge == judge
        }
        if used:
            return frozenset(used)
    return frozenset()


def standings(
    ports: RunPorts, judges: Iterable[Judge], current: Mapping[str, frozenset[str]]
) -> dict[str, JudgeStanding]:
    """How each judge stands, by its reference; `current` is how each would be asked today."""
    known = ports.validations.all() if ports.validations else ()
    runs, now = graded_runs(ports.repository), ports.clock.now()
    found: dict[str, JudgeStanding] = {}
    for judge in judges:
        own = [one for one in runs if judge.name in one.judges]
        asked = asked_lately(ports, own, judge.name)
        found[judge.name] = standing_of(
            judge, known, now, asked, current.get(judge.name, frozenset())
        )
    return found


def judge_runs(ports: RunPorts, judge: str) -> list[GradedRun]:
    """The runs that asked a judge, newest first."""
    return graded_runs(ports.repository, judge=judge)


def histories(
    ports: RunPorts, judge: Judge, fingerprints: Iterable[str], runs: Sequence[GradedRun]
) -> list[CheckHistory]:
    """The pass rates of the checks that a judge decides alone, run by run."""
    marks = tuple(fingerprints)
    checks = dict.fromkeys((*_stated_checks(ports, judge), *_only_checks(runs, judge.name)))
    metrics = {one.run.run_id: one.metrics for one in runs if one.metrics}
    found = [
        CheckHistory(
            check=check,
            rows=tuple(
                (row, metrics[name].checks[check].pass_rate)
                for row in judge_history(ports, marks, check)
                if (name := str(row["run_id"])) in metrics
            ),
        )
        for check in checks
    ]
    return [one for one in found if one.rows]


def _stated_checks(ports: RunPorts, judge: Judge) -> Iterator[str]:
    """The checks of rubrics that name the judge, and no jury."""
    wanted = Reference(kind="judge", id=judge.id, version=judge.version)
    for one in ports.references.known("rubric"):
        rubric = one.content
        if not isinstance(rubric, Rubric):
            continue
        for path, reference in references_in(rubric):
            if path[2] != "judge_prompt_ref" or reference.id != wanted.id:
                continue
            content = ports.references.find(reference).content
            if isinstance(content, Judge) and content.version == wanted.version:
                yield rubric.checks[int(path[1])].id


def _only_checks(runs: Sequence[GradedRun], judge: str) -> Iterator[str]:
    """The judged checks of runs that asked no other judge."""
    for one in runs:
        if one.metrics and set(one.judges) == {judge}:
            yield from (
                check for check, found in one.metrics.checks.items() if found.kind in _JUDGED
            )


def items_of(validation: JudgeValidation, cell: Cell) -> list[LabelledItem]:
    """The labelled responses behind a cell of the confusion matrix."""
    is_good, is_passed = {
        "tp": (True, True),
        "fn": (True, False),
        "tn": (False, False),
        "fp": (False, True),
    }[cell]
    return [
        one for one in validation.items if one.is_good is is_good and one.is_passed is is_passed
    ]


def bias_of(ports: RunPorts, validation: JudgeValidation, *, is_asked: bool) -> BiasReport:
    """Whether the errors of a judge depend on the length of responses or on numeric slices."""
    if not validation.items:
        return BiasReport(why_not="the validation keeps only counts, no items")
    folders: list[Path] = []
    for run_id in sorted({one.run_id for one in validation.items}):
        folder = ports.run_folder(run_id)
        if not (folder / PREDICTIONS).is_file():
            return BiasReport(why_not=f"the predictions of {run_id} are not there any more")
        folders.append(folder)
    size = sum((folder / PREDICTIONS).stat().st_size for folder in folders)
    if size > MOST_BYTES and not is_asked:
        return BiasReport(why_not="the labelled runs are large", is_large=True)
    try:
        found = judge_bias(validation.items, folders)
    except RequestError as wrong:
        return BiasReport(why_not=str(wrong))
    return BiasReport(found=found, why_not="" if found else "there are too few labels to compare")
