"""Records of a run as lists and pages ask for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec

from steelyard.formats.letter_case import in_either_case
from steelyard.model.json_value import JsonObject
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure
from steelyard.results.predictions import Prediction

SortField: TypeAlias = Literal[
    "index", "status", "passed", "score", "label", "verdict", "latency", "tokens", "cost"
]
SortValue: TypeAlias = str | float | bool | None
Only: TypeAlias = Literal["look", "unscored", "split", "read", "differs"]
"""Records that need a look, have no score, split the jury, were read by people, or of which
people say something else than the run."""
MAX_COUNT = 2**63 - 2
"""The highest index or repeat: with the next one it fits the 64 bits of a store."""
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]

Place: TypeAlias = tuple[int, int]
"""Index and repeat."""


class Sort(NamedTuple):
    """The order of a list; equal values stay in the order of the records."""

    field: SortField = "index"
    is_descending: bool = False


BY_INDEX = Sort()
SORT_TYPES: dict[SortField, type] = {
    "index": float,
    "status": str,
    "passed": bool,
    "score": float,
    "label": str,
    "verdict": float,
    "latency": float,
    "tokens": float,
    "cost": float,
}
"""What the values of a field are, as JSON has them."""
MEASURES = {"latency": "latency_ms", "tokens": "total_tokens", "cost": "cost_usd"}
"""Fields that lists sort by, with their names in the rows."""
_RESULT_FIELDS = frozenset(("status", "passed", "score", "label", "verdict"))
"""Fields that say what became of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which records of a run to list; what is None restricts nothing."""

    record_id: str | None = None
    status: str | None = None
    passed: bool | None = None
    """With `check`, whether that check has passed; else whether the record has."""
    check: str | None = None
    """The id of a check that has graded the record."""
    tag: str | None = None
    """A tag of the record; refused where the run was made without `tags` among its slices."""
    label: str | None = None
    """The label of a failure."""
    text: str | None = None
    """A part of the id, of what was asked, of the answer or of the reason; letters in
    either case. Long texts that several records share are not looked at."""
    slice: tuple[str, str] | None = None
    """A field of the records with its value."""
    only: Only | None = None
    among: tuple[Place, ...] = ()
    """What people have read, for `read`; of which they say something else, for `differs`. A
    record needs a look if it has not passed, splits the jury or is among these."""
    has_jury: bool = True
    """False where no jury of the run is split, so that none need be looked at."""
    sort: Sort = BY_INDEX

    @property
    def is_by_result(self) -> bool:
        """Whether results decide what is listed: a record that is absent has another one."""
        asked = (self.status, self.passed, self.check, self.label, self.text, self.only)
        return any(one is not None for one in asked)

    @property
    def is_in_order_of_results(self) -> bool:
        """Whether the records before a record have better or worse results."""
        return self.sort.field in _RESULT_FIELDS


class Position(msgspec.Struct, frozen=True, array_like=True):
    """The last record of a page: the value that the list is sorted by, and its place."""

    value: SortValue
    index: Count
    repeat: Count


class RecordLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record in one repeat, as a line of a list."""

    index: int
    record_id: str | None
    repeat: int
    target: str | None
    status: str
    passed: bool | None
    score: float | None
    reason: str | None
    label: str | None
    tags: tuple[str, ...]
    latency: float | None = None
    """Milliseconds."""
    tokens: int | None = None
    cost: float | None = None
    """US dollars."""

    @property
    def verdict(self) -> int:
        """0 without a score, 1 for a fail, 2 for a pass: the order in which to look at them."""
        return 0 if self.passed is None else 1 + self.passed

    def position(self, sort: Sort) -> Position:
        """Where it stands in a list."""
        return Position(getattr(self, sort.field), self.index, self.repeat)


@dataclass(frozen=True, slots=True, order=True)
class RecordVerdict:
    """What a run says of a record in one repeat."""

    index: int
    repeat: int
    record_id: str | None
    passed: bool | None


class CheckCounts(NamedTuple):
    """How often a check has passed, has failed and has no score, by rows."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCounts:
    """The rows of a run, each a record in one repeat, by what became of them."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    statuses: Mapping[str, int]
    labels: Mapping[str, int]
    """Failures by label, the most frequent first."""
    checks: Mapping[str, CheckCounts]
    split: int = 0
    """Rows about which a jury is split."""

    @property
    def rows(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.unscored


SPLIT = '"is_split":true'
"""What the row of a split jury has; within a text its quotation marks would be escaped."""


class RecordView(NamedTuple):
    """All that is known of one record."""

    rows: list[Prediction]
    """Its predictions, one for each repeat."""
    attempts: list[Attempt]
    failures: dict[tuple[int, int], Failure]
    """Why it has no score, by index and repeat."""
    judgements: list[JsonObject]
    """What judges were asked and said, where that is kept."""

    def add(self, more: RecordView) -> None:
        """Take in another record of the same id."""
        self.rows.extend(more.rows)
        self.attempts.extend(more.attempts)
        self.failures.update(more.failures)
        self.judgements.extend(more.judgements)


class CheckOutcome(msgspec.Struct, frozen=True, gc=False):
    """What a check has found, as far as a list needs it."""

    check: str
    passed: bool | None = None


class ListedPrediction(msgspec.Struct, frozen=True, gc=False):
    """A row of predictions.jsonl as far as a list needs it."""

    index: int
    repeat: int = 0
    record_id: str | None = None
    target: str | None = None
    status: str = ""
    passed: bool | None = None
    score: float | None = None
    reason: str | None = None
    latency_ms: float | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    slices: dict[str, tuple[str, ...] | str] = {}
    """A text in the place of values where a project has them redacted."""
    evaluator_scores: tuple[CheckOutcome, ...] = ()

    def line(self, label: str | None) -> RecordLine:
        """The line of a list, with the label of its failure."""
        tags = self.slices.get("tags", ())
        return RecordLine(
            index=self.index,
            record_id=self.record_id,
            repeat=self.repeat,
            target=self.target,
            status=self.status,
            passed=self.passed,
            score=self.score,
            reason=self.reason,
            label=label,
            tags=() if isinstance(tags, str) else tags,
            latency=self.latency_ms,
            tokens=self.total_tokens,
            cost=self.cost_usd,
        )


class ListedFailure(msgspec.Struct, frozen=True, gc=False):
    """A row of failures.jsonl as far as a list needs it."""

    index: int
    repeat: int = 0
    label: str | None = None


class _Message(msgspec.Struct, gc=False):
    content: str | tuple[str | dict[str, object], ...] | None = None


class _Request(msgspec.Struct, gc=False):
    messages: tuple[_Message, ...] = ()


class _Texts(msgspec.Struct, gc=False):
    record_id: str | None = None
    request: _Request | None = None
    model_response: str | None = None
    reason: str | None = None


read_listed = msgspec.json.Decoder(ListedPrediction).decode
read_listed_failure = msgspec.json.Decoder(ListedFailure).decode
_read_texts = msgspec.json.Decoder(_Texts).decode


class TextSearch:
    """Finds a text in rows of predictions.jsonl."""

    def __init__(self, text: str) -> None:
        self.written = json.dumps(text, ensure_ascii=False)[1:-1]
        """The text as a row has it."""
        self._folded = _folded(self.written)
        self._text = _folded(text)
        # ASCII is looked for as databases do it fastest, which know its letters alone.
        self._pattern = None if text.isascii() else re.compile(in_either_case(text))

    def may_match(self, row: bytes) -> bool:
        """Whether the text stands anywhere in a row, if only in the name of a field."""
        return self._pattern is not None or self._folded in row.lower()

    def matches(self, row: bytes) -> bool:
        """Whether the text stands where it is looked for."""
        texts = _searched(_read_texts(row))
        if self._pattern is not None:
            return any(self._pattern.search(text) for text in texts)
        return any(self._text in _folded(text) for text in texts)


def _searched(row: _Texts) -> Iterator[str]:
    yield from (text for text in (row.record_id, row.model_response, row.reason) if text)
    for message in row.request.messages if row.request else ():
        content = message.content or ()
        parts = (content,) if isinstance(content, str) else content
        yield from (part for part in parts if isinstance(part, str))


def _folded(text: str) -> bytes:
    """A text whose ASCII letters are small, as a database compares them."""
    return text.encode("utf-8", "surrogatepass").lower()
