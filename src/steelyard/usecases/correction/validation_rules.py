"""Requirements on the validation of a judge."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.statistics.validation import JudgeValidation
from steelyard.stats.confusion import differing_rates, known_rates, pooled_rates
from steelyard.stats.correction import (
    FEWEST_LABELS,
    NotCorrectableError,
    require_informative,
    require_labels,
    unknown_design,
)
from steelyard.stats.intervals import DIFFERENT
from steelyard.usecases.correction.check_rows import label_rates
from steelyard.usecases.correction.validations import MinimumValidation

MOST_LEFT_OUT = 0.02
"""Hard items are not missing at random: if more than this share is missing, the rest is a
different population. Up to this share, a corrected rate moves by at most 2 points, less than
half of the half-width of its interval with 200 labels."""

_NAMED = 5
_HOW = ' ("Ask one more person" on the progress page of the queue lets somebody claim them)'


def refusal_of(validation: JudgeValidation) -> str:
    """Why a validation was refused, or would be today; empty if it is accepted."""
    return next(iter((*validation.refusals, *defects(validation))), "")


def defects(validation: JudgeValidation, tied: Sequence[str] = ()) -> list[str]:
    """Why TPR and TNR of a validation are not accepted; `tied` names items, where known."""
    sample = _sample_only(validation)
    found = [sample or _uselessness(validation), _divided(validation, tied)]
    return [why for why in found if why]


def _sample_only(validation: JudgeValidation) -> str:
    if validation.design is None or not validation.is_sample_only:
        return ""
    counts = validation.counts
    if not counts.tp + counts.fp or not counts.tn + counts.fn:
        verdict = "passes" if not counts.tp + counts.fp else "fails"
        why = f"no response that it {verdict} is labelled"
    else:
        why = "their inclusion probabilities are not known"
    return (
        f"the labels were chosen by the judge's verdict, and {why}: TPR and TNR are of the "
        "labelled sample only"
    )


def _uselessness(validation: JudgeValidation) -> str:
    """The reason if the judge is no better than a coin, by enough labels."""
    if _scarcity(validation):
        return ""
    tpr, tnr = (rate.value for rate in pooled_rates(validation))
    if tpr is None or tnr is None:
        return ""
    try:
        require_informative(tpr, tnr)
    except NotCorrectableError as why:
        return str(why)
    return ""


def _divided(validation: JudgeValidation, tied: Sequence[str]) -> str:
    """The reason if people are divided evenly on too many items."""
    left = validation.left_out
    items = validation.counts.n + left.ties
    if left.ties <= MOST_LEFT_OUT * items:
        return ""
    where = f" in the {validation.split} split" if validation.split != "all" else ""
    labelled = items + left.without_judgement + left.unscored + left.other_splits
    whole = f", of {labelled:,} labelled in all" if left.other_splits else ""
    names = ", ".join(tied[:_NAMED]) + (", …" if len(tied) > _NAMED else "")
    return (
        f"people are divided evenly on {left.ties:,} of {items:,} labelled responses{where} "
        f"({100 * left.ties / items:.1f} %){whole}; without more than {100 * MOST_LEFT_OUT:g} % "
        "of them the rest is no longer the sample that was chosen: let one more person label "
        f"{names or 'those'}{_HOW if validation.queue_id else ''}"
    )


def is_too_small(validation: JudgeValidation) -> bool:
    """Whether there are too few labels to refuse the judge by: they say nothing against it."""
    counts, left = validation.counts, validation.left_out
    is_of_one_class = not counts.tp + counts.fn or not counts.tn + counts.fp
    looked = counts.n + left.unscored + left.ties
    return looked < FEWEST_LABELS or (
        is_of_one_class and counts.n > 0 and not _leaves_much_out(validation)
    )


def _leaves_much_out(validation: JudgeValidation) -> bool:
    """Whether too many of the labelled responses have no score, or no majority."""
    counts, left = validation.counts, validation.left_out
    most = MOST_LEFT_OUT * (counts.n + max(left.unscored, left.ties))
    return max(left.unscored, left.ties) > most


def shortage(validation: JudgeValidation) -> str:
    """Why the labels neither validate nor refuse the judge; empty if they validate it."""
    if validation.is_of_unknown_design:
        return f"{unknown_design(validation)}, so that TPR and TNR are of the labelled sample only"
    return run_difference(validation) or _scarcity(validation)


def run_difference(validation: JudgeValidation) -> str:
    """The reason if the labelled runs differ in TPR or TNR."""
    names = " and ".join(differing_rates(validation))
    if not names:
        return ""
    verb = "differ" if " and " in names else "differs"
    return (
        f"{names} {verb} between the labelled runs (p < {DIFFERENT:g}), so that the labels say "
        "nothing about other runs"
    )


def _scarcity(validation: JudgeValidation) -> str:
    """The reason if there are too few labels to estimate TPR and TNR."""
    try:
        require_labels(label_rates(validation))
    except NotCorrectableError as why:
        return str(why)
    return ""


def claimed_shortage(labels: int | None) -> str:
    """The same for a validation that states at most its number of labels."""
    if labels is not None and labels >= FEWEST_LABELS:
        return ""
    basis = "which does not say by how many labels" if labels is None else f"by {labels:,} labels"
    return f"{basis}; at least {FEWEST_LABELS} are needed"


def shortfall(validation: JudgeValidation, least: MinimumValidation) -> str:
    """The requirements that a validation does not meet; empty if it meets all."""
    wanted = zip(("TPR", "TNR"), known_rates(validation), (least.tpr, least.tnr), strict=True)
    missing = [
        f"the lower bound of its {name} is {_percent(rate.low)}, below {_percent(bound)}"
        for name, rate, bound in wanted
        if bound is not None and (rate.low is None or rate.low < bound)
    ]
    if least.sample_size is not None and validation.counts.n < least.sample_size:
        missing.append(f"it rests on {validation.counts.n:,} labels, not {least.sample_size:,}")
    return " and ".join(missing)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.1f} %"
