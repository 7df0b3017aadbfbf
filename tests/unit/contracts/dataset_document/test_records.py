"""What is wrong with one record, and with no other."""

from __future__ import annotations

import pytest

from steelyard.model.finding import RECORD_CODES
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import (
    document,
    raw_document,
    read_record,
    read_rows,
    record,
    record_errors,
    told,
    without,
    written,
)


@pytest.mark.parametrize("value", [None, 1, "text", [], True, [record()]])
def test_a_record_is_an_object(value: JsonValue) -> None:
    """DD-19."""
    row = read_record(value)

    assert told(row.findings) == [("invalid_field_type", "records[0]")]
    assert row.findings[0].message == "the record must be an object"
    assert (row.record_id, row.findings[0].record_id) == (None, None)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (without(record(), "record_id"), "record_id"),
        (without(record(), "input"), "input"),
        (record(input={}), "input.prompt"),
    ],
)
def test_a_record_needs_an_id_and_a_prompt(value: JsonObject, path: str) -> None:
    """DD-20."""
    assert record_errors(value) == [("missing_required_field", f"records[0].{path}")]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (record(record_id=1), "record_id"),
        (record(record_id=None), "record_id"),
        (record(input="text"), "input"),
        (record(input={"prompt": None}), "input.prompt"),
        (record(input={"prompt": ["a"]}), "input.prompt"),
        (record(reference="text"), "reference"),
        (record(reference={"answer": 4}), "reference.answer"),
        (record(tags="tag"), "tags"),
        (record(tags=["a", 1]), "tags[1]"),
        (record(expected=None), "expected"),
        (record(expected={"max_latency_ms": None}), "expected.max_latency_ms"),
        (record(expected={"required_criteria": "accuracy"}), "expected.required_criteria"),
        (record(expected={"required_criteria": [1]}), "expected.required_criteria[0]"),
        (record(metadata=[]), "metadata"),
    ],
)
def test_a_value_of_another_type_is_reported_once(value: JsonObject, path: str) -> None:
    """DD-21 and DD-48."""
    assert record_errors(value) == [("invalid_field_type", f"records[0].{path}")]


@pytest.mark.parametrize(
    ("criterion", "hint"),
    [("Accuracy", "did you mean 'accuracy'?"), ("speed", None), ("", None), ("{}", None)],
)
def test_a_criterion_is_one_of_five(criterion: str, hint: str | None) -> None:
    """DD-29."""
    row = read_record(record(expected={"required_criteria": ["overall", criterion]}))
    (finding,) = row.findings

    assert finding.code == "invalid_enum_value"
    assert finding.path == "records[0].expected.required_criteria[1]"
    assert finding.hint == hint
    assert finding.message.endswith(f"not '{criterion}'")


@pytest.mark.parametrize(
    ("value", "path", "hint"),
    [
        (record(notes=""), "notes", None),
        (record(tag=[]), "tag", "did you mean 'tags'?"),
        (record(Metadata={}), "Metadata", "did you mean 'metadata'?"),
        (record(expected={"score": 1}), "expected.score", None),
        (record(expected={"max-latency-ms": 1}), "expected.max-latency-ms",
         "did you mean 'max_latency_ms'?"),
    ],
)  # fmt: skip
def test_a_record_and_its_expectations_take_no_other_fields(
    value: JsonObject, path: str, hint: str | None
) -> None:
    """DD-36."""
    (finding,) = read_record(value).findings

    assert (finding.code, finding.severity) == ("unsupported_field", "error")
    assert (finding.path, finding.hint) == (f"records[0].{path}", hint)


def test_of_records_with_one_id_the_first_has_it() -> None:
    """DD-39."""
    bad = record(record_id="b", input={})
    ids: list[JsonObject] = [record(record_id=name) for name in "aba"]
    rows = read_rows(document(*ids, bad, record(record_id="a"), bad))

    assert [told(row.findings) for row in rows] == [
        [],
        [],
        [("duplicate_record_id", "records[2].record_id")],
        [
            ("missing_required_field", "records[3].input.prompt"),
            ("duplicate_record_id", "records[3].record_id"),
        ],
        [("duplicate_record_id", "records[4].record_id")],
        [
            ("missing_required_field", "records[5].input.prompt"),
            ("duplicate_record_id", "records[5].record_id"),
        ],
    ]


def test_a_rejected_record_still_has_its_id() -> None:
    """DD-39."""
    rows = read_rows(document(record(input={}), record()))

    assert [row.is_accepted for row in rows] == [False, False]
    assert rows[1].findings[0].message == "record_id 'q_0001' is used by an earlier record"


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [("caf\u00e9", "cafe\u0301", True), ("a", "A", False), ("a", "a ", False), ("1", "01", False)],
)
def test_ids_are_compared_in_nfc_and_with_their_case(
    first: str, second: str, is_same: bool
) -> None:
    """DD-40."""
    rows = read_rows(document(record(record_id=first), record(record_id=second)))

    assert rows[1].is_accepted is not is_same


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"null", "invalid_field_type"),
        (b'{"record_id": "1"}', "missing_required_field"),
        (b'{"record_id": "1", "input": {"prompt": "\\ud800"}}', "invalid_encoding"),
        (b'{"record_id": "1", "input": {"prompt": "\x00"}}', "invalid_encoding"),
        (b'{"record_id": "1", "input": {"prompt": 1e999}}', "value_out_of_range"),
        (b'{"record_id": "1", "input": {"prompt": "?", "x": %s}}' % (b"[" * 3000 + b"]" * 3000),
         "value_out_of_range"),
        (b'{"record_id": "1", "input": {"prompt": "%s"}}' % (b"x" * 300_000), "string_too_long"),
    ],
    ids=["null", "missing", "surrogate", "NUL", "number", "depth", "size"],
)  # fmt: skip
def test_one_bad_record_leaves_the_others_accepted(raw: bytes, code: str) -> None:
    """DD-46."""
    good = [written(record(record_id=name)) for name in "ab"]
    rows = read_rows(raw_document(good[0], raw, good[1]))

    assert [row.is_accepted for row in rows] == [True, False, True]
    assert code in [finding.code for finding in rows[1].findings]


def test_every_error_of_a_record_is_told_in_the_order_of_paths() -> None:
    """DD-47."""
    value = record(
        tags=["", *["x"] * 40],
        expected={"max_latency_ms": 0, "required_criteria": ["x"], "y": 1},
        input={"prompt": "x" * 200_001, "bell": "\a", "more": "x" * 70_000},
        metadata={"a": [[[[[1]]]]], "b": "x" * 8192},
        note=1,
    )
    row = read_record(value)

    assert told(row.findings) == [
        ("record_too_large", "records[0]"),
        ("value_out_of_range", "records[0].expected.max_latency_ms"),
        ("invalid_enum_value", "records[0].expected.required_criteria[0]"),
        ("unsupported_field", "records[0].expected.y"),
        ("invalid_encoding", "records[0].input.bell"),
        ("string_too_long", "records[0].input.prompt"),
        ("record_too_large", "records[0].metadata"),
        ("value_out_of_range", "records[0].metadata"),
        ("unsupported_field", "records[0].note"),
        ("value_out_of_range", "records[0].tags"),
        ("value_out_of_range", "records[0].tags[0]"),
    ]
    assert {finding.code for finding in row.findings} < set(RECORD_CODES)


def test_a_finding_of_a_record_says_which_record_it_is() -> None:
    rows = read_rows(document(record(), {"record_id": "q_0002", "input": {"prompt": 42}}))
    (finding,) = rows[1].findings

    assert (finding.index, finding.record_id, finding.line) == (1, "q_0002", None)
    assert (finding.path, finding.severity) == ("records[1].input.prompt", "error")
    assert finding.message == "input.prompt must be a string"
