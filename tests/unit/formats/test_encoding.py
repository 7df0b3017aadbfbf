from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import ParseError
from steelyard.formats.encoding import (
    Flaw,
    flaws,
    normalized,
    require_utf8,
    without_bom,
    without_surrogates,
)
from steelyard.model.json_value import JsonValue, Path
from strategies.effort import examples

COMPOSED = "caf\u00e9"
DECOMPOSED = "cafe\u0301"
CHUNK = 1 << 16


@pytest.mark.parametrize(
    "data",
    [b"", b"plain", "grüße 😀".encode(), b"\xef\xbb\xbfx", ("é" * CHUNK).encode() + b"x"],
)
def test_utf8_is_accepted(data: bytes) -> None:
    require_utf8(data)


@pytest.mark.parametrize("offset", [CHUNK - 3, CHUNK - 2, CHUNK - 1, CHUNK])
def test_a_character_may_lie_across_two_chunks(offset: int) -> None:
    require_utf8(b"a" * offset + "😀".encode() + b"a" * CHUNK)


@pytest.mark.parametrize(
    ("data", "byte", "offset", "line"),
    [
        (b"\xff", "0xff", 0, 1),
        (b"one\ntwo \xe9t\xe9\n", "0xe9", 8, 2),
        (b"\r\n\r\n\xc3", "0xc3", 4, 3),
        (b"\xed\xa0\x80", "0xed", 0, 1),
        (b"\xc0\xaf", "0xc0", 0, 1),
        (b"a" * (CHUNK - 1) + b"\xc3" + b"(", "0xc3", CHUNK - 1, 1),
        (b"a\n" * CHUNK + b"\x80", "0x80", 2 * CHUNK, CHUNK + 1),
    ],
)
def test_the_first_wrong_byte_is_named_with_its_place(
    data: bytes, byte: str, offset: int, line: int
) -> None:
    with pytest.raises(ParseError) as caught:
        require_utf8(data)

    assert str(caught.value).startswith(f"not UTF-8: byte {byte} at offset {offset};")
    assert (caught.value.line, caught.value.code) == (line, "invalid_encoding")


@settings(max_examples=examples(300))
@given(st.binary())
def test_the_chunked_check_agrees_with_python(data: bytes) -> None:
    try:
        data.decode("utf-8")
        is_text = True
    except UnicodeDecodeError:
        is_text = False

    if is_text:
        require_utf8(data)
    else:
        with pytest.raises(ParseError):
            require_utf8(data)


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (b"\xef\xbb\xbfa", b"a"),
        (b"a\xef\xbb\xbf", b"a\xef\xbb\xbf"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
        (b"", b""),
    ],
)
def test_one_leading_byte_order_mark_is_dropped(data: bytes, rest: bytes) -> None:
    assert without_bom(data) == rest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tab\t, line\n and return\r are text", []),
        ("", []),
        ("\x00", ["control"]),
        ("a\x0bb", ["control"]),
        ("\x1f", ["control"]),
        ("\x7f", ["control"]),
        ("\x85", ["control"]),
        ("\x9f", ["control"]),
        ("\xa0", []),
        ("\ud800", ["surrogate"]),
        ("\x00\udfff", ["control", "surrogate"]),
        (DECOMPOSED, ["not_nfc"]),
        (COMPOSED, []),
        ("\x00" + DECOMPOSED, ["control", "not_nfc"]),
        (DECOMPOSED + "\ud800", ["surrogate"]),
    ],
)
def test_a_text_has_the_flaws_of_its_characters(text: str, expected: list[Flaw]) -> None:
    assert [flaw for _, flaw in flaws(text)] == expected


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (["fine", {"k": "\x00"}], (1, "k")),
        ({"bad\x00": 1}, ("bad\x00",)),
        ({"a": {"bad\x00": ["fine"]}}, ("a", "bad\x00")),
    ],
)
def test_a_flaw_is_found_wherever_it_lies(value: JsonValue, path: Path) -> None:
    assert list(flaws(value)) == [(path, "control")]


@pytest.mark.parametrize("value", [None, True, 3, 0.5, [], {}])
def test_what_is_no_text_has_no_flaw(value: JsonValue) -> None:
    assert list(flaws(value)) == []


def test_normalizing_reaches_every_text_and_key() -> None:
    value: JsonValue = {DECOMPOSED: [DECOMPOSED, {"k": DECOMPOSED}], "n": 1, "none": None}

    assert normalized(value) == {COMPOSED: [COMPOSED, {"k": COMPOSED}], "n": 1, "none": None}


def test_normalizing_leaves_the_given_value_alone() -> None:
    value: JsonValue = [DECOMPOSED]

    normalized(value)

    assert value == [DECOMPOSED]


@pytest.mark.parametrize(
    ("text", "shown"), [("a\ud800b", "a\ufffdb"), ("\udfff\ud800", "\ufffd\ufffd"), ("😀", "😀")]
)
def test_lone_surrogates_are_replaced_one_by_one(text: str, shown: str) -> None:
    assert without_surrogates(text) == shown
