"""A file of recorded responses, found by offset so that the file's size does not matter."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from steelyard.errors import ConfigError, ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonObject, JsonValue

_IDS = ("record_id", "example_id")
# A record that a run did not ask about has a row among its predictions, but no response.
_NEVER_ASKED = ("invalid_record", "skipped", "cancelled")


class ResponseFile:
    """Which rows of a response file answer which record, in sixteen to thirty-six bytes a row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.candidates: dict[str, int] = {}
        """How many rows each candidate has."""
        self._size = 1024
        self._marks = array("Q", bytes(8 * self._size))
        self._places = array("Q", bytes(8 * self._size))
        self._count = 0
        self._listed: list[JsonValue] = []
        try:
            self._stream: BinaryIO = path.open("rb")
        except OSError as error:
            raise ConfigError(f"cannot read the responses {path}: {error.strerror}") from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def rows(self, record_id: str, candidate: str) -> list[JsonObject]:
        """The rows of a record, in the order of the file."""
        rows = [self._row(place) for place in sorted(self._found(record_id, candidate))]
        # Two records may share a mark; their rows tell.
        return [row for row in rows if _key(row) == (record_id, candidate)]

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _read(self) -> None:
        for number, place, row in self._numbered():
            if not isinstance(row, dict):
                self._refuse(number, "a response must be an object")
            if not is_prediction(row) or row["status"] not in _NEVER_ASKED:
                self._add(row, place, number)
        if not self._count:
            raise ConfigError(f"{self.path} holds no responses")

    def _numbered(self) -> Iterator[tuple[int, int, JsonValue]]:
        """Every row with its number, from 1, and its place."""
        if without_bom(self._stream.read(256)).lstrip()[:1] == b"[":
            self._stream.seek(0)
            listed = self._parsed(without_bom(self._stream.read()), 1)
            self._listed = cast(list[JsonValue], listed)
            yield from ((place + 1, place, row) for place, row in enumerate(self._listed))
            return
        place = 0
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                text = (without_bom(line) if number == 1 else line).strip()
                if text:
                    yield number, place, self._parsed(text, number)
                place += len(line)

    def _parsed(self, text: bytes, number: int) -> JsonValue:
        try:
            return _value(text)
        except ParseError as wrong:
            line = number + (wrong.line or 1) - 1
            raise ConfigError(f"{self.path}:{line}: invalid JSON: {wrong}") from None

    def _add(self, row: JsonObject, place: int, number: int) -> None:
        wrong = _wrong(row)
        if wrong:
            self._refuse(number, wrong)
        record_id, candidate = cast("tuple[str, str]", _key(row))
        try_of = repeat_of(row), attempt_of(row)
        if any((repeat_of(r), attempt_of(r)) == try_of for r in self.rows(record_id, candidate)):
            whose = f" of '{candidate}'" if candidate else ""
            self._refuse(
                number,
                f"a second response{whose} to '{record_id}' with repeat {try_of[0]} and attempt "
                f"{try_of[1]}; further ones need their own repeat or attempt",
            )
        self.candidates[candidate] = self.candidates.get(candidate, 0) + 1
        if 3 * self._count >= 2 * self._size:
            self._grow()
        _put(self._marks, self._places, self._mark(record_id, candidate), place)
        self._count += 1

    def _refuse(self, number: int, message: str) -> NoReturn:
        place = f"[{number - 1}]" if self._listed else f":{number}"
        raise ConfigError(f"{self.path}{place}: {message}")

    def _found(self, record_id: str, candidate: str) -> Iterator[int]:
        """The places of all rows with the mark of a record."""
        mark = self._mark(record_id, candidate)
        slot = mark % self._size
        while found := self._marks[slot]:
            if found == mark:
                yield self._places[slot]
            slot = (slot + 1) % self._size

    def _grow(self) -> None:
        size = self._size * 3 // 2
        marks, places = array("Q", bytes(8 * size)), array("Q", bytes(8 * size))
        for mark, place in zip(self._marks, self._places, strict=True):
            if mark:
                _put(marks, places, mark, place)
        self._size, self._marks, self._places = size, marks, places

    def _row(self, place: int) -> JsonObject:
        if self._listed:
            return cast(JsonObject, self._listed[place])
        self._stream.seek(place)
        return cast(JsonObject, _value(without_bom(self._stream.readline())))

    @staticmethod
    def _mark(record_id: str, candidate: str) -> int:
        return (hash((record_id, candidate)) & 0xFFFFFFFFFFFFFFFF) or 1


def is_prediction(row: JsonObject) -> bool:
    """Whether a row is one of a run's predictions, which serve as responses too."""
    return "evaluator_scores" in row and "status" in row


def repeat_of(row: JsonObject) -> int:
    """Which repeat a row answers, from 0."""
    return cast(int, row.get("repeat") or 0)


def attempt_of(row: JsonObject) -> int:
    """Which attempt a row records, from 1."""
    return cast(int, row.get("attempt") or 1)


def _value(text: bytes) -> JsonValue:
    try:
        return parse_json(text)
    except ParseError:
        # A response that was cut within a character is still a response.
        return parse_json_tolerantly(text).value


def _put(marks: array[int], places: array[int], mark: int, place: int) -> None:
    slot = mark % len(marks)
    while marks[slot]:
        slot = (slot + 1) % len(marks)
    marks[slot], places[slot] = mark, place


def _key(row: JsonObject) -> tuple[JsonValue, JsonValue]:
    """Record and candidate, which a run's predictions call their target; "" has no name."""
    record_id = next((row[name] for name in _IDS if name in row), None)
    candidate = row.get("candidate_name")
    if candidate is None and is_prediction(row):
        candidate = row.get("target")
    return record_id, "" if candidate is None else candidate


def _wrong(row: JsonObject) -> str | None:
    """What keeps a row from being a response, if anything."""
    record_id, candidate = _key(row)
    if record_id is None:
        return "missing record_id"
    if not isinstance(record_id, str):
        return "record_id must be a text"
    if not isinstance(candidate, str):
        return "candidate_name must be a text"
    for name, least in (("repeat", 0), ("attempt", 1)):
        number = row.get(name)
        if number is not None and (type(number) is not int or number < least):
            return f"{name} must be a whole number from {least}"
    if type(row.get("latency_ms")) not in {int, float, type(None)}:
        return "latency_ms must be a number"
    return None if _says_something(row) else "neither response_text, trace nor error_code"


def _says_something(row: JsonObject) -> bool:
    is_failure = isinstance(row.get("error_code"), str) or is_prediction(row)
    has_answer = isinstance(row.get("response_text"), str) or row.get("trace") is not None
    return is_failure or has_answer
