"""Several answers of one judge to the same question, as one score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, log2

from steelyard.judging.questions_asked import Answered, Value
from steelyard.judging.score_types import score_of
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.scores import meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What the samples came to; `score` is None when too few of them were scored."""

    score: float | None
    scored: int
    total: int
    counts: dict[str, int]
    """How often each value was given, most frequent first."""

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


def sampled(judge: Judge, answers: Sequence[Answered]) -> Samples:
    """The mean over the samples that were scored, if at least half were."""
    scored = [answer for answer in answers if answer.only.is_scored]
    values = Counter(_shown(answer.only.value) for answer in scored)
    is_enough = bool(scored) and 2 * len(scored) >= len(answers)
    scores = [_score(judge, answer) for answer in scored]
    return Samples(
        score=meant(fsum(scores) / len(scores)) if is_enough else None,
        scored=len(scored),
        total=len(answers),
        counts=dict(values.most_common()),
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
