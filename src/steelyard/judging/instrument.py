"""Who decides a check: what is asked of which judges, and what makes a pass of their replies.

A validation belongs to one instrument. Another word in a template is another one, and so is
another threshold: the same scores then pass other answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from steelyard.judging.jury import Jury
from steelyard.judging.prompting import call_identity
from steelyard.judging.questions_asked import AskedQuestion
from steelyard.model.judge import Judge
from steelyard.model.rubric import (
    PASS_THRESHOLD,
    Check,
    JudgedCheck,
    Rubric,
    RubricCheck,
    StatedCheck,
)


class AskedOf(NamedTuple):
    """One thing that a check asks, whatever the trace."""

    judge: Judge
    target: str | None
    """The target that the check itself names."""
    identity: str


def asked_by(check: object) -> Iterator[AskedOf]:
    """What a check asks of judges; nothing, where it asks none or does not say."""
    questions = getattr(check, "questions", None)
    if questions is None:
        return
    for asked in cast(Iterable[AskedQuestion], questions()):
        yield AskedOf(asked.judge, asked.target, call_identity(asked))


def judges_of(
    check: Check | JudgedCheck | StatedCheck,
) -> Iterator[tuple[Judge, str | None]]:
    """The judges that one check asks itself, with the targets that it names for them."""
    for asked in (check, *getattr(check, "jurors", ()), getattr(check, "judge", None)):
        judge = getattr(asked, "judge", None)
        if isinstance(judge, Judge):
            yield judge, getattr(asked, "target", None)


def rule_of(entry: RubricCheck, rubric: Rubric | None = None) -> str:
    """What makes a pass of the replies, in words that are the same wherever the rule is.

    Where a rubric has this check alone and passes its score at another threshold, that is part of
    it: a verdict at one threshold says nothing of the verdict at another.
    """
    check = entry.check
    parts = [_named(check), f"at {_threshold(check):g}"]
    samples = cast(int, getattr(check, "samples", 1))
    if samples > 1:
        parts.append(f"over {samples} samples")
    if getattr(check, "wants_logprobs", False):
        parts.append("by log probabilities")
    rule = " ".join(parts)
    rule = f"not: {rule}" if entry.negate else rule
    passes_at = _passes_at(rubric) if rubric else None
    if passes_at is None or passes_at == _threshold(check):
        return rule
    return f"{rule}, rubric at {passes_at:g}"


def _passes_at(rubric: Rubric) -> float | None:
    """The threshold that the score of its only check must reach; None where passes decide."""
    is_scored = rubric.combine not in {"all_pass", "any_pass"}
    return rubric.pass_threshold if is_scored and len(rubric.checks) == 1 else None


def _named(check: object) -> str:
    if isinstance(check, Jury):
        weights = ", ".join(f"{juror.weight:g}" for juror in check.jurors)
        samples = [juror.samples for juror in check.jurors]
        often = f"; samples {', '.join(map(str, samples))}" if set(samples) != {1} else ""
        return f"jury ({check.aggregation}; weights {weights}{often})"
    kind = cast(str, getattr(check, "kind", "check"))
    aggregation = getattr(check, "aggregation", None)
    return f"{kind} ({aggregation})" if aggregation else kind


def _threshold(check: object) -> float:
    stated = getattr(check, "threshold", None)
    if stated is None:
        stated = getattr(check, "pass_threshold", None)
    return PASS_THRESHOLD if stated is None else cast(float, stated)


def instrument_key(fingerprints: Iterable[str], rule: str) -> str:
    """What an instrument is known by: the sha256 over all it asks and its rule."""
    text = json.dumps([sorted(set(fingerprints)), rule], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
