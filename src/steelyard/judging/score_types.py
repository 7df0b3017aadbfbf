"""The three things that a judge's score can be, as a field to ask for and as a number."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from steelyard.judging.questions_asked import AnswerField, Choice, Value
from steelyard.model.judge import Judge

SCORE = "score"
WORST_TO_BEST = ("worst", "best")
_STEP = 0.05


def score_field(judge: Judge) -> AnswerField:
    """What a judge is asked for.

    `binary`: 1 (pass) or 0 (fail). `levels`: the name of a level. `continuous`: a number from 0
    to 1, for which steps of 0.05 are offered, or those of the judge; between them is taken too.
    """
    if judge.score_type == "binary":
        labels: dict[Choice, str] = {0: "fail", 1: "pass"}
        return AnswerField(key=SCORE, values=(0, 1), labels=labels)
    if judge.score_type == "levels":
        return AnswerField(key=SCORE, values=judge.level_names, is_ordered=True)
    return AnswerField(
        key=SCORE, kind="number", span=(0, 1), ends=WORST_TO_BEST, step=_step(judge) or _STEP
    )


def score_of(judge: Judge, value: Value) -> float:
    """A value as a number from 0 to 1.

    Levels are evenly spaced from worst to best; a judge with a `step` rounds half upwards.
    """
    if judge.score_type == "levels":
        return judge.level_names.index(str(value)) / (len(judge.level_names) - 1)
    step = _step(judge)
    if step and isinstance(value, float):
        steps = (Decimal(str(value)) / Decimal(str(step))).quantize(Decimal(1), ROUND_HALF_UP)
        return float(steps * Decimal(str(step)))
    assert isinstance(value, int | float)
    return float(value)


def _step(judge: Judge) -> float | None:
    step = judge.extra.get("step") if judge.score_type == "continuous" else None
    return step if isinstance(step, float) else None
