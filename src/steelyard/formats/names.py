"""Names that were probably meant: the "did you mean" of every reader."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SHORT = 5
_VARIABLE = re.compile(
    r"_*(?:(?:[A-Z]{1,24}|[A-Z]?[a-z]{1,23})[0-9]{0,4}(?:_+|$)|[0-9]{1,4}(?:_+|$))+"
)
"""Words of one case with few digits, as people name variables and no service its keys."""


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` misspells, if any.

    Near is a Damerau-Levenshtein distance of at most 2, of at most 1 for names under five
    letters, or equality when case, `-` and `_` are ignored.
    """
    return _near_miss(name, tuple(known))


@lru_cache(maxsize=4096)
def _near_miss(name: str, known: tuple[str, ...]) -> str | None:
    """The same fields stand in every row of a file, so that most answers are known."""
    near = [
        (distance, other) for other in known if (distance := _distance(name, other)) is not None
    ]
    return min(near)[1] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The hint for a misspelt name."""
    meant = near_miss(name, known)
    return f"did you mean '{meant}'?" if meant else None


def _distance(name: str, candidate: str) -> int | None:
    if _folded(name) == _folded(candidate):
        return 0
    from rapidfuzz.distance import DamerauLevenshtein  # noqa: PLC0415 - few names are misspelt

    allowed = 1 if min(len(name), len(candidate)) < _SHORT else 2
    distance = DamerauLevenshtein.distance(name, candidate, score_cutoff=allowed)
    return distance if distance <= allowed else None


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def shown_variable(name: str) -> str:
    """A variable as messages name it; what may be a key in its place is not repeated."""
    return name if _VARIABLE.fullmatch(name) else "that api_key_env names (not shown here)"
