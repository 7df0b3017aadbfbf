"""The ids of requests: those that clients give, and new ones."""

from __future__ import annotations

import os
import re

_GIVEN = re.compile(r"[\x21-\x7e]{1,200}")
"""Visible ASCII: safe in a header, and in a line of the log."""


def request_id_of(given: str | None) -> str:
    """The id that a client has given, or a new one where it has none or no usable one."""
    return given if given and _GIVEN.fullmatch(given) else new_request_id()


def new_request_id() -> str:
    """A random UUID. Python's own class takes three times as long, which every request pays."""
    text = os.urandom(16).hex()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"
