"""What to look at first in a run: failures by label, then checks that fail, then disagreement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.reports.findings import printable
from steelyard.reports.numbers import count, counted
from steelyard.reports.record_name import record_name
from steelyard.reports.run.no_score import cause_of, unasked_text
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure

LookKind: TypeAlias = Literal["failure", "skipped", "check", "canary", "split", "people"]
_NUMBER = re.compile(r"\d+")
_LENGTH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class LookExample:
    """A record to look at, with what was said of it."""

    index: int
    repeat: int
    name: str
    text: str
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LookItem:
    """Records that share a reason to be looked at."""

    kind: LookKind
    name: str
    """The label of failures, or the id of a check; else empty."""
    number: int
    words: str
    """What the provider, the check or the jury says, in one line."""
    examples: tuple[LookExample, ...] = ()
    """The first records."""

    @property
    def title(self) -> str:
        """What the records share."""
        return {
            "failure": f"No score: {self.name}",
            "skipped": "Skipped: graded by nothing",
            "check": f"Not passed: {self.name}",
            "canary": "Passed, though they must fail",
            "split": "The jury is split",
            "people": "The judge and people differ",
        }[self.kind]

    @property
    def verdict(self) -> str:
        """The kind of verdict that it is shown as."""
        return {"failure": "unscored", "check": "fail", "canary": "fail"}.get(self.kind, self.kind)


def failure_item(
    label: str,
    number: int,
    failures: Sequence[Failure],
    attempts: Sequence[Sequence[Attempt]] = (),
    *,
    is_repeated: bool = False,
) -> LookItem:
    """Records without a score, by the first of them."""
    tries = [*attempts, *(() for _ in failures[len(attempts) :])]
    return LookItem(
        kind="failure",
        name=label,
        number=number,
        words=f"{said(failures)}{_tries(failures, number)}. Not counted as 0.",
        examples=tuple(
            LookExample(
                index=row.index,
                repeat=row.repeat,
                name=record_name(row.index, row.record_id, row.repeat, is_repeated=is_repeated),
                text=str(row.message or ""),
                attempts=tuple(made),
            )
            for row, made in zip(failures, tries, strict=True)
        ),
    )


def said(failures: Iterable[Failure]) -> str:
    """The most frequent message; messages that differ only in numbers are alike."""
    messages = [text for row in failures if (text := cause_of(row))]
    patterns = Counter(_NUMBER.sub("N", text) for text in messages)
    if not patterns:
        return "No message"
    (common, times), *others = patterns.most_common()
    alike = [one for one in messages if _NUMBER.sub("N", one) == common]
    text = alike[0]
    more = f" and {times - 1:,} like it" if set(alike) != {text} else ""
    more += f" and {counted(len(others), 'other message')}" if others else ""
    return f"“{shortened(text)}”{more}"


def _tries(failures: Sequence[Failure], number: int) -> str:
    """How often the records were asked; of those that were read, where there are more."""
    if not failures:
        return ""
    tries = [row.attempts for row in failures]
    low, high = min(tries), max(tries)
    many = counted(high, "attempt") if low == high else f"{count(low)} to {count(high)} attempts"
    many = many if high else unasked_text(failures)
    of_them = f" of the first {count(len(failures))}" if len(failures) < number else ""
    return f"; {many}{' each' if high and number > 1 else ''}{of_them}"


def check_item(
    check: str, number: int, examples: Sequence[LookExample], *, is_deciding: bool = True
) -> LookItem:
    """Records that a check fails, by the first reasons."""
    words = _quoted(number, examples)
    if not is_deciding:
        words = f"It has no weight in the verdict. {words}"
    return LookItem(kind="check", name=check, number=number, words=words, examples=tuple(examples))


def canary_item(number: int, examples: Sequence[LookExample]) -> LookItem:
    """Answers that a judge must fail, and passed."""
    return LookItem(
        kind="canary",
        name="",
        number=number,
        words=_quoted(number, examples),
        examples=tuple(examples),
    )


def skipped_item(number: int, examples: Sequence[LookExample]) -> LookItem:
    """Records that no check had anything to look at in."""
    return LookItem(
        kind="skipped",
        name="",
        number=number,
        words=f"{_quoted(number, examples)} Not counted as 0.".strip(),
        examples=tuple(examples),
    )


def split_item(number: int, examples: Sequence[LookExample]) -> LookItem:
    """Records about which the members of a jury disagree."""
    return LookItem(
        kind="split",
        name="",
        number=number,
        words=_quoted(number, examples),
        examples=tuple(examples),
    )


def people_item(number: int, read: int, passed: int, examples: Sequence[LookExample]) -> LookItem:
    """Records of which people and the run say different things."""
    words = f"Of {count(read)} answers that people have read; they pass {count(passed)} of these."
    return LookItem(kind="people", name="", number=number, words=words, examples=tuple(examples))


def _quoted(number: int, examples: Sequence[LookExample]) -> str:
    """The first reason, and how many others there are."""
    first = next((one.text for one in examples if one.text), "")
    if not first:
        return ""
    more = f" and {count(number - 1)} more" if number > 1 else ""
    return f"“{shortened(first)}”{more}"


def shortened(text: str) -> str:
    """One line of a text, not too long."""
    line = printable(text, " ").strip()
    return line if len(line) <= _LENGTH else f"{line[: _LENGTH - 1]}…"
