"""Taking a document apart."""

from __future__ import annotations

import pytest

from steelyard.contracts.dataset_document.document import Document, split_json, split_value
from steelyard.errors import ParseError
from steelyard.formats.problem import Problem

ODD = "\\ud800"


def raw(document: Document) -> list[bytes]:
    return [bytes(record) for record in document.records or ()]


def test_a_document_is_a_header_and_unparsed_records() -> None:
    document = split_json(b'{"a": [1, {"b": null}], "records": [ {"x" : 1} , 2,"3" ], "c": 0}')

    assert document.header == {"a": [1, {"b": None}], "c": 0}
    assert raw(document) == [b'{"x" : 1}', b"2", b'"3"']
    assert document.problems == ()


@pytest.mark.parametrize("records", [b'"none"', b"{}", b"null", b"7"])
@pytest.mark.parametrize("note", ["fine", ODD])
def test_records_that_are_no_list_stay_in_the_header(records: bytes, note: str) -> None:
    document = split_json(b'{"note": "%s", "records": %s}' % (note.encode(), records))

    assert document.records is None
    assert "records" in document.header


@pytest.mark.parametrize("note", ["fine", ODD])
def test_an_empty_list_of_records_is_a_list(note: str) -> None:
    assert split_json(b'{"note": "%s", "records": [ ]}' % note.encode()).records == []


@pytest.mark.parametrize("note", ["fine", ODD])
def test_of_a_name_that_repeats_the_last_one_counts(note: str) -> None:
    data = b'{"records": [1], "a": 1, "a": 2, "records": [2, 3], "note": "%s"}' % note.encode()
    document = split_json(data)

    assert document.header["a"] == 2
    assert raw(document) == [b"2", b"3"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b' { "a\\"{" : [1, {"a": 2}] , "records":[ ] } ', []),
        (b'{"a": 1, "a": 1}', [("a",)]),
        (b'{"a": 12, "a": 1}', [("a",)]),
        (b'{"a": 1, "b": {"a": 2}, "a": 2, "records": []}', [("a",)]),
        (b'{"records": [], "b": ",", "records": [{"a": 1}]}', [("records",)]),
        (b'{"a": "x", "\\u0061": "x"}', [("a",)]),
        (b"{}", []),
    ],
)
def test_fields_that_repeat_at_the_top_are_told(
    data: bytes, found: list[tuple[str | int, ...]]
) -> None:
    assert [problem.path for problem in split_json(data).problems] == found


def test_odd_strings_stay_in_the_record_that_has_them() -> None:
    data = b'{"records": ["a\x00", "\\ud800", "\\ud83d\\ude00", [",]"], "\\\\ud800"]}'

    assert raw(split_json(data)) == [
        b'"a\\u0000"',
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b'[",]"]',
        b'"\\\\ud800"',
    ]


def test_odd_strings_are_told_apart_from_a_list_that_looks_the_same() -> None:
    data = b'{"metadata": {"records": ["\\ue000"]}, "records": ["\\ud800"]}'
    document = split_json(data)

    assert document.header == {"metadata": {"records": ["\ue000"]}}
    assert raw(document) == [b'"\\ud800"']


def test_a_private_character_in_a_name_is_no_surrogate() -> None:
    document = split_json('{"\ue000": 1, "note": "\\ud800"}'.encode())

    assert document.header == {"\ue000": 1, "note": "\ufffd"}
    assert [problem.path for problem in document.problems] == [("note",)]


def test_what_cannot_be_read_in_the_header_is_a_problem_with_its_path() -> None:
    document = split_json(b'{"a": {"b": [1, 1e999]}, "c\\udfff": "\\ud800"}')

    assert document.header == {"a": {"b": [1, None]}, "c\ufffd": "\ufffd"}
    assert [(problem.code, problem.path) for problem in document.problems] == [
        ("invalid_encoding", ("c\ufffd",)),
        ("value_out_of_range", ("a", "b", 1)),
        ("invalid_encoding", ("c\ufffd",)),
    ]


@pytest.mark.parametrize("levels", [201, 400, 30_000])
def test_a_header_field_may_be_too_deep_without_hiding_the_records(levels: int) -> None:
    """DD-35, for the header."""
    nest = b"[" * levels + b"]" * levels
    document = split_json(b'{"note": %s, "records": [1, "[["]}' % nest)

    assert raw(document) == [b"1", b'"[["']
    assert document.problems == (
        Problem(
            code="value_out_of_range",
            message="{} is nested deeper than 200 levels",
            path=("note",),
        ),
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b'{"a": "\\ud800"',
        b'{"a": "\x00", }',
        b'{"a": ' + b"[" * 5000,
        b'{"a": ' + b"[" * 5000 + b"]" * 4999 + b"}",
        b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"\\]}",
        b'{"a": "\\ud800\\x"}',
        b'{"a": "\\\x00"}',
        b'{"a": \x00}',
    ],
)
def test_what_is_no_json_is_a_parse_error(data: bytes) -> None:
    """DD-04."""
    with pytest.raises(ParseError) as raised:
        split_json(data)

    assert raised.value.code == "invalid_json"


def test_a_document_from_yaml_is_taken_apart_the_same_way() -> None:
    document = split_value({"a": 1, "records": [{"x": "é"}, None]})

    assert document == Document(header={"a": 1}, records=['{"x":"é"}'.encode(), b"null"])


@pytest.mark.parametrize("records", [None, {}, "text"])
def test_records_from_yaml_that_are_no_list_stay_in_the_header(records: None) -> None:
    document = split_value({"records": records})

    assert document == Document(header={"records": records}, records=None)
