"""Prompts of calls to judges as the store keeps them, which is not as they were sent.

Most of a prompt is what every judge is told first. It stands in `KEPT_FRAMES`, and a prompt says
by which name. A long one is deflated; to deflate a short one costs more than to write it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import cast

from steelyard.formats.json_fields import text_field
from steelyard.judging.prompting import FRAME
from steelyard.model.json_value import JsonObject, JsonValue

KEPT_FRAMES = {"1": FRAME}
"""What judges were told first, by the name that prompts of any version have for it.

Another wording of the frame gets another name, and the old one stays: it is what was said.
"""
_FRAME = "1"
_SHORT, _TINY, _SMALL = 1024, 4 * 1024, 16 * 1024
_BEGIN_OF_JSON = b"{"


def kept_prompt(messages: Sequence[tuple[str, str]], nonce: str) -> JsonObject:
    """The messages of a prompt, without the frame if the first one begins with it."""
    listed: list[JsonValue] = [list(message) for message in messages]
    frame = nonce.join(FRAME)
    if not (nonce and messages and messages[0][1].startswith(frame)):
        return {"messages": listed}
    role, text = messages[0]
    listed[0] = [role, text[len(frame) :]]
    return {"frame": _FRAME, "nonce": nonce, "messages": listed}


def packed_prompt(data: bytes) -> bytes:
    """The JSON of a prompt as a value of the database.

    A small window is ready in a tenth of the time.
    """
    if len(data) <= _SHORT:
        return data
    if len(data) > _SMALL:
        return zlib.compress(data)
    packer = zlib.compressobj(level=1, wbits=12 if len(data) <= _TINY else 13, memLevel=5)
    return packer.compress(data) + packer.flush()


def prompt_text(value: bytes) -> bytes:
    """The JSON of a prompt from a value of the database, of whichever version of Steelyard."""
    return value if value.startswith(_BEGIN_OF_JSON) else zlib.decompress(value)


def whole_prompt(value: bytes) -> JsonObject:
    """A prompt as it was sent."""
    kept = cast(JsonObject, json.loads(prompt_text(value)))
    if "frame" not in kept:
        return kept
    (role, rest), *others = cast("list[list[str]]", kept["messages"])
    frame = text_field(kept, "nonce").join(KEPT_FRAMES[text_field(kept, "frame")])
    return {"messages": cast(JsonValue, [[role, f"{frame}{rest}"], *others])}
