"""What several samples of one question say together, as one of the answers that were given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import cast

from steelyard.judging.questions_asked import Answered, AnswerField, Value
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject

SPLIT = "split"
"""Why there is no decision where two answers were given equally often."""


class Votes(FrozenStruct, frozen=True, kw_only=True):
    """The sample that speaks for all of them."""

    reply: Answered
    """The first that gave what counts; where none did, the first."""
    counts: JsonObject
    """How often each value was given."""
    is_split: bool = False


def voted(field: AnswerField, replies: Sequence[Answered]) -> Votes:
    """What most of the samples that were scored say, if at least half of all were.

    Of numbers on a scale the lower median counts, which is always one that was given; of
    anything else the most frequent value, and nothing where two are equally frequent.
    """
    scored = [reply for reply in replies if reply.answers[field.key].is_scored]
    given = [cast(Value, reply.answers[field.key].value) for reply in scored]
    counts: JsonObject = {_shown(value): count for value, count in Counter(given).most_common()}
    if not scored:
        return Votes(reply=replies[0], counts=counts)
    if 2 * len(scored) < len(replies):
        unscored = next(reply for reply in replies if not reply.answers[field.key].is_scored)
        return Votes(reply=unscored, counts=counts)
    chosen = _chosen(field, given)
    if chosen is None:
        return Votes(reply=scored[0], counts=counts, is_split=True)
    return Votes(reply=scored[given.index(chosen)], counts=counts)


def _chosen(field: AnswerField, given: list[Value]) -> Value | None:
    if field.kind == "number":
        return median_low(cast(list[float], given))
    first, *others = Counter(given).most_common()
    return None if others and others[0][1] == first[1] else first[0]


def _shown(value: Value) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value}"
