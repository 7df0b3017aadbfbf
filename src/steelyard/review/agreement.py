"""How far the answers to one question agree: of people, and of a judge with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, TypeAlias, cast

from steelyard.model.question import Answer
from steelyard.model.statistics.agreement import (
    AgreementSide,
    AlternativeTest,
    Asked,
    Beside,
    Cell,
    Disagreement,
    Estimate,
    GoldAgreement,
    Item,
    OptionAgreement,
    PairCell,
    QuestionAgreement,
)
from steelyard.review.coefficients import NAMES, Rated, estimates, hit_rates, shared_choices
from steelyard.review.question_types import COMPARED_TYPES, ComparedType, Given, has, vote
from steelyard.stats.agreement import Ratings
from steelyard.stats.alternative import ENOUGH, EXPERTS, alternative_annotator
from steelyard.stats.arrays import np

ByPerson: TypeAlias = Mapping[str, Given]
ONE_PERSON = "items with the answer of one person alone"
NOT_BLIND = "answers that were not given blind"
TIE_BREAKS = "answers of people who were asked because others were divided"
PICKED = "answers in queues of picked records, about what others answered elsewhere"
NO_JUDGE = "items without an answer to put beside them"
TIES = "items with tied labels"


def _nobody() -> ByPerson:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSheet:
    """The answers to one question."""

    key: str
    label: str
    type: Asked
    scope: Literal["trace", "turn"] = "trace"
    categories: tuple[int | str, ...]
    """What may be answered, in order."""
    blind: ByPerson = field(default_factory=_nobody)
    seen: ByPerson = field(default_factory=_nobody)
    """The answers of those who had seen what others say."""
    aside: Mapping[tuple[str, Item], str] = field(default_factory=dict[tuple[str, Item], str])
    """Answers, by person and item, that count for what most people say and not for how far they
    agree, each with the reason: whether they were asked for depends on what was said before."""
    judge: Given | None = None
    beside: Beside = "judge"
    """Whose answers these are."""
    gold: Given = field(default_factory=dict[Item, Answer])
    """What an adjudicator settled."""
    clusters: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The conversation of a record, by run and record; else a record stands for itself."""

    chances: Mapping[tuple[str, str, int], float | None] | None = field(
        default_factory=dict[tuple[str, str, int], float | None]
    )
    """With which chance a response, by run, record and repeat, was drawn to be labelled; None of
    one that was picked. None where labels of several draws meet, whose rates cannot be pooled."""

    @property
    def how(self) -> ComparedType:
        """How its answers are compared."""
        return COMPARED_TYPES[self.type]


def question_agreement(sheet: AnswerSheet) -> QuestionAgreement:
    """All that can be said about one question."""
    judge = _judge_side(sheet) if sheet.judge is not None else None
    test, why_not = _alternative(sheet) if judge else (None, None)
    return QuestionAgreement(
        key=sheet.key,
        label=sheet.label,
        type=sheet.type,
        scope=sheet.scope,
        people=_people_side(sheet, sheet.blind),
        seen=_people_side(sheet, sheet.seen),
        judge=judge,
        beside=sheet.beside,
        alternative=test,
        no_alternative=why_not,
        gold=_gold(sheet) if sheet.gold else None,
    )


def _gold(sheet: AnswerSheet) -> GoldAgreement:
    given = [*sheet.blind.values(), *sheet.seen.values()]
    answers = [(item, one[item]) for one in given for item in sheet.gold if item in one]
    judge = sheet.judge or {}
    judged = [item for item in sheet.gold if item in judge]
    differing = tuple(item for item in judged if judge[item] != sheet.gold[item])
    return GoldAgreement(
        items=len(sheet.gold),
        answers=len(answers),
        same=sum(answer == sheet.gold[item] for item, answer in answers),
        judged=len(judged),
        judged_same=len(judged) - len(differing),
        differing=differing,
    )


def _people_side(sheet: AnswerSheet, given: ByPerson) -> AgreementSide | None:
    by_item = _by_item(_regular(sheet, given))
    shared = {item: people for item, people in by_item.items() if len(people) > 1}
    if not shared:
        return None
    names = sorted({name for people in shared.values() for name in people})
    lone = len(by_item) - len(shared)
    groups = _groups(sheet, shared)
    options: tuple[OptionAgreement, ...] = ()
    if sheet.how.has_several:
        choices = [_choices(people) for people in shared.values()]
        found: tuple[Estimate, ...] = (shared_choices(choices, groups),)
        options = _people_options(sheet, shared, names)
    else:
        rows = [[people.get(name) for people in shared.values()] for name in names]
        found = estimates(sheet.how.coefficients, Rated(_ratings(sheet, rows), groups))
    return AgreementSide(
        people=len(names),
        items=len(shared),
        answers=sum(map(len, shared.values())),
        estimates=found,
        given=_given(sheet, shared.values()),
        options=options,
        disagreements=tuple(
            Disagreement(item=item, people=people)
            for item, people in shared.items()
            if len(set(people.values())) > 1
        ),
        pairs=() if sheet.how.has_several else _pair_cells(shared),
        left_out={**({ONE_PERSON: lone} if lone else {}), **_aside(sheet, given)},
    )


def _regular(sheet: AnswerSheet, given: ByPerson) -> ByPerson:
    """The answers that were asked for whatever others had said."""
    return {
        name: {item: answer for item, answer in one.items() if (name, item) not in sheet.aside}
        for name, one in given.items()
    }


def _aside(sheet: AnswerSheet, given: ByPerson) -> dict[str, int]:
    """How many answers are no part of the agreement of people, by reason."""
    return Counter(
        sheet.aside[name, item]
        for name, one in given.items()
        for item in one
        if (name, item) in sheet.aside
    )


def _people_options(
    sheet: AnswerSheet, shared: Mapping[Item, Mapping[str, Answer]], names: Sequence[str]
) -> tuple[OptionAgreement, ...]:
    """Each option as a yes or no of its own."""
    groups = _groups(sheet, shared)
    found: list[OptionAgreement] = []
    for option in sheet.categories:
        rows = [[has(people.get(name), option) for people in shared.values()] for name in names]
        rated = Rated(_ratings_of(rows, (0, 1)), groups)
        found.append(OptionAgreement(option=str(option), estimates=estimates(NAMES, rated)))
    return tuple(found)


def _judge_side(sheet: AnswerSheet) -> AgreementSide | None:
    judge = cast(Given, sheet.judge)
    by_item = _by_item(sheet.blind)
    answered = {item: people for item, people in by_item.items() if item in judge}
    human = {
        item: sheet.how.consensus([*people.values()], sheet.categories)
        for item, people in answered.items()
    }
    compared = [item for item in answered if human[item] is not None]
    left = {
        NOT_BLIND: sum(map(len, sheet.seen.values())),
        NO_JUDGE: len(by_item) - len(answered),
        TIES: len(answered) - len(compared),
    }
    if not by_item and not left[NOT_BLIND]:
        return None
    pairs = [(cast(Answer, human[item]), judge[item]) for item in compared]
    if sheet.how.has_several:
        found, options = _judge_choices(sheet, answered, compared)
    else:
        found, options = _judge_estimates(sheet, compared, pairs), ()
    return AgreementSide(
        people=len({name for people in answered.values() for name in people}),
        items=len(compared),
        answers=sum(len(answered[item]) for item in compared),
        estimates=found,
        given=_given(sheet, [answered[item] for item in compared]),
        options=options,
        disagreements=tuple(
            Disagreement(item=item, people=answered[item], human=one, judge=other)
            for item, (one, other) in zip(compared, pairs, strict=True)
            if _differ(sheet, answered[item], one, other)
        ),
        cells=() if sheet.how.has_several else _cells(compared, pairs),
        left_out={reason: number for reason, number in left.items() if number},
    )


def _judge_estimates(
    sheet: AnswerSheet, compared: Sequence[Item], pairs: Sequence[tuple[Answer, Answer]]
) -> tuple[Estimate, ...]:
    if not pairs:
        return ()
    ratings = _ratings(sheet, [list(row) for row in zip(*pairs, strict=True)])
    rated = Rated(ratings, _groups(sheet, compared), _chances(sheet, compared))
    how = sheet.how
    found = estimates(how.coefficients, rated)
    first = () if sheet.chances is None else how.judge_first(rated)
    return *first, *found, *how.judge_last(rated)


def _judge_choices(
    sheet: AnswerSheet, answered: Mapping[Item, Mapping[str, Answer]], compared: Sequence[Item]
) -> tuple[tuple[Estimate, ...], tuple[OptionAgreement, ...]]:
    """Jaccard's index with each person, and each option with what most people say of it."""
    if not compared:
        return (), ()
    judge = cast(Given, sheet.judge)
    choices = [
        [(_chosen(one), _chosen(judge[item])) for one in answered[item].values()]
        for item in compared
    ]
    overall = shared_choices(choices, _groups(sheet, compared))
    found: list[OptionAgreement] = []
    for option in sheet.categories:
        votes = {item: vote(answered[item].values(), option) for item in compared}
        decided = [item for item in compared if votes[item] is not None]
        rows = [[votes[item] for item in decided], [has(judge[item], option) for item in decided]]
        ratings = _ratings_of(rows, (0, 1))
        rated = Rated(ratings, _groups(sheet, decided), _chances(sheet, decided))
        hits = hit_rates(rated) if decided and sheet.chances is not None else ()
        together = (*hits, *estimates(NAMES, rated))
        tied = len(compared) - len(decided)
        left = {TIES: tied} if tied else {}
        found.append(OptionAgreement(option=str(option), estimates=together, left_out=left))
    return (overall,), tuple(found)


def _alternative(sheet: AnswerSheet) -> tuple[AlternativeTest | None, str | None]:
    """The alternative annotator test among those who answered blind."""
    regular = {name: given for name, given in _regular(sheet, sheet.blind).items() if given}
    if len(regular) < 2:
        return None, "not enough data: it takes two people or more"
    people = {name: _plain(given) for name, given in regular.items()}
    found = alternative_annotator(
        people, _plain(cast(Given, sheet.judge)), alignment=sheet.how.alignment
    )
    if found is None:
        return None, (
            f"not enough data: two people or more must share {ENOUGH} items with others and "
            f"with the {sheet.beside}"
        )
    test = AlternativeTest(
        winning_rate=found.winning_rate,
        advantage=found.advantage,
        margin=EXPERTS,
        people=found.people,
        items=found.items,
        passed=found.passed,
    )
    return test, None


def _plain(given: Given) -> dict[str, float | str]:
    """Answers by the name of their item; of several options, all of them together."""
    return {
        repr(item): "\n".join(answer) if isinstance(answer, tuple) else answer
        for item, answer in given.items()
    }


def _by_item(given: ByPerson) -> dict[Item, dict[str, Answer]]:
    found: dict[Item, dict[str, Answer]] = {}
    for name in sorted(given):
        for item, answer in given[name].items():
            found.setdefault(item, {})[name] = answer
    return dict(sorted(found.items()))


def _differ(
    sheet: AnswerSheet, people: Mapping[str, Answer], human: Answer, judge: Answer
) -> bool:
    """Whether a judge says something else; of options, of one on which people are not divided."""
    if not sheet.how.has_several:
        return human != judge
    votes = {option: vote(people.values(), option) for option in sheet.categories}
    return any(vote not in {None, has(judge, option)} for option, vote in votes.items())


def _chosen(answer: Answer) -> frozenset[str]:
    return frozenset(cast("tuple[str, ...]", answer))


def _choices(people: Mapping[str, Answer]) -> list[tuple[frozenset[str], frozenset[str]]]:
    return list(combinations([_chosen(answer) for answer in people.values()], 2))


def _groups(sheet: AnswerSheet, items: Collection[Item]) -> list[int]:
    """A number for each record or conversation: what belongs together is not independent."""
    numbers: dict[tuple[str, str], int] = {}
    found: list[int] = []
    for item in items:
        name = (item.run_id, item.record_id)
        cluster = sheet.clusters.get(name)
        key = name if cluster is None else ("conversation", cluster)
        found.append(numbers.setdefault(key, len(numbers)))
    return found


def _chances(sheet: AnswerSheet, items: Sequence[Item]) -> list[float | None]:
    """The chance of each item; empty where none of them was drawn with a known one."""
    known = sheet.chances or {}
    found = [known.get((one.run_id, one.record_id, one.repeat)) for one in items]
    return found if any(one is not None for one in found) else []


def _ratings(sheet: AnswerSheet, rows: Sequence[Sequence[Answer | None]]) -> Ratings:
    return _ratings_of(cast("Sequence[Sequence[int | str | None]]", rows), sheet.categories)


def _ratings_of(
    rows: Sequence[Sequence[int | str | None]], categories: Sequence[int | str]
) -> Ratings:
    """Codes in the order of what may be answered, whether or not anybody did."""
    place = {value: code for code, value in enumerate(categories)}
    codes = [[-1 if one is None else place[one] for one in row] for row in rows]
    is_numeric = all(isinstance(value, int) for value in categories)
    values = categories if is_numeric else range(len(categories))
    shape = (len(rows), len(rows[0]) if rows else 0)
    made = np.array(codes, dtype=np.int64).reshape(shape)
    return Ratings(made, np.array(values, dtype=np.float64))


def _given(sheet: AnswerSheet, items: Collection[Mapping[str, Answer]]) -> dict[str, int]:
    """How often each answer was given, in the order in which it may be."""
    answers = [answer for people in items for answer in people.values()]
    counts = Counter(
        one for answer in answers for one in (answer if isinstance(answer, tuple) else (answer,))
    )
    return {str(value): counts[value] for value in sheet.categories}


def _cells(compared: Sequence[Item], pairs: Sequence[tuple[Answer, Answer]]) -> tuple[Cell, ...]:
    found: dict[tuple[Answer, Answer], list[Item]] = {}
    for item, pair in zip(compared, pairs, strict=True):
        found.setdefault(pair, []).append(item)
    return tuple(
        Cell(human=human, judge=judge, n=len(items), items=tuple(items))
        for (human, judge), items in sorted(found.items(), key=_by_text)
    )


def _pair_cells(shared: Mapping[Item, Mapping[str, Answer]]) -> tuple[PairCell, ...]:
    """Every two answers of people to one item, in either order."""
    found: dict[tuple[Answer, Answer], list[Item]] = {}
    for item, people in shared.items():
        for one, other in combinations(sorted(people.values(), key=str), 2):
            found.setdefault((one, other), []).append(item)
    return tuple(
        PairCell(answers=pair, n=len(items), items=tuple(dict.fromkeys(items)))
        for pair, items in sorted(found.items(), key=_by_text)
    )


def _by_text(cell: tuple[tuple[Answer, Answer], list[Item]]) -> tuple[str, str]:
    (one, other), _ = cell
    return str(one), str(other)
