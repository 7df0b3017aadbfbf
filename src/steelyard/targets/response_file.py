"""A file of recorded responses, found by offset so that the file's size does not matter."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn, cast

from steelyard.errors import ConfigError, ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields, items
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.reference import exact_name

_IDS = ("record_id", "example_id")
_JUDGED = "judged"
_ITEMS = ("question", "criterion", "item")
_NUMBERS = (("repeat", 0), ("attempt", 1), ("turn", 1), ("sample", 0), ("round", 0))
# A record that a run did not ask about has a row among its predictions, but no response.
_NEVER_ASKED = ("invalid_record", "skipped", "cancelled")


class ResponseFile:
    """Which rows of a response file answer which record, in sixteen to thirty-six bytes a row.

    A run's predictions take twice that: their ids may be missing, doubled or redacted, so that
    they are found by the place of their record, too.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.candidates: dict[str, int] = {}
        """How many responses each candidate has."""
        self.reply_count = 0
        """How many rows are replies of judges."""
        self._size = 1024
        self._marks = array("Q", bytes(8 * self._size))
        self._places = array("Q", bytes(8 * self._size))
        self._count = 0
        self._listed: list[JsonValue] = []
        try:
            self._stream: BinaryIO = path.open("rb")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no path"
            raise ConfigError(f"cannot read the responses {path}: {why}") from None
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def rows(self, record_id: str, candidate: str) -> list[JsonObject]:
        """The rows of a record, in the order of the file."""
        return self._under((record_id, candidate))

    def placed(self, index: int | None, candidate: str) -> list[JsonObject]:
        """The predictions of the record that stood in a place."""
        return [] if index is None else self._under((index, candidate))

    def replies(self, key: ReplyKey) -> list[JsonObject]:
        """The rows of a call to a judge, in the order of the file."""
        return self._under(key)

    def has_replies(self, record_id: str, check: str) -> bool:
        """Whether any row is the reply of a judge about a check of a record."""
        return any(
            next(self._found((_JUDGED, record_id, about)), None) is not None
            for about in (check, None)
        )

    def _under(self, key: tuple[JsonValue, ...]) -> list[JsonObject]:
        rows = [self._row(place) for place in sorted(self._found(key))]
        # Two records may share a mark; their rows decide.
        return [row for row in rows if key in _keys(row)]

    def sha256(self) -> str:
        """The hash of the file's content."""
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _read(self) -> None:
        for number, place, row in self._numbered():
            if not isinstance(row, dict):
                self._refuse(number, "a response must be an object")
            if not is_prediction(row) or _is_asked(row):
                self._add(row, place, number)
        if not self._count:
            raise ConfigError(f"{self.path} holds no responses")

    def _numbered(self) -> Iterator[tuple[int, int, JsonValue]]:
        """Every row with its number, from 1, and its place."""
        if without_bom(self._stream.read(256)).lstrip()[:1] == b"[":
            self._stream.seek(0)
            self._listed = items(self._parsed(without_bom(self._stream.read()), 1))
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
        keys = _keys(row)
        key, try_of = keys[-1], (repeat_of(row), attempt_of(row))
        if any((repeat_of(one), attempt_of(one)) == try_of for one in self._under(key)):
            self._refuse(number, _doubled(key, *try_of))
        if is_judge_reply(row):
            self.reply_count += 1
        else:
            candidate = cast(str, key[1])
            self.candidates[candidate] = self.candidates.get(candidate, 0) + 1
        for key in keys:
            if 3 * self._count >= 2 * self._size:
                self._grow()
            _put(self._marks, self._places, self._mark(key), place)
            self._count += 1

    def _refuse(self, number: int, message: str) -> NoReturn:
        place = f"[{number - 1}]" if self._listed else f":{number}"
        raise ConfigError(f"{self.path}{place}: {message}")

    def _found(self, key: tuple[JsonValue, ...]) -> Iterator[int]:
        """The places of all rows with the mark of a key."""
        mark = self._mark(key)
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
            return fields(self._listed[place])
        self._stream.seek(place)
        return fields(_value(without_bom(self._stream.readline())))

    @staticmethod
    def _mark(key: tuple[JsonValue, ...]) -> int:
        return (hash(key) & 0xFFFFFFFFFFFFFFFF) or 1


class ReplyKey(NamedTuple):
    """The key of recorded judge replies, besides repeat and attempt."""

    record_id: str
    candidate: str
    """The target whose answer is judged; empty where the row does not say."""
    check: str | None
    """None where the row is about any check that asks the judge."""
    judge: str
    """`id@version`, or the id alone."""
    item: str | None
    turn: int | None
    sample: int
    round: int


def judge_name(text: str) -> str:
    """A judge as rows are found by it: without `judge/`, and with all of its version."""
    prefix = "judge/"
    return exact_name(prefix + text.removeprefix(prefix)).removeprefix(prefix)


def is_judge_reply(row: JsonObject) -> bool:
    """Whether a row is a reply of a judge, which is no response of a candidate."""
    return "judge" in row


def is_prediction(row: JsonObject) -> bool:
    """Whether a row is one of a run's predictions, which serve as responses too."""
    return "evaluator_scores" in row and "status" in row


def is_placed(row: JsonObject) -> bool:
    """Whether a row says in which place its record stood, as a run's predictions do."""
    return is_prediction(row) and type(row.get("index")) is int


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


def _key(row: JsonObject) -> tuple[JsonValue, ...]:
    """Record and candidate, which a run's predictions call their target; "" has no name.

    The reply of a judge has the parts of a `ReplyKey` instead.
    """
    record_id = next((row[name] for name in _IDS if name in row), None)
    candidate = row.get("candidate_name")
    if candidate is None and is_prediction(row):
        candidate = row.get("target")
    named = record_id, "" if candidate is None else candidate
    if not is_judge_reply(row):
        return named
    judge = row["judge"]
    return (
        *named,
        row.get("check"),
        judge_name(judge) if isinstance(judge, str) else judge,
        next((row[name] for name in _ITEMS if row.get(name) is not None), None),
        row.get("turn"),
        *(row.get(name) or 0 for name in ("sample", "round")),
    )


def _keys(row: JsonObject) -> tuple[tuple[JsonValue, ...], ...]:
    """All keys of a row; the unique one comes last."""
    named = _key(row)
    if is_judge_reply(row):
        return (_JUDGED, named[0], named[2]), named
    if not is_placed(row):
        return (named,)
    placed = row["index"], named[1]
    return (named, placed) if named[0] is not None else (placed,)


def _doubled(key: tuple[JsonValue, ...], repeat: int, attempt: int) -> str:
    record_id, candidate, *judged = key
    whose = f" of '{candidate}'" if candidate else ""
    record_id = f"record {record_id}" if isinstance(record_id, int) else f"'{record_id}'"
    tried = f"repeat {repeat} and attempt {attempt}"
    if judged:
        return f"a second reply of '{judged[1]}' to {record_id}{whose} with {tried}"
    return (
        f"a second response{whose} to {record_id} with {tried}; "
        "further ones need their own repeat or attempt"
    )


def _wrong(row: JsonObject) -> str | None:
    """What keeps a row from being a response, if anything."""
    record_id, candidate, *judged = _key(row) if is_judge_reply(row) else _keys(row)[0]
    if record_id is None:
        return "missing record_id"
    if not isinstance(record_id, str) and not is_placed(row):
        return "record_id must be a text"
    if not isinstance(candidate, str):
        return "candidate_name must be a text"
    if judged and not (isinstance(judged[1], str) and judged[1]):
        return "a judge's reply needs 'judge', a text"
    if judged and judged[0] is not None and not (isinstance(judged[0], str) and judged[0]):
        return "check must be a text"
    if judged and not isinstance(judged[2], str | None):
        return "question and criterion must be a text"
    for name, least in _NUMBERS:
        number = row.get(name)
        if number is not None and (type(number) is not int or number < least):
            return f"{name} must be a whole number from {least}"
    if type(row.get("latency_ms")) not in {int, float, type(None)}:
        return "latency_ms must be a number"
    return None if _has_content(row) else "neither response_text, trace nor error_code"


def _has_content(row: JsonObject) -> bool:
    is_failure = isinstance(row.get("error_code"), str) or is_prediction(row)
    has_answer = isinstance(row.get("response_text"), str) or row.get("trace") is not None
    return is_failure or has_answer


def _is_asked(row: JsonObject) -> bool:
    """Whether a record was asked, or has an answer that nothing has graded yet."""
    is_ungraded = row["status"] == "skipped" and row.get("trace") is not None
    return is_ungraded or row["status"] not in _NEVER_ASKED
