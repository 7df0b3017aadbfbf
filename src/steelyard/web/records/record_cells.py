"""The columns of a table of records, and their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.reports.asked_text import question_text
from steelyard.reports.record_name import record_name
from steelyard.reports.run.look_items import shortened
from steelyard.reports.verdict_words import (
    VerdictWord,
    check_word,
    passed_word,
    row_word,
    winner_word,
)
from steelyard.results.predictions import Prediction
from steelyard.results.records import Place
from steelyard.usecases.judges.people_verdicts import PeopleVerdict
from steelyard.web.records.record_address import Address, RecordFilters
from steelyard.web.records.record_source import RecordSource

_MOST_CHECKS = 4
_SEPARATOR = "~"
_CHECK = "check:"
_COLUMNS = {
    "people": "People",
    "score": "Score",
    "reason": "Reason",
    "answer": "Answer",
    "tags": "Tags",
    "status": "Status",
    "target": "Target",
    "tokens": "Tokens",
    "cost": "Cost",
    "ms": "ms",
}
_SORTED = {
    "score": "score",
    "status": "status",
    "tokens": "tokens",
    "cost": "cost",
    "ms": "latency",
}
"""The field that a column sorts by."""
_NUMBERS = {"score", "tokens", "cost", "ms"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCell:
    """A cell of a record: a verdict, or a text."""

    text: str = ""
    word: VerdictWord | None = None
    is_number: bool = False
    is_absent: bool = False
    """Whether the text says that there is no value."""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """A record in one repeat."""

    index: int
    key: str
    name: str
    question: str
    href: str
    panel: str
    word: VerdictWord
    cells: tuple[ListedCell, ...]


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """A column of the table."""

    name: str
    """Its name in the address."""
    text: str
    is_shown: bool
    sort: str = ""
    """The field that it sorts by; empty where it sorts by none."""

    @property
    def is_number(self) -> bool:
        """Whether its cells are aligned to the right."""
        return self.name in _NUMBERS


def columns_of(source: RecordSource, query: RecordFilters) -> Iterator[RecordColumn]:
    """Every column; those of the first checks are shown if none was chosen."""
    checks = list(source.counts.checks)
    plain = {f"{_CHECK}{name}" for name in checks[:_MOST_CHECKS]} | {"ms"}
    if source.is_pairwise:
        plain = {"reason"}
    if source.people:
        plain.add("people")
    chosen = set(query.cols.split(_SEPARATOR)) if query.cols else plain
    for check in checks:
        name = f"{_CHECK}{check}"
        yield RecordColumn(name, check, name in chosen)
    for name, text in _COLUMNS.items():
        if name != "people" or source.people:
            yield RecordColumn(name, text, name in chosen, _SORTED.get(name, ""))


def row_maker(
    source: RecordSource, address: Address, columns: Sequence[str]
) -> Callable[[Prediction], RecordRow]:
    """Makes the row of a record with some columns."""
    people: Mapping[Place, PeopleVerdict] = source.people.verdicts if source.people else {}

    word_of = winner_word if source.is_pairwise else row_word

    def make(row: Prediction) -> RecordRow:
        index, repeat = row.place
        return RecordRow(
            index=index,
            key=f"{index}.{repeat}" if repeat else str(index),
            name=record_name(index, row.record_id, repeat, is_repeated=source.is_repeated),
            question=shortened(question_text(row)),
            href=address.record(index, repeat),
            panel=address.panel(index, repeat),
            word=word_of(row),
            cells=tuple(_cell(row, name, people) for name in columns),
        )

    return make


def _cell(row: Prediction, column: str, people: Mapping[Place, PeopleVerdict]) -> ListedCell:
    if column.startswith(_CHECK):
        check = column.removeprefix(_CHECK)
        found = next((one for one in row.evaluator_scores if one.check == check), None)
        if found is None:
            return ListedCell(text="not graded", is_absent=True, title="not graded by this check")
        return ListedCell(word=check_word(found), title=str(found.reason or ""))
    if column == "people":
        verdict = people.get(row.place)
        if verdict is None:
            return ListedCell(text="not read", is_absent=True)
        word = passed_word(verdict.is_good)
        return ListedCell(word=VerdictWord(word.kind, f"{verdict.passed} of {verdict.votes}"))
    text = _TEXTS[column](row)
    absent = text is None or not text.strip()
    return ListedCell(
        text=_absent(row, column) if absent else text or "",
        is_number=column in _NUMBERS,
        is_absent=absent,
    )


def _absent(row: Prediction, column: str) -> str:
    """Why a cell has no text."""
    if column == "answer":
        return "no answer" if row.model_response is None else "empty answer"
    return _NONE[column]


def _tags(row: Prediction) -> str:
    found = row.slices.get("tags", []) if isinstance(row.slices, dict) else []
    return found if isinstance(found, str) else ", ".join(found)


def _number(value: float | None, form: str = ",.0f") -> str | None:
    return None if value is None else format(value, form)


_NONE = {
    "score": "no score",
    "reason": "none given",
    "tags": "none",
    "status": "unknown",
    "target": "not known",
    "tokens": "not counted",
    "cost": "unknown",
    "ms": "not measured",
}
"""What a cell without a value says."""
_TEXTS: dict[str, Callable[[Prediction], str | None]] = {
    "score": lambda row: _number(row.score, ".3f"),
    "reason": lambda row: shortened(str(row.reason or "")),
    "answer": lambda row: shortened(row.model_response or ""),
    "tags": _tags,
    "status": lambda row: row.status.replace("_", " "),
    "target": lambda row: row.target or "",
    "tokens": lambda row: _number(row.total_tokens),
    "cost": lambda row: _number(row.cost_usd, ".4f"),
    "ms": lambda row: _number(row.latency_ms),
}
