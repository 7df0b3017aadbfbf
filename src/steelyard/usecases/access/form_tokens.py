"""Form tokens as pages show them: written in another way on every page.

A page is compressed, and its length says how much of it repeats what a visitor sent. A token that
stood in it as it is could be guessed by that, letter by letter (BREACH).
"""

from __future__ import annotations

import base64
import binascii

_MARK = "m."


def masked_token(token: str, pad: bytes) -> str:
    """A token hidden by random bytes, at least as many as it has, that stand before it."""
    data = token.encode()
    used = pad[: len(data)]
    if len(used) < len(data):
        raise ValueError("the pad is shorter than the token")
    return _MARK + base64.urlsafe_b64encode(used + _mixed(data, used)).decode()


def unmasked_token(text: str) -> str:
    """The token of a text; what is not masked stays as it is."""
    if not text.startswith(_MARK):
        return text
    try:
        data = base64.urlsafe_b64decode(text.removeprefix(_MARK))
        half = len(data) // 2
        return _mixed(data[half:], data[:half]).decode()
    except (ValueError, binascii.Error):
        return text


def _mixed(data: bytes, pad: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(data, pad, strict=True))
