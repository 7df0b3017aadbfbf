"""Writing a dataset document, and reading back what was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from steelyard.contracts.dataset_document.writer import write_dataset_document
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from strategies.dataset_documents import (
    DOCUMENTS,
    document,
    opened,
    read_dataset,
    record,
    without,
    written,
)
from strategies.effort import examples

FULL = document(
    record(
        input={"prompt": "Où ?", "context": {"page": 1}},
        reference={"answer": "Ici", "sources": ["a"]},
        tags=["fr"],
        expected={"max_latency_ms": 2000.0, "required_criteria": ["overall"]},
        metadata={"a": None},
    ),
    record(record_id="b"),
    created_at="2026-01-15T10:05:12Z",
    metadata={"owner": "we"},
    licence=["CC0"],
)


def open_fields(value: JsonObject) -> JsonObject:
    """A value without its empty optional parts, which mean nothing."""
    return {name: item for name, item in value.items() if item not in ({}, [])}


@settings(max_examples=examples(300))
@given(DOCUMENTS)
def test_what_was_read_is_written_so_that_it_reads_the_same(value: JsonObject) -> None:
    """DD-50; open objects and text of any script come back as they were (DD-16, DD-37)."""
    reading = opened(value)
    rows = list(reading.rows())
    dataset = reading.dataset(tuple(map(reading.case, rows)))
    data = write_dataset_document(dataset)
    again = opened(data)

    assert [reading.findings, *(row.findings for row in rows)] == [()] * (len(rows) + 1)
    assert [again.findings, *(row.findings for row in again.rows())] == [()] * (len(rows) + 1)
    assert read_dataset(data) == dataset
    assert write_dataset_document(read_dataset(data)) == data


def test_every_field_is_written_back() -> None:
    """DD-16 and DD-37."""
    assert json.loads(write_dataset_document(read_dataset(written(FULL)))) == FULL


@pytest.mark.parametrize(
    "value",
    [
        record(reference={}, tags=[], expected={}, metadata={}),
        record(reference={"answer": ""}),
        record(reference={"other": 1}),
    ],
)
def test_an_empty_answer_is_written_and_an_empty_part_is_not(value: JsonObject) -> None:
    """DD-50."""
    data = write_dataset_document(read_dataset(written(document(value))))

    assert json.loads(data) == document(open_fields(value))


def test_a_document_is_written_for_people() -> None:
    data = write_dataset_document(read_dataset(written(FULL)))

    assert data.startswith(b'{\n  "dataset_id": "d",\n')
    assert data.endswith(b"}\n")
    assert "Où ?".encode() in data


def test_a_dataset_without_a_version_says_so() -> None:
    case = Case(id="1", input_messages=(Message(role="user", content="?"),))
    dataset = Dataset(id="d", contract="eval_cases", cases=(case,))
    value = json.loads(write_dataset_document(dataset))

    assert value["dataset_version"] == "unversioned"
    assert opened(without(value)).findings == ()
