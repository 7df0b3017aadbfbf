"""The commands of the guide "From laptop to cluster"."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"


def commands(word: str = "") -> list[str]:
    """Those of Steelyard in which a word occurs, in the order of the page."""
    blocks = PAGE.read_text(encoding="utf-8").split("\n```")[1::2]
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("steelyard ") and word in line]
