"""Text in a dataset document: encodings, control characters, surrogates, normal forms."""

from __future__ import annotations

import unicodedata

import pytest

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.model.json_value import JsonObject
from strategies.dataset_documents import (
    document,
    errors,
    opened,
    raw_document,
    read_dataset,
    read_record,
    record,
    record_errors,
    told,
    written,
)

ACUTE = "\N{COMBINING ACUTE ACCENT}"
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
FORBIDDEN = [code for code in CONTROLS if chr(code) not in "\t\n\r"]


def asked(prompt: str) -> JsonObject:
    return record(input={"prompt": prompt})


def prompt_errors(escaped: str) -> list[tuple[str, str]]:
    """What is wrong with a prompt that is written out, the first of two records."""
    text = '{"record_id": "1", "input": {"prompt": "' + escaped + '"}}'
    return record_errors(text.encode("utf-8"))


BAD_PROMPT = [("invalid_encoding", "records[0].input.prompt")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"dataset_id": "\xe9"}', "not UTF-8: byte 0xe9 at offset 16; save the file as UTF-8"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8: byte 0xff at offset 0; save the file as UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8: byte 0xed at offset 7; save the file as UTF-8"),
        (b'{"a": "\xc0\x80"}', "not UTF-8: byte 0xc0 at offset 7; save the file as UTF-8"),
    ],
    ids=["Latin-1", "UTF-16", "surrogate in UTF-8", "overlong NUL"],
)
def test_bytes_that_are_not_utf_8_spoil_the_document(data: bytes, message: str) -> None:
    """DD-01."""
    (finding,) = opened(data).findings

    assert (finding.code, finding.line, finding.message) == ("invalid_encoding", 1, message)


def test_the_first_wrong_byte_is_told_with_its_line() -> None:
    """DD-01."""
    (finding,) = opened(b'{\n"a":\n"\xff"}').findings

    assert finding.line == 3


def test_utf_16_without_a_mark_is_not_json() -> None:
    """DD-01: its bytes happen to be UTF-8, with a NUL beside each character."""
    assert told(opened(written(document()).decode().encode("utf-16-le")).findings) == [
        ("invalid_json", "")
    ]


def test_a_byte_order_mark_is_ignored() -> None:
    """DD-02."""
    data = written(document())

    assert opened(b"\xef\xbb\xbf" + data).findings == ()
    assert read_dataset(b"\xef\xbb\xbf" + data) == read_dataset(data)


def test_a_byte_order_mark_elsewhere_is_text() -> None:
    """DD-02."""
    row = read_record(asked("\ufeff?"))

    assert row.findings == ()
    assert row.value == asked("\ufeff?")


def test_lines_may_end_either_way() -> None:
    """DD-03."""
    lines = written(document(asked("one\r\ntwo"))).replace(b", ", b",\n")

    assert opened(lines.replace(b"\n", b"\r\n")).findings == ()
    assert read_dataset(lines.replace(b"\n", b"\r\n")) == read_dataset(lines)


@pytest.mark.parametrize("escaped", ["\0", "\\u0000", "a\0b\0", "\\\\\0", "\\\\\\u0000"])
def test_a_nul_is_an_error_of_its_record(escaped: str) -> None:
    """DD-41."""
    assert prompt_errors(escaped) == BAD_PROMPT


def test_an_escaped_backslash_before_a_code_is_text() -> None:
    """DD-41."""
    assert prompt_errors("\\\\u0000 and \\\\ud800") == []


@pytest.mark.parametrize("code", FORBIDDEN, ids=lambda code: f"U+{code:04X}")
def test_a_control_character_is_an_error_raw_or_escaped(code: int) -> None:
    """DD-42."""
    assert prompt_errors(f"a{chr(code)}") == BAD_PROMPT
    assert prompt_errors(f"a\\u{code:04x}") == BAD_PROMPT


@pytest.mark.parametrize("escaped", ["\\t", "\\n", "\\r", "\\u0009", "\\/", "\u00a0", "\u2028"])
def test_tabs_line_breaks_and_other_spaces_are_text(escaped: str) -> None:
    """DD-42."""
    assert prompt_errors(f"a{escaped}b") == []


@pytest.mark.parametrize("escaped", ["\\b", "\\f"])
def test_a_short_escape_of_a_control_character_is_an_error(escaped: str) -> None:
    """DD-42."""
    assert prompt_errors(escaped) == BAD_PROMPT


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (record(metadata={"a\x7f": 1}), "metadata.a\x7f"),
        (record(metadata={"a": [{"b": "\x9f"}]}), "metadata.a[0].b"),
        (record(input={"prompt": "?", "\x01": []}), "input.\x01"),
        (record(tags=["ok", "\x1f"]), "tags[1]"),
        (record(reference={"answer": "\v"}), "reference.answer"),
    ],
)
def test_a_control_character_is_found_wherever_it_stands(value: JsonObject, path: str) -> None:
    """DD-42."""
    assert record_errors(value) == [("invalid_encoding", f"records[0].{path}")]


@pytest.mark.parametrize(
    ("escaped", "is_good"),
    [
        ("\\ud83d", False),
        ("\\uDE00", False),
        ("\\ude00\\ud83d", False),
        ("\\ud83d\\u0041", False),
        ("\\ud83d\\ud83d\\ude00", False),
        ("\\ud83d\\\\ude00", False),
        ("\\ud83d\\ude00", True),
        ("\\uD83D\\uDE00\\ud83d\\ude00", True),
        ("\U0001f600", True),
        ("\\ue000 \ue001 \\uffff", True),
    ],
)
def test_half_a_surrogate_pair_is_an_error_of_its_record(escaped: str, is_good: bool) -> None:
    """DD-43."""
    assert prompt_errors(escaped) == ([] if is_good else BAD_PROMPT)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"record_id": "\\ud800", "input": {"prompt": "?"}}', "record_id"),
        (b'{"record_id": "1", "input": {"prompt": "?", "x": ["\\udc00"]}}', "input.x[0]"),
        (b'{"record_id": "1", "input": {"prompt": "?", "x\\ud800": 1}}', "input.x\ufffd"),
    ],
)
def test_half_a_surrogate_pair_is_found_wherever_it_stands(raw: bytes, path: str) -> None:
    """DD-43."""
    row = read_record(raw)

    assert told(row.findings) == [("invalid_encoding", f"records[0].{path}")]
    assert row.findings[0].message == f"{path} has an unpaired surrogate code point"


@pytest.mark.parametrize(
    ("more", "path"),
    [
        (b'"note": "\\u0000"', "note"),
        (b'"note": "\x00"', "note"),
        (b'"note": "\\ud800"', "note"),
        (b'"no\\ud800te": 1', "no\ufffdte"),
        (b'"no\x00te": 1', "no\x00te"),
        (b'"no\\u0085te": 1', "no\x85te"),
        (b'"metadata": {"a": ["\\udfff"]}', "metadata.a[0]"),
    ],
)
def test_bad_text_outside_of_the_records_spoils_the_document(more: bytes, path: str) -> None:
    """DD-17."""
    reading = opened(raw_document(written(record()), more=more))

    assert told(reading.findings) == [("invalid_encoding", path)]
    assert [row.is_accepted for row in reading.rows()] == [True]


@pytest.mark.parametrize(
    "prompt",
    [f"cafe{ACUTE}", "\N{OHM SIGN}", "q\N{COMBINING DOT ABOVE}\N{COMBINING DOT BELOW}"],
)
def test_text_is_kept_in_nfc(prompt: str) -> None:
    """DD-44."""
    row = read_record(record(record_id=prompt, input={"prompt": prompt, prompt: prompt}))
    kept = unicodedata.normalize("NFC", prompt)

    assert row.findings == ()
    assert row.value == {"record_id": kept, "input": {"prompt": kept, kept: kept}}


def test_the_header_is_kept_in_nfc_before_it_is_measured() -> None:
    """DD-44."""
    long = f"e{ACUTE}" * 64
    value = document(**{"dataset_version": long, f"caf{long}": long})

    assert errors(value) == []
    assert opened(value).dataset(()).version == "é" * 64
    assert opened(value).dataset(()).extra == {"caf" + "é" * 64: "é" * 64}


@pytest.mark.parametrize("escaped", [f"e{ACUTE}", "e\\u0301", "\\u2126"])
def test_where_nfc_is_required_other_text_is_an_error(escaped: str) -> None:
    """DD-44."""
    raw = ('{"record_id": "1", "input": {"prompt": "' + escaped + '"}}').encode()
    reading = DatasetDocumentReading(raw_document(raw, written(record())), require_nfc=True)

    assert [told(row.findings) for row in reading.rows()] == [BAD_PROMPT, []]


def test_where_nfc_is_required_it_is_required_of_the_header() -> None:
    """DD-44."""
    data = written(document(note=f"e{ACUTE}"))
    reading = DatasetDocumentReading(data, require_nfc=True)

    assert told(reading.findings) == [("invalid_encoding", "note")]


@pytest.mark.parametrize(
    ("number", "is_good"),
    [
        (b"1e308", True),
        (b"1e309", False),
        (b"-1e999", False),
        (b"1e-999", True),
        (b"9" * 308, True),
        (b"9" * 310, False),
        (b"9" * 4301, False),
        (b"-" + b"9" * 5000, False),
    ],
    ids=lambda value: str(value[:8]) if isinstance(value, bytes) else None,
)
def test_a_number_that_no_parser_can_hold_is_an_error_of_its_record(
    number: bytes, is_good: bool
) -> None:
    """DD-45."""
    raw = b'{"record_id": "1", "input": {"prompt": "?"}, "metadata": {"n": [0, %s]}}' % number
    wrong = [] if is_good else [("value_out_of_range", "records[0].metadata.n[1]")]

    assert record_errors(raw) == wrong


@pytest.mark.parametrize("field", [b"max_latency_ms", b"required_criteria"])
def test_a_number_that_cannot_be_held_is_reported_once(field: bytes) -> None:
    """DD-45 and DD-48."""
    raw = b'{"record_id": "1", "input": {"prompt": "?"}, "expected": {"%s": 1e999}}' % field

    assert record_errors(raw) == [("value_out_of_range", f"records[0].expected.{field.decode()}")]
