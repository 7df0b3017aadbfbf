"""A name says what a thing is."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "steelyard"
MODULES = sorted([*SOURCE.rglob("*.py"), *ROOT.glob("bench/*.py"), ROOT / "dev.py"])
VAGUE = {
    *("util", "utils", "utilities", "helper", "helpers", "common", "misc", "shared", "general"),
    *("core", "base", "lib", "tools", "stuff", "manager", "managers", "handler", "handlers"),
    *("processor", "processors", "service", "services", "functions", "objects", "classes"),
}
EMPTY_SUFFIXES = ("Manager", "Handler", "Processor", "Helper", "Util", "Utils")


def words(path: Path) -> set[str]:
    """The names on the way to a module, without their private mark."""
    return {part.lstrip("_") for part in path.relative_to(ROOT).with_suffix("").parts}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_no_module_or_package_has_a_vague_name() -> None:
    vague = [str(path.relative_to(ROOT)) for path in MODULES if words(path) & VAGUE]

    assert vague == []


def test_no_class_has_a_suffix_that_says_nothing() -> None:
    empty = [
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and node.name.endswith(EMPTY_SUFFIXES)
    ]

    assert empty == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(parsed(path))
