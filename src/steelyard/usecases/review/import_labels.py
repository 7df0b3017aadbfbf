"""Import labels: checked against rubric and trace, redacted, stored once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO, NamedTuple, TypeAlias, cast

from steelyard.contracts.labels.reader import (
    LabelRow,
    RawLabel,
    is_gold,
    jsonl_labels,
    read_labels,
)
from steelyard.contracts.labels.writer import EXEMPT, label_row
from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import InvalidError
from steelyard.formats.json_fields import text_field
from steelyard.model.audit import Caller
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.label import Label
from steelyard.model.names import folded_name
from steelyard.reports.judges.labels import ImportedLabels
from steelyard.results.predictions import cluster_of
from steelyard.usecases.review.label_tables import LabelTable, TableOptions
from steelyard.usecases.review.labels import KnownRubrics, LabelReader
from steelyard.usecases.review.ports import ReviewPorts

_NOTHING = Finding(
    severity="error",
    code="missing_required_field",
    path="answers",
    message="answers says nothing: no question is answered",
)


Refuse: TypeAlias = Callable[[Label, JsonObject], Finding | None]
"""Why a label, and the row that would be stored, cannot be kept; None if it can."""


class LabelFile(NamedTuple):
    """Labels as JSONL, or as a table where there are options for one."""

    stream: BinaryIO
    name: str
    table: TableOptions | None = None


class _Incoming(NamedTuple):
    line: int
    place: int
    row: JsonObject


def import_labels(
    ports: ReviewPorts,
    file: LabelFile,
    *,
    run: str | None = None,
    is_replacing: bool = False,
    caller: Caller | None = None,
    refuse: Refuse | None = None,
) -> ImportedLabels:
    """Import the labels of a file; invalid rows are refused, the others are stored.

    Rows of a table without an answer, and gold labels, are counted and passed over. `run` applies
    to rows without a `run_id`. A label that contradicts an earlier one of the same person is
    refused unless it replaces that one, which then becomes history. `refuse` knows more about
    queues and people.
    """
    reader = LabelReader(ports, run)
    sheet = LabelTable(file.stream, file.table, reader.rubrics) if file.table else None
    rows = _PeopleRows(sheet.rows() if sheet else jsonl_labels(file.stream))
    findings: list[Finding] = []
    incoming: list[_Incoming] = []
    renamed: set[str] = set()
    people = _KnownPeople(ports.annotations.people())
    read = 0
    for read, row in enumerate(_checked(reader, rows), start=1):
        findings.extend(row.findings)
        if row.label is not None:
            kept = kept_row(row.label, reader.redact)
            if kept["annotator"] != row.label.annotator:
                renamed.add(row.label.annotator)
            wrong = (refuse and refuse(row.label, kept)) or people.wrong(
                text_field(kept, "annotator")
            )
            if wrong:
                name = row.label.record_id
                findings.append(replace(wrong, line=row.line, index=read - 1, record_id=name))
                continue
            incoming.append(_Incoming(row.line, read - 1, kept))
    unfilled = sheet.unfilled if sheet else 0
    if not read and not rows.gold:
        empty = f": none of its {unfilled} rows is filled in" if unfilled else ""
        raise InvalidError(f"{file.name} holds no label{empty}")
    ports = ports.called_by(caller)
    kept_rows = [one.row for one in incoming]
    rubrics = {text_field(row, "rubric") for row in kept_rows if row.get("rubric")}
    entry = ports.entry("import_labels", "annotations", rubrics=[*sorted(rubrics)])
    became = ports.annotations.keep(kept_rows, entry, is_replacing=is_replacing)
    ports.fix_published(rubrics, ports.caller)
    refused = (one for one, how in zip(incoming, became, strict=True) if how == "refused")
    findings.extend(_conflict(one) for one in refused)
    counts = Counter(became)
    return ImportedLabels(
        path=file.name,
        read=read,
        imported=counts["imported"] + counts["replaced"],
        same=counts["same"],
        replaced=counts["replaced"],
        findings=tuple(sorted(findings, key=lambda one: one.line or 0)),
        redacted=reader.redact.take_counts(),
        renamed=len(renamed),
        unfilled=unfilled,
        gold=rows.gold,
    )


class _KnownPeople:
    """Annotators by the spelling of their names: one person is never counted as two."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names}
        self._spelled = {folded_name(one): one for one in sorted(self._names)}

    def wrong(self, name: str) -> Finding | None:
        """What is wrong with a name, if another spelling of it is known."""
        known = self._spelled.setdefault(folded_name(name), name)
        if known == name or name in self._names:
            return None
        message = f"{name!a} is another spelling of the annotator {known!a}"
        return _wrong_name(
            "conflicting_fields", message, f"write {known!a} if it is the same person"
        )


def _name_problems(name: str) -> Iterator[Finding]:
    if not folded_name(name):
        message = f"{name!a} is no name: nothing of it is visible"
        yield _wrong_name("missing_required_field", message, "write the name of whoever answered")
    elif not name.isprintable():
        message = f"{name!a} is no name: some of its characters are not visible"
        yield _wrong_name("invalid_encoding", message, "write the name without them")


def _wrong_name(code: str, message: str, hint: str) -> Finding:
    return Finding(severity="error", code=code, path="annotator", message=message, hint=hint)


class _PeopleRows:
    """The rows of a file without gold labels, which are counted."""

    def __init__(self, rows: Iterable[RawLabel]) -> None:
        self._rows = rows
        self.gold = 0

    def __iter__(self) -> Iterator[RawLabel]:
        for row in self._rows:
            if is_gold(row.value):
                self.gold += 1
            else:
                yield row


def kept_row(label: Label, redact: Redactor) -> JsonObject:
    """A label with redacted comments, further fields and names.

    A redacted person keeps one identity: the name becomes a unique word.
    """
    person = label.annotator
    if redact.text(person) != person:
        person = f"person-{cluster_of(person)[:8]}"
    answers = answers_row(label.answers) if label.answers is not None else None
    row = label_row(replace(label, annotator=person), answers)
    return cast(JsonObject, json.loads(redact.whole(row, exempt=EXEMPT)))


def _checked(reader: LabelReader, rows: Iterable[RawLabel]) -> Iterator[LabelRow]:
    """The rows of a file with their problems."""
    for index, row in enumerate(read_labels(rows, reader.answers)):
        if row.label is None:
            yield row
            continue
        label, wrong = reader.placed(row.label)
        label = _named(label, reader.rubrics)
        wrong = [*wrong, *_name_problems(label.annotator)]
        answers = label.answers
        is_empty = answers is not None and not (answers.trace or answers.turns)
        if is_empty and label.passed is None:
            wrong = [*wrong, _NOTHING]
        placed = [
            replace(finding, line=row.line, index=index, record_id=label.record_id)
            for finding in wrong
        ]
        yield LabelRow(row.line, None if wrong else label, (*row.findings, *placed))


def _named(label: Label, rubrics: KnownRubrics) -> Label:
    """The label with the full reference and the content hash of its rubric."""
    content = label.rubric_sha256 or rubrics.sha256(label.rubric)
    return replace(
        label,
        rubric=rubrics.whole_name(label.rubric),
        rubric_sha256=content,
        annotator=label.annotator.strip(),
    )


def _conflict(one: _Incoming) -> Finding:
    row = one.row
    about = f"'{row['record_id']}'" + (f" of {row['run_id']}" if "run_id" in row else "")
    return Finding(
        severity="error",
        code="duplicate_record_id",
        path="record_id",
        message=f"{row['annotator']} said something else about {about} under {row['rubric']}",
        line=one.line,
        index=one.place,
        record_id=text_field(row, "record_id"),
        hint="`replace` keeps this one and makes the other one history",
    )
