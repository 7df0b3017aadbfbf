"""Writing a question set, and reading back what was written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from steelyard.contracts.question_set.reader import QuestionSetReading
from steelyard.contracts.question_set.writer import question_set, write_question_set
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from strategies.effort import examples
from strategies.question_sets import DOCUMENTS

WHOLE = Path(__file__).parents[3] / "corpus" / "question_set" / "valid" / "every_field.yaml"


def read(content: bytes | Located) -> Dataset:
    """The dataset of a document that is right."""
    reading = QuestionSetReading(content, "data")
    rows = list(reading.rows())
    assert [reading.findings, *(row.findings for row in rows)] == [()] * (len(rows) + 1)
    return reading.dataset(tuple(map(reading.case, rows)))


def located(value: JsonObject) -> Located:
    """A value as if each question stood on a line of its own."""
    count = len(value["questions"]) if isinstance(value["questions"], list) else 0
    questions = Lines(1, {index: Lines(index + 2) for index in range(count)})
    return Located(value, Lines(1, {"questions": questions}))


@settings(max_examples=examples(300))
@given(DOCUMENTS)
def test_what_was_read_is_written_so_that_it_reads_the_same(value: JsonObject) -> None:
    """QS-11"""
    dataset = read(located(value))
    data = write_question_set(dataset)

    assert read(parse_yaml(data)) == dataset
    assert write_question_set(read(parse_yaml(data))) == data


def test_every_field_is_written_back() -> None:
    """QS-11"""
    content = parse_yaml(WHOLE.read_bytes())

    assert question_set(read(content)) == {**_object(content), "version": "2026-01"}


def _object(content: Located) -> JsonObject:
    assert isinstance(content.value, dict)
    return content.value
