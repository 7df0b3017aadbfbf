"""The bytes of images: of which kind they are, and out of the texts that hold them."""

from __future__ import annotations

import base64
import binascii
import re

from steelyard.errors import ParseError

MAX_IMAGE = 10 * 1024 * 1024
"""Bytes of one image at most; what endpoints take is less."""
KINDS = "PNG, JPEG, GIF or WebP"
"""The kinds that the protocols of models know."""
DATA = "data:"
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[^;,]+)*),", re.IGNORECASE)
_MARKS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def media_type_of(data: bytes) -> str:
    """The kind of an image by how it begins, whatever its name says; empty for other kinds."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _MARKS.items() if data.startswith(mark)), "")


def data_url_bytes(url: str) -> bytes:
    """What a data URL holds; a ParseError where it is none, or too large."""
    head = _DATA_URL.match(url)
    if not head or not (head[2] or "").casefold().endswith(";base64"):
        raise ParseError("it is no data URL in Base64", code="invalid_encoding")
    return base64_bytes(url[head.end() :])


def base64_bytes(text: str) -> bytes:
    """What a text in Base64 stands for; a ParseError where it is none, or too large."""
    if len(text) * 3 // 4 > MAX_IMAGE + 3:
        raise ParseError(f"the image has more than {too_large()}", code="record_too_large")
    try:
        # In one pass, which takes neither white space nor anything after the padding.
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return _loose_bytes(text)


def _loose_bytes(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ParseError("it is not Base64", code="invalid_encoding") from None


def too_large() -> str:
    """How large an image may be, in words."""
    return f"{MAX_IMAGE // 1024 // 1024} MB"
