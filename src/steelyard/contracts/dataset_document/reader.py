"""Reads contract 2 in its two phases: the document, then each record on its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from steelyard.contracts.content import content_and_repeats
from steelyard.contracts.contract import DatasetFile
from steelyard.contracts.dataset_document.document import (
    Document,
    RawRecord,
    split_json,
    split_value,
)
from steelyard.contracts.dataset_document.rules import (
    MAX_PAYLOAD,
    header_problems,
    in_words,
    is_bomb,
    record_size_problems,
    text_problems,
    too_many_values,
)
from steelyard.contracts.dataset_document.second_look import look_again
from steelyard.contracts.reading import Row, RowPlace
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.encoding import normalized
from steelyard.formats.json_fields import (
    fields,
    object_field,
    optional_text,
    text_field,
    text_list,
)
from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import parse_json_counted
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema, spoken
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject, JsonValue, path_text
from steelyard.model.message import Message
from steelyard.ports import FilesOfUpload

CONTRACT = "dataset_document"
_HEADER = {"dataset_id", "dataset_version", "metadata", "schema_version"}
_TELLING_ESCAPE = re.compile(rb"\\[ubf]")
# Numbers: looking for one byte as bytes takes four times as long.
_DELETE, _BACKSLASH, _C1_LEAD = 0x7F, 0x5C, 0xC2
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
# What a value of one kind of mistake cannot be blamed for as well.
_EXPLAINED_BY = {
    "invalid_enum_value": "invalid_field_type",
    "invalid_field_type": "value_out_of_range",
}
# Stands for a record that is counted but not read.
_UNREAD: JsonObject = {"record_id": "", "input": {"prompt": ""}}


def read_dataset_document(file: DatasetFile) -> DatasetDocumentReading:
    """A document of records."""
    assert not callable(file.content)
    is_sent = isinstance(file.files, FilesOfUpload)
    return DatasetDocumentReading(file.content, file=file.path, require_nfc=is_sent)


class DatasetDocumentReading:
    """An opened dataset document."""

    contract = CONTRACT

    def __init__(
        self, content: bytes | Located, *, file: str | None = None, require_nfc: bool = False
    ) -> None:
        document: Any = load_schema(CONTRACT)
        self._header_schema = Schema(document, "#/$defs/header")
        self._record_schema = Schema(document, "#/$defs/record")
        self._max_records: int = document["$defs"]["header"]["properties"]["records"]["maxItems"]
        self._file = file
        self._require_nfc = require_nfc
        self._lines = content.lines if isinstance(content, Located) else None
        self._document = Document(header={}, records=None)
        self.findings = self._open(content)
        # A spoiled document has no header to trust.
        self._header: JsonObject = {} if self.is_spoiled else self._document.header

    @property
    def is_spoiled(self) -> bool:
        """Whether the document as a whole is wrong, so that no record counts."""
        return any(finding.is_error for finding in self.findings)

    def rows(self) -> Iterator[Row]:
        """Every record in order; a bad one is a row with error findings.

        Records beyond the greatest number allowed are counted, not read.
        """
        seen = SeenIds()
        is_clean = self._record_schema.is_clean
        for index, raw in enumerate(self._document.records or ()):
            if index >= self._max_records:
                yield Row(index, self._line(index), None, _UNREAD, ())
                continue
            text = bytes(raw)
            if is_bomb(text):
                yield self._row(index, None, None, [too_many_values()])
                continue
            try:
                value, colons = parse_json_counted(text)
            except ParseError:
                yield self._checked(index, raw, None, seen, [])
                continue
            content, repeated = content_and_repeats(text, value, colons)
            is_fine = not repeated and _is_plain(text) and is_clean(value)
            if is_fine and _is_small(raw, value):
                record_id = text_field(fields(value), "record_id")
                if seen.add(record_id):
                    yield Row(index, self._line(index), record_id, value, (), content)
                    continue
            yield self._checked(index, raw, value, seen, repeated)

    def case(self, row: Row) -> Case:
        """The case that an accepted record stands for."""
        record = fields(row.value)
        asked = dict(object_field(record, "input"))
        reference = dict(object_field(record, "reference"))
        prompt = text_field(asked, "prompt")
        del asked["prompt"]
        answer = reference.pop("answer", None)
        beyond: JsonObject = {}
        if asked:
            beyond["input"] = asked
        if reference:
            beyond["reference"] = reference
        return Case(
            id=text_field(record, "record_id"),
            dataset=text_field(self._header, "dataset_id", ""),
            input_messages=(Message(role="user", content=prompt),),
            reference_answers=(answer,) if isinstance(answer, str) else (),
            tags=tuple(text_list(record, "tags")),
            metadata=object_field(record, "metadata"),
            expected=object_field(record, "expected"),
            extra=beyond,
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The record itself."""
        return row.value

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        header = self._header
        return Dataset(
            id=text_field(header, "dataset_id", ""),
            contract=CONTRACT,
            version=optional_text(header, "dataset_version"),
            metadata=object_field(header, "metadata"),
            cases=cases,
            extra={name: item for name, item in header.items() if name not in _HEADER},
        )

    def _open(self, content: bytes | Located) -> tuple[Finding, ...]:
        if isinstance(content, bytes) and len(content) > MAX_PAYLOAD:
            return (error("payload_too_large", "the document is larger than 100 MB"),)
        try:
            document = _split(content)
        except ParseError as wrong:
            message = f"invalid JSON: {wrong}" if wrong.code == "invalid_json" else str(wrong)
            return (error(wrong.code, message, line=wrong.line),)
        self._document = replace(document, header=fields(normalized(document.header)))
        found = [*document.problems]
        found.extend(text_problems(document.header, allow_not_nfc=not self._require_nfc))
        found.extend(self._header_problems())
        return tuple(self._header_finding(problem) for problem in _unexplained(found))

    def _header_problems(self) -> Iterator[Problem]:
        header, records = self._document.header, self._document.records
        shown: JsonObject = dict(header)
        if records is not None:
            # More than too many is no worse, and hundreds of millions would not fit in memory.
            count = min(len(records), self._max_records + 1)
            shown["records"] = [None for _ in range(count)]
        yield from (in_words(problem) for problem in self._header_schema.problems(shown))
        yield from header_problems(header)

    def _header_finding(self, problem: Problem) -> Finding:
        return Finding(
            severity=problem.severity,
            code=problem.code,
            message=spoken(problem),
            path=path_text(problem.path),
            line=self._lines.at(problem.path) if self._lines else None,
            hint=problem.hint,
        )

    def _checked(
        self,
        index: int,
        raw: RawRecord,
        value: JsonValue,
        seen: SeenIds,
        found: list[Problem],
    ) -> Row:
        """A record that is not plainly fine: everything that is wrong with it."""
        if value is None:
            look = look_again(bytes(raw))
            value = look.value
            found = [*look.problems, *repeated_keys(bytes(raw), value)]
        found.extend(text_problems(value, allow_not_nfc=not self._require_nfc))
        value = normalized(value)
        found.extend(self._record_schema.problems(value))
        record_id = None
        if isinstance(value, dict):
            found.extend(record_size_problems(value, len(raw)))
            record_id = value.get("record_id")
        if not isinstance(record_id, str):
            record_id = None
        elif not seen.add(record_id):
            found.append(_duplicate(record_id))
        return self._row(index, record_id, value, found)

    def _row(
        self, index: int, record_id: str | None, value: JsonValue, found: list[Problem]
    ) -> Row:
        place = RowPlace(index, record_id, ("records", index), lines=self._record_lines(index))
        findings = tuple(place.finding(_of_record(problem)) for problem in _unexplained(found))
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


def _is_plain(data: bytes) -> bool:
    """Whether the text of a record surely obeys the rules for text, judged by its bytes."""
    if _DELETE in data or (_BACKSLASH in data and _TELLING_ESCAPE.search(data)):
        return False
    if data.isascii():
        return True
    if _C1_LEAD in data and _C1_CONTROL.search(data):
        return False
    return unicodedata.is_normalized("NFC", data.decode("utf-8"))


def _is_small(raw: RawRecord, value: JsonValue) -> bool:
    return not any(record_size_problems(fields(value), len(raw)))


def _duplicate(record_id: str) -> Problem:
    message = f"{{}} '{record_id}' is used by an earlier record"
    return Problem(code="duplicate_record_id", message=message, path=("record_id",))


def _of_record(problem: Problem) -> Problem:
    """The same problem; where it concerns the whole record, with a name for it."""
    if problem.path:
        return problem
    return replace(problem, message=problem.message.replace("{}", "the record", 1))


def _unexplained(problems: list[Problem]) -> list[Problem]:
    """The problems in path order, each once, without those that another one explains."""
    spots = {(problem.path, problem.code) for problem in problems}
    kept = [
        problem
        for problem in dict.fromkeys(problems)
        if (problem.path, _EXPLAINED_BY.get(problem.code)) not in spots
    ]
    return sorted(kept, key=path_order)
