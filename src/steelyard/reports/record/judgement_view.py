"""What judges were asked and said, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from steelyard.model.json_value import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementView:
    """One call to a judge."""

    about: str
    """The check, and the question, turn and sample."""
    judge: str
    target: str
    prompt: tuple[tuple[str, str], ...]
    """Roles and texts."""
    reply: str
    refusal: str
    error: str
    is_cached: bool
    round: int


def judgement_views(rows: Iterable[JsonObject], repeat: int) -> tuple[JudgementView, ...]:
    """The calls about one repeat of a record, in the order of checks, questions and turns."""
    mine = [row for row in rows if row.get("repeat", 0) == repeat]
    return tuple(_view(row) for row in sorted(mine, key=_order))


def _order(row: JsonObject) -> tuple[str, bool, int, str, int, int]:
    turn = _number(row, "turn")
    item = str(row.get("item") or "")
    times = _number(row, "sample"), _number(row, "round")
    return str(row.get("check") or ""), turn > 0, turn, item, *times


def _view(row: JsonObject) -> JudgementView:
    known: dict[str, Any] = row
    prompt: dict[str, Any] = known.get("prompt") or {}
    trace: dict[str, Any] = known.get("trace") or {}
    messages: list[dict[str, Any]] = trace.get("messages") or []
    said = (message.get("content") or "" for message in messages)
    error = known.get("error_code")
    return JudgementView(
        about=_about(row),
        judge=str(known.get("judge") or known.get("call") or "judge"),
        target=str(known.get("target") or ""),
        prompt=tuple((str(role), str(text)) for role, text in prompt.get("messages") or ()),
        reply="\n".join(map(str, said)),
        refusal=str(trace.get("refusal") or ""),
        error=f"{error}: {known.get('message') or ''}".rstrip(": ") if error else "",
        is_cached=bool(known.get("is_cached")),
        round=_number(row, "round"),
    )


def _about(row: JsonObject) -> str:
    parts = [str(row["check"])] if row.get("check") else []
    parts += [str(row["item"])] if row.get("item") else []
    for name in ("turn", "sample"):
        if _number(row, name):
            parts.append(f"{name} {row[name]}")
    return ", ".join(parts) or "the record"


def _number(row: JsonObject, name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else 0
