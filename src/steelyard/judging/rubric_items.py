"""`rubric`: a judge says of each statement whether it is true of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple, cast

from steelyard.judging.items import (
    AskedItems,
    FoundItem,
    QuestionItem,
    Sheet,
    full_text,
    listed,
    why_not,
    yes_no_field,
)
from steelyard.judging.once import Once
from steelyard.judging.questions_asked import AnswerField, AskedQuestion
from steelyard.judging.score_ranges import (
    MOST_POINTS,
    points_needed,
    ranges_text,
    read_ranges,
)
from steelyard.judging.score_types import WORST_TO_BEST
from steelyard.model.case import Case
from steelyard.model.evaluator import RubricItem
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.scores import weighted_mean
from steelyard.model.trace import Trace


class RubricItems(FrozenStruct, frozen=True, kw_only=True):
    """The weight of what is satisfied, of the weight of what was judged.

    A required item that is not satisfied fails the check, whatever the score; one that was not
    judged leaves it without a score.
    """

    kind: ClassVar[str] = "rubric"
    revision: ClassVar[int] = 2

    items: tuple[RubricItem, ...]
    judge: Judge
    is_grouped: bool = False
    threshold: float = PASS_THRESHOLD
    target: str | None = None
    samples: int = 1

    def __post_init__(self) -> None:
        """Items whose ranges cannot be read must not turn into a plain yes or no."""
        for item in self.items:
            _ranges(item)

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """How much of the rubric is true of this trace."""
        if not self.items:
            return Outcome.skipped("there are no rubric items")
        found = await _asked_of(self).ask(asker, trace, case)
        return self._outcome([_ruled(*pair) for pair in zip(self.items, found, strict=True)])

    def questions(self) -> Iterator[AskedQuestion]:
        """What it asks, whatever the trace."""
        yield from _asked_of(self).questions()

    def _outcome(self, ruled: Sequence[_Ruled]) -> Outcome:
        judged = [one for one in ruled if one.share is not None]
        failed = [one for one in judged if one.item.required and not one.is_satisfied]
        open_gates = [one for one in ruled if one.item.required and one.share is None]
        details = _details(ruled, judged)
        if not _can_be_scored(ruled, judged) or open_gates:
            return Outcome(
                status="unscored",
                reason=_why_unscored(ruled, judged, open_gates),
                details=details,
                judge=self.judge.name,
            )
        score = _score(judged)
        return Outcome(
            reason=_reason(ruled, judged, failed),
            score=score,
            passed=not failed and score >= self.threshold,
            details=details,
            judge=self.judge.name,
        )


def _asked(check: RubricItems) -> AskedItems:
    sheet = Sheet(
        judge=check.judge,
        is_grouped=check.is_grouped,
        is_case_question=True,
        samples=check.samples,
        target=check.target,
    )
    items = [
        _item(item, f"item_{number}" if check.is_grouped else "satisfied")
        for number, item in enumerate(check.items, start=1)
    ]
    return AskedItems(sheet, items)


_asked_of = Once(_asked)


class _Ruled(NamedTuple):
    """An item with what was decided: how far it is satisfied, and whether that is enough."""

    item: RubricItem
    found: FoundItem
    share: float | None
    is_satisfied: bool


def _item(item: RubricItem, key: str) -> QuestionItem:
    text = item.description
    if item.extra.get("operator") == "contradiction":
        text = f"Nothing in the answer contradicts this; it need not be said: {text}"
    ranges = _ranges(item)
    if not ranges:
        return QuestionItem(id=item.id, type="item", field=yes_no_field(key, text), text=text)
    asked = full_text(text, ranges)
    field = AnswerField(
        key=key, kind="number", span=(0, MOST_POINTS), ends=WORST_TO_BEST, question=asked
    )
    return QuestionItem(id=item.id, type="score", field=field, text=text, guidance=ranges)


def _ranges(item: RubricItem) -> str:
    ranges = item.extra.get("score_ranges")
    # An empty list says nothing.
    return ranges_text(read_ranges(ranges)) if ranges else ""


def _ruled(item: RubricItem, found: FoundItem) -> _Ruled:
    if found.value is None:
        return _Ruled(item, found, None, is_satisfied=False)
    share = cast(float, found.value)
    if found.item.type == "score":
        share /= MOST_POINTS
    needed = points_needed(item.extra.get("min_score"))
    return _Ruled(item, found, share, share >= (1.0 if needed is None else needed))


def _can_be_scored(ruled: Sequence[_Ruled], judged: Sequence[_Ruled]) -> bool:
    """Whether anything was judged, and something that has weight where anything has."""
    weighty = [one for one in ruled if one.item.weight] or ruled
    return any(one in judged for one in weighty)


def _score(judged: Sequence[_Ruled]) -> float:
    """The weighted mean; where nothing has weight, items only gate and all must hold."""
    weights = [one.item.weight for one in judged]
    if not any(weights):
        return float(all(one.is_satisfied for one in judged))
    return weighted_mean([cast(float, one.share) for one in judged], weights)


def _details(ruled: Sequence[_Ruled], judged: Sequence[_Ruled]) -> JsonObject:
    return {
        "satisfied": sum(one.is_satisfied for one in judged),
        "scored": len(judged),
        "total": len(ruled),
        "items": [
            {**one.found.details, "weight": one.item.weight, "required": one.item.required}
            for one in ruled
        ],
    }


def _reason(ruled: Sequence[_Ruled], judged: Sequence[_Ruled], failed: Sequence[_Ruled]) -> str:
    satisfied = [one for one in judged if one.is_satisfied]
    parts = [f"{len(satisfied)} of {len(judged)} items hold"]
    if failed:
        parts.append(f"required, and not so: {_names(failed)}")
    others = [one for one in judged if not one.is_satisfied and one not in failed]
    if others:
        parts.append(f"not so: {_names(others)}")
    if len(judged) < len(ruled):
        parts.append(
            f"{len(ruled) - len(judged)} of {len(ruled)} not judged: "
            + why_not(one.found for one in ruled)
        )
    return "; ".join(parts)


def _why_unscored(
    ruled: Sequence[_Ruled], judged: Sequence[_Ruled], open_gates: Sequence[_Ruled]
) -> str:
    why = why_not(one.found for one in ruled)
    if not judged:
        return f"none of {len(ruled)} items could be judged: {why}"
    if not open_gates:
        return f"only items of weight 0 could be judged: {why}"
    return f"whether required items hold could not be judged: {_names(open_gates)}: {why}"


def _names(ruled: Sequence[_Ruled]) -> str:
    return listed([one.item.description for one in ruled])
