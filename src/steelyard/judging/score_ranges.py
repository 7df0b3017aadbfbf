"""What the points from 0 to 10 of a rubric item mean, in the two ways of writing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from steelyard.errors import SettingError
from steelyard.model.json_value import JsonObject, JsonValue

MOST_POINTS = 10
_POINTS = {str(points) for points in range(MOST_POINTS + 1)}
_SETTING = "score_ranges"
_TEXTS = ("outcome", "expected_outcome", "description")


class ScoreRange(NamedTuple):
    """Some of the points, and what an answer is like that gets them."""

    low: int
    high: int
    outcome: str

    def __str__(self) -> str:
        """A line for the judge: `3 to 6: correct with gaps`."""
        span = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        return f"{span}: {self.outcome}"


def read_ranges(value: JsonValue) -> tuple[ScoreRange, ...]:
    """The ranges in order, which cover 0 to 10; a `SettingError` says why they do not.

    Written as a list of `{score_range: [a, b], outcome}`, or as outcomes by the points at which
    each begins.
    """
    if isinstance(value, dict):
        ranges = _by_beginning(value)
    elif isinstance(value, list):
        ranges = [_range(entry, index) for index, entry in enumerate(value)]
    else:
        raise SettingError(_SETTING, "score_ranges must be a list or an object")
    ordered = sorted(ranges)
    for gap in _gaps(ordered):
        raise SettingError(_SETTING, f"score_ranges must cover 0 to {MOST_POINTS} once: {gap}")
    return tuple(ordered)


def ranges_text(ranges: Sequence[ScoreRange]) -> str:
    """Their description in the prompt of a judge."""
    return "\n".join([f"Points from 0 to {MOST_POINTS}:", *map(str, ranges)])


def _by_beginning(value: JsonObject) -> list[ScoreRange]:
    """Ranges by the points that each begins at; it ends before the next one."""
    wrong = [name for name in value if name not in _POINTS]
    if wrong:
        message = f"score_ranges: '{wrong[0]}' is no number of points from 0 to {MOST_POINTS}"
        raise SettingError(_SETTING, message)
    begins = sorted(int(name) for name in value)
    ends = [begin - 1 for begin in begins[1:]] + [MOST_POINTS]
    texts = {int(name): _outcome(text, name) for name, text in value.items()}
    return [ScoreRange(begin, end, texts[begin]) for begin, end in zip(begins, ends, strict=True)]


def _range(entry: JsonValue, index: int) -> ScoreRange:
    place = f"{index}"
    row = entry if isinstance(entry, dict) else {}
    match row.get("score_range"):
        case [int(low), int(high)] if low <= high:
            text = next((row[name] for name in _TEXTS if name in row), None)
            return ScoreRange(low, high, _outcome(text, place))
        case _:
            raise SettingError(
                _SETTING, f"score_ranges[{place}] must have a score_range such as [0, 2]"
            )


def _outcome(text: JsonValue, place: str) -> str:
    if isinstance(text, dict):
        text = next((text[name] for name in _TEXTS if name in text), None)
    if isinstance(text, str) and text.strip():
        return text
    raise SettingError(_SETTING, f"score_ranges[{place}] must say what an answer is like")


def _gaps(ranges: Sequence[ScoreRange]) -> Iterator[str]:
    """What is covered by no range, or by two."""
    reached = -1
    for one in ranges:
        if one.low > reached + 1:
            yield f"{reached + 1} is in none"
        elif one.low <= reached:
            yield f"{one.low} is in two"
        reached = max(reached, one.high)
    if reached != MOST_POINTS:
        yield f"they end at {reached}"


def points_needed(value: JsonValue) -> float | None:
    """The share of the points that `min_score` asks for: written so, or as points over 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / MOST_POINTS if value > 1 else cast(float, value)
