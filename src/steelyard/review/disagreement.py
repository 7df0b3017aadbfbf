"""How far the people who answered one item agree, and who disagrees with whom on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from steelyard.model.question import Answer, Answers, QuestionRubric


class QuestionPlace(NamedTuple):
    """What one answer is about: a question, and a turn or 0 for the whole trace."""

    key: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswers:
    """How many answers two people gave to the same questions, and how many are the same."""

    same: int = 0
    compared: int = 0

    def plus(self, other: SharedAnswers) -> SharedAnswers:
        """Both counts together."""
        return SharedAnswers(same=self.same + other.same, compared=self.compared + other.compared)

    @property
    def rate(self) -> float | None:
        """The share of equal answers; None if nothing was compared."""
        return self.same / self.compared if self.compared else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Two people and what they share."""

    people: tuple[str, str]
    items: int
    answers: SharedAnswers
    questions: Mapping[str, SharedAnswers]


def item_agreement(rubric: QuestionRubric, given: Sequence[Answers]) -> SharedAnswers:
    """Over all pairs of people; comments are never compared."""
    found = SharedAnswers()
    for one, other in combinations([_compared(rubric, answers) for answers in given], 2):
        for shared in _shared(one, other).values():
            found = found.plus(shared)
    return found


def disputed(rubric: QuestionRubric, given: Sequence[Answers]) -> tuple[QuestionPlace, ...]:
    """The questions that not everybody who answered them answered alike."""
    by_place: dict[QuestionPlace, set[Answer]] = {}
    for answers in given:
        for place, answer in _compared(rubric, answers).items():
            by_place.setdefault(place, set()).add(answer)
    return tuple(place for place, said in by_place.items() if len(said) > 1)


def pair_agreements(
    rubric: QuestionRubric, items: Sequence[Mapping[str, Answers]]
) -> list[PairAgreement]:
    """Every two people who answered the same item; the least agreeing first."""
    found: dict[tuple[str, str], tuple[int, dict[str, SharedAnswers]]] = {}
    for given in items:
        compared = {name: _compared(rubric, answers) for name, answers in given.items()}
        for people in combinations(sorted(compared), 2):
            shared = _shared(compared[people[0]], compared[people[1]])
            number, by_key = found.setdefault(people, (0, {}))
            for key, one in shared.items():
                by_key[key] = by_key.get(key, SharedAnswers()).plus(one)
            found[people] = (number + 1, by_key)
    pairs = [
        PairAgreement(people=people, items=number, answers=_total(by_key), questions=by_key)
        for people, (number, by_key) in found.items()
    ]
    return sorted(pairs, key=lambda one: (_rate(one), one.people))


def _rate(pair: PairAgreement) -> float:
    rate = pair.answers.rate
    return 2.0 if rate is None else rate


def _total(by_key: Mapping[str, SharedAnswers]) -> SharedAnswers:
    total = SharedAnswers()
    for one in by_key.values():
        total = total.plus(one)
    return total


def _shared(
    one: Mapping[QuestionPlace, Answer], other: Mapping[QuestionPlace, Answer]
) -> dict[str, SharedAnswers]:
    found: dict[str, SharedAnswers] = {}
    for place in one.keys() & other.keys():
        equal = SharedAnswers(same=int(one[place] == other[place]), compared=1)
        found[place.key] = found.get(place.key, SharedAnswers()).plus(equal)
    return found


def _compared(rubric: QuestionRubric, answers: Answers) -> dict[QuestionPlace, Answer]:
    free = {one.key for one in rubric.questions if one.kind.is_free_text}
    return {place: answer for place, answer in _each(answers) if place.key not in free}


def _each(answers: Answers) -> Iterator[tuple[QuestionPlace, Answer]]:
    for turn, sheet in ((0, answers.trace), *answers.turns.items()):
        for key, answer in sheet.items():
            yield QuestionPlace(key, turn), answer
