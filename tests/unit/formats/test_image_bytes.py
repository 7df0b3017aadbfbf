"""Base64 is read in one pass, and as loosely as before where it is not written in one piece."""

from __future__ import annotations

import base64
import binascii

from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import ParseError
from steelyard.formats.image_bytes import base64_bytes

PIECES = ["QUJD", "QQ==", "QUI=", "=", " ", "\n", "A", "-", "_", "\u00e9", "+/", "=="]


def loosely(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_a_text_stands_for_the_same_bytes_however_it_is_read(text: str) -> None:
    try:
        found = base64_bytes(text)
    except ParseError:
        found = None

    assert found == loosely(text)
