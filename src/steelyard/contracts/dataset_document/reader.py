"""Reads contract 2 in its two phases: the document, then each record on its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import cast

from steelyard.contracts.dataset_document.document import (
    Document,
    RawRecord,
    split_json,
    split_value,
)
from steelyard.contracts.dataset_document.rules import (
    MAX_PAYLOAD,
    header_problems,
    record_size_problems,
    text_problems,
)
from steelyard.contracts.reading import Row, RowPlace, SeenIds
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.encoding import normalized
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema, spoken
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject, JsonValue, path_text
from steelyard.model.message import Message

CONTRACT = "dataset_document"
_TELLING_ESCAPE = re.compile(rb"\\[ubf]")
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")


class DatasetDocumentReading:
    """An opened dataset document."""

    contract = CONTRACT

    def __init__(
        self, content: bytes | Located, *, file: str | None = None, require_nfc: bool = False
    ) -> None:
        document = load_schema(CONTRACT)
        self._header_schema = Schema(document, "#/$defs/header")
        self._record_schema = Schema(document, "#/$defs/record")
        self._file = file
        self._require_nfc = require_nfc
        self._lines = content.lines if isinstance(content, Located) else None
        self._document = Document(header={}, records=None)
        self.findings = self._open(content)

    @property
    def is_spoiled(self) -> bool:
        """Whether the document as a whole is wrong, so that no record counts."""
        return any(finding.is_error for finding in self.findings)

    def rows(self) -> Iterator[Row]:
        """Every record in order; a bad one is a row with error findings."""
        seen = SeenIds()
        is_clean = self._record_schema.is_clean
        for index, raw in enumerate(self._document.records or ()):
            try:
                value = parse_json(raw)
            except ParseError:
                yield self._checked(index, raw, None, seen)
                continue
            if _is_plain(raw) and is_clean(value) and _is_small(raw, value):
                record_id = cast(str, cast(JsonObject, value)["record_id"])
                if seen.add(record_id):
                    yield Row(index, self._line(index), record_id, value, ())
                    continue
            yield self._checked(index, raw, value, seen)

    def case(self, row: Row) -> Case:
        """The case that an accepted record stands for."""
        record = cast(JsonObject, row.value)
        asked = dict(cast(JsonObject, record["input"]))
        reference = dict(cast(JsonObject, record.get("reference", {})))
        prompt = cast(str, asked.pop("prompt"))
        answer = reference.pop("answer", None)
        beyond: JsonObject = {}
        if asked:
            beyond["input"] = asked
        if reference:
            beyond["reference"] = reference
        return Case(
            id=cast(str, record["record_id"]),
            dataset=cast(str, self._document.header.get("dataset_id", "")),
            input_messages=(Message(role="user", content=prompt),),
            reference_answers=(answer,) if isinstance(answer, str) else (),
            tags=tuple(cast(list[str], record.get("tags", []))),
            metadata=cast(JsonObject, record.get("metadata", {})),
            expected=cast(JsonObject, record.get("expected", {})),
            extra=beyond,
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        header = dict(self._document.header)
        return Dataset(
            id=cast(str, header.pop("dataset_id")),
            contract=CONTRACT,
            version=cast(str, header.pop("dataset_version")),
            metadata=cast(JsonObject, header.pop("metadata", {})),
            cases=cases,
            extra={name: item for name, item in header.items() if name != "schema_version"},
        )

    def _open(self, content: bytes | Located) -> tuple[Finding, ...]:
        if isinstance(content, bytes) and len(content) > MAX_PAYLOAD:
            return (error("payload_too_large", "the document is larger than 100 MB"),)
        try:
            self._document = _split(content)
        except ParseError as wrong:
            said = f"invalid JSON: {wrong}" if wrong.code == "invalid_json" else str(wrong)
            return (error(wrong.code, said, line=wrong.line),)
        return tuple(self._header_findings())

    def _header_findings(self) -> Iterator[Finding]:
        header, records = self._document.header, self._document.records
        shown: JsonObject = dict(header)
        if records is not None:
            shown["records"] = cast(list[JsonValue], [None] * len(records))
        found = self._header_schema.problems(shown)
        found.extend(self._document.problems)
        found.extend(text_problems(header, allow_not_nfc=not self._require_nfc))
        found.extend(header_problems(header))
        header.update(cast(JsonObject, normalized(header)))
        for problem in _once_a_path(found):
            path = path_text(problem.path)
            line = self._lines.at(problem.path) if self._lines else None
            yield Finding(
                severity=problem.severity,
                code=problem.code,
                message=spoken(problem),
                path=path,
                line=line,
                hint=problem.hint,
            )

    def _checked(self, index: int, raw: RawRecord, value: JsonValue, seen: SeenIds) -> Row:
        """A record that is not plainly fine: everything that is wrong with it."""
        found: list[Problem] = []
        if value is None:
            value = _second_look(bytes(raw), found)
        found.extend(text_problems(value, allow_not_nfc=not self._require_nfc))
        value = normalized(value)
        found.extend(self._record_schema.problems(value))
        record_id = value.get("record_id") if isinstance(value, dict) else None
        if isinstance(value, dict):
            found.extend(record_size_problems(value, len(raw)))
        if isinstance(record_id, str):
            if not seen.add(record_id):
                found.append(_duplicate(record_id))
        else:
            record_id = None
        lines = self._record_lines(index)
        place = RowPlace(index, record_id, ("records", index), lines=lines)
        findings = tuple(place.finding(problem) for problem in _once_a_path(found))
        return Row(index, self._line(index), record_id, value, findings)

    def _record_lines(self, index: int) -> Lines | None:
        return self._lines and self._lines.children["records"].children[index]

    def _line(self, index: int) -> int | None:
        lines = self._record_lines(index)
        return lines.line if lines else None


def _split(content: bytes | Located) -> Document:
    if isinstance(content, bytes):
        return split_json(content)
    if not isinstance(content.value, dict):
        raise ParseError("the top level must be an object", code="invalid_field_type")
    return split_value(content.value)


def _is_plain(raw: RawRecord) -> bool:
    """Whether the text of a record surely obeys the rules for text, judged by its bytes."""
    data = bytes(raw)
    if b"\x7f" in data or (b"\\" in data and _TELLING_ESCAPE.search(data)):
        return False
    if data.isascii():
        return True
    if b"\xc2" in data and _C1_CONTROL.search(data):
        return False
    return unicodedata.is_normalized("NFC", data.decode("utf-8"))


def _is_small(raw: RawRecord, value: JsonValue) -> bool:
    return not any(record_size_problems(cast(JsonObject, value), len(bytes(raw))))


def _second_look(raw: bytes, found: list[Problem]) -> JsonValue:
    try:
        look = parse_json_tolerantly(raw, raw_controls=True)
    except ParseError as wrong:
        found.append(Problem(code="value_out_of_range", message=f"{{}} is {wrong}"))
        return None
    found.extend(look.problems)
    return look.value


def _duplicate(record_id: str) -> Problem:
    message = f"{{}} '{record_id}' is used by an earlier record"
    return Problem(code="duplicate_record_id", message=message, path=("record_id",))


def _once_a_path(problems: list[Problem]) -> list[Problem]:
    """The problems in path order, each code at most once a path."""
    first: dict[tuple[object, str], Problem] = {}
    for problem in problems:
        first.setdefault((problem.path, problem.code), problem)
    return sorted(first.values(), key=path_order)
