"""Every limit of a dataset document from both sides: the last good value and the first bad one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.contracts.dataset_document.rules import MAX_PAYLOAD
from steelyard.formats.json_text import compact
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import (
    document,
    errors,
    opened,
    raw_document,
    record,
    record_errors,
    told,
    written,
)

PARROT = "\N{PARROT}"
"""One code point, two UTF-16 units, four bytes."""
LATENCY = "records[0].expected.max_latency_ms"


def asked(prompt: str) -> JsonObject:
    return record(input={"prompt": prompt})


def answered(answer: str) -> JsonObject:
    return record(reference={"answer": answer})


def tagged(*tags: str) -> JsonObject:
    return record(tags=[*tags])


def nested(levels: int) -> JsonObject:
    """An object of so many levels."""
    value: JsonObject = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


def noted(size: int) -> JsonObject:
    """An object of so many bytes as compact JSON."""
    return {"note": "x" * (size - len('{"note":""}'))}


def sized(size: int) -> JsonObject:
    """A record of so many bytes as compact JSON, a third of them in characters of two bytes."""
    value = record(input={"prompt": "é" * (size // 6)}, reference={"answer": ""})
    return {**value, "reference": {"answer": "x" * (size - len(compact(value)))}}


def latency(raw: bytes) -> bytes:
    good = b'{"record_id": "1", "input": {"prompt": "?"}, "expected": {"max_latency_ms": %s}}'
    return good % raw


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        pytest.param("dataset_id", "", "value_out_of_range", id="DD-08 empty"),
        pytest.param("dataset_id", "a", None, id="DD-08 shortest"),
        pytest.param("dataset_id", "a" * 128, None, id="DD-08 longest"),
        pytest.param("dataset_id", "a" * 129, "string_too_long", id="DD-08 too long"),
        pytest.param("dataset_id", "AZaz09_-.", None, id="DD-09 every kind"),
        pytest.param("dataset_id", "a b", "value_out_of_range", id="DD-09 space"),
        pytest.param("dataset_id", "a/b", "value_out_of_range", id="DD-09 slash"),
        pytest.param("dataset_id", "é", "value_out_of_range", id="DD-09 accent"),
        pytest.param("dataset_id", "٣", "value_out_of_range", id="DD-09 other digit"),
        pytest.param("dataset_id", "a\n", "value_out_of_range", id="DD-09 line feed"),
        pytest.param("dataset_version", "", "value_out_of_range", id="DD-10 empty"),
        pytest.param("dataset_version", " ", None, id="DD-10 shortest"),
        pytest.param("dataset_version", PARROT * 64, None, id="DD-10 longest"),
        pytest.param("dataset_version", "1" * 65, "string_too_long", id="DD-10 too long"),
        pytest.param("schema_version", "1.0", None, id="DD-11 the one"),
        pytest.param("schema_version", "1", "invalid_enum_value", id="DD-11 shorter"),
        pytest.param("schema_version", "1.0.0", "invalid_enum_value", id="DD-11 longer"),
        pytest.param("schema_version", "1.1", "invalid_enum_value", id="DD-11 later"),
        pytest.param("metadata", noted(16_384), None, id="DD-15 16 KB"),
        pytest.param("metadata", noted(16_385), "value_out_of_range", id="DD-15 one byte more"),
        pytest.param("metadata", nested(5), None, id="DD-34 five levels"),
        pytest.param("metadata", nested(6), "value_out_of_range", id="DD-34 six levels"),
    ],
)
def test_a_field_of_the_document_is_held_to_its_limits(
    field: str, value: JsonValue, code: str | None
) -> None:
    assert errors(document(**{field: value})) == ([(code, field)] if code else [])


@pytest.mark.parametrize(
    ("time", "is_good"),
    [
        ("2026-01-15T10:05:12Z", True),
        ("2026-01-15T10:05:12+00:00", True),
        ("2026-01-15T10:05:12.123456789Z", True),
        ("2026-01-15T10:05Z", True),
        ("2024-02-29T23:59:59Z", True),
        ("0001-01-01T00:00:00Z", True),
        ("2025-02-29T10:05:12Z", False),
        ("2026-13-01T10:05:12Z", False),
        ("0000-01-01T00:00:00Z", False),
        ("2026-01-15T24:00:00Z", False),
        ("2026-01-15T10:60:00Z", False),
        ("2016-12-31T23:59:60Z", False),
        ("2026-01-15T10:05:12", False),
        ("2026-01-15T10:05:12+02:00", False),
        ("2026-01-15T10:05:12-00:00", False),
        ("2026-01-15T10:05:12z", False),
        ("2026-01-15 10:05:12Z", False),
        ("2026-01-15", False),
        ("20260115T100512Z", False),
        ("2026-01-15T10:05:12Z\n", False),
        ("٢٠٢٦-01-15T10:05:12Z", False),
        ("", False),
        (" ", False),
    ],
)
def test_created_at_is_an_existing_time_in_utc(time: str, is_good: bool) -> None:
    """DD-14."""
    wrong = [] if is_good else [("value_out_of_range", "created_at")]

    assert errors(document(created_at=time)) == wrong


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        pytest.param(record(record_id=""), "value_out_of_range", "record_id", id="DD-22 empty"),
        pytest.param(record(record_id="1"), None, "", id="DD-22 shortest"),
        pytest.param(record(record_id=PARROT * 128), None, "", id="DD-22 longest"),
        pytest.param(record(record_id="1" * 129), "string_too_long", "record_id", id="DD-22 over"),
        pytest.param(asked(""), "value_out_of_range", "input.prompt", id="DD-23 empty"),
        pytest.param(asked(" "), None, "", id="DD-23 shortest"),
        pytest.param(asked("x" * 200_000), None, "", id="DD-23 longest"),
        pytest.param(asked("x" * 200_001), "string_too_long", "input.prompt", id="DD-23 over"),
        pytest.param(answered(""), None, "", id="DD-24 shortest"),
        pytest.param(answered("x" * 200_000), None, "", id="DD-24 longest"),
        pytest.param(
            answered("x" * 200_001), "string_too_long", "reference.answer", id="DD-24 over"
        ),
        pytest.param(tagged(), None, "", id="DD-25 none"),
        pytest.param(tagged(*["t"] * 32), None, "", id="DD-25 most"),
        pytest.param(tagged(*["t"] * 33), "value_out_of_range", "tags", id="DD-25 over"),
        pytest.param(tagged("t", ""), "value_out_of_range", "tags[1]", id="DD-26 empty"),
        pytest.param(tagged("t", PARROT * 64), None, "", id="DD-26 longest"),
        pytest.param(tagged("t", PARROT * 65), "string_too_long", "tags[1]", id="DD-26 over"),
        pytest.param(record(metadata=noted(8_192)), None, "", id="DD-30 8 KB"),
        pytest.param(
            record(metadata=noted(8_193)), "record_too_large", "metadata", id="DD-30 over"
        ),
        pytest.param(record(metadata=nested(5)), None, "", id="DD-34 five levels"),
        pytest.param(
            record(metadata=nested(6)), "value_out_of_range", "metadata", id="DD-34 six levels"
        ),
        pytest.param(record(metadata={"2": [[[[1]]]]}), None, "", id="DD-34 five with arrays"),
        pytest.param(
            record(metadata={"2": [[[[[]]]]]}), "value_out_of_range", "metadata", id="DD-34 six"
        ),
        pytest.param(sized(262_144), None, "", id="DD-31 256 KB"),
        pytest.param(sized(262_145), "record_too_large", "", id="DD-31 one byte more"),
    ],
)
def test_a_field_of_a_record_is_held_to_its_limits(
    value: JsonObject, code: str | None, path: str
) -> None:
    place = f"records[0].{path}" if path else "records[0]"

    assert record_errors(value) == ([(code, place)] if code else [])


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"0", "value_out_of_range", id="DD-27 zero"),
        pytest.param(b"1", None, id="DD-27 least"),
        pytest.param(b"120000", None, id="DD-27 most"),
        pytest.param(b"120001", "value_out_of_range", id="DD-27 over"),
        pytest.param(b"-1", "value_out_of_range", id="DD-27 negative"),
        pytest.param(b"1" + b"0" * 30, "value_out_of_range", id="DD-27 beyond 64 bits"),
        pytest.param(b"2000.0", None, id="DD-28 whole"),
        pytest.param(b"1.2e5", None, id="DD-28 whole with an exponent"),
        pytest.param(b"120000.0", None, id="DD-28 most"),
        pytest.param(b"120001.0", "value_out_of_range", id="DD-28 over"),
        pytest.param(b"0.0", "value_out_of_range", id="DD-28 zero"),
        pytest.param(b"2000.5", "invalid_field_type", id="DD-28 broken"),
        pytest.param(b'"2000"', "invalid_field_type", id="DD-28 text"),
        pytest.param(b"true", "invalid_field_type", id="DD-28 true"),
    ],
)
def test_the_latency_is_a_whole_number_of_milliseconds(raw: bytes, code: str | None) -> None:
    assert record_errors(latency(raw)) == ([(code, LATENCY)] if code else [])


@pytest.mark.parametrize("value", [sized(262_144), sized(262_145)], ids=["at", "over"])
@pytest.mark.parametrize(
    "style", [{"indent": 8}, {"ensure_ascii": True}, {"separators": (" ,  ", "  :  ")}], ids=str
)
def test_a_size_does_not_depend_on_how_the_record_is_written(
    value: JsonObject, style: dict[str, Any]
) -> None:
    """DD-32."""
    options: dict[str, Any] = {"ensure_ascii": False, **style}
    raw = json.dumps(value, **options).encode("utf-8")

    assert record_errors(raw) == record_errors(value)


def test_a_size_counts_numbers_as_they_are_serialized() -> None:
    """DD-32: `1e15` is four bytes in the file and eighteen serialized."""
    numbers = b", ".join([b"1e15"] * 14_000)
    raw = b'{"record_id": "1", "input": {"prompt": "?", "numbers": [' + numbers + b"]}}"

    assert len(raw) < 100_000
    assert record_errors(raw) == [("record_too_large", "records[0]")]


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        (b"\\ud83e\\udd9c" * 64, None),
        (b"\\ud83e\\udd9c" * 65, "string_too_long"),
        (b"\\n" * 64, None),
        (b"\\n" * 65, "string_too_long"),
        (b"e\\u0301" * 64, None),
        (b"e\\u0301" * 65, "string_too_long"),
    ],
)
def test_a_length_counts_code_points_however_they_are_written(
    tag: bytes, code: str | None
) -> None:
    """DD-33; a letter with its accent is one code point in NFC."""
    raw = b'{"record_id": "1", "input": {"prompt": "?"}, "tags": ["%s"]}' % tag

    assert record_errors(raw) == ([(code, "records[0].tags[0]")] if code else [])


@pytest.mark.parametrize(
    ("levels", "is_good"), [(200, True), (201, False), (500, False), (20_000, False)]
)
def test_a_record_may_have_two_hundred_levels(levels: int, is_good: bool) -> None:
    """DD-35: the record and its input are two levels."""
    tree = b"[" * (levels - 2) + b"]" * (levels - 2)
    raw = b'{"record_id": "1", "input": {"prompt": "?", "tree": %s}}' % tree

    assert record_errors(raw) == ([] if is_good else [("value_out_of_range", "records[0]")])


@pytest.mark.parametrize(
    ("count", "wrong"),
    [
        (0, True),
        (1, False),
        (50_001, True),
        pytest.param(50_000, False, marks=pytest.mark.trials),
        pytest.param(50_200, True, marks=pytest.mark.trials),
    ],
)
def test_a_document_has_up_to_fifty_thousand_records(count: int, wrong: bool) -> None:
    """DD-12."""
    one = b'{"record_id":"%d","input":{"prompt":"?"}}'
    reading = opened(raw_document(*(one % index for index in range(count))))
    rows = list(reading.rows())

    assert told(reading.findings) == ([("value_out_of_range", "records")] if wrong else [])
    assert len(rows) == count
    assert all(row.is_accepted for row in rows)


@pytest.mark.trials
def test_records_beyond_the_last_one_allowed_are_counted_and_not_read() -> None:
    """DD-13."""
    reading = opened(raw_document(*[b"0"] * 50_002))
    codes = [[finding.code for finding in row.findings] for row in reading.rows()]

    assert codes[49_999:] == [["invalid_field_type"], [], []]


def test_a_document_of_a_hundred_megabytes_is_read_and_a_larger_one_is_not() -> None:
    """DD-06."""
    data = written(document())
    full = DatasetDocumentReading(data.ljust(104_857_600))
    over = DatasetDocumentReading(data.ljust(MAX_PAYLOAD + 1))

    assert (full.findings, len(list(full.rows()))) == ((), 1)
    assert (told(over.findings), list(over.rows())) == ([("payload_too_large", "")], [])
