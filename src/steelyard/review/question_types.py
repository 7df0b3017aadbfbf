"""How the answers to each type of question are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median_low
from typing import Literal, NamedTuple, TypeAlias, cast

from steelyard.model.question import Answer, Question
from steelyard.model.statistics.agreement import PASSED, Asked, Estimate, Item
from steelyard.review.coefficients import NAMES, SCORES, Rated, hit_rates, judge_minus_people

Given: TypeAlias = Mapping[Item, Answer]
Category: TypeAlias = int | str


def _options(question: Question, _given: Sequence[Given]) -> tuple[Category, ...]:
    return tuple(option.value for option in question.options)


def _yes_no(_question: Question, _given: Sequence[Given]) -> tuple[Category, ...]:
    return (0, 1)


def _scores(_question: Question, given: Sequence[Given]) -> tuple[Category, ...]:
    """Those that were given, for a scale may be long."""
    return tuple(sorted({cast(int, one) for answers in given for one in answers.values()}))


def _most(given: Sequence[Answer], _categories: Sequence[Category]) -> Answer | None:
    """What most say; None for a tie."""
    first, *others = Counter(given).most_common()
    return None if others and others[0][1] == first[1] else first[0]


def _median(given: Sequence[Answer], _categories: Sequence[Category]) -> Answer:
    """The lower median of scores."""
    return median_low(cast(Sequence[int], given))


def _chosen_by_most(given: Sequence[Answer], categories: Sequence[Category]) -> Answer:
    """The options that more than half chose."""
    return tuple(str(option) for option in categories if vote(given, option))


def vote(given: Collection[Answer], option: Category) -> int | None:
    """Whether most people chose an option; None where as many did as did not."""
    chosen = sum(has(one, option) or 0 for one in given)
    return None if 2 * chosen == len(given) else int(2 * chosen > len(given))


def has(answer: Answer | None, option: Category) -> int | None:
    """Whether an option is among those that were chosen."""
    return None if answer is None else int(option in cast("tuple[str, ...]", answer))


def _alone(_rated: Rated) -> tuple[Estimate, ...]:
    return ()


def _above(rated: Rated) -> tuple[Estimate, ...]:
    return (judge_minus_people(rated),)


class ComparedType(NamedTuple):
    """How the answers to questions of one type are compared."""

    categories: Callable[[Question, Sequence[Given]], tuple[Category, ...]] = _options
    """What may be answered, in order."""
    consensus: Callable[[Sequence[Answer], Sequence[Category]], Answer | None] = _most
    """What people say together."""
    coefficients: tuple[str, ...] = NAMES
    judge_first: Callable[[Rated], tuple[Estimate, ...]] = _alone
    """What is said of a judge before the coefficients; people are the first row."""
    judge_last: Callable[[Rated], tuple[Estimate, ...]] = _alone
    alignment: Literal["exact", "distance"] = "exact"
    """How near an answer is to that of another."""
    has_several: bool = False
    """Whether an answer is several options, which are compared as sets and one by one."""


_BINARY = ComparedType(categories=_yes_no, judge_first=hit_rates)
COMPARED_TYPES: Mapping[Asked, ComparedType] = {
    "score": ComparedType(
        categories=_scores,
        consensus=_median,
        coefficients=SCORES,
        judge_last=_above,
        alignment="distance",
    ),
    "single_select": ComparedType(),
    "multi_select": ComparedType(consensus=_chosen_by_most, has_several=True),
    "yes_no": _BINARY,
    "button_group": ComparedType(),
    PASSED: _BINARY,
}
