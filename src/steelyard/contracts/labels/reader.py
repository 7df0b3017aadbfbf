"""Reads labels: rows of a file, each with what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import BinaryIO, NamedTuple, TypeAlias, cast

from steelyard.contracts.message_rows import beyond
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.json_fields import (
    fields,
    flag_field,
    number_field,
    optional_number,
    optional_text,
    text_field,
)
from steelyard.formats.json_text import parse_json
from steelyard.formats.jsonl import jsonl_lines
from steelyard.formats.schema import Schema, spoken
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue, path_text
from steelyard.model.labels.label import Exposure, Label
from steelyard.model.question import Answers
from steelyard.model.reference import exact_name

_KNOWN = {
    *("record_id", "run_id", "repeat", "rubric", "annotator"),
    *("queue_id", "exposure", "inclusion_prob", "tie_break", "answers", "passed"),
    "rubric_sha256",
}
ReadAnswers: TypeAlias = Callable[[Label, JsonValue], "tuple[Answers, list[Finding]]"]
"""Checks a label's answers against its rubric and its trace; paths start within the answers."""


class LabelRow(NamedTuple):
    """A line of a file of labels; without a label the findings say why."""

    line: int
    label: Label | None
    findings: tuple[Finding, ...]


@cache
def _schema() -> Schema:
    return Schema(load_schema("labels"))


class RawLabel(NamedTuple):
    """A row before it is checked, or why there is none."""

    line: int
    value: JsonValue | ParseError


def jsonl_labels(stream: BinaryIO) -> Iterator[RawLabel]:
    """The rows of JSONL."""
    for line, text in jsonl_lines(stream):
        try:
            yield RawLabel(line, parse_json(text))
        except ParseError as wrong:
            yield RawLabel(line, ParseError(f"invalid JSON: {wrong}", code=wrong.code))


def is_gold(value: object) -> bool:
    """Whether a row is the decision of an adjudicator, who knew what others had said."""
    return isinstance(value, dict) and isinstance(cast(JsonObject, value).get("gold"), dict)


def read_labels(rows: Iterable[RawLabel], read_answers: ReadAnswers) -> Iterator[LabelRow]:
    """Every label in order, the bad ones too."""
    for index, (line, value) in enumerate(rows):
        if isinstance(value, ParseError):
            finding = Finding(severity="error", code=value.code, message=str(value))
            yield LabelRow(line, None, (replace(finding, line=line, index=index),))
            continue
        label, findings = _read(value, read_answers)
        name = value.get("record_id") if isinstance(value, dict) else None
        placed = tuple(
            replace(
                finding,
                line=line,
                index=index,
                record_id=name if isinstance(name, str) else None,
            )
            for finding in findings
        )
        yield LabelRow(line, label, placed)


def _read(value: JsonValue, read_answers: ReadAnswers) -> tuple[Label | None, list[Finding]]:
    schema = _schema()
    problems = [] if schema.is_clean(value) else schema.problems(value)
    findings = [
        Finding(
            severity=problem.severity,
            code=problem.code,
            message=spoken(problem),
            path=path_text(problem.path),
            hint=problem.hint,
        )
        for problem in problems
    ]
    if any(finding.is_error for finding in findings):
        return None, findings
    row = fields(value)
    label = label_of(row)
    if "answers" not in row:
        return label, findings
    answers, wrong = read_answers(label, row["answers"])
    findings.extend(_within(finding) for finding in wrong)
    if any(finding.is_error for finding in wrong):
        return None, findings
    return replace(label, answers=answers), findings


def _within(finding: Finding) -> Finding:
    return replace(finding, path=f"answers.{finding.path}" if finding.path else "answers")


def label_of(row: JsonObject) -> Label:
    """The label of a row that is as it should be, without its answers."""
    return Label(
        record_id=text_field(row, "record_id"),
        rubric=exact_name(text_field(row, "rubric")),
        annotator=text_field(row, "annotator"),
        exposure=cast(Exposure, row["exposure"]),
        run_id=optional_text(row, "run_id"),
        repeat=int(number_field(row, "repeat", 0)),
        queue_id=optional_text(row, "queue_id"),
        inclusion_prob=optional_number(row, "inclusion_prob"),
        is_tie_break=flag_field(row, "tie_break"),
        passed=flag_field(row, "passed") if "passed" in row else None,
        rubric_sha256=optional_text(row, "rubric_sha256"),
        extra=beyond(row, _KNOWN),
    )
