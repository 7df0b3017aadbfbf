"""Many things to decide about one trace: a call for each, or one call for all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from steelyard.judging.asking import ask_for
from steelyard.judging.material import Material, material, quotable, transcript
from steelyard.judging.questions_asked import (
    Answered,
    AnswerField,
    AskedQuestion,
    FieldAnswer,
    Value,
)
from steelyard.judging.votes import SPLIT, voted
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.trace import Trace

YES_NO: dict[int | float | str, str] = {0: "no", 1: "yes"}
_SHOWN_NAMES = 3
_NAME_LENGTH = 70


class QuestionItem(FrozenStruct, frozen=True, kw_only=True):
    """One thing that a judge decides: a criterion, a statement or a question."""

    id: str
    type: str
    """`criterion`, `item`, or the type of the question."""
    field: AnswerField
    text: str
    """What is asked, and what people know it by."""
    guidance: str = ""
    """How to decide it."""
    turn: int | None = None
    """The turn that it is asked about, counting messages of the assistant from 1."""


class Sheet(FrozenStruct, frozen=True, kw_only=True):
    """How items are put to a judge; what weight they have is never said."""

    judge: Judge
    is_grouped: bool = False
    rubric: str = ""
    """What holds for all items."""
    is_case_question: bool = False
    """Whether `question` in a template is what the target was asked, as it is in eval cases."""
    samples: int = 1
    """How often each is asked; what most samples say is what counts."""
    target: str | None = None


class FoundItem(NamedTuple):
    """What a judge decided about an item, and what a check's details say of it."""

    item: QuestionItem
    answer: FieldAnswer
    details: JsonObject

    @property
    def value(self) -> Value | None:
        """None where there is no decision."""
        return self.answer.value


def yes_no_field(key: str, question: str) -> AnswerField:
    """The field of what is there or not; its values have no order that could lean one way."""
    return AnswerField(key=key, values=(0, 1), labels=YES_NO, question=question)


class AskedItems:
    """Items as a judge is asked about them: made once for all records."""

    def __init__(self, sheet: Sheet, items: Sequence[QuestionItem]) -> None:
        self.items = items
        self._sheet = sheet
        self._calls = [(_question(sheet, group), group) for group in _groups(sheet, items)]
        """Each call, whatever it is about, with the items that it asks about."""

    def questions(self) -> Iterator[AskedQuestion]:
        """What the judge is asked, whatever the trace; a turn stands for all of them."""
        for question, _ in self._calls:
            yield replace(question, item=None, turn=None)

    async def ask(self, asker: Asker, trace: Trace, case: Case) -> list[FoundItem]:
        """What the judge decides about each item, in their order.

        A call that fails leaves its items without a decision and the others as they are.
        """
        count = self._sheet.samples
        asked = [*self._about(trace, case)]
        replies = await asyncio.gather(
            *(
                ask_for(asker, replace(one, sample=sample) if sample else one)
                for one in asked
                for sample in range(count)
            )
        )
        found: dict[int, FoundItem] = {}
        for number, (_, group) in enumerate(self._calls):
            given = replies[number * count : (number + 1) * count]
            found |= {id(item): _found(item, given) for item in group}
        return [found[id(item)] for item in self.items]

    def _about(self, trace: Trace, case: Case) -> Iterator[AskedQuestion]:
        """The calls about a trace; what they say of a turn is put together once."""
        known: dict[int | None, tuple[Material, str]] = {}
        for question, _ in self._calls:
            turn = question.turn
            if turn not in known:
                known[turn] = _material(self._sheet, trace, case, turn), quotable(trace, turn)
            shown, text = known[turn]
            yield replace(question, material=shown, quotable=text)


def full_text(item_text: str, guidance: str) -> str:
    """The text of an item with its guidance, which identifies it."""
    return f"{item_text}\n{guidance}".strip()


def why_not(found: Iterable[FoundItem]) -> str:
    """Why items have no decision: each cause with how often it came up."""
    causes = Counter(one.answer.reason or "unusable" for one in found if one.value is None)
    return ", ".join(f"{cause} ({count})" for cause, count in causes.most_common())


def listed(texts: Sequence[str]) -> str:
    """The first few of some texts, shortened, and how many more there are."""
    shown = [f'"{_short(text)}"' for text in texts[:_SHOWN_NAMES]]
    more = len(texts) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])])


def _groups(sheet: Sheet, items: Sequence[QuestionItem]) -> list[tuple[QuestionItem, ...]]:
    """What each call asks about; a grouped call asks all there is about one turn."""
    if not sheet.is_grouped:
        return [(item,) for item in items]
    turns = dict.fromkeys(item.turn for item in items)
    return [tuple(item for item in items if item.turn == turn) for turn in turns]


def _question(sheet: Sheet, items: tuple[QuestionItem, ...]) -> AskedQuestion:
    first = items[0]
    return AskedQuestion(
        judge=sheet.judge,
        fields=tuple(item.field for item in items),
        material={"question": ""} if sheet.is_case_question else {},
        instructions=_instructions(sheet, items),
        item=None if sheet.is_grouped else first.id,
        turn=first.turn,
        target=sheet.target,
    )


def _material(sheet: Sheet, trace: Trace, case: Case, turn: int | None) -> Material:
    """What is judged; of a turn also what had been said before it."""
    shown = material(trace, case, turn)
    if sheet.is_case_question:
        shown = shown.stating({"question": shown["input"]})
    if turn is None:
        return shown
    places = [place for place, message in enumerate(trace.messages) if message.role == "assistant"]
    earlier = transcript(trace.messages[: places[turn - 1]])
    before = "\n\n".join(text for text in (case.context, earlier) if text)
    return shown.stating({"context": before})


def _instructions(sheet: Sheet, items: tuple[QuestionItem, ...]) -> JsonObject:
    if sheet.is_case_question:
        return {"criteria": "", "rubric": sheet.rubric}
    if sheet.is_grouped:
        asked = "\n\n".join(f"{item.field.key}: {item.text}" for item in items)
        return {"question": asked, "criteria": "", "rubric": sheet.rubric}
    return {"question": items[0].text, "criteria": items[0].guidance, "rubric": sheet.rubric}


def _found(item: QuestionItem, replies: Sequence[Answered]) -> FoundItem:
    votes = voted(item.field, replies)
    answer = votes.reply.answers[item.field.key]
    details: JsonObject = {
        "item": item.id,
        "type": item.type,
        "asked": item.text,
        **votes.reply.details(item.field.key),
    }
    if len(replies) > 1:
        details |= {"samples": len(replies), "votes": votes.counts}
    if votes.is_split:
        answer = replace(answer, value=None, reason=SPLIT)
        details = {**details, "value": None, "reason": SPLIT}
    return FoundItem(item, answer, {**details, "item": item.id})


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _NAME_LENGTH else line[: _NAME_LENGTH - 1].rstrip() + "…"
