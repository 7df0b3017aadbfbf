"""Names that callers give: of people, requests, groups of runs."""

from __future__ import annotations

from steelyard.errors import InvalidError

MAX_NAME = 200
"""The most characters of a name."""


def require_name(what: str, name: object) -> None:
    """Refuse what is not a short printable text; control characters and surrogates are not."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise InvalidError(f"{what} must be a text of 1 to {MAX_NAME} characters")
    if not name.isprintable():
        raise InvalidError(f"{what} must be printable, not {name!a}")
