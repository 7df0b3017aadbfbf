"""Records of a single file in short form: its own script lists them on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.reports.verdict_words import VerdictWord

_MOST = 1_000
_ALL_TOGETHER = 16_000_000
_TEXTS = 3
"""Texts of one record: its question and two more."""


class ShortRecord(NamedTuple):
    """A record with the beginning of its texts."""

    name: str
    verdicts: tuple[VerdictWord, ...]
    question: str
    texts: tuple[tuple[str, str], ...]
    """What it is called, and what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortRecords:
    """The records of a list that are not shown whole."""

    records: Sequence[ShortRecord]
    most: int
    """The most characters of each text."""

    @property
    def data(self) -> str:
        """All of them as JSON, escaped by the template."""
        rows = [
            (
                one.name,
                [(word.kind, word.word) for word in one.verdicts],
                one.question,
                one.texts,
            )
            for one in self.records
        ]
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def text_length(records: int) -> int:
    """How many characters of each text a file keeps of so many records."""
    return max(1, min(_MOST, _ALL_TOGETHER // (_TEXTS * max(1, records))))


def shortened_to(text: str | None, most: int) -> str:
    """The beginning of a text on one line."""
    line = " ".join((text or "")[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
