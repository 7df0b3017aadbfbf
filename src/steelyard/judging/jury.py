"""`llm_judge` with a jury: several judges, and one score of theirs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations
from math import fsum
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from steelyard.judging.llm_judge import LlmJudge
from steelyard.judging.once import Once
from steelyard.judging.questions_asked import AskedQuestion
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.scores import in_proportion, meant, weighted_mean
from steelyard.model.trace import Trace

Aggregation: TypeAlias = Literal["mean", "median", "min", "max", "majority", "unanimous"]

_ROUNDING = 1e-9
"""Relative: weights may be of any size."""


class Juror(FrozenStruct, frozen=True, kw_only=True):
    """One judge of a jury."""

    judge: Judge
    weight: float = 1.0
    target: str | None = None
    """The target that answers as this judge; None leaves it to the settings."""
    samples: int = 1
    wants_logprobs: bool = False


class _Voice(NamedTuple):
    """What a juror that answered brings into the aggregation."""

    weight: float
    score: float
    passed: bool


class Jury(FrozenStruct, frozen=True, kw_only=True):
    """Pass when the jurors' scores, put together, reach the threshold; or when enough vote so."""

    kind: ClassVar[str] = "llm_judge"
    revision: ClassVar[int] = 2

    jurors: tuple[Juror, ...]
    aggregation: Aggregation = "mean"
    threshold: float | None = None
    """The score at which the check, and each juror's own vote, passes: 0.7 unless it is given."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """The jury's score, over the jurors that answered if at least half of them did.

        A juror of weight 0 is asked and shown, and decides nothing.
        """
        outcomes = await asyncio.gather(
            *(
                juror.ask(trace, case, at)
                for juror, at in zip(_judges_of(self), self._askers(asker), strict=True)
            )
        )
        return self._outcome(outcomes)

    def questions(self) -> Iterator[AskedQuestion]:
        """What its jurors ask, whatever the trace."""
        for juror in _judges_of(self):
            yield from juror.questions()

    def _askers(self, asker: Asker) -> list[Asker]:
        """Where each juror asks: one judge that sits twice, as two, so that both are heard."""
        sits = Counter(juror.judge.name for juror in self.jurors)
        return [
            asker.within(f"juror_{number}") if sits[juror.judge.name] > 1 else asker
            for number, juror in enumerate(self.jurors, start=1)
        ]

    def _outcome(self, outcomes: Sequence[Outcome]) -> Outcome:
        pairs = list(zip(self.jurors, outcomes, strict=True))
        voices = [
            _Voice(juror.weight, outcome.score, bool(outcome.passed))
            for juror, outcome in pairs
            if outcome.score is not None
        ]
        names = ", ".join(juror.judge.name for juror in self.jurors)
        details: JsonObject = {
            "aggregation": self.aggregation,
            "jurors": [_juror_row(juror, outcome) for juror, outcome in pairs],
            "answered": len(voices),
            "is_split": len({voice.passed for voice in voices}) > 1,
            "disagreement": disagreement([voice.score for voice in voices]),
        }
        deciding = [voice for voice in voices if voice.weight > 0]
        seats = sum(juror.weight > 0 for juror in self.jurors)
        if not deciding or 2 * len(deciding) < seats:
            reason = _why_unscored(len(deciding), seats, outcomes)
            return Outcome(status="unscored", reason=reason, details=details, judge=names)
        score, passed = self._verdict(deciding)
        return Outcome(
            reason=self._reason(voices, score),
            score=score,
            passed=passed,
            details=details,
            judge=names,
        )

    def _verdict(self, voices: Sequence[_Voice]) -> tuple[float, bool]:
        """The score and the pass of those with a weight; of votes the share that passes."""
        weights = [voice.weight for voice in voices]
        if self.aggregation in {"majority", "unanimous"}:
            share = _mean([float(voice.passed) for voice in voices], weights)
            return share, share >= 1.0 if self.aggregation == "unanimous" else share > 0.5
        scores = [voice.score for voice in voices]
        rules = {
            "mean": lambda: _mean(scores, weights),
            "median": lambda: weighted_median(scores, weights),
            "min": lambda: min(scores),
            "max": lambda: max(scores),
        }
        score = rules[self.aggregation]()
        return score, score >= (PASS_THRESHOLD if self.threshold is None else self.threshold)

    def _reason(self, voices: Sequence[_Voice], score: float) -> str:
        votes = sum(voice.passed for voice in voices)
        summary = f"{self.aggregation} {score:.2f}; {votes} of {len(voices)} jurors pass it"
        missing = len(self.jurors) - len(voices)
        return f"{summary}, {missing} without a score" if missing else summary


def _jurors(jury: Jury) -> tuple[LlmJudge, ...]:
    """The jurors of a jury as judges of their own."""
    return tuple(
        LlmJudge(
            judge=juror.judge,
            threshold=jury.threshold,
            target=juror.target,
            samples=juror.samples,
            wants_logprobs=juror.wants_logprobs,
        )
        for juror in jury.jurors
    )


_judges_of = Once(_jurors)


def disagreement(scores: Sequence[float]) -> float:
    """How far two jurors are apart on average: the mean absolute difference of all pairs."""
    distances = [abs(one - other) for one, other in combinations(scores, 2)]
    return fsum(distances) / len(distances) if distances else 0.0


def weighted_median(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The score at which half of the weight lies on either side; between two, their middle."""
    ordered = sorted(zip(scores, in_proportion(weights), strict=True))
    reached = list(accumulate(weight for _, weight in ordered))
    half = reached[-1] / 2
    slack = half * _ROUNDING
    place = next(index for index, below in enumerate(reached) if below >= half - slack)
    low = ordered[place][0]
    if reached[place] > half + slack:
        return low
    high = ordered[min(place + 1, len(ordered) - 1)][0]
    # The rounding in `meant` is absolute: it can take tiny scores below the lower of the two.
    return min(high, max(low, meant((low + high) / 2)))


def _mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    # Rounding can step just outside [0, 1].
    return min(1.0, max(0.0, weighted_mean(scores, weights)))


def _why_unscored(deciding: int, seats: int, outcomes: Sequence[Outcome]) -> str:
    if not seats:
        return "no juror has any weight"
    causes = "; ".join(dict.fromkeys(one.reason for one in outcomes if one.score is None))
    return f"{deciding} of {seats} jurors with a weight answered: {causes}"


def _juror_row(juror: Juror, outcome: Outcome) -> JsonObject:
    return {
        "judge": juror.judge.name,
        "weight": juror.weight,
        "status": outcome.status,
        "score": outcome.score,
        "passed": outcome.passed,
        "reason": outcome.reason,
        **outcome.details,
    }
