"""The records of a finished run, from its folder."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from pathlib import Path

import msgspec

from steelyard.model.json_value import JsonObject
from steelyard.results.attempts import ATTEMPTS, read_attempt
from steelyard.results.failures import FAILURES, Failure, read_failure
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.results.records import (
    BY_INDEX,
    ListedPrediction,
    Place,
    Position,
    RecordLine,
    RecordQuery,
    RecordView,
    Sort,
    TextSearch,
    read_listed,
    read_listed_failure,
)
from steelyard.usecases.results.read_run import decoded_rows, opened_artifact, read_run
from steelyard.usecases.results.request_parts import whole_rows


class _Place(msgspec.Struct, gc=False):
    """The record of a row; None for a row without a record."""

    index: int | None
    repeat: int = 0
    record_id: str | None = None


_read_place = msgspec.json.Decoder(_Place).decode


def _nothing(_index: int) -> list[JsonObject]:
    return []


class FolderRecords:
    """The records of a run, read from its artifacts.

    Rows are ordered by record, so that one is found by binary search.
    """

    def __init__(
        self, folder: Path, judgements: Callable[[int], list[JsonObject]] = _nothing
    ) -> None:
        self.title = str(folder)
        self._folder = folder
        self._judgements = judgements

    def page(self, query: RecordQuery, after: Position | None, limit: int) -> list[RecordLine]:
        """The records of a query after a position."""
        if query.sort == BY_INDEX:
            return list(islice(self._lines(query, after), limit))
        lines = _sorted(list(self._lines(query, None)), query.sort)
        if after is None:
            return lines[:limit]
        there = after.index, after.repeat
        begin = next(
            (number for number, line in enumerate(lines) if (line.index, line.repeat) == there),
            len(lines),
        )
        return lines[begin + 1 : begin + 1 + limit]

    def places(self, query: RecordQuery, after: Position | None, limit: int) -> list[Position]:
        """Where the records of a query after a position stand in its list."""
        return [line.position(query.sort) for line in self.page(query, after, limit)]

    def predictions(self, places: Sequence[Place]) -> list[Prediction]:
        """The results at some places, in their order."""
        found = [row for place in places for row in self._rows(PREDICTIONS, *place)]
        return list(whole_rows(self._folder, map(read_prediction, found)))

    def failures(self, query: RecordQuery, after: Place | None, limit: int) -> list[Failure]:
        """The failures of the records of a query after a place, in the order of the records."""
        rows = (
            row
            for row in decoded_rows(self._folder, FAILURES, read_failure)
            if (after is None or row.place > after)
            and query.status in {None, row.status}
            and query.label in {None, row.label}
            and query.record_id in {None, row.record_id}
        )
        return list(islice(rows, limit))

    def has_tags(self) -> bool:
        """Whether the run has groups of records by their tags."""
        return any(one.slice == "tags" for one in read_run(self._folder).slices)

    def indices(self, record_id: str) -> list[int]:
        """The indices of records with an id."""
        wanted = f'"record_id":{json.dumps(record_id, ensure_ascii=False)}'.encode(
            "utf-8", "surrogatepass"
        )
        with _mapped(self._folder, PREDICTIONS) as data:
            places = map(_read_place, _lines_with(data, wanted))
            found = {place.index for place in places if place.record_id == record_id}
        return sorted(index for index in found if index is not None)

    def record(self, index: int, repeat: int | None = None) -> RecordView:
        """Everything stored for a record, in all repeats or in one."""
        rows = map(read_prediction, self._rows(PREDICTIONS, index, repeat))
        attempts = list(map(read_attempt, self._rows(ATTEMPTS, index, repeat)))
        failures = map(read_failure, self._rows(FAILURES, index, repeat))
        judgements = [row for row in self._judgements(index) if repeat in (None, row["repeat"])]
        why = {row.place: row for row in failures}
        return RecordView(list(whole_rows(self._folder, rows)), attempts, why, judgements)

    def _rows(self, name: str, index: int, repeat: int | None) -> Iterator[bytes]:
        with _mapped(self._folder, name) as data:
            for line in _lines_from(data, _start_of(data, index)):
                place = _read_place(line)
                if place.index != index:
                    return
                if repeat in {None, place.repeat}:
                    yield line

    def _lines(self, query: RecordQuery, after: Position | None) -> Iterator[RecordLine]:
        """The records of a query, in order."""
        labels = {
            (row.index, row.repeat): row.label
            for row in decoded_rows(self._folder, FAILURES, read_listed_failure)
        }
        search = TextSearch(query.text) if query.text else None
        with _mapped(self._folder, PREDICTIONS) as data:
            for line in _lines_from(data, _start_of(data, after.index) if after else 0):
                if search and not search.may_match(line):
                    continue
                row = read_listed(line)
                place = row.index, row.repeat
                if after and place <= (after.index, after.repeat):
                    continue
                found = row.line(labels.get(place))
                if _fits(row, found, query) and (search is None or search.matches(line)):
                    yield found


def _fits(row: ListedPrediction, line: RecordLine, query: RecordQuery) -> bool:
    for name in ("record_id", "status", "label"):
        wanted = getattr(query, name)
        if wanted is not None and getattr(line, name) != wanted:
            return False
    if query.tag is not None and query.tag not in line.tags:
        return False
    if query.check is None:
        return query.passed in {None, line.passed}
    return any(
        found.check == query.check and query.passed in {None, found.passed}
        for found in row.evaluator_scores
    )


def _sorted(lines: list[RecordLine], sort: Sort) -> list[RecordLine]:
    """Sort lines by value; stable, lines without a value last."""
    if sort.field == "index":
        return lines[::-1]
    value = attrgetter(sort.field)
    known = [line for line in lines if value(line) is not None]
    known.sort(key=value, reverse=sort.is_descending)
    return [*known, *(line for line in lines if value(line) is None)]


@contextmanager
def _mapped(folder: Path, name: str) -> Generator[mmap.mmap | bytes]:
    """The bytes of an artifact, read lazily."""
    with opened_artifact(folder, name) as stream:
        if not stream.seek(0, 2):
            yield b""
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _lines_from(data: mmap.mmap | bytes, start: int) -> Iterator[bytes]:
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield data[start:end]
        start = end + 1


def _lines_with(data: mmap.mmap | bytes, wanted: bytes) -> Iterator[bytes]:
    """The lines that contain some bytes."""
    place = data.find(wanted)
    while place >= 0:
        start = data.rfind(b"\n", 0, place) + 1
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        yield data[start:end]
        place = data.find(wanted, end)


def _start_of(data: mmap.mmap | bytes, index: int) -> int:
    """The offset of the first line of a record, or of the next record."""
    low, high = 0, len(data)
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        line = next(_lines_from(data, start))
        place = _read_place(line).index
        if place is None or place < index:
            low = start + len(line) + 1
        else:
            high = start
    return low
