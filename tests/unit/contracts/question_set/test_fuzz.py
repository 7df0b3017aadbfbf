"""Whatever a question set holds, reading ends with findings and never with an exception."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.question_set.reader import QuestionSetReading
from steelyard.contracts.reading import Row
from steelyard.formats.schema import Schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonValue
from strategies.effort import examples
from strategies.json_values import VALUES, spoilt
from strategies.question_sets import DOCUMENTS

WHOLE = Path(__file__).parents[3] / "corpus" / "question_set" / "valid" / "every_field.yaml"
EXAMPLE = parse_yaml(WHOLE.read_bytes()).value


def written(value: JsonValue) -> bytes:
    return json.dumps(value).encode("ascii")


def read(data: bytes) -> list[Row]:
    """All rows, each accepted one made a case."""
    reading = QuestionSetReading(data, "data")
    found = list(reading.rows())
    for row in found:
        assert all(finding.code in CODES and finding.message for finding in row.findings)
        assert all(finding.index == row.index for finding in row.findings)
        if row.is_accepted:
            assert reading.case(row).id == row.record_id
    assert all(finding.code in CODES for finding in reading.findings)
    return found


@settings(max_examples=examples(300))
@given(VALUES | spoilt(EXAMPLE))
def test_any_value_gives_rows_and_findings(value: JsonValue) -> None:
    """QS-10"""
    rows = read(written(value))

    assert [row.index for row in rows] == list(range(len(rows)))


@settings(max_examples=examples(200))
@given(st.binary(max_size=60))
def test_any_bytes_give_findings(data: bytes) -> None:
    """QS-10"""
    rows = read(data)

    assert [row.index for row in rows] == list(range(len(rows)))


class CloseLook(Schema):
    """A schema that takes nothing at a glance."""

    def is_clean(self, value: JsonValue) -> bool:  # noqa: ARG002
        return False


@settings(max_examples=examples(200))
@given(DOCUMENTS | spoilt(EXAMPLE))
def test_both_ways_of_looking_at_a_question_agree(value: JsonValue) -> None:
    """What is accepted at a glance has nothing wrong with it on a close look."""
    reading = QuestionSetReading(written(value), "data")
    close = QuestionSetReading(written(value), "data")

    def schema_of(question: JsonValue) -> Schema:
        schema = reading._schema_of(question)  # pyright: ignore[reportPrivateUsage]
        return CloseLook(schema.document, "#/$defs/question")

    close._schema_of = schema_of  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]

    assert list(close.rows()) == list(reading.rows())
