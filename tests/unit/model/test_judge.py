"""A judge's own name."""

from __future__ import annotations

from steelyard.model.judge import Judge
from steelyard.model.reference import Reference


def test_a_judge_is_named_by_its_pinned_reference() -> None:
    judge = Judge(id="tone", version="1.2.0", template="?")

    assert Reference.parse(judge.name) == Reference(kind="judge", id="tone", version="1.2.0")
