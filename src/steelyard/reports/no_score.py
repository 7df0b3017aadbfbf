"""Why records have no score: the most frequent reasons, each in a line."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from steelyard.reports.findings import printable
from steelyard.reports.numbers import count
from steelyard.results.failures import Failure

NO_SCORE = "  no score"
_SHOWN = 3
_LENGTH = 100
_LINE = re.compile(r"Line \d+: ")
_NUMBER = re.compile(r"\d+")


def no_score_lines(failures: Iterable[Failure]) -> Iterator[str]:
    """Up to three reasons, such as `no score   50 unauthorized: HTTP 401: Incorrect API key`.

    Messages that differ in their numbers alone are one reason, and so are all about lines.
    """
    reasons: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in failures:
        label, message = row.label, str(row.message)
        told = "" if _LINE.match(message) else _NUMBER.sub("N", message)
        reasons[label, told][message] += 1
    ranked = sorted(reasons.items(), key=lambda one: (-one[1].total(), one[0]))
    for (label, told), said in ranked[:_SHOWN]:
        yield from _reason(label, told, said)
    if len(ranked) > _SHOWN:
        rest = sum(said.total() for _, said in ranked[_SHOWN:])
        others = len(ranked) - _SHOWN
        yield f"             and {others} other reason(s) for {count(rest)} record(s)"


def _reason(label: str, told: str, said: Counter[str]) -> Iterator[str]:
    """One reason with its message; messages about lines are each shown."""
    total = f"{NO_SCORE}   {count(said.total())} {printable(label)}"
    lines = [message for message in said if _LINE.match(message)]
    if not lines:
        short = _short(told if len(said) > 1 else next(iter(said)))
        yield f"{total}: {short}" if short else total
        return
    yield total
    for message in lines[:_SHOWN]:
        yield f"             {_short(message)}"
    if said.total() > _SHOWN:
        yield f"             and {count(said.total() - _SHOWN)} more"


def _short(message: str) -> str:
    text = printable(message, " ")
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}…"
