"""Why records have no score: the most frequent reasons, each in a line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from steelyard.model.json_value import JsonObject
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count

_SHOWN = 3
_LENGTH = 100


def no_score_lines(failures: Iterable[JsonObject]) -> Iterator[str]:
    """Up to three lines, such as `no score   50 unauthorized: HTTP 401: Incorrect API key`."""
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in failures:
        reasons[str(row["label"])][str(row["message"])] += 1
    ranked = sorted(reasons.items(), key=lambda one: (-one[1].total(), one[0]))
    for label, said in ranked[:_SHOWN]:
        message = printable(said.most_common(1)[0][0], " ")
        short = message if len(message) <= _LENGTH else f"{message[: _LENGTH - 1]}…"
        why = f": {short}" if short else ""
        yield f"  no score   {count(said.total())} {printable(label)}{why}"
    if len(ranked) > _SHOWN:
        rest = sum(said.total() for _, said in ranked[_SHOWN:])
        yield f"             {count(rest)} for {len(ranked) - _SHOWN} other reason(s)"
