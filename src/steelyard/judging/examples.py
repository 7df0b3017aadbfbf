"""The examples that a judge brings along: answers with their judgement, each a known record."""

from __future__ import annotations

from steelyard.judging.questions_asked import Example
from steelyard.model.judge import Judge


def examples_of(judge: Judge) -> tuple[Example, ...]:
    """Those of its file, in order."""
    rows = judge.extra.get("examples")
    if not isinstance(rows, list):
        return ()
    return tuple(
        Example(id=str(row["id"]), text=str(row["text"])) for row in rows if isinstance(row, dict)
    )
