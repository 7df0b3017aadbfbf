"""The pass rate of a run, corrected by what people say about its judge."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.model.json_value import JsonObject
from steelyard.model.validation import JudgeValidation, LabelledItem
from steelyard.reports.correction import correction_of, is_corrected
from steelyard.reports.run_text import RunView
from steelyard.stats.clustered import design_effect
from steelyard.stats.confusion import rates_of
from steelyard.stats.correction import (
    FEWEST_LABELS,
    Labelled,
    NotCorrectableError,
    ppi,
    rogan_gladen,
    rogan_gladen_weighted,
)
from steelyard.stats.intervals import Interval
from steelyard.usecases.judged_rows import Decision, JudgedRow, JudgedRows
from steelyard.usecases.pruned_files import pruned_on
from steelyard.usecases.standing import standing_of

UNKNOWN_DESIGN = "nobody said how the labelled records were chosen"
BY_VERDICT = (
    "the labelled records were chosen by the judge's verdict, and with which chance was not kept"
)


class Correction(NamedTuple):
    """What a run's rates come to once judges are corrected."""

    whole: JsonObject
    """The corrected pass rate of the run, or why there is none."""
    checks: dict[str, JsonObject]
    """The same for each check that judges decide."""


def corrected_run(
    folder: Path, validations: Sequence[JudgeValidation], now: datetime
) -> Correction | None:
    """The corrected rates of a run, from its predictions; None where no judge decided anything."""
    rows = JudgedRows(folder)
    tally = _tally(rows)
    if not tally.checks:
        return None
    checks = {
        name: _corrected(check, rows.population, validations, now)
        for name, check in tally.checks.items()
    }
    return Correction(_whole(tally, checks), checks)


def current_view(view: RunView, validations: Sequence[JudgeValidation], now: datetime) -> RunView:
    """A finished run as it looks today: its judge may have been validated after it.

    What the artifacts say is never changed; a rate that they correct already stays.
    """
    before = correction_of(view.metrics)
    folder = Path(view.folder)
    is_open = bool(view.manifest.get("judges")) and not (before and is_corrected(before))
    if not is_open or not validations or pruned_on(folder, "predictions.jsonl"):
        return view
    found = corrected_run(folder, validations, now)
    if found is None or not is_corrected(found.whole):
        return view
    later: JsonObject = {**found.whole, "is_later": True}
    return replace(view, metrics={**view.metrics, "corrected_pass_rate": later})


@dataclass(slots=True)
class _Check:
    """What one check decided over all records."""

    judge: str = ""
    rules: set[str | None] = field(default_factory=set[str | None])
    fingerprints: set[str] = field(default_factory=set[str])
    indices: array[int] = field(default_factory=lambda: array("q"))
    sums: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] = field(default_factory=lambda: array("q"))
    clusters: list[str | None] = field(default_factory=list[str | None])
    agreeing: int = 0
    """Rows whose verdict is what this check says."""

    def add(self, row: JudgedRow, decision: Decision) -> None:
        self.judge = decision.judge
        self.rules.add(decision.rule)
        self.fingerprints.update(decision.fingerprints)
        if decision.passed is None:
            return
        if not self.indices or self.indices[-1] != row.index:
            self.indices.append(row.index)
            self.sums.append(0.0)
            self.counts.append(0)
            self.clusters.append(row.cluster)
        self.sums[-1] += decision.passed
        self.counts[-1] += 1

    @property
    def rates(self) -> list[float]:
        """Of each record, the share of its repeats that pass."""
        return [total / count for total, count in zip(self.sums, self.counts, strict=True)]

    @property
    def groups(self) -> list[int] | None:
        """A number for each conversation; None where every record stands for itself."""
        if not any(self.clusters):
            return None
        numbers: dict[str, int] = {}
        return [
            -1 - place if name is None else numbers.setdefault(name, len(numbers))
            for place, name in enumerate(self.clusters)
        ]


@dataclass(slots=True)
class _Run:
    checks: dict[str, _Check] = field(default_factory=dict[str, _Check])
    rows: int = 0
    """Rows that have a verdict."""


def _tally(rows: Iterable[JudgedRow]) -> _Run:
    run = _Run()
    for row in rows:
        for name, decision in row.decisions.items():
            run.checks.setdefault(name, _Check()).add(row, decision)
        if row.passed is None:
            continue
        run.rows += 1
        for name, decision in row.decisions.items():
            run.checks[name].agreeing += decision.passed is row.passed
    return run


def _whole(run: _Run, checks: dict[str, JsonObject]) -> JsonObject:
    """The run's own rate, where one check alone decides its records."""
    alone = [name for name, check in run.checks.items() if check.agreeing == run.rows]
    if alone:
        return {"check": alone[0], **checks[alone[0]]}
    check = max(run.checks.values(), key=lambda one: one.agreeing)
    return _none(
        f"{run.rows - check.agreeing:,} of {run.rows:,} results are not what {check.judge} says: "
        "other checks decide with it",
        check.judge,
    )


def _corrected(
    check: _Check, population: str, validations: Sequence[JudgeValidation], now: datetime
) -> JsonObject:
    rules = {rule for rule in check.rules if rule is not None}
    if len(rules) != 1:
        how = "differs from record to record" if rules else "was not kept"
        return _none(f"{check.judge}: what makes a pass of its replies {how}", check.judge)
    found = standing_of(check.judge, check.fingerprints, rules.pop(), validations, now)
    if isinstance(found, str):
        return _none(found, check.judge)
    reasons: list[str] = []
    for validation, estimate in _estimates(check, population, found):
        if isinstance(estimate, str):
            reasons.append(estimate)
        else:
            return _row(check, validation, estimate)
    return _none(reasons[-1], check.judge)


def _estimates(
    check: _Check, population: str, validations: Sequence[JudgeValidation]
) -> Iterator[tuple[JudgeValidation, Interval | str]]:
    """Estimates from the best evidence on: labels of these very responses, then the newest."""
    for validation in validations:
        items = _own_items(validation, population)
        is_known = validation.design == "random" or validation.has_weights
        if items and is_known and validation.design != "by_label":
            estimate = _from_own_labels(check, items)
            if estimate is not None:
                yield validation, estimate
    for validation in validations:
        yield validation, _from_rates(check, validation)


def _own_items(validation: JudgeValidation, population: str) -> list[LabelledItem]:
    """The labelled items of a run over the same records with the same responses."""
    runs = {run for run, about in validation.populations.items() if about == population}
    return [item for item in validation.items if item.run_id in runs]


def _from_own_labels(check: _Check, items: list[LabelledItem]) -> Interval | None:
    """The rate from labels of the run's own responses; None where there are too few."""
    rates = check.rates
    places = {index: place for place, index in enumerate(check.indices)}
    pairs = [(item, rates[places[item.index]]) for item in items if item.index in places]
    if len(pairs) < FEWEST_LABELS:
        return None
    chances = [item.inclusion_prob for item, _ in pairs]
    known = [chance for chance in chances if chance is not None]
    labelled = Labelled(
        truth=[float(item.is_good) for item, _ in pairs],
        judged=[rate for _, rate in pairs],
        inclusion=known if len(known) == len(pairs) else None,
    )
    found = ppi(labelled, rates)
    groups = check.groups
    return found if groups is None else _widened(found, design_effect(rates, groups))


def _widened(found: Interval, effect: float) -> Interval:
    """The same where records of a conversation are alike; none of its sides gets narrower."""
    value, low, high = found.value, found.low, found.high
    assert value is not None
    assert low is not None
    assert high is not None
    times = effect**0.5
    low, high = value - times * (value - low), value + times * (high - value)
    return replace(found, low=max(0.0, low), high=min(1.0, high))


def _from_rates(check: _Check, validation: JudgeValidation) -> Interval | str:
    """The rate from how often the judge errs on good and on bad answers; or why there is none."""
    is_weighed = validation.has_weights and validation.design != "by_label"
    if not is_weighed and validation.design is None:
        return UNKNOWN_DESIGN
    if not is_weighed and validation.design == "by_verdict":
        return BY_VERDICT
    rates, groups = check.rates, check.groups
    worth = len(rates) / (1.0 if groups is None else design_effect(rates, groups))
    passed = sum(rates) / len(rates) * worth if rates else 0.0
    try:
        if is_weighed:
            return rogan_gladen_weighted(_labelled(validation.items), passed, worth)
        return rogan_gladen(validation.counts, passed, worth)
    except NotCorrectableError as why:
        return f"{check.judge}: {why}"


def _labelled(items: Sequence[LabelledItem]) -> Labelled:
    return Labelled(
        truth=[float(item.is_good) for item in items],
        judged=[float(item.is_passed) for item in items],
        inclusion=[item.inclusion_prob or 1.0 for item in items],
    )


def _row(check: _Check, validation: JudgeValidation, found: Interval) -> JsonObject:
    tpr, tnr = map(_interval, rates_of(validation.counts))
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "method": found.method,
        "n": len(check.indices),
        "labels": found.n,
        "design": validation.design,
        "judge": check.judge,
        "validated_at": validation.validated_at,
        "tpr": tpr,
        "tnr": tnr,
    }


def _interval(found: Interval) -> JsonObject:
    row: JsonObject = asdict(found)
    return row


def _none(reason: str, judge: str) -> JsonObject:
    """No corrected rate, and why: the raw rate is then uncorrected."""
    return {"value": None, "low": None, "high": None, "judge": judge, "reason": reason}
