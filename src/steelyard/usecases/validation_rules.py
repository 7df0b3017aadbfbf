"""What a validation must show before a judge is relied on."""

from __future__ import annotations

from steelyard.model.validation import JudgeValidation
from steelyard.stats.confusion import Rates, rates_by_chance, validated_rates
from steelyard.stats.correction import NotCorrectableError, require_informative
from steelyard.usecases.validations import Least


def known_rates(validation: JudgeValidation) -> Rates:
    """TPR and TNR, weighted where the labels have unequal inclusion probabilities."""
    return rates_by_chance(validation) or validated_rates(validation)


def uselessness(validation: JudgeValidation) -> str:
    """Why a judge with these rates can correct nothing; empty where it can."""
    tpr, tnr = (rate.value for rate in known_rates(validation))
    if tpr is None or tnr is None:
        return ""
    try:
        require_informative(tpr, tnr)
    except NotCorrectableError as why:
        return str(why)
    return ""


def shortfall(validation: JudgeValidation, least: Least) -> str:
    """What a validation lacks of what is required; empty where it lacks nothing."""
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
