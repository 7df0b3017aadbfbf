"""Scales as they are written: `"0-5"`, or an object with min, max and maybe step."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.contracts.message_rows import beyond
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonValue, Path
from steelyard.model.question import Scale

DIMENSION_SCALE = Scale(min=0, max=5)
"""The scale of the older form, whatever else the rubric says."""
SCALE_HINT = 'write "0-5", or an object such as {"min": 0, "max": 5}'
_SPAN = re.compile(r"(-?[0-9]{1,6})-(-?[0-9]{1,6})", re.ASCII)
_LIMIT = 999_999


def read_scale(value: JsonValue) -> Scale | None:
    """The scale that a value stands for; None when it has not the form of one."""
    if isinstance(value, str):
        span = _SPAN.fullmatch(value)
        return Scale(min=int(span[1]), max=int(span[2])) if span else None
    if not isinstance(value, dict):
        return None
    low, high = whole_number(value.get("min")), whole_number(value.get("max"))
    step = whole_number(value.get("step", 1))
    if low is None or high is None or step is None:
        return None
    if max(-low, -high, low, high) > _LIMIT or not 0 < step <= 2 * _LIMIT:
        return None
    return Scale(min=low, max=high, step=step, extra=beyond(value, {"min", "max", "step"}))


def scale_problems(value: JsonValue, path: Path) -> Iterator[Problem]:
    """What is wrong with a scale beyond its form."""
    scale = read_scale(value)
    if scale is None:
        return
    if scale.min >= scale.max:
        message = f"{{}} must lead from a lower to a higher score, not from {scale.min} to "
        yield Problem(
            code="value_out_of_range", message=f"{message}{scale.max}", path=path, hint=SCALE_HINT
        )
    elif (scale.max - scale.min) % scale.step:
        message = f"{{}} must lead from {scale.min} exactly to {scale.max}; steps of {scale.step} "
        last = scale.values[-1]
        yield Problem(
            code="value_out_of_range", message=f"{message}end at {last}", path=(*path, "step")
        )


def whole_number(value: JsonValue) -> int | None:
    """An integer, which may be written 4.0; None for anything else, true and false too."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None
