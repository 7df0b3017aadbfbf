"""Letters in either case beyond ASCII, one for one, as Unicode folds them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

_CASED_UNTIL = 0x1F000
"""No letter beyond has a case."""


def letter_cases(letter: str) -> str:
    """A letter and all that differ from it only in case; a sign that has none alone."""
    return _families().get(_folded(letter), letter)


def in_either_case(text: str) -> str:
    """A regular expression of a text that is found whatever the case of its letters."""
    return "".join(f"[{re.escape(letter_cases(letter))}]" for letter in text)


def _folded(letter: str) -> str:
    """One letter for all of its cases; what folds to several, such as ß, by its small one."""
    found = next((one for one in (letter.casefold(), letter.lower()) if len(one) == 1), letter)
    # The sign of Kelvin is no k to a database that knows the letters of ASCII alone.
    return found if found.isascii() == letter.isascii() else letter


@cache
def _families() -> dict[str, str]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for letter in map(chr, range(_CASED_UNTIL)):
        found[_folded(letter)].append(letter)
    return {name: "".join(family) for name, family in found.items() if len(family) > 1}
