"""Rows as a store keeps them, put together without reading what is in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

# What comes before is written by Steelyard, or is a text, in which quotes are escaped.
_NO_SCORES = b'"evaluator_scores":[]'
_read_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def with_scores(prediction: bytes, scores: Iterable[bytes]) -> bytes:
    """A prediction with the scores of its checks, which are kept beside it."""
    before, found, after = prediction.partition(_NO_SCORES)
    if found:
        return b'%b"evaluator_scores":[%b]%b' % (before, b",".join(scores), after)
    fields: dict[str, Any] = _read_fields(prediction)
    fields["evaluator_scores"] = [msgspec.Raw(score) for score in scores]
    return _encode(fields)


def copied_from(row: bytes, run_id: str) -> bytes:
    """A row that names the run that made it; one that names another already stays so."""
    fields = _read_fields(row)
    return row if "copied_from" in fields else _encode({"copied_from": run_id, **fields})
