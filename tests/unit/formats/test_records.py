"""Records of JSONL, JSON and CSV: each with its place, and faults that spoil no other."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import ParseError
from steelyard.formats.records import (
    Record,
    csv_delimiter,
    csv_records,
    json_records,
    jsonl_records,
)


def test_lines_of_jsonl_are_objects_or_say_what_is_wrong() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\r\n\n{"b"\n[1]\n{"c": "\xe2\x80\xa8"}'

    assert list(jsonl_records(BytesIO(data))) == [
        Record("line 1", {"a": 1}),
        Record("line 3", None, "invalid JSON: the text ends too early (column 5)"),
        Record("line 4", None, "must be an object"),
        Record("line 5", {"c": "\u2028"}),
    ]


def test_a_line_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.formats.records.MAX_LINE", 10)

    (first, second) = jsonl_records(BytesIO(b'{"a": 123}\n{"a": 1234}\n'))

    assert (first.value, second.fault) == ({"a": 123}, "the line is longer than 64 MB")


def test_items_of_a_json_list_are_parsed_one_by_one() -> None:
    assert list(json_records(BytesIO(b'\xef\xbb\xbf[{"a": 1}, 7]'))) == [
        Record("item 1", {"a": 1}),
        Record("item 2", None, "must be an object"),
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"a": 1}', "the top level must be a list of objects"),
        (b"[{", "the text ends too early"),
        (b"[\xff]", "not UTF-8: byte 0xff at offset 1"),
        (b"", "the text ends too early"),
    ],
)
def test_json_that_is_no_list_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        list(json_records(BytesIO(data)))


def test_a_json_list_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.formats.records.MAX_JSON", 4)

    assert list(json_records(BytesIO(b"[{}]"))) == [Record("item 1", {})]
    with pytest.raises(ParseError, match="larger than 1 GB; write JSONL"):
        list(json_records(BytesIO(b"[{} ]")))


def test_a_table_is_read_by_the_names_of_its_first_line() -> None:
    data = '\ufeffid,text\r\n1,"a, ""b""\nc"\r\n\r\n2\r\n3,x,y\r\n4,\r\n'.encode()

    assert list(csv_records(BytesIO(data))) == [
        Record("line 3", {"id": "1", "text": 'a, "b"\nc'}),
        Record("line 5", None, "1 cells, but the first line names 2 columns"),
        Record("line 6", None, "3 cells, but the first line names 2 columns"),
        Record("line 7", {"id": "4", "text": ""}),
    ]


def test_a_table_may_be_split_by_tabs_and_hold_long_cells() -> None:
    long = "x" * 200_000

    assert list(csv_records(BytesIO(f"a\tb\n1\t{long}\n".encode()), "\t")) == [
        Record("line 2", {"a": "1", "b": long})
    ]


@pytest.mark.parametrize(
    ("data", "told", "line"),
    [
        (b"", "the first line must name the columns", 1),
        (b" , \n1,2\n", "the first line must name the columns", 1),
        (b"a,b,a\n", "two columns are called 'a'", 1),
        (b'a,b\n1,"2"x\n', "expected after", 2),
        (b"a,b\n1,\xff\n", "not UTF-8; save the file as UTF-8", 1),
    ],
)
def test_a_file_that_is_no_table_is_refused(data: bytes, told: str, line: int) -> None:
    with pytest.raises(ParseError, match=told) as caught:
        list(csv_records(BytesIO(data)))

    assert caught.value.line == line


@given(st.binary(max_size=60))
def test_any_bytes_give_records_or_a_parse_error(data: bytes) -> None:
    for read in (jsonl_records, json_records, csv_records):
        with suppress(ParseError):
            assert all(isinstance(record, Record) for record in read(BytesIO(data)))


@pytest.mark.parametrize(
    "text",
    [
        "Nr;Frage;;\n1;Wo?;;\n;;;\n;;;\n",
        "sep=;\nNr;Frage\n1;Wo?\n",
        '\ufeff"sep=;"\r\nNr;Frage\r\n1;Wo?;;\r\n',
    ],
)
def test_what_spreadsheets_write_around_a_table_is_left_out(text: str) -> None:
    data = text.encode()

    assert [record.value for record in csv_records(BytesIO(data), csv_delimiter(data))] == [
        {"Nr": "1", "Frage": "Wo?"}
    ]


def test_a_column_without_a_name_is_kept_where_it_holds_something() -> None:
    read = list(csv_records(BytesIO(b",a,\n0,x,\n1,y,z\n")))

    assert read[0].value == {"": "0", "a": "x"}
    assert read[1].fault == "several cells stand in columns without a name"
