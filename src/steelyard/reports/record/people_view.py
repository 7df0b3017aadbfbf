"""What people say beside what a judge says, question by question and turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from steelyard.model.json_value import JsonValue
from steelyard.model.labels.label import Label
from steelyard.model.question import Answer, Question, QuestionRubric
from steelyard.reports.record.check_view import (
    CheckView,
    ItemView,
    answer_text,
    answer_word,
    find_question,
)
from steelyard.reports.verdict_words import Kind, VerdictWord

_NOTE = "note"


class Said(NamedTuple):
    """What one person says."""

    by: str
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question with the judge's answer and those of people; of turns, all of them together."""

    key: str
    asked: str
    judge: VerdictWord | None = None
    judge_text: str = ""
    of: str = ""
    people: VerdictWord | None = None
    people_text: str = ""
    reasoning: str = ""
    evidence: str = ""
    is_evidence_found: bool | None = None
    weight: float | None = None
    samples: str = ""
    turns: int = 0
    """The turns that it was asked about; 0 where it is about the whole."""
    bad_turns: tuple[int, ...] = ()
    """Turns that the judge or most people call bad."""
    notes: tuple[Said, ...] = ()
    is_split: bool = False
    """Whether people differ among themselves."""
    is_against: bool = False
    """Whether most people answer otherwise than the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleView:
    """What people who saw nothing else say of a record."""

    annotators: tuple[str, ...] = ()
    passes: tuple[Said, ...] = ()
    """Plain passes and fails, with what was asked."""
    notes: tuple[Said, ...] = ()
    questions: Mapping[str, Sequence[QuestionView]] = field(
        default_factory=dict[str, "list[QuestionView]"]
    )
    """By the name of the check that asked a judge the same; under an empty name, without one."""
    turns: Mapping[int, Sequence[QuestionView]] = field(
        default_factory=dict[int, "list[QuestionView]"]
    )
    passed_text: str = ""
    passed_word: VerdictWord | None = None
    is_split: bool = False
    is_against: bool = False
    left_out: int = 0
    """Labels of people who knew what the judge or others said."""


def people_view(
    checks: Sequence[CheckView],
    labels: Sequence[Label],
    rubrics: Sequence[QuestionRubric],
    *,
    passed: bool | None,
) -> PeopleView:
    """People beside judges; `passed` is the verdict of the record."""
    blind = [one for one in labels if one.is_blind]
    questions = dict(_by_check(checks, blind, rubrics))
    turns = _by_turn(checks, blind, rubrics)
    votes = [Said(one.annotator, one.passed) for one in blind if one.passed is not None]
    against = _verdict_of(checks, blind, passed)
    rows = [row for found in questions.values() for row in found]
    word, text, is_split = _votes(votes)
    return PeopleView(
        annotators=tuple(dict.fromkeys(one.annotator for one in blind)),
        passes=tuple(votes),
        notes=tuple(_notes(blind)),
        questions=questions,
        turns=turns,
        passed_text=text,
        passed_word=word,
        left_out=len(labels) - len(blind),
        is_split=is_split or any(row.is_split for row in rows),
        is_against=(word is not None and against is not None and (word.kind == "pass") != against)
        or any(row.is_against for row in rows),
    )


def _notes(labels: Iterable[Label]) -> Iterator[Said]:
    for label in labels:
        note = label.extra.get(_NOTE)
        if isinstance(note, str) and note:
            yield Said(label.annotator, note)


def _verdict_of(
    checks: Sequence[CheckView], labels: Sequence[Label], passed: bool | None
) -> bool | None:
    """What plain labels are compared with: the check or judge that they name, or the verdict."""
    named = {one.rubric for one in labels if one.passed is not None}
    for check in checks:
        if named & {check.name, check.judge} and check.word.kind in {"pass", "fail"}:
            return check.word.kind == "pass"
    return passed


def _votes(votes: Sequence[Said]) -> tuple[VerdictWord | None, str, bool]:
    if not votes:
        return None, "", False
    yes = sum(bool(one.value) for one in votes)
    text = f"{yes} of {len(votes)} pass"
    kind = "pass" if 2 * yes > len(votes) else "fail" if 2 * yes < len(votes) else "unscored"
    return VerdictWord(kind, text), text, 0 < yes < len(votes)


def _by_check(
    checks: Sequence[CheckView], labels: Sequence[Label], rubrics: Sequence[QuestionRubric]
) -> Iterator[tuple[str, list[QuestionView]]]:
    """The questions of each check that asked any, then those that only people were asked."""
    seen: set[str] = set()
    for check in _every(checks):
        if not check.items:
            continue
        keys = list(dict.fromkeys(item.key for item in check.items))
        seen.update(keys)
        yield check.name, [_row(key, check.items, labels, rubrics) for key in keys]
    rest = [
        question.key
        for rubric in rubrics
        for question in rubric.questions
        if question.key not in seen and not question.kind.is_free_text
        if any(_given(labels, question.key))
    ]
    if rest:
        yield "", [_row(key, (), labels, rubrics) for key in dict.fromkeys(rest)]


def _every(checks: Iterable[CheckView]) -> Iterator[CheckView]:
    for check in checks:
        yield check
        yield from _every(check.inner)


def _row(
    key: str,
    items: Sequence[ItemView],
    labels: Sequence[Label],
    rubrics: Sequence[QuestionRubric],
) -> QuestionView:
    mine = [item for item in items if item.key == key]
    rubric, question = find_question(rubrics, key)
    if any(item.turn is not None for item in mine) or (question and question.scope == "turn"):
        return _turns_row(key, mine, labels, rubric, question)
    item = mine[0] if mine else None
    said = [Said(label.annotator, _plain(value)) for label, value in _given(labels, key)]
    word, text, is_split = _people(said, question, rubric)
    return QuestionView(
        key=key,
        asked=item.asked if item else question.label if question else key,
        judge=item.answer if item else None,
        judge_text=item.answer_text if item else "",
        of=item.of if item else "",
        people=word,
        people_text=text,
        reasoning=item.reasoning if item else "",
        evidence=item.evidence if item else "",
        is_evidence_found=item.is_evidence_found if item else None,
        weight=item.weight if item else None,
        samples=item.samples if item else "",
        notes=tuple(_comments(labels, rubrics)) if question and question.required else (),
        is_split=is_split,
        is_against=_differs(item, word),
    )


def _turns_row(
    key: str,
    items: Sequence[ItemView],
    labels: Sequence[Label],
    rubric: QuestionRubric | None,
    question: Question | None,
) -> QuestionView:
    """A question about turns in one row: how often which answer, and which turns are bad."""
    judged = {item.turn: item for item in items if item.turn is not None}
    bad = {turn for turn, item in judged.items() if item.answer and item.answer.kind == "fail"}
    people = dict(_people_by_turn(labels, key, rubric, question))
    worse = tuple(
        sorted(turn for turn, (word, _, _) in people.items() if word and word.kind == "fail")
    )
    counts = Counter(item.answer_text for item in judged.values() if item.answer_text)
    text = ", ".join(f"{number} {answer.lower()}" for answer, number in counts.most_common())
    is_split = any(split for _, _, split in people.values())
    return QuestionView(
        key=key,
        asked=next((item.asked for item in items), question.label if question else key),
        judge=_judge_of_turns(judged.values(), text),
        judge_text=text,
        people=_people_of_turns(people, worse),
        turns=max(len(judged), len(people)),
        bad_turns=tuple(sorted({*bad, *worse})),
        is_split=is_split,
        is_against=any(_differs(judged.get(turn), word) for turn, (word, _, _) in people.items()),
    )


def _judge_of_turns(items: Iterable[ItemView], text: str) -> VerdictWord | None:
    """All turns as one verdict, where each answer is good, bad or missing."""
    kinds = [item.answer.kind if item.answer else None for item in items]
    if not kinds or None in kinds:
        return None
    worst: Kind = "fail" if "fail" in kinds else "unscored" if "unscored" in kinds else "pass"
    return VerdictWord(worst, text or "no answer")


def _people_of_turns(
    people: Mapping[int, tuple[VerdictWord | None, str, bool]], worse: Sequence[int]
) -> VerdictWord | None:
    if not people or all(word is None for word, _, _ in people.values()):
        return None
    if not worse:
        return VerdictWord("pass", "all turns good")
    numbers = ", ".join(map(str, worse[:5])) + (" …" if len(worse) > 5 else "")
    return VerdictWord("fail", f"turn{'' if len(worse) == 1 else 's'} {numbers} bad")


def _by_turn(
    checks: Sequence[CheckView], labels: Sequence[Label], rubrics: Sequence[QuestionRubric]
) -> dict[int, list[QuestionView]]:
    found: dict[int, dict[str, QuestionView]] = {}
    items = [item for check in _every(checks) for item in check.items if item.turn is not None]
    keys = dict.fromkeys(item.key for item in items)
    asked = (one for rubric in rubrics for one in rubric.questions if one.scope == "turn")
    for key in (*keys, *(one.key for one in asked if one.key not in keys)):
        rubric, question = find_question(rubrics, key)
        people = dict(_people_by_turn(labels, key, rubric, question))
        judged = {cast(int, item.turn): item for item in items if item.key == key}
        for turn in sorted({*people, *judged}):
            item = judged.get(turn)
            word, text, is_split = people.get(turn, (None, "", False))
            found.setdefault(turn, {})[key] = QuestionView(
                key=key,
                asked=item.asked if item else question.label if question else key,
                judge=item.answer if item else None,
                judge_text=item.answer_text if item else "",
                people=word,
                people_text=text,
                reasoning=item.reasoning if item else "",
                is_split=is_split,
                is_against=_differs(item, word),
            )
    return {turn: list(rows.values()) for turn, rows in found.items()}


def _people_by_turn(
    labels: Sequence[Label], key: str, rubric: QuestionRubric | None, question: Question | None
) -> Iterator[tuple[int, tuple[VerdictWord | None, str, bool]]]:
    said: dict[int, list[Said]] = {}
    for label in labels:
        for turn, sheet in label.answers.turns.items() if label.answers else ():
            if key in sheet:
                said.setdefault(turn, []).append(Said(label.annotator, _plain(sheet[key])))
    for turn, votes in said.items():
        yield turn, _people(votes, question, rubric)


def _people(
    said: Sequence[Said], question: Question | None, rubric: QuestionRubric | None
) -> tuple[VerdictWord | None, str, bool]:
    """What people say together: a verdict where answers are good or bad, else their answers."""
    if not said:
        return None, "", False
    is_split = len({answer_text(question, one.value) for one in said}) > 1
    words = [answer_word(question, rubric, one.value) for one in said] if question else []
    good = [word for word in words if word and word.kind == "pass"]
    if words and all(words):
        best = good[0].word if good else _good_word(question, rubric)
        text = f"{len(good)} of {len(said)} {best}".lower()
        kind = "pass" if 2 * len(good) > len(said) else "fail"
        kind = "unscored" if 2 * len(good) == len(said) else kind
        return VerdictWord(kind, text), text, is_split
    return None, _listed(said, question), is_split


def _listed(said: Sequence[Said], question: Question | None) -> str:
    if question and question.type == "score":
        return ", ".join(answer_text(question, one.value) for one in said)
    parts = [
        answer_text(question, value)
        for one in said
        for value in (one.value if isinstance(one.value, list) else [one.value])
    ]
    counts = Counter(parts)
    return ", ".join(f"{number} × {text}" for text, number in counts.most_common())


def _good_word(question: Question | None, rubric: QuestionRubric | None) -> str:
    """What the good answer to a question is called, where nobody has given it."""
    values: list[JsonValue] = [0, 1]
    if question and question.options:
        values = [option.value for option in question.options]
    words = (answer_word(question, rubric, value) for value in values)
    return next((word.word for word in words if word and word.kind == "pass"), "good")


def _differs(item: ItemView | None, word: VerdictWord | None) -> bool:
    kinds = {"pass", "fail"}
    if item is None or item.answer is None or word is None:
        return False
    return {item.answer.kind, word.kind} == kinds


def _comments(labels: Sequence[Label], rubrics: Sequence[QuestionRubric]) -> Iterator[Said]:
    """What people wrote in free text about the whole."""
    for rubric in rubrics:
        for question in rubric.questions:
            if question.kind.is_free_text:
                for label, value in _given(labels, question.key):
                    yield Said(label.annotator, _plain(value))


def _given(labels: Sequence[Label], key: str) -> Iterator[tuple[Label, Answer]]:
    for label in labels:
        if label.answers and key in label.answers.trace:
            yield label, label.answers.trace[key]


def _plain(value: Answer) -> JsonValue:
    return list(value) if isinstance(value, tuple) else value
