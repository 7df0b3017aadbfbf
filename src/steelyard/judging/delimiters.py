"""Text that is judged, told apart from the text that says how to judge.

Whoever writes an answer may try to speak to its judge. What comes from a trace or a case stands
between two lines with a code that its writer cannot know, and has no characters that a chat
template could take for the beginning of another message.
"""

from __future__ import annotations

import json
import re

from steelyard.formats.encoding import without_surrogates
from steelyard.formats.mustache import as_text
from steelyard.model.json_value import JsonValue

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROL_BYTES = bytes([*range(9), 11, 12, *range(14, 32), 127])
# What chat templates take for the limits of messages; a space after this much of it breaks it.
_ROLE_TOKEN = re.compile(
    "<(?=[|\uff5c]|/?(?:s|bos|eos|SYS|start_of_turn|end_of_turn)>)|[|\uff5c](?=>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
)


class _Text(str):
    """A text that came from a trace or a case."""

    __slots__ = ()


class _List(list[JsonValue]):
    """A list that did."""


class _Object(dict[str, JsonValue]):
    """An object that did."""


def harmless(text: str) -> str:
    """The text without what could end a message or a string before its time.

    Control characters and lone surrogates become U+FFFD; a space goes into tokens by which chat
    templates tell roles apart, such as `<|im_start|>`.
    """
    clean = text
    if not text.isascii() or len(text.encode().translate(None, _CONTROL_BYTES)) < len(text):
        clean = _CONTROL.sub("\ufffd", without_surrogates(text))
    # Texts without these, which is most of them, need no slow look.
    if "<" in clean or "[" in clean or "|" in clean or "\uff5c" in clean:
        return _ROLE_TOKEN.sub(r"\g<0> ", clean)
    return clean


class DelimiterFence:
    """Two lines that enclose material, for one nonce."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self.begin = f"[[material {nonce}]]"
        self.end = f"[[end of material {nonce}]]"

    def show(self, value: JsonValue) -> str:
        """A value as text, between the lines where it is to be judged."""
        if isinstance(value, _Text):
            return self.around(str(value))
        if isinstance(value, _List | _Object):
            return self.around(json.dumps(value, ensure_ascii=False, indent=1))
        return self.plain(as_text(value))

    def around(self, text: str) -> str:
        """The text between the two lines."""
        return f"{self.begin}\n{self.plain(text)}\n{self.end}"

    def plain(self, text: str) -> str:
        """The text alone, harmless and without the nonce."""
        clean = harmless(text)
        return clean.replace(self._nonce, "") if self._nonce else clean


def marked(value: JsonValue) -> JsonValue:
    """A value to be rendered, every text of which is known for one that is judged."""
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, list):
        return _List(marked(item) for item in value)
    if isinstance(value, dict):
        return _Object((name, marked(item)) for name, item in value.items())
    return value
