"""UTF-8 and Unicode rules that every text format shares."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from steelyard.errors import ParseError
from steelyard.model.json_value import JsonValue, Path

BOM = codecs.BOM_UTF8
_CHUNK = 1 << 16
# Tab, line feed and carriage return are text; every other control character is not.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What JSON may write for a control character, but for tab, line feed and carriage return.
_ODD = re.compile(rb"\\(?:u|b|f)|\x7f")
_encode = msgspec.json.Encoder().encode

Flaw: TypeAlias = Literal["control", "surrogate", "not_nfc"]


def require_utf8(data: bytes) -> None:
    """Raise ParseError unless the bytes are UTF-8; reads in chunks, to need no second copy."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK]
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            place = max(0, start - pending + error.start)
            line = data.count(b"\n", 0, place) + 1
            raise ParseError(
                f"not UTF-8: byte 0x{data[place]:02x} at offset {place}; save the file as UTF-8",
                line=line,
                code="invalid_encoding",
            ) from None


def without_bom(data: bytes) -> bytes:
    """The bytes after a UTF-8 byte order mark, which is accepted and ignored."""
    return data.removeprefix(BOM)


def flaws(value: JsonValue) -> Iterator[tuple[Path, Flaw]]:
    """Where in a value a string (or a key) breaks the rules for text, and which rule."""
    return iter(()) if _is_plain(value) else _flaws(value, ())


def _is_plain(value: JsonValue) -> bool:
    """Whether no text can break a rule, judged by its JSON, which is a tenth of the work."""
    try:
        data = _encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return False
    return data.isascii() and _ODD.search(data) is None


def _flaws(value: JsonValue, path: Path) -> Iterator[tuple[Path, Flaw]]:
    if isinstance(value, str):
        for flaw in _string_flaws(value):
            yield path, flaw
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _flaws(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            for flaw in _string_flaws(key):
                yield (*path, key), flaw
            yield from _flaws(item, (*path, key))


def _string_flaws(text: str) -> Iterator[Flaw]:
    if _CONTROL.search(text):
        yield "control"
    if _SURROGATE.search(text):
        yield "surrogate"
    elif not unicodedata.is_normalized("NFC", text):
        yield "not_nfc"


def normalized(value: JsonValue) -> JsonValue:
    """The same value with every string in Unicode NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [normalized(item) for item in value]
    if isinstance(value, dict):
        return {unicodedata.normalize("NFC", key): normalized(item) for key, item in value.items()}
    return value


def without_surrogates(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be printed and encoded."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
