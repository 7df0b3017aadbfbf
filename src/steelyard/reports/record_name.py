"""How a record is called in reports."""

from __future__ import annotations


def record_name(
    index: int, record_id: str | None, repeat: int = 0, *, is_repeated: bool = False
) -> str:
    """How a record is called: by its id, or else by its index; of a repeated one, the repeat."""
    name = f"record {index}" if record_id is None else record_id
    return f"{name} (repeat {repeat})" if repeat or is_repeated else name
