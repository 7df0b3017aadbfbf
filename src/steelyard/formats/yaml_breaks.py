"""Characters that YAML 1.1 took for line breaks and YAML 1.2 takes for text.

The C parser follows 1.1 here: one U+2028 in a value would end its line. So the three characters
are hidden from it behind characters that no text uses, and shown again in what it returns.
"""

from __future__ import annotations

import re

_TEXT = "\x85\u2028\u2029"
_STAND_INS = "\ufdd0\ufdd1\ufdd2"
_HIDE = str.maketrans(_TEXT, _STAND_INS)
_SHOW = str.maketrans(_STAND_INS, _TEXT)
_BREAK = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]")
# The stand-ins themselves, or an escape that may mean one of them.
_TAKEN = re.compile(b"\xef\xb7[\x90-\x92]|[fF][dD][dD][0-2]")


def hide_breaks(data: bytes) -> tuple[bytes, bool]:
    """The UTF-8 text with stand-ins for the three characters, and whether there are any."""
    if not _BREAK.search(data) or _TAKEN.search(data):
        return data, False
    return data.decode("utf-8").translate(_HIDE).encode("utf-8"), True


def show_breaks(text: str) -> str:
    """The text with the three characters back in their places."""
    return text.translate(_SHOW)
