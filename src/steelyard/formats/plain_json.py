"""Values of Python, data frames and client libraries as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast

from steelyard.model.json_value import JsonValue

_MISSING = {"NAType", "NaTType"}
# numpy has the first two, pydantic and with it the clients of OpenAI the last.
_UNWRAPPED = ("tolist", "item", "model_dump")


def plain_json(value: Any) -> JsonValue:
    """A value as JSON; a number that is none stands for a missing one.

    Raises TypeError for what JSON has no place for. Values of numpy, pandas and pydantic are
    known by what they can do, so that none of these is imported.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if type(value).__name__ in _MISSING:
        return None
    if isinstance(value, Decimal):
        return plain_json(float(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return _nested(value)


def _nested(value: Any) -> JsonValue:
    if isinstance(value, Mapping):
        members = cast(Mapping[object, Any], value)
        return {str(name): plain_json(item) for name, item in members.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in cast(list[Any], value)]
    for name in _UNWRAPPED:
        unwrap = getattr(value, name, None)
        if callable(unwrap) and not isinstance(value, type):
            return plain_json(unwrap())
    raise TypeError(f"a cell holds {type(value).__name__}, which JSON has no place for")
