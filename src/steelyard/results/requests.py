"""What a target was asked, as `predictions.jsonl` keeps it.

A long text that other records show as well stands there by its hash alone, and once beside them:
under `request_parts` in `input_dataset.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from msgspec import structs

from steelyard.formats.json_fields import object_list, text_field
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import CACHED, AskedContent, Result
from steelyard.results.predictions import Prediction

LONG = 1024
"""Characters from which on a text may be kept beside the records."""
PARTS = "request_parts"
"""The name in `input_dataset.json` under which such texts stand by their hashes."""
_BESIDE = "sha256"
"""What alone stands in the place of such a text."""
_NEVER_SENT = ("prefilled", "part_of_conversation", CACHED)

KeepBeside: TypeAlias = Callable[[str], "str | None"]
"""The hash by which a long text is kept beside; None where it is to stand where it is."""


def request_row(result: Result, keep_beside: KeepBeside) -> JsonObject | None:
    """The messages that were sent about a record, or would have been; None for a broken one."""
    asking = result.asking
    if asking is None:
        return None
    messages: list[JsonValue] = []
    for role, content in asking.messages:
        is_short = isinstance(content, str) and len(content) < LONG
        kept = content if is_short else _content(content, asking.documents, keep_beside)
        messages.append({"role": role, "content": cast(JsonValue, kept)})
    return {
        "sent": result.attempts > 0 and result.response_source not in _NEVER_SENT,
        "sha256": asking.sha256,
        "messages": messages,
    }


def whole_request(row: JsonObject, part: Callable[[str], str]) -> JsonObject:
    """A request with the texts that are kept beside it put back in their places."""
    messages = object_list(row, "messages")
    if all(isinstance(message["content"], str) for message in messages):
        return row
    return {**row, "messages": [_whole_message(message, part) for message in messages]}


def whole_row(row: Prediction, part: Callable[[str], str]) -> Prediction:
    """A prediction with what was asked in full; `part` finds what is kept beside by its hash."""
    if not row.request:
        return row
    return structs.replace(row, request=whole_request(row.request, part))


def _content(
    content: AskedContent, documents: tuple[str, ...], keep_beside: KeepBeside
) -> JsonValue:
    """A text as it is, or pieces in order where it is more than that, or in part kept beside."""
    pieces: list[JsonValue] = []
    for part in (content,) if isinstance(content, str) else content:
        if isinstance(part, str):
            pieces += [_piece(piece, keep_beside) for piece in _pieces(part, documents)]
        else:
            pieces.append(part)
    if isinstance(content, str) and all(isinstance(piece, str) for piece in pieces):
        return content
    return pieces


def _piece(text: str, keep_beside: KeepBeside) -> JsonValue:
    sha256 = keep_beside(text) if len(text) >= LONG else None
    return {_BESIDE: sha256} if sha256 else text


def _pieces(text: str, documents: tuple[str, ...]) -> Iterator[str]:
    """A text cut where documents begin and end, which stand in it in their order."""
    done = 0
    for document in documents:
        place = text.find(document, done)
        if place < 0:
            continue
        if place > done:
            yield text[done:place]
        yield document
        done = place + len(document)
    if done < len(text):
        yield text[done:]


def _whole_message(message: JsonObject, part: Callable[[str], str]) -> JsonObject:
    content = message["content"]
    if not isinstance(content, list):
        return message
    pieces: list[JsonValue] = []
    for piece in content:
        text = piece
        if isinstance(piece, dict) and piece.keys() == {_BESIDE}:
            text = part(text_field(piece, _BESIDE))
        if isinstance(text, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        else:
            pieces.append(text)
    is_text = len(pieces) == 1 and isinstance(pieces[0], str)
    return {**message, "content": pieces[0] if is_text else pieces}
