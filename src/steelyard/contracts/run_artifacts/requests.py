"""What a target was asked, as `predictions.jsonl` keeps it.

A long text that other records show as well stands there by its hash alone, and once beside them:
under `request_parts` in `input_dataset.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import CACHED, Result

LONG = 1024
"""Characters from which on a text may be kept beside the records."""
PARTS = "request_parts"
"""The name in `input_dataset.json` under which such texts stand by their hashes."""
_NEVER_SENT = ("prefilled", "part_of_conversation", CACHED)

KeepBeside: TypeAlias = Callable[[str], "str | None"]
"""The hash by which a long text is kept beside; None where it is to stand where it is."""


def request_row(result: Result, keep_beside: KeepBeside) -> JsonObject | None:
    """The messages that were sent about a record, or would have been; None for a broken one."""
    asking = result.asking
    if asking is None:
        return None
    return {
        "sent": result.attempts > 0 and result.response_source not in _NEVER_SENT,
        "sha256": asking.sha256,
        "messages": [
            {"role": role, "content": _content(text, asking.documents, keep_beside)}
            for role, text in asking.messages
        ],
    }


def whole_request(row: JsonObject, part: Callable[[str], str]) -> JsonObject:
    """A request with the texts that are kept beside it put back in their places."""
    messages = cast("list[JsonObject]", row["messages"])
    if all(isinstance(message["content"], str) for message in messages):
        return row
    return {**row, "messages": [_whole_message(message, part) for message in messages]}


def _content(text: str, documents: tuple[str, ...], keep_beside: KeepBeside) -> JsonValue:
    """A text as it is, or its pieces in order where some of them are kept beside."""
    if len(text) < LONG:
        return text
    pieces: list[JsonValue] = []
    for piece in _pieces(text, documents):
        sha256 = keep_beside(piece) if len(piece) >= LONG else None
        pieces.append({"sha256": sha256} if sha256 else piece)
    return pieces if any(isinstance(piece, dict) for piece in pieces) else text


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
    texts = (
        piece if isinstance(piece, str) else part(cast(str, cast(JsonObject, piece)["sha256"]))
        for piece in content
    )
    return {**message, "content": "".join(texts)}
