"""`llm_judge`: a judge gives the answer a score."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum, log2
from typing import ClassVar

from msgspec.structs import replace

from steelyard.judging.asking import ask_for
from steelyard.judging.material import material, quotable
from steelyard.judging.once import Once
from steelyard.judging.questions_asked import Answered, AskedQuestion, Value
from steelyard.judging.score_types import score_field, score_of
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.scores import meant
from steelyard.model.trace import Trace


class Samples(FrozenStruct, frozen=True, kw_only=True):
    """What the samples came to; `score` is None when too few of them were scored."""

    score: float | None
    values: Sequence[str]
    """Those that were given, in order."""
    total: int

    @property
    def scored(self) -> int:
        """How many samples were scored."""
        return len(self.values)

    @property
    def counts(self) -> dict[str, int]:
        """How often each value was given, most frequent first."""
        return dict(Counter(self.values).most_common())

    @property
    def vote_share(self) -> float | None:
        """How many of the scored samples gave the most frequent value."""
        return max(self.counts.values()) / self.scored if self.scored else None

    @property
    def entropy(self) -> float | None:
        """In bits, over the values given; 0 where all samples agree."""
        if not self.scored:
            return None
        shares = [count / self.scored for count in self.counts.values()]
        return abs(fsum(share * log2(share) for share in shares))

    def details(self) -> JsonObject:
        """The distribution, for the details of a check."""
        return {
            "samples": self.total,
            "scored_samples": self.scored,
            "distribution": {**self.counts},
            "vote_share": self.vote_share,
            "entropy": self.entropy,
        }


class LlmJudge(FrozenStruct, frozen=True, kw_only=True):
    """Pass when the judge's score reaches the threshold."""

    kind: ClassVar[str] = "llm_judge"

    judge: Judge
    threshold: float | None = None
    """0.7 unless it is given."""
    target: str | None = None
    samples: int = 1
    """How often the judge is asked; the score is the mean."""
    wants_logprobs: bool = False
    """Whether a score is weighted by the probabilities of its values, where they are known."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """The judge's score; unscored when fewer than half of the samples have one."""
        # In eval cases `question` is what the target was asked, and here nothing else is.
        shown = material(trace, case)
        shown = shown.stating({"question": shown["input"], "criteria": case.expected_outcome})
        return await self.ask_about(shown, quotable(trace), asker)

    def questions(self) -> Iterator[AskedQuestion]:
        """What it asks, whatever the trace: enough to know which judge that is."""
        yield self._asked({"question": ""}, "", 0)

    async def ask_about(self, shown: Extra, text: str, asker: Asker) -> Outcome:
        """The same about material of another sort; evidence is looked for in the text."""
        asked = [self._asked(shown, text, sample) for sample in range(self.samples)]
        if len(asked) == 1:
            return self._outcome([await ask_for(asker, asked[0])])
        return self._outcome(await asyncio.gather(*(ask_for(asker, one) for one in asked)))

    def _asked(self, shown: Extra, text: str, sample: int) -> AskedQuestion:
        return replace(
            _asked_of(self.judge),
            material=shown,
            quotable=text,
            sample=sample,
            target=self.target,
            wants_logprobs=self.wants_logprobs,
        )

    def _outcome(self, answers: Sequence[Answered]) -> Outcome:
        found = _sampled(self.judge, answers)
        details: JsonObject = {"calls": [answer.details() for answer in answers]}
        if self.samples > 1:
            details |= found.details()
        if found.score is None:
            return Outcome(
                status="unscored",
                reason=_why_unscored(answers),
                details=details,
                judge=self.judge.name,
            )
        threshold = PASS_THRESHOLD if self.threshold is None else self.threshold
        return Outcome(
            reason=_reason(answers, found),
            score=found.score,
            passed=found.score >= threshold,
            details=details,
            judge=self.judge.name,
        )


def _question(judge: Judge) -> AskedQuestion:
    """What a judge is asked, whatever it is about."""
    return AskedQuestion(judge=judge, fields=(score_field(judge),))


_asked_of = Once(_question)


def _reason(answers: Sequence[Answered], found: Samples) -> str:
    """What the judge said; of several samples, what the first scored one did."""
    first = next(answer.only for answer in answers if answer.only.is_scored)
    reason = first.reasoning or f"the judge says {first.value}"
    if found.total == 1:
        return reason
    share = f"mean {found.score:.2f} of {found.scored}"
    missing = found.total - found.scored
    return f"{share} samples{f', {missing} unscored' if missing else ''}: {reason}"


def _why_unscored(answers: Sequence[Answered]) -> str:
    """Of one call, what went wrong; of several, how often each thing did."""
    failed = [answer.only for answer in answers if not answer.only.is_scored]
    if len(answers) == 1:
        return f"{failed[0].reason}: {failed[0].message}"
    causes = Counter(answer.reason or "unusable" for answer in failed)
    listed = ", ".join(f"{cause} ({count})" for cause, count in causes.most_common())
    return f"{len(failed)} of {len(answers)} samples have no score: {listed}"


def _sampled(judge: Judge, answers: Sequence[Answered]) -> Samples:
    """The mean over the samples that were scored, if at least half were."""
    scored = [answer for answer in answers if answer.only.is_scored]
    is_enough = bool(scored) and 2 * len(scored) >= len(answers)
    scores = [_score(judge, answer) for answer in scored]
    return Samples(
        score=meant(fsum(scores) / len(scores)) if is_enough else None,
        values=[_shown(answer.only.value) for answer in scored],
        total=len(answers),
    )


def _score(judge: Judge, answered: Answered) -> float:
    """The score of one sample: by its probabilities where they are known, else its value."""
    answer = answered.only
    if answer.probabilities:
        return fsum(p * score_of(judge, value) for value, p in answer.probabilities.items())
    assert answer.value is not None
    return score_of(judge, answer.value)


def _shown(value: Value | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
