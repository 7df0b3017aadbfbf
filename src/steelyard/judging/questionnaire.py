"""`questionnaire`: a judge answers the questions of a rubric, as people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from steelyard.judging.items import (
    AskedItems,
    FoundItem,
    QuestionItem,
    Sheet,
    full_text,
    listed,
    why_not,
)
from steelyard.judging.once import Once
from steelyard.judging.question_scores import QuestionScore, question_score
from steelyard.judging.question_types import JUDGED_TYPES
from steelyard.judging.questions_asked import AskedQuestion, Value
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.question import Answer, Answers, Question, QuestionRubric
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.trace import Trace


class Questionnaire(FrozenStruct, frozen=True, kw_only=True):
    """The judge's answers, and the score that the rubric says they come to.

    Asked are the questions that judges answer: once about the trace, or once about each message
    of the assistant. What a judge cannot answer is left out of the answers and of the score; where
    it is a required question, there is no score.
    """

    kind: ClassVar[str] = "questionnaire"
    revision: ClassVar[int] = 2

    rubric: QuestionRubric
    judge: Judge
    is_grouped: bool = False
    """Whether one call asks all there is about the trace or about a turn."""
    target: str | None = None
    samples: int = 1

    @property
    def pass_threshold(self) -> float:
        """The score that passes."""
        scoring = self.rubric.scoring
        stated = scoring.pass_threshold if scoring else None
        return PASS_THRESHOLD if stated is None else stated

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """The answers about this trace."""
        turns = sum(message.role == "assistant" for message in trace.messages)
        asked = _asked_of(self, turns)
        if not asked.items:
            return Outcome.skipped(self._why_nothing(turns))
        return self._outcome(await asked.ask(asker, trace, case))

    def questions(self) -> Iterator[AskedQuestion]:
        """What it asks, whatever the trace; one turn stands for all."""
        yield from _asked_of(self, 1).questions()

    def _why_nothing(self, turns: int) -> str:
        if turns == 0 and any(question.answered_by_auto for question in self.rubric.questions):
            return "the questions are about turns, and the trace has none"
        return f"{self.rubric.reference} has no question that judges answer"

    def _outcome(self, found: Sequence[FoundItem]) -> Outcome:
        answers = _answers(self.rubric, found)
        score = question_score(self.rubric, answers)
        counting = {one.item.id for one in found} & set(score.counting)
        details = _details(score, counting, found)
        owed = _owed(self.rubric, found)
        if score.value is None or owed:
            return Outcome(
                status="unscored" if counting or owed else "skipped",
                reason=f"{_why_unscored(counting, owed)}; {_coverage(found)}",
                details=details,
                judge=self.judge.name,
                answers=answers,
            )
        return Outcome(
            reason=f"{_parts(score)}; {_coverage(found)}",
            score=score.value,
            passed=score.value >= self.pass_threshold,
            details=details,
            judge=self.judge.name,
            answers=answers,
        )


def _asked(check: Questionnaire, turns: int) -> AskedItems:
    sheet = Sheet(
        judge=check.judge,
        is_grouped=check.is_grouped,
        rubric="\n".join(check.rubric.guidance),
        samples=check.samples,
        target=check.target,
    )
    return AskedItems(sheet, [*_items(check.rubric, turns)])


_asked_of = Once(_asked)


def _items(rubric: QuestionRubric, turns: int) -> Iterator[QuestionItem]:
    asked = [question for question in rubric.questions if question.answered_by_auto]
    for question in asked:
        if question.scope == "trace":
            yield _item(question, None)
    for turn in range(1, turns + 1):
        for question in asked:
            if question.scope == "turn":
                yield _item(question, turn)


def _item(question: Question, turn: int | None) -> QuestionItem:
    asked = full_text(question.label, question.guidance or "")
    return QuestionItem(
        id=question.key,
        type=question.type,
        field=JUDGED_TYPES[question.type].field(question, asked),
        text=question.label,
        guidance=question.guidance or "",
        turn=turn,
    )


def _answers(rubric: QuestionRubric, found: Sequence[FoundItem]) -> Answers:
    """What was answered, in the contract's shape and the rubric's order."""
    questions = {question.key: question for question in rubric.questions}
    about_trace: dict[str, Answer] = {}
    turns: dict[int, dict[str, Answer]] = {}
    for one in found:
        if one.value is None:
            continue
        turn = one.item.turn
        sheet = about_trace if turn is None else turns.setdefault(turn, {})
        sheet[one.item.id] = _answer(questions[one.item.id], one.value)
    return Answers(trace=about_trace, turns=turns)


def _answer(question: Question, value: Value) -> Answer:
    if isinstance(value, tuple):
        # In the order of the options, so that the same choice is the same answer.
        return tuple(option.value for option in question.options if option.value in value)
    return value if isinstance(value, str) else int(value)


def _details(score: QuestionScore, counting: set[str], found: Sequence[FoundItem]) -> JsonObject:
    return {
        "answered": sum(one.value is not None for one in found),
        "asked": len(found),
        "counted": len(score.parts),
        "counting": len(counting),
        "parts": dict(score.parts),
        "items": [one.details for one in found],
    }


def _parts(score: QuestionScore) -> str:
    shown = ", ".join(f"{key} {part:.2g}" for key, part in score.parts.items())
    return f"mean of {len(score.parts)} question(s): {shown}"


def _owed(rubric: QuestionRubric, found: Sequence[FoundItem]) -> list[str]:
    """The required questions that have no answer, about the trace or about a turn of it."""
    required = {question.key for question in rubric.questions if question.required}
    missing = [one.item for one in found if one.value is None and one.item.id in required]
    return list(dict.fromkeys(item.text for item in missing))


def _why_unscored(counting: set[str], owed: Sequence[str]) -> str:
    if owed:
        return f"required, and not answered: {listed(owed)}"
    return "no answer to a question that counts" if counting else "no question counts"


def _coverage(found: Sequence[FoundItem]) -> str:
    """How many questions were answered, and why others were not."""
    missing = sum(one.value is None for one in found)
    summary = f"{len(found) - missing} of {len(found)} answered"
    return f"{summary}, not: {why_not(found)}" if missing else summary
