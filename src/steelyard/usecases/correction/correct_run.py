"""The pass rate of a run, corrected by human labels of its judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from steelyard.model.statistics.corrected_rate import (
    LABELS_OF_ANOTHER_RUN,
    OWN_LABELS,
    CorrectedRate,
    Correction,
    Drift,
    LabelBasis,
)
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.reports.run.run_text import RunView
from steelyard.usecases.correction.check_rows import CheckRows, RunRows, read_check_rows
from steelyard.usecases.correction.corrected_estimates import CorrectedEstimate, estimate_of
from steelyard.usecases.correction.judge_drift import drift_of
from steelyard.usecases.correction.validation_status import (
    NEVER,
    REFUSED,
    Doubt,
    validation_status_of,
)

NO_CLAIMS: Mapping[str, str] = {}


def corrected_run(
    folder: Path,
    validations: Sequence[JudgeValidation],
    now: datetime,
    earlier: Sequence[JudgeValidation] = (),
    claims: Mapping[str, str] = NO_CLAIMS,
) -> Correction | None:
    """The corrected rates of a run, from its predictions; None if it has no judged check.

    `earlier` validations correct nothing; they show whether the judge has drifted. Nor do
    `claims`, the validation dates in the files of judges.
    """
    run = read_check_rows(folder)
    if not run.checks:
        return None
    checks = {
        name: _with_claim(
            _corrected(check, run.population, (validations, earlier), now), claims.get(check.judge)
        )
        for name, check in run.checks.items()
    }
    name = run.deciding
    if name is None:
        return Correction(_none(undecided(run), _closest(run).judge), checks)
    return Correction(replace(checks[name], check=name), checks)


def later_rate(
    view: RunView, validations: Sequence[JudgeValidation], now: datetime
) -> CorrectedRate | None:
    """The rate of a finished run by current validations; None if its artifacts say as much."""
    before = view.metrics.corrected_pass_rate
    found = corrected_run(Path(view.folder), validations, now)
    if found is None or not _is_news(before.basis if before else None, found.whole):
        return None
    return replace(found.whole, is_later=True)


def _is_news(before: LabelBasis | None, now: CorrectedRate) -> bool:
    """Whether current validations say more than the artifacts of the run."""
    if now.is_corrected:
        return before is None or now.basis == OWN_LABELS != before
    if REFUSED in str(now.reason):
        return True
    return before is None and not str(now.reason).endswith(NEVER)


def undecided(run: RunRows) -> str:
    """Why no single judge decides the results of a run."""
    check = _closest(run)
    why = "other checks decide, or decide with it"
    if len(run.checks) == 1:
        why = "other checks, or another pass threshold of the record, decide, or decide with it"
    return (
        f"{run.rows - check.agreeing:,} of {run.rows:,} results are not what {check.named} says: "
        f"{why}"
    )


def _closest(run: RunRows) -> CheckRows:
    return max(run.checks.values(), key=lambda one: one.agreeing)


def usable_validations(
    check: CheckRows, validations: Sequence[JudgeValidation], now: datetime
) -> list[JudgeValidation] | str:
    """The validations that apply to a check, newest first; or why none applies."""
    rules = {rule for rule in check.rules if rule is not None}
    if len(rules) != 1:
        how = "differs from record to record" if rules else "was not kept"
        return f"{check.named}: what makes a pass of its replies {how}"
    found = validation_status_of(check.named, check.fingerprints, rules.pop(), validations, now)
    return found.why if isinstance(found, Doubt) else found


def _corrected(
    check: CheckRows,
    population: str,
    known: tuple[Sequence[JudgeValidation], Sequence[JudgeValidation]],
    now: datetime,
) -> CorrectedRate:
    usable = usable_validations(check, known[0], now)
    if isinstance(usable, str):
        return _none(usable, check.judge)
    estimate = estimate_of(check, population, usable)
    if isinstance(estimate, str):
        return _none(estimate, check.judge)
    drift = drift_of(check, population, estimate, [*known[0], *known[1]])
    return _rate(check, estimate, drift)


def _with_claim(found: CorrectedRate, validated_at: str | None) -> CorrectedRate:
    """The reason if only the judge's file states a validation."""
    if validated_at is None or not str(found.reason).endswith(NEVER):
        return found
    reason = (
        f"{found.named} was validated on {validated_at[:10]}, says its file; a corrected rate "
        "needs the labels, and the registry has none"
    )
    return replace(found, reason=reason)


def _rate(check: CheckRows, estimate: CorrectedEstimate, drift: Drift | None) -> CorrectedRate:
    found, validation = estimate.found, estimate.validation
    tpr, tnr = estimate.rates
    return CorrectedRate(
        value=found.value,
        low=found.low,
        high=found.high,
        method=found.method,
        n=check.records,
        labels=found.n,
        design=validation.design,
        judge=check.judge,
        validated_at=validation.validated_at,
        tpr=tpr,
        tnr=tnr,
        basis=OWN_LABELS if estimate.is_own else LABELS_OF_ANOTHER_RUN,
        labelled_runs=tuple(sorted(validation.populations)),
        queue_id=validation.queue_id or None,
        labels_for_5_points=estimate.needed,
        drift=drift,
    )


def _none(reason: str, judge: str) -> CorrectedRate:
    """No corrected rate, with the reason."""
    return CorrectedRate(judge=judge, reason=reason)
