"""Corrected rates of a check, from the most informative labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation, LabelledItem
from steelyard.stats.confusion import Rates, known_rates, labels_of
from steelyard.stats.correction import (
    JudgeRates,
    NotCorrectableError,
    judge_rates,
    labels_needed,
    rogan_gladen,
    unknown_design,
)
from steelyard.stats.post_stratification import (
    LabelledRun,
    post_stratified,
    sampling_p,
    strata_of,
)
from steelyard.usecases.correction.check_rows import (
    CheckRows,
    is_weighted,
    label_rates,
    of_population,
    own_items,
)
from steelyard.usecases.correction.validation_rules import refusal_of, run_difference
from steelyard.usecases.correction.validation_status import REFUSED

UNLIKELY = 0.001


class CorrectedEstimate(NamedTuple):
    """A corrected rate with its labels."""

    found: Interval
    validation: JudgeValidation
    """For the run's own labels: only those, with the verdicts of this run."""
    rates: Rates
    needed: int | None
    """About how many labels give ± 5 points; None if the run has too few records."""
    is_own: bool
    """Whether the labels are those of the run's own responses."""


def estimate_of(
    check: CheckRows, population: str, validations: Sequence[JudgeValidation]
) -> CorrectedEstimate | str:
    """The estimate from labels of these responses, otherwise from the newest labels.

    Without an estimate, the reason. `validations` are sorted newest first.
    """
    try:
        own = own_validation(validations, population)
        if own is not None:
            return _from_own(check, of_population(own, population))
        return _from_others(check, validations[0])
    except NotCorrectableError as why:
        return f"{check.named}: {why}"


def own_validation(
    validations: Sequence[JudgeValidation], population: str
) -> JudgeValidation | None:
    """The newest validation with labels of these responses, unless it was refused.

    Where people have labelled them in several queues, each with a design of its own, the newest
    validation of the queue with most labels, of those that were not refused.
    """
    newest: dict[str, JudgeValidation] = {}
    for one in validations:
        if own_items(one, population):
            newest.setdefault(one.queue_id, one)
    own = next(iter(newest.values()), None)
    if own is None:
        return None
    if why := refusal_of(own):
        given = f"{own.validated_at[:10]}{f', {own.queue_id}' if own.queue_id else ''}"
        raise NotCorrectableError(
            f"{REFUSED} the newest labels of these responses ({given}): {why}"
        )
    if not own.queue_id:
        return own
    of_queues = [one for one in newest.values() if one.queue_id and not refusal_of(one)]
    return max(of_queues, key=lambda one: len(own_items(one, population)))


def _from_own(check: CheckRows, validation: JudgeValidation) -> CorrectedEstimate:
    items = with_verdicts(validation.items, check)
    validation = replace(validation, items=items)
    if validation.design == "by_label":
        found, needed = _by_rates(check, judge_rates(labels_of(items, is_weighted=False)))
    else:
        strata = strata_of(own_labels(check, validation, items))
        found = post_stratified(strata)
        needed = labels_needed(found, strata.verdict_variance)
    return CorrectedEstimate(found, validation, known_rates(validation), needed, is_own=True)


def _from_others(check: CheckRows, validation: JudgeValidation) -> CorrectedEstimate:
    found, needed = _by_rates(check, rates_of_validation(validation))
    return CorrectedEstimate(found, validation, known_rates(validation), needed, is_own=False)


def _by_rates(check: CheckRows, rates: JudgeRates) -> tuple[Interval, int | None]:
    passes = check.passes
    found = rogan_gladen(rates, passes)
    return found, labels_needed(found, rates.verdict_variance(passes))


def rates_of_validation(validation: JudgeValidation) -> JudgeRates:
    """TPR and TNR of a judge, if the sampling design identifies them."""
    if validation.is_of_unknown_design:
        raise NotCorrectableError(unknown_design(validation))
    if why := run_difference(validation):
        raise NotCorrectableError(why)
    return label_rates(validation)


def with_verdicts(items: Sequence[LabelledItem], check: CheckRows) -> tuple[LabelledItem, ...]:
    """Labelled responses with the verdicts of this run; those without a verdict are left out."""
    verdicts = check.by_place
    return tuple(
        replace(one, is_passed=verdicts[one.index, one.repeat])
        for one in items
        if (one.index, one.repeat) in verdicts
    )


def own_labels(
    check: CheckRows, validation: JudgeValidation, items: Sequence[LabelledItem]
) -> LabelledRun:
    """Labels of a run's own responses, if they fit the stated design."""
    if validation.is_of_unknown_design:
        raise NotCorrectableError(unknown_design(validation))
    run = check.labelled(items, is_weighted=is_weighted(validation))
    if run.chances is not None:
        require_plausible(run, is_whole=validation.split == "all")
    if validation.design == "random" or _is_uniform(run):
        require_random(run)
    return run


def _is_uniform(run: LabelledRun) -> bool:
    return run.chances is not None and len(set(run.chances.tolist())) == 1


def require_plausible(run: LabelledRun, *, is_whole: bool) -> None:
    """Refuse inclusion probabilities that are impossible for these labels of this run.

    The inverse probabilities of all labels estimate how many responses there are (Horvitz and
    Thompson). Labels of one split are fewer, so that only too many are implausible.
    """
    assert run.chances is not None
    weights, records = run.weights, len(run.passed)
    error = 4 * float(((1 - run.chances) * weights**2).sum()) ** 0.5 + 0.02 * records
    implied = float(weights.sum())
    if implied > records + error or (is_whole and implied < records - error):
        raise NotCorrectableError(
            f"the inclusion probabilities of the labels imply about {implied:,.0f} responses, "
            f"and the run has {records:,}"
        )


def require_random(run: LabelledRun) -> None:
    """Refuse labels of a random design if the judge's verdicts contradict it."""
    if sampling_p(run) < UNLIKELY:
        share, whole = (float(one.mean()) for one in (run.passed[run.labelled], run.passed))
        raise NotCorrectableError(
            f"the labels are said to be of randomly chosen responses, but the judge passes "
            f"{100 * whole:.1f} % of the run and {100 * share:.1f} % of the labelled responses "
            f"(p < {UNLIKELY:g})"
        )
