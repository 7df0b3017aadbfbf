"""The columns of a result that lists filter and sort by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from steelyard.formats.encoding import without_surrogates
from steelyard.model.run import Result
from steelyard.results.failures import FAILURE_STATUSES

_TAGS = "tags"
_SEPARATOR = "\x1f"


class Listed(NamedTuple):
    """Values in the order of the columns."""

    record_id: str | None
    passed: bool | None
    score: float | None
    label: str | None
    tags: str | None
    """Every tag between two separators, so that one can be found as it is."""


class _Prediction(msgspec.Struct):
    record_id: str | None = None
    passed: bool | None = None
    score: float | None = None
    slices: dict[str, list[str] | str] = {}


class _Failure(msgspec.Struct):
    label: str | None = None


_read_prediction = msgspec.json.Decoder(_Prediction).decode
_read_failure = msgspec.json.Decoder(_Failure).decode


def listed_of(result: Result) -> Listed:
    """The columns of a result in which nothing is redacted."""
    verdict = result.verdict
    return Listed(
        _text(result.record_id),
        verdict.passed if verdict else None,
        verdict.score if verdict else None,
        result.label if result.status in FAILURE_STATUSES else None,
        _text(joined_tags(value for name, value in result.slices if name == _TAGS and value)),
    )


def _text(text: str | None) -> str | None:
    """A text as the rows have it, where half a surrogate pair is replaced."""
    return text if text is None or text.isascii() else without_surrogates(text)


def listed_in(prediction: bytes, failure: bytes | None) -> Listed:
    """The columns of a result by its rows, in which some texts are redacted."""
    row = _read_prediction(prediction)
    label = _read_failure(failure).label if failure else None
    tags = row.slices.get(_TAGS, ())  # a text where a project has all of them redacted
    known = () if isinstance(tags, str) else tags
    return Listed(row.record_id, row.passed, row.score, label, joined_tags(known))


def joined_tags(tags: Iterable[str]) -> str | None:
    """Tags as one text; None where there are none."""
    text = _SEPARATOR.join(tags)
    return f"{_SEPARATOR}{text}{_SEPARATOR}" if text else None
