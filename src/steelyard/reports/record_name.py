"""How a record is called in reports."""

from __future__ import annotations


def record_name(index: int, record_id: str | None, repeat: int = 0) -> str:
    """How a record is called: by its id, or else by its index."""
    name = f"record {index}" if record_id is None else record_id
    return f"{name} ({repeat})" if repeat else name
