"""Ids of runs, uploads, queues and items, with a ULID, which sorts by time; and secrets."""

from __future__ import annotations

import secrets

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_run_id(milliseconds: int) -> str:
    """An id that nobody else has and that sorts after those of earlier milliseconds."""
    return f"run_{_ulid(milliseconds)}"


def new_upload_id(milliseconds: int) -> str:
    """The same for an upload."""
    return f"upl_{_ulid(milliseconds)}"


def new_queue_id(milliseconds: int) -> str:
    """The same for a review queue."""
    return f"queue_{_ulid(milliseconds)}"


def new_item_id(milliseconds: int) -> str:
    """The same for an item of a review queue."""
    return f"item_{_ulid(milliseconds)}"


def _ulid(milliseconds: int) -> str:
    number = (milliseconds << 80) | secrets.randbits(80)
    letters = ""
    for _ in range(26):
        number, place = divmod(number, 32)
        letters = _ALPHABET[place] + letters
    return letters


def new_secret() -> str:
    """256 bits that nobody can guess."""
    return secrets.token_hex(32)


def new_token() -> str:
    """The same in fewer letters, for headers and cookies."""
    return secrets.token_urlsafe(32)
