"""Writes contract 2; what was read comes back unchanged."""

from __future__ import annotations

import json

from steelyard.contracts.dataset_document.contract import DATASET_DOCUMENT
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import compact
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject

_VERSION = DATASET_DOCUMENT.schema_version


def write_dataset_document(dataset: Dataset) -> bytes:
    """A dataset as one JSON document, indented for people."""
    document: JsonObject = {
        "dataset_id": dataset.id,
        "dataset_version": dataset.version or "unversioned",
        "schema_version": _VERSION,
        **dict(dataset.extra),
    }
    if dataset.metadata:
        document["metadata"] = dict(dataset.metadata)
    document["records"] = [record_row(case) for case in dataset.cases]
    return json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def document_of(_name: str, rows: list[JsonObject]) -> bytes:
    """A file of these rows."""
    header: JsonObject = {"dataset_id": "d", "dataset_version": "1", "schema_version": _VERSION}
    # A document without records would be wrong as a whole, for a reason of no row.
    return compact({**header, "records": [*rows] or [None]})


def record_row(case: Case) -> JsonObject:
    """A case as one record."""
    beyond = dict(case.extra)
    asked = fields(beyond.pop("input", {}))
    reference = fields(beyond.pop("reference", {}))
    record: JsonObject = {
        "record_id": case.id,
        "input": {"prompt": case.input_messages[0].text, **asked},
    }
    if case.reference_answers:
        reference = {"answer": case.reference_answers[0], **reference}
    optional: JsonObject = {
        "reference": reference,
        "tags": list(case.tags),
        "expected": dict(case.expected),
        "metadata": dict(case.metadata),
    }
    record.update({name: value for name, value in optional.items() if value})
    return record
