"""The records of a finished run, from its folder."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from pathlib import Path

import msgspec

from steelyard.model.json_value import JsonObject
from steelyard.results.attempts import ATTEMPTS, read_attempt
from steelyard.results.failures import FAILURES, Failure, read_failure
from steelyard.results.list_place import ListPlace, place_among
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.results.records import (
    BY_INDEX,
    MAX_COUNT,
    SPLIT,
    ListedPrediction,
    Place,
    Position,
    RecordLine,
    RecordQuery,
    RecordVerdict,
    RecordView,
    ResultCounts,
    Sort,
    TextSearch,
    read_listed,
    read_listed_failure,
)
from steelyard.usecases.results.folder_counts import folder_counts
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

    def _page(self, query: RecordQuery, after: Position | None, limit: int) -> list[RecordLine]:
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

    def places(
        self, query: RecordQuery, after: Position | None, limit: int, skip: int = 0
    ) -> list[Position]:
        """Where the records of a query after a position stand in its list."""
        lines = self._page(query, after, skip + limit)[skip:]
        return [line.position(query.sort) for line in lines]

    def count(self, query: RecordQuery) -> int:
        """How many records a query finds."""
        return sum(1 for _ in self._lines(query, None))

    def counts(self) -> ResultCounts:
        """All records by what became of them."""
        return folder_counts(self._folder)

    def verdicts(self, names: Collection[str]) -> list[RecordVerdict]:
        """What the run says of records by their ids, or by their indices in digits."""
        with _mapped(self._folder, PREDICTIONS) as data:
            return [
                RecordVerdict(row.index, row.repeat, row.record_id, row.passed)
                for row in map(read_listed, _lines_from(data, 0))
                if row.record_id in names or str(row.index) in names
            ]

    def predictions(self, places: Sequence[Place]) -> list[Prediction]:
        """The results at some places, in their order."""
        found = [row for place in places for row in self._rows(PREDICTIONS, *place)]
        return list(whole_rows(self._folder, map(read_prediction, found)))

    def repeats(self, indices: Collection[int]) -> dict[int, list[Prediction]]:
        """The results of some records in all repeats, by index."""
        lines = (
            line for index in sorted(indices) for line in self._rows(PREDICTIONS, index, None)
        )
        found: dict[int, list[Prediction]] = {}
        for row in whole_rows(self._folder, map(read_prediction, lines)):
            found.setdefault(row.index, []).append(row)
        return found

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

    def around(self, query: RecordQuery, place: Place) -> ListPlace:
        """Where a record stands in the list of a query."""
        places = self.places(query, None, MAX_COUNT)
        return place_among([(one.index, one.repeat) for one in places], place)

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
                fits = _fits(row, found, query) and _is_wanted(found, line, query)
                if fits and (search is None or search.matches(line)):
                    yield found


def _fits(row: ListedPrediction, line: RecordLine, query: RecordQuery) -> bool:
    for name in ("record_id", "status", "label"):
        wanted = getattr(query, name)
        if wanted is not None and getattr(line, name) != wanted:
            return False
    if query.tag is not None and query.tag not in line.tags:
        return False
    if query.slice is not None and query.slice[1] not in row.slices.get(query.slice[0], ()):
        return False
    if query.check is None:
        return query.passed in {None, line.passed}
    return any(
        found.check == query.check and query.passed in {None, found.passed}
        for found in row.evaluator_scores
    )


def _is_wanted(found: RecordLine, line: bytes, query: RecordQuery) -> bool:
    """Whether a record is one of those that `only` asks for."""
    if query.only is None:
        return True
    is_among = (found.index, found.repeat) in query.among
    if query.only in {"read", "differs"}:
        return is_among
    if query.only == "unscored":
        return found.passed is None
    is_split = SPLIT.encode() in line
    return is_split or (query.only == "look" and (found.passed is not True or is_among))


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
