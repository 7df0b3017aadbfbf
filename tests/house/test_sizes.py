"""The code stays small enough to read: one idea a module, one step a function."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "steelyard"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 400
MAX_STATEMENTS = 40
MAX_PARAMETERS = 6
TOO_LONG: frozenset[str] = frozenset()
"""Modules over the limit, relative to the package; this list may only shrink."""
PAGES = [
    ("README.md", 100),
    ("docs/architecture.md", 80),
    *((str(page.relative_to(ROOT)), 60) for page in sorted(ROOT.glob("docs/decisions/*.md"))),
]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions(path: Path) -> list[Function]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def parameters(function: Function) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(argument.arg not in {"self", "cls"} for argument in named)


def is_command(path: Path, function: Function) -> bool:
    """Whether a function's parameters are the options that a user has."""
    if path.name == "library.py":
        return function.name == "evaluate"
    return "cli" in path.parts and function.name == "command"


def test_no_module_is_too_long() -> None:
    long = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES
    }

    assert long == TOO_LONG


def test_no_function_is_too_long() -> None:
    long = [
        f"{path.relative_to(SOURCE)}:{function.name}"
        for path in MODULES
        for function in functions(path)
        if sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1 > MAX_STATEMENTS
    ]

    assert long == []


def test_no_function_takes_too_many_parameters() -> None:
    greedy = [
        f"{path.relative_to(SOURCE)}:{function.name}"
        for path in MODULES
        for function in functions(path)
        if parameters(function) > MAX_PARAMETERS and not is_command(path, function)
    ]

    assert greedy == []


@pytest.mark.parametrize(("page", "limit"), PAGES)
def test_a_page_is_read_in_one_sitting(page: str, limit: int) -> None:
    path = ROOT / page

    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit
