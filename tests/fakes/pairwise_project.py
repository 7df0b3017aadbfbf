"""A project whose answers, and whose judge of pairs of them, are recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
Picks: TypeAlias = tuple[str | None, str | None]
"""What the judge says in the order ab and in the order ba; None where nothing was recorded."""
JSON = ("--format", "json")
SETTINGS = """\
targets:
{targets}
  judge: {{provider: recorded, path: replies.jsonl}}
judges: {{default: {{target: judge}}}}
"""
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: said, kind: regex, pattern: .}]
scoring: {combine: all_pass}
"""
JUDGE = """\
id: better
version: 1.0.0
template: |
  {{ input }} A: {{ output_a }} B: {{ output_b }} Which is better?
"""
WON: Picks = ("b", "a")
"""B is preferred in both orders."""
LOST: Picks = ("a", "b")
TIED: Picks = ("tie", "tie")
FIRST: Picks = ("a", "a")
"""Whatever is shown first is preferred."""


def said(value: str) -> str:
    """A reply of the judge in the form that is asked for."""
    parts = {"evidence": "", "reasoning": f"So it is: {value}.", "value": value}
    return json.dumps({"answers": {"preference": parts}})


def replies(
    picks: Iterable[Picks], pair: str = "one vs two", judge: str = "pairwise"
) -> list[Row]:
    """The recorded replies about the records q0, q1, … of a pair of targets."""
    return [
        {
            "record_id": f"q{number}",
            "candidate_name": pair,
            "judge": judge,
            "question": order,
            "response_text": said(value) if value in {"a", "b", "tie", "cannot_judge"} else value,
        }
        for number, both in enumerate(picks)
        for order, value in zip(("ab", "ba"), both, strict=True)
        if value is not None
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_pairwise(
    root: Path,
    count: int,
    said_by_judge: list[Row],
    *,
    targets: tuple[str, ...] = ("one", "two"),
    answer: Callable[[str, int], str | None] = lambda name, n: f"{name} says {n}",
    more: Mapping[str, Any] | None = None,
) -> Path:
    """The project; `answer` is what a target answers, None where its call failed."""
    (root / "rubrics").mkdir(parents=True)
    (root / "judges").mkdir()
    listed = "\n".join(f"  {name}: {{provider: recorded, path: {name}.jsonl}}" for name in targets)
    for name, text in (
        ("steelyard.yaml", SETTINGS.format(targets=listed)),
        ("rubrics/any.yaml", RUBRIC),
        ("judges/better.yaml", JUDGE),
    ):
        (root / name).write_text(text, encoding="utf-8")
    questions = [{"id": f"q{n}", "input": f"Question {n}?", **(more or {})} for n in range(count)]
    (root / "desk.yaml").write_text(json.dumps({"questions": questions}), encoding="utf-8")
    for name in targets:
        write_rows(
            root / f"{name}.jsonl", (_response(name, n, answer(name, n)) for n in range(count))
        )
    write_rows(root / "replies.jsonl", said_by_judge)
    return root


def run(target: str, *words: str) -> tuple[str, ...]:
    """The command that lets a target answer."""
    return ("run", "desk.yaml", "--target", target, "--rubric", "any", *JSON, *words)


def _response(name: str, number: int, text: str | None) -> Row:
    row: Row = {"record_id": f"q{number}"}
    if text is None:
        return {**row, "error_code": "bad_request", "message": f"{name} failed"}
    return {**row, "response_text": text}
