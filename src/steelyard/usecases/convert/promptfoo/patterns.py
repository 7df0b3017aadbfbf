"""Patterns of JavaScript as patterns of RE2 that find the same."""

from __future__ import annotations

import re

from steelyard.contracts.importers.source_row import wrong

SPACE = r"\s\v\x{feff}\p{Z}"
"""What `\\s` stands for in JavaScript, within brackets."""
_BREAKS = r"\n\r\x{2028}\x{2029}"
_PART = re.compile(r"\\.|\[\^?|\]|\.|\(\?[a-z]+[):-]|.", re.DOTALL)


def re2_pattern(pattern: str) -> str:
    """The pattern with the white space and the line ends of JavaScript.

    Raises ParseError for what JavaScript itself refuses, or what no brackets can say.
    """
    made: list[str] = []
    is_within = False
    for found in _PART.finditer(pattern):
        part = found[0]
        if part.startswith("(?") and not is_within:
            raise wrong(f"JavaScript has no {part} in its patterns, and refuses this one")
        made.append(_translated(part, is_within=is_within))
        if part.startswith("[") and not is_within:
            is_within = True
        elif part == "]":
            is_within = False
    return "".join(made)


def _translated(part: str, *, is_within: bool) -> str:
    if part == r"\s":
        return SPACE if is_within else f"[{SPACE}]"
    if part == r"\S" and is_within:
        raise wrong(r"its brackets hold \S, which is another set of signs in RE2")
    if part == r"\S":
        return f"[^{SPACE}]"
    if part == "." and not is_within:
        return f"[^{_BREAKS}]"
    return part
