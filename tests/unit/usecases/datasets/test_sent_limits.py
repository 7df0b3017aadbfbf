from __future__ import annotations

from io import BytesIO

import pytest

from steelyard.usecases.datasets.sent_limits import (
    MAX_HEADER_VALUES,
    MAX_ITEMS,
    MAX_MEMBERS,
    MAX_RECORD_VALUES,
    MAX_VALUES,
    MAX_YAML_MARKS,
    document_refusal,
    lines_refusal,
    yaml_refusal,
)


def listed(values: int) -> bytes:
    """A list of so many values."""
    return b"[" + b"0," * (values - 1) + b"0]"


def members(count: int) -> bytes:
    """An object of so many members."""
    return b"{" + b",".join(b'"k%d":0' % number for number in range(count)) + b"}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (listed(MAX_RECORD_VALUES + 1), "more than 12,000,000 values"),
        (members(MAX_MEMBERS + 1), "more than 1,000 fields"),
        (b'{"records":' + listed(MAX_ITEMS + 1) + b"}", "more than 1,000,000 items"),
        (listed(MAX_ITEMS + 1), "more than 1,000,000 items"),
        (b'{"a":[' + listed(MAX_VALUES) + b"]}", "more than 3,000,000 values beside records"),
    ],
)
def test_a_document_of_too_much_is_refused_with_the_reason(data: bytes, why: str) -> None:
    assert why in (document_refusal(data) or "")


@pytest.mark.parametrize(
    "data",
    [
        members(MAX_MEMBERS),
        b'{"records":' + listed(MAX_ITEMS) + b"}",
        b'{"records":[' + listed(MAX_VALUES) + b"]}",
        b'{"records":["' + b"," * (MAX_ITEMS + 1) + b'"]}',
        b'{"records":["' + b"[,{" * MAX_VALUES + b'"]}',
        b"no JSON at all" * 1000,
    ],
)
def test_a_document_within_the_limits_is_read(data: bytes) -> None:
    assert document_refusal(data) is None


def test_a_document_that_is_read_as_a_whole_has_fewer_values() -> None:
    data = b'{"records":[' + listed(MAX_VALUES) + b"]}"

    assert "3,000,000 values" in (document_refusal(data, has_records=False) or "")


def test_beside_posted_records_there_is_little() -> None:
    data = b'{"metadata":{"a":' + listed(MAX_HEADER_VALUES) + b'},"records":[]}'

    assert "beside records" in (document_refusal(data, beside=MAX_HEADER_VALUES) or "")


def test_a_line_of_too_many_values_is_refused_by_its_number() -> None:
    refused = lines_refusal(BytesIO(b'{"a":1}\n' + listed(MAX_VALUES + 1) + b"\n"))

    assert refused == "line 2 has more than 3,000,000 values"
    assert lines_refusal(BytesIO(listed(10) * 1000)) is None


def test_yaml_of_too_many_values_is_refused() -> None:
    assert yaml_refusal(b"- a\n" * (MAX_YAML_MARKS + 1))
    assert yaml_refusal(b"- a\n" * 1000) is None
