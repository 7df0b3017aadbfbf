"""Messages that the docs explain are those of the product, and comparisons carry their dates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MESSAGES = re.findall(
    r"^### `(.+)`$", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
)
COMPARISONS = sorted(DOCS.glob("compared-with-*.md"))


def texts(path: Path) -> Iterator[str]:
    """The texts of a module; `…` stands for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("{}", "…")


@cache
def source() -> str:
    modules = sorted((ROOT / "src" / "steelyard").rglob("*.py"))
    return "\n".join(text for module in modules for text in texts(module))


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_that_is_explained_is_one_of_the_product(message: str) -> None:
    assert message.removeprefix("… ").removesuffix(" …") in source()


def test_the_page_explains_many_messages_and_each_once() -> None:
    assert len(MESSAGES) == len(set(MESSAGES)) > 40


def test_a_message_that_nobody_writes_is_told() -> None:
    assert "this is no message of the product" not in source()


@pytest.mark.parametrize("page", COMPARISONS, ids=lambda page: page.stem)
def test_a_comparison_is_dated_and_says_where_others_are_better(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    compared = re.findall(r"^\*\*(Better there|Better here)\.\*\*", text, re.MULTILINE)

    assert re.search(r"\| .+ of 2026-\d\d-\d\d \|", text)
    assert "## What none of" in text
    assert len(compared) >= 6
    assert compared.count("Better there") == compared.count("Better here")
