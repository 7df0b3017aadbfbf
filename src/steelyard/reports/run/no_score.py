"""Why records have no score: the most frequent reasons, one per line."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from steelyard.model.run import MAY_HAVE_BEEN_SENT
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

    Of the others, the labels. Messages that differ only in numbers are one reason; so are all
    messages about lines.
    """
    reasons: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    unasked: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for row in failures:
        label, message = row.label, cause_of(row)
        pattern = "" if _LINE.match(message) else _NUMBER.sub("N", message)
        reasons[label, pattern][message] += 1
        if not row.attempts:
            unasked[label, pattern][row.is_interrupted] += 1
    ranked = sorted(reasons.items(), key=lambda one: (-one[1].total(), one[0]))
    for (label, pattern), messages in ranked[:_SHOWN]:
        numbers = unasked[label, pattern]
        cut_off = f"; {_unasked(numbers)}" if numbers[True] else ""
        yield from _reason(label, pattern, messages, cut_off)
    rest = Counter[str]()
    for (label, _), messages in ranked[_SHOWN:]:
        rest[label] += messages.total()
    if len(rest) == 1:
        yield from (f"{NO_SCORE}   {count(some)} {printable(one)}" for one, some in rest.items())
    elif rest:
        named = (f"{printable(label)} ({count(some)})" for label, some in rest.most_common())
        yield f"{NO_SCORE}   {count(rest.total())} for other reasons: {', '.join(named)}"


def reason_texts(lines: Iterable[str]) -> Iterator[str]:
    """The same without their prefix, each reason with what is listed below it in one text."""
    listed: list[str] = []
    for line in lines:
        if listed and line.startswith(NO_SCORE):
            yield _joined(listed)
            listed = []
        listed.append(line.removeprefix(NO_SCORE).strip())
    if listed:
        yield _joined(listed)


def _joined(listed: list[str]) -> str:
    head, *more = listed
    return f"{head}: {'; '.join(more)}" if more else head


def cause_of(row: Failure) -> str:
    """Why a record has no score, whether or not its request may have been sent."""
    return str(row.message or "").removesuffix(MAY_HAVE_BEEN_SENT)


def unasked_text(failures: Iterable[Failure]) -> str:
    """Of records without an attempt, how many were never asked and how many were cut off."""
    return _unasked(Counter(row.is_interrupted for row in failures))


def _unasked(interrupted: Counter[bool]) -> str:
    if not interrupted[True]:
        return "never asked"
    kinds = ((interrupted[False], "never asked"), (interrupted[True], "interrupted"))
    return ", ".join(f"{count(number)} {word}" for number, word in kinds if number)


def _reason(label: str, pattern: str, messages: Counter[str], cut_off: str) -> Iterator[str]:
    """One reason with its message; messages about lines are listed."""
    total = f"{NO_SCORE}   {count(messages.total())} {printable(label)}"
    lines = [message for message in messages if _LINE.match(message)]
    if not lines:
        short = _short(pattern if len(messages) > 1 else next(iter(messages)))
        yield f"{total}: {short}{cut_off}" if short else f"{total}{cut_off}"
        return
    yield total
    for message in lines[:_SHOWN]:
        yield f"             {_short(message)}"
    if messages.total() > _SHOWN:
        yield f"             and {count(messages.total() - _SHOWN)} more"


def _short(message: str) -> str:
    text = printable(message, " ")
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}…"
