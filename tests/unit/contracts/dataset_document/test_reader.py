"""The two phases of reading, and what comes out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate
from strategies.dataset_documents import (
    document,
    header,
    opened,
    raw_document,
    record,
    told,
    without,
    written,
)

RICH: JsonObject = {
    "record_id": "q_0001",
    "input": {"prompt": "Add.", "numbers": [1, 2]},
    "reference": {"answer": "3", "unit": None},
    "tags": ["math", "sum"],
    "expected": {"max_latency_ms": 5, "required_criteria": ["accuracy"]},
    "metadata": {"level": {"of": "ease"}},
}


def report(folder: Path, data: bytes, *, strict: bool = False) -> FileReport:
    path = folder / "data.json"
    path.write_bytes(data)
    options = ValidateOptions(kind="dataset_document", strict=strict)
    return validate(DiskWorkspace(folder), [str(path)], options).files[0]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (document(created="2026"), None),
        (document(creatd_at="2026"), "creatd_at"),
        (document(record(input={"prompt": "?", "promt": "!"})), "records[0].input.promt"),
        (document(record(reference={"Answer": "4"})), "records[0].reference.Answer"),
        (document(record(metadata={"promt": 1, "anwser": 2})), None),
        (document(metadata={"dataset_ids": 1}), None),
    ],
)
def test_a_near_miss_where_any_name_is_allowed_is_a_warning(
    tmp_path: Path, value: JsonObject, path: str | None
) -> None:
    """DD-38."""
    soft = report(tmp_path, written(value))
    strict = report(tmp_path, written(value), strict=True)

    assert told(soft.findings) == ([("unknown_field", path)] if path else [])
    assert (soft.is_valid, soft.accepted) == (True, 1)
    assert strict.is_valid is (path is None)


@pytest.mark.parametrize(
    ("data", "total", "accepted", "rejected"),
    [
        (written(document(record(), {}, record(record_id="b"))), 3, 2, 1),
        (written(document({}, {})), 2, 0, 2),
        (written(document(record(), {}, schema_version="2")), 2, 0, 2),
        (written(document(record(), note="\ud800")), 1, 0, 1),
        (raw_document(written(record()), more=b'"note": "\x01"'), 1, 0, 1),
        (written(without(document(), "records")), 0, 0, 0),
        (b"{", 0, 0, 0),
    ],
)
def test_every_record_is_accepted_or_rejected(
    tmp_path: Path, data: bytes, total: int, accepted: int, rejected: int
) -> None:
    """DD-18 and DD-49."""
    found = report(tmp_path, data)

    assert (found.total, found.accepted, found.rejected) == (total, accepted, rejected)


def test_a_file_over_the_limit_is_told_from_its_length(tmp_path: Path) -> None:
    """DD-06."""
    path = tmp_path / "data.json"
    with path.open("wb") as stream:
        stream.truncate(104_857_601)
    found = validate(DiskWorkspace(tmp_path), [str(path)], ValidateOptions()).files[0]

    assert told(found.findings) == [("payload_too_large", "")]
    assert found.total == 0


def test_a_record_becomes_a_case() -> None:
    reading = DatasetDocumentReading(written(document(RICH)), file="data.json")
    (row,) = reading.rows()
    case = reading.case(row)

    assert case == Case(
        id="q_0001",
        dataset="d",
        input_messages=(Message(role="user", content="Add."),),
        reference_answers=("3",),
        tags=("math", "sum"),
        expected={"max_latency_ms": 5, "required_criteria": ["accuracy"]},
        metadata={"level": {"of": "ease"}},
        extra={"input": {"numbers": [1, 2]}, "reference": {"unit": None}},
    )
    assert case.place == Place(file="data.json", index=0)


def test_a_document_becomes_a_dataset() -> None:
    """DD-16: a field that the contract does not know is kept."""
    value = document(created_at="2026-01-15T10:05:12Z", metadata={"a": 1}, licence="CC0")

    assert opened(value).dataset(()) == Dataset(
        id="d",
        contract="dataset_document",
        version="1",
        metadata={"a": 1},
        extra={"created_at": "2026-01-15T10:05:12Z", "licence": "CC0"},
    )


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        written(without(document(), "dataset_id", "dataset_version")),
        written(document(dataset_id=7, metadata="text")),
        raw_document(*[b"0"] * 50_001),
    ],
)
def test_a_spoiled_document_is_a_dataset_without_cases(data: bytes) -> None:
    reading = opened(data)

    assert reading.is_spoiled
    assert reading.dataset(()) == Dataset(id="", contract="dataset_document")


@pytest.mark.trials
def test_a_document_with_too_many_records_can_be_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(raw_document(*[b"0"] * 50_001))
    dataset, findings = read_dataset(DiskWorkspace(tmp_path), path)

    assert dataset.cases == ()
    assert len(findings) == 50_001


@pytest.mark.parametrize(
    "value",
    [
        document(RICH, record(record_id="b")),
        document(record(), {"record_id": "b", "input": {}}, {}, schema_version="2"),
        document(record(), None, dataset_id=" ", metadata=[]),
        without(document(), "records"),
        header(records="none"),
    ],
)
def test_the_same_document_in_yaml_gives_the_same(value: JsonObject) -> None:
    """DD-51."""
    json, yaml = opened(value), DatasetDocumentReading(parse_yaml(write_yaml(value)))

    assert told(yaml.findings) == told(json.findings)
    assert [told(row.findings) for row in yaml.rows()] == [
        told(row.findings) for row in json.rows()
    ]
    assert yaml.dataset(()) == json.dataset(())


def test_in_yaml_every_finding_has_its_line() -> None:
    """DD-51."""
    text = (
        "dataset_id: d\n"
        "dataset_version: 1\n"
        "schema_version: '1.0'\n"
        "records:\n"
        "- record_id: a\n"
        "  input: {prompt: '?'}\n"
        "- record_id: b\n"
        "  input:\n"
        "    prompt: 7\n"
    )
    reading = DatasetDocumentReading(parse_yaml(text.encode()))
    rows = list(reading.rows())

    assert [(finding.path, finding.line) for finding in reading.findings] == [
        ("dataset_version", 2)
    ]
    assert [row.line for row in rows] == [5, 7]
    assert [finding.line for finding in rows[1].findings] == [9]


def test_a_yaml_file_that_is_a_list_is_no_document() -> None:
    """DD-05 and DD-51."""
    reading = DatasetDocumentReading(parse_yaml(b"- a\n"))

    assert told(reading.findings) == [("invalid_field_type", "")]
