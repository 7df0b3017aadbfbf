"""Prompts and replies of judges, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.reports.findings import printable


def judgement_lines(row: dict[str, Any]) -> Iterator[str]:
    """One call to a judge: its prompt and its reply."""
    yield f"  {call_name(row)} by target {printable(row['target'])}"
    for role, text in row["prompt"]["messages"]:
        yield from _indented(role, text)
    if row["trace"] is None:
        yield from _indented("failed", f"{row['error_code']}: {row['message']}")
        return
    cached = " (cached)" if row["is_cached"] else ""
    texts = [message.get("content") or "" for message in row["trace"]["messages"]]
    refusal = row["trace"].get("refusal")
    yield from _indented(f"reply{cached}", "\n".join(map(str, texts)))
    if refusal:
        yield from _indented("refusal", refusal)


def call_name(row: dict[str, Any]) -> str:
    """The judge of a call, with its check, item, turn and sample."""
    name = row.get("judge") or row["call"]
    parts = [f"check {row['check']}"] if row["check"] else []
    parts += [f"{key} {row[key]}" for key in ("item", "turn") if row[key] is not None]
    parts += [f"{key} {row[key]}" for key in ("sample", "round") if row[key]]
    return printable(f"{name} ({', '.join(parts)})" if parts else name)


def _indented(name: str, text: str) -> Iterator[str]:
    first, *rest = text.split("\n")
    yield f"    {name}: {printable(first)}".rstrip()
    yield from (f"      {printable(line)}".rstrip() for line in rest)
