"""`criteria`: a judge says of each criterion whether it is met, and points are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import ClassVar

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
from steelyard.judging.points import Aggregation, Points, Ruling, points_of
from steelyard.judging.questions_asked import AskedQuestion
from steelyard.model.case import Case, Criterion
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.trace import Trace


class Criteria(FrozenStruct, frozen=True, kw_only=True):
    """Points for every criterion that the answer meets; a negative weight takes some away.

    The judge is asked whether what a criterion describes is there, and never what it weighs.
    """

    kind: ClassVar[str] = "criteria"

    criteria: tuple[Criterion, ...]
    judge: Judge
    is_grouped: bool = False
    """Whether one call asks about all criteria; else each has a call of its own."""
    aggregation: Aggregation = "points_over_maximum"
    threshold: float = PASS_THRESHOLD
    target: str | None = None
    samples: int = 1

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """The points of this trace, over the criteria for which there is a decision."""
        if not self.criteria:
            return Outcome.skipped("there are no criteria")
        return self._outcome(await _asked_of(self).ask(asker, trace, case))

    def questions(self) -> Iterator[AskedQuestion]:
        """What it asks, whatever the trace."""
        yield from _asked_of(self).questions()

    def _outcome(self, found: Sequence[FoundItem]) -> Outcome:
        weights = [criterion.weight for criterion in self.criteria]
        rulings = [
            Ruling(weight, None if one.value is None else bool(one.value))
            for weight, one in zip(weights, found, strict=True)
        ]
        points = points_of(rulings, self.aggregation)
        details = _details(points, weights, found)
        if points.score is None:
            return Outcome(
                status="unscored",
                reason=_why_unscored(points, found),
                details=details,
                judge=self.judge.name,
            )
        return Outcome(
            reason=_reason(points, rulings, found),
            score=points.score,
            raw_score=points.raw_score,
            passed=points.score >= self.threshold,
            details=details,
            judge=self.judge.name,
        )


def _asked(check: Criteria) -> AskedItems:
    sheet = Sheet(
        judge=check.judge,
        is_grouped=check.is_grouped,
        samples=check.samples,
        target=check.target,
    )
    items = [
        _item(criterion, f"criterion_{number}" if check.is_grouped else "met")
        for number, criterion in enumerate(check.criteria, start=1)
    ]
    return AskedItems(sheet, items)


def _item(criterion: Criterion, key: str) -> QuestionItem:
    """What is asked about a criterion; its id is anything at all, and the key is not."""
    asked = full_text(criterion.title, criterion.description)
    return QuestionItem(
        id=criterion.id,
        type="criterion",
        field=yes_no_field(key, asked),
        text=criterion.title,
        guidance=criterion.description,
    )


_asked_of = Once(_asked)


def stated_criteria(texts: Sequence[str]) -> tuple[Criterion, ...]:
    """Criteria that are stated as texts alone, each of weight 1."""
    return tuple(
        Criterion(id=f"criterion-{number}", title=text)
        for number, text in enumerate(texts, start=1)
    )


def _details(points: Points, weights: list[float], found: Sequence[FoundItem]) -> JsonObject:
    figures: JsonObject = asdict(points)
    del figures["raw_score"]
    return {
        **figures,
        "items": [
            {**one.details, "weight": weight} for weight, one in zip(weights, found, strict=True)
        ],
    }


def _reason(points: Points, rulings: list[Ruling], found: Sequence[FoundItem]) -> str:
    pairs = list(zip(rulings, found, strict=True))
    missed = [
        one.item.text for ruling, one in pairs if ruling.is_met is False and ruling.weight > 0
    ]
    harmful = [one.item.text for ruling, one in pairs if ruling.is_met and ruling.weight < 0]
    summary = f"met {points.met} of {points.scored} criteria"
    if points.maximum > 0:
        summary += f", {points.points:g} of {points.maximum:g} points"
    parts = [summary]
    if missed:
        parts.append(f"not met: {listed(missed)}")
    if harmful:
        parts.append(f"there, and costing points: {listed(harmful)}")
    if points.scored < points.total:
        parts.append(
            f"{points.total - points.scored} of {points.total} not judged: {why_not(found)}"
        )
    return "; ".join(parts)


def _why_unscored(points: Points, found: Sequence[FoundItem]) -> str:
    if not points.scored:
        return f"none of {points.total} criteria could be judged: {why_not(found)}"
    return (
        f"of {points.total} criteria only {points.scored} could be judged, none of which gives "
        f"points: {why_not(found)}"
    )
