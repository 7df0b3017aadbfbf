"""What checks found, as pages show it: checks within checks, questions, jurors and reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Question, QuestionRubric, QuestionScoring
from steelyard.reports.json_view import json_line
from steelyard.reports.marking import Mark, Quotation
from steelyard.reports.verdict_words import VerdictWord, check_word, passed_word
from steelyard.results.predictions import CheckScore

_THRESHOLD = re.compile(r" at (\d+(?:\.\d+)?)")
_SHOWN = {"rule", "items", "results", "jurors", "calls", "rubric"}
"""Details that have a place of their own."""
_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """What a judge decided about one question, criterion or statement."""

    key: str
    asked: str
    turn: int | None = None
    value: JsonValue = None
    answer: VerdictWord | None = None
    """The answer as a verdict; None where an answer is neither good nor bad."""
    answer_text: str = ""
    of: str = ""
    """The end of the scale, such as `of 5`."""
    reasoning: str = ""
    evidence: str = ""
    is_evidence_found: bool | None = None
    weight: float | None = None
    samples: str = ""
    """How several samples voted."""

    @property
    def quotation(self) -> Quotation:
        """What the judge quotes, with its verdict."""
        mark: Mark = "plain"
        if self.answer and self.answer.kind in {"pass", "fail"}:
            mark = "pass" if self.answer.kind == "pass" else "fail"
        return Quotation(self.evidence, mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class JurorView:
    """What one juror says."""

    judge: str
    word: VerdictWord
    score: float | None
    weight: float | None
    reason: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView:
    """What one check found."""

    name: str
    kind: str
    word: VerdictWord
    score: float | None
    threshold: float | None
    rule: str
    reason: str
    weight: float
    is_required: bool
    judge: str
    items: tuple[ItemView, ...] = ()
    jurors: tuple[JurorView, ...] = ()
    inner: tuple[CheckView, ...] = ()
    evidence: tuple[Quotation, ...] = ()
    details: JsonObject | None = None
    """What else the check says of itself."""
    redacted: str = ""
    """What stands in the place of details that are redacted as a whole."""


def check_views(
    scores: Iterable[CheckScore], rubrics: Sequence[QuestionRubric] = ()
) -> tuple[CheckView, ...]:
    """The checks of a record; the rubrics say what the answers to their questions mean."""
    return tuple(_check(score, rubrics) for score in scores)


def quotations(checks: Iterable[CheckView], turn: int | None = None) -> tuple[Quotation, ...]:
    """What judges quote from the trace: about one turn, or about the whole."""
    found: list[Quotation] = []
    for check in checks:
        if turn is None:
            found += check.evidence
        found += [one.quotation for one in check.items if one.turn == turn and one.evidence]
        found += quotations(check.inner, turn)
    return tuple(dict.fromkeys(found))


def judges_of(checks: Iterable[CheckView]) -> Iterator[str]:
    """The judges that decide a check alone, also within others; a jury goes by another name."""
    for check in checks:
        if check.judge and not check.jurors:
            yield check.judge
        yield from judges_of(check.inner)


def turn_items(checks: Iterable[CheckView]) -> dict[int, list[ItemView]]:
    """What judges say of single turns, by their numbers."""
    found: dict[int, list[ItemView]] = {}
    for check in checks:
        for item in check.items:
            if item.turn is not None:
                found.setdefault(item.turn, []).append(item)
        for turn, items in turn_items(check.inner).items():
            found.setdefault(turn, []).extend(items)
    return found


def answer_word(
    question: Question | None, rubric: QuestionRubric | None, value: JsonValue
) -> VerdictWord | None:
    """An answer as a verdict where the rubric, or a yes or no, says that it is good or bad."""
    if question is None:
        return VerdictWord("pass", "Yes") if value else VerdictWord("fail", "No")
    scoring = (rubric.scoring if rubric else None) or QuestionScoring()
    worth = scoring.options.get(question.key, {}).get(str(value))
    if worth is None and question.type == "yes_no" and isinstance(value, int):
        worth = value
    if worth is None:
        return None
    is_good = (worth > _HALF) is (scoring.questions.get(question.key, 1.0) > 0)
    return VerdictWord("pass" if is_good else "fail", answer_text(question, value))


def answer_text(question: Question | None, value: JsonValue) -> str:
    """An answer in the words of its question."""
    if isinstance(value, list | tuple):
        return ", ".join(answer_text(question, one) for one in cast("list[JsonValue]", value))
    if question is not None:
        if question.type == "yes_no" and value in (0, 1):
            return "Yes" if value else "No"
        for option in question.options:
            if option.value == value:
                return option.label
    return value if isinstance(value, str) else json_line(value)


def _check(score: CheckScore, rubrics: Sequence[QuestionRubric]) -> CheckView:
    details: JsonObject = score.details if isinstance(score.details, dict) else {}
    rule = _text(details.get("rule"))
    found = _THRESHOLD.search(rule)
    rest: JsonObject = {name: value for name, value in details.items() if name not in _SHOWN}
    return CheckView(
        name=score.check,
        kind=score.kind,
        word=check_word(score),
        score=score.score,
        threshold=float(found[1]) if found else None,
        rule=rule,
        reason=score.reason or "",
        weight=score.weight,
        is_required=score.required,
        judge=score.judge or "",
        items=tuple(_item(one, rubrics) for one in _objects(details.get("items"))),
        jurors=tuple(_juror(one) for one in _objects(details.get("jurors"))),
        inner=tuple(_check(_inner(one), rubrics) for one in _objects(details.get("results"))),
        evidence=tuple(_evidence(_objects(details.get("calls")), passed=score.passed)),
        details=rest or None,
        redacted=score.details if isinstance(score.details, str) else "",
    )


def _inner(row: JsonObject) -> CheckScore:
    """A check within a check, of which less is kept."""
    known: Mapping[str, Any] = row
    passed, weight, details = known.get("passed"), known.get("weight", 1.0), known.get("details")
    return CheckScore(
        check=_text(known.get("check")),
        kind=_text(known.get("kind")),
        score=_number(known.get("score")),
        passed=passed if isinstance(passed, bool) else None,
        status=_text(known.get("status")),
        reason=_text(known.get("reason")) or None,
        weight=_number(weight) or 0.0,
        judge=_text(known.get("judge")) or None,
        details=details if isinstance(details, dict | str) else {},
    )


def _item(row: JsonObject, rubrics: Sequence[QuestionRubric]) -> ItemView:
    key, value, turn = _text(row.get("item")), row.get("value"), row.get("turn")
    asked_as = _text(row.get("type"))
    rubric, question = find_question(rubrics, key) if asked_as != "criterion" else (None, None)
    is_yes_no = question is None and asked_as in {"criterion", "item", "yes_no", ""}
    votes = row.get("votes")
    found = row.get("evidence_found")
    return ItemView(
        key=key,
        asked=_text(row.get("asked")) or key,
        turn=turn if isinstance(turn, int) else None,
        value=value,
        answer=_item_word(row, question, rubric, is_yes_no=is_yes_no),
        answer_text="" if value is None else answer_text(question, value),
        of=f"of {question.scale.max}" if question and question.scale else "",
        reasoning=_text(row.get("reasoning")) or _text(row.get("message")),
        evidence=_text(row.get("evidence")),
        is_evidence_found=found if isinstance(found, bool) else None,
        weight=_number(row.get("weight")),
        samples=json_line(votes) if votes else "",
    )


def _item_word(
    row: JsonObject,
    question: Question | None,
    rubric: QuestionRubric | None,
    *,
    is_yes_no: bool,
) -> VerdictWord | None:
    value = row.get("value")
    if value is None:
        reason = _text(row.get("reason")).replace("_", " ")
        return VerdictWord("unscored", reason.capitalize() or "No answer")
    if question is None and not is_yes_no:
        return None
    word: VerdictWord | None = answer_word(question, rubric, value)
    weight = _number(row.get("weight"))
    if word and weight is not None and weight < 0:
        # What such a criterion describes should not be there.
        return VerdictWord("fail" if value else "pass", word.word)
    return word


def find_question(
    rubrics: Sequence[QuestionRubric], key: str
) -> tuple[QuestionRubric | None, Question | None]:
    """The question of a key, with its rubric."""
    for rubric in rubrics:
        for question in rubric.questions:
            if question.key == key:
                return rubric, question
    return None, None


def _juror(row: JsonObject) -> JurorView:
    passed = row.get("passed")
    calls = _objects(row.get("calls"))
    return JurorView(
        judge=_text(row.get("judge")),
        word=passed_word(passed if isinstance(passed, bool) else None),
        score=_number(row.get("score")),
        weight=_number(row.get("weight")),
        reason=_text(row.get("reason")),
        evidence=_text(calls[0].get("evidence")) if calls else "",
    )


def _evidence(calls: Iterable[JsonObject], *, passed: bool | None) -> Iterable[Quotation]:
    mark: Mark = "plain" if passed is None else "pass" if passed else "fail"
    for call in calls:
        if quoted := _text(call.get("evidence")):
            yield Quotation(quoted, mark)


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(cast(float, value)) if is_number else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
