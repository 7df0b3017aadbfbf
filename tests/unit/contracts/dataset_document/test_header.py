"""What is wrong with a document as a whole."""

from __future__ import annotations

import pytest

from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import (
    document,
    errors,
    header,
    opened,
    without,
)

HEADER_FIELDS = ("dataset_id", "dataset_version", "schema_version", "records")


@pytest.mark.parametrize("name", HEADER_FIELDS)
def test_a_document_needs_its_header(name: str) -> None:
    """DD-07."""
    assert errors(without(document(), name)) == [("missing_required_field", name)]


@pytest.mark.parametrize("top", [[], [document()], "text", 7, None, True])
def test_the_top_level_is_an_object(top: JsonValue) -> None:
    """DD-05."""
    assert errors(top) == [("invalid_field_type", "")]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1),
        (b"{", 1),
        (b'{\n"records": [,]}', 2),
        (b'{"dataset_id": "a",\n\n}', 3),
        (b'{"a": 01}', 1),
        (b'{"a": NaN}', 1),
        (b'{"a": -Infinity}', 1),
        (b'{"a": "\\x41"}', 1),
        (b'{"a": "line\nbreak"}', 1),
        (b'{"a": "tab\t"}', 1),
        (b"{'a': 1}", 1),
        (b'{} // comment', 1),
        (b'{}\n{}', 2),
        (b'{"a":\n\x00 1}', 2),
        (b'{"a": "\\\x00"}', 1),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", 1),
    ],
)  # fmt: skip
def test_text_that_is_not_json_spoils_the_document(data: bytes, line: int) -> None:
    """DD-04."""
    (finding,) = opened(data).findings

    assert (finding.code, finding.path, finding.line) == ("invalid_json", "", line)
    assert "(column " in finding.message


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        (header(records={}), "invalid_field_type", "records"),
        (header(records=None), "invalid_field_type", "records"),
        (document(dataset_id=1), "invalid_field_type", "dataset_id"),
        (document(dataset_version=1.0), "invalid_field_type", "dataset_version"),
        (document(schema_version=1.0), "invalid_field_type", "schema_version"),
        (document(created_at=None), "invalid_field_type", "created_at"),
        (document(metadata=[]), "invalid_field_type", "metadata"),
    ],
)
def test_a_wrong_type_in_the_header_is_reported_once(
    value: JsonObject, code: str, path: str
) -> None:
    """DD-21 and DD-48."""
    assert errors(value) == [(code, path)]


def test_the_errors_of_a_header_are_all_told_in_the_order_of_their_paths() -> None:
    value = document(dataset_id="a b", schema_version="2", created_at="now", metadata={"a": "\0"})

    assert errors(value) == [
        ("value_out_of_range", "created_at"),
        ("value_out_of_range", "dataset_id"),
        ("invalid_encoding", "metadata.a"),
        ("invalid_enum_value", "schema_version"),
    ]
