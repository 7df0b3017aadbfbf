"""`pairwise`: a judge says which of two answers is better, in both orders."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal, TypeAlias, cast

from msgspec.structs import replace

from steelyard.judging.asking import ask_for
from steelyard.judging.material import material, output_text, quotable
from steelyard.judging.once import Once
from steelyard.judging.questions_asked import AnswerField, AskedQuestion
from steelyard.judging.votes import Votes, voted
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, JsonObject
from steelyard.model.judge import COMPARED, Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.statistics.preference import Pick, Winner
from steelyard.model.trace import Trace
from steelyard.stats.orders import SHARES, winner

OTHER_OUTPUT = "output_a"
"""Where the trace of run B holds the answer of run A."""
Order: TypeAlias = Literal["ab", "ba"]
ORDERS: tuple[Order, ...] = ("ab", "ba")
"""Whose answer is shown first."""
_FIELD = AnswerField(
    key="preference",
    values=("a", "b", "tie"),
    labels={"a": "answer A is better", "b": "answer B is better", "tie": "neither is better"},
    is_fixed=True,
)
_PICKS: dict[str, Pick] = {"a": "first", "b": "second", "tie": "tie"}
# What run B alone answered has no place in a question about both.
_ONE_SIDED = ("output", "candidate_answer", "output_messages")
_REASONS: dict[Winner, str] = {
    "a": "A is preferred in both orders",
    "b": "B is preferred in both orders",
    "tie": "a tie",
    "contradiction": "the answer in the same place is preferred in both orders",
}


class Pairwise(FrozenStruct, frozen=True, kw_only=True):
    """Score 1 when the judge prefers B's answer in both orders, 0 for A's, else 0.5."""

    kind: ClassVar[str] = "pairwise"
    threshold: ClassVar[float] = 1.0
    orders: ClassVar[tuple[Order, ...]] = ORDERS

    judge: Judge
    target: str | None = None
    samples: int = 1
    """How often the judge is asked in each order; the most frequent answer counts."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """B's share; unscored unless both orders have an answer."""
        mine, other = output_text(trace), str(trace.extra.get(OTHER_OUTPUT, ""))
        if mine == other:
            details: JsonObject = {"winner": "tie", "is_identical": True, "calls": []}
            return self._outcome("tie", "both answers are the same text", details)
        votes = await asyncio.gather(
            *(self._votes(order, (other, mine), trace, case, asker) for order in ORDERS)
        )
        return self._judged(dict(zip(ORDERS, votes, strict=True)))

    def questions(self) -> Iterator[AskedQuestion]:
        """What it asks, whatever the trace."""
        yield self._asked({}, "", ORDERS[0], 0)

    async def _votes(
        self, order: Order, outputs: tuple[str, str], trace: Trace, case: Case, asker: Asker
    ) -> Votes:
        """What the judge says when the answers are shown in one order."""
        known = material(trace, case).hiding(_ONE_SIDED)
        shown = outputs if order == "ab" else outputs[::-1]
        pair: JsonObject = dict(zip(COMPARED, shown, strict=True))
        filled = known.stating({"question": known["input"], **pair})
        text = f"{outputs[0]}\n{quotable(trace)}"
        asked = [self._asked(filled, text, order, sample) for sample in range(self.samples)]
        return voted(_FIELD, await asyncio.gather(*(ask_for(asker, one) for one in asked)))

    def _asked(self, shown: Extra, text: str, order: Order, sample: int) -> AskedQuestion:
        return replace(
            _asked_of(self.judge),
            material=shown,
            quotable=text,
            item=order,
            sample=sample,
            target=self.target,
        )

    def _judged(self, votes: Mapping[Order, Votes]) -> Outcome:
        details: JsonObject = {"calls": [votes[order].reply.details() for order in ORDERS]}
        if self.samples > 1:
            details["distribution"] = {order: votes[order].counts for order in ORDERS}
        missing = [one for one in votes.items() if not one[1].reply.only.is_scored]
        if missing:
            order, failed = missing[0][0], missing[0][1].reply.only
            reason = f"order {order}: {failed.reason}: {failed.message}"
            return Outcome(
                status="unscored", reason=reason, details=details, judge=self.judge.name
            )
        ab, ba = _pick(votes["ab"]), _pick(votes["ba"])
        found = winner(ab, ba)
        reasoning = votes["ab"].reply.only.reasoning
        reason = f"{_REASONS[found]}: {reasoning}" if reasoning else _REASONS[found]
        return self._outcome(
            found, reason, {"winner": found, "picks": {"ab": ab, "ba": ba}, **details}
        )

    def _outcome(self, found: Winner, reason: str, details: JsonObject) -> Outcome:
        return Outcome(
            score=SHARES[found],
            passed=SHARES[found] >= self.threshold,
            reason=reason,
            details=details,
            judge=self.judge.name,
        )


def _question(judge: Judge) -> AskedQuestion:
    """What a judge is asked, whatever it is about."""
    return AskedQuestion(judge=judge, fields=(_FIELD,))


_asked_of = Once(_question)


def _pick(votes: Votes) -> Pick:
    """The place that is preferred; where two answers are equally frequent, neither."""
    return "tie" if votes.is_split else _PICKS[cast(str, votes.reply.only.value)]
