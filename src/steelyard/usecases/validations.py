"""The port of validations: every comparison of a judge with people that was ever made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from steelyard.model.validation import JudgeValidation
from steelyard.stats.confusion import Rates, rates_by_chance, validated_rates
from steelyard.stats.correction import NotCorrectableError, require_informative


class Validations(Protocol):
    """What a project knows of its judges."""

    def all(self) -> Sequence[JudgeValidation]:
        """Every validation, the oldest first."""
        ...

    def add(self, validation: JudgeValidation) -> bool:
        """Keep one for good; False where the same comparison is there already."""
        ...

    def read_test(self, judge: str, at: str) -> int:
        """Note that test labels are looked at for a judge; how often they were, with this time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What a validation must reach for a judge to be asked; rates by their lower bounds."""

    tpr: float | None = None
    tnr: float | None = None
    sample_size: int | None = None


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


def fits(validation: JudgeValidation, fingerprints: Iterable[str], rule: str) -> bool:
    """Whether it is about a judge that asks this and decides so.

    A run need not ask all that was validated: records without a second turn have no question
    about it.
    """
    return validation.rule == rule and set(fingerprints) <= set(validation.fingerprints)
