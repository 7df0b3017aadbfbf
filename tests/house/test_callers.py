"""Every verb that changes something says who asked for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

USECASES = Path(__file__).parents[2] / "src" / "steelyard" / "usecases"
CHANGING = {
    "repository": {"create", "claim", "request_cancel"},
    "registry": {"add", "note"},
    "annotations": {"keep"},
    "validations": {"add"},
    "store": {"forget", "remove"},
    "traces": {"add", "remove"},
    "saved": {"put", "delete", "archive"},
    "users": {"add", "set_password", "set_role", "remove"},
    "keys": {"add", "revoke"},
    "sessions": {"begin", "end"},
}
"""The methods of ports that change what a project keeps."""
INNER = {
    "continue_run": "the verbs that call it have bound its ports to their caller",
    "require_claim": "the same",
}
"""Functions that are public for other modules of their feature alone."""
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Path, Function]]:
    """Every function and method with what it is called by; a private one within its module."""
    for path in sorted(USECASES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield called(path, node.name), path, node


def called(path: Path, name: str) -> str:
    return f"{path}:{name}" if name.startswith("_") else name


def changing() -> dict[str, Function]:
    """The functions that change something, by themselves or through others."""
    known = list(functions())
    found = {name: node for name, _, node in known if _changes(node)}
    before = -1
    while before != len(found):
        before = len(found)
        found |= {name: node for name, path, node in known if _calls(path, node) & found.keys()}
    return found


def _changes(node: Function) -> bool:
    return any(
        one.attr in CHANGING.get(_name(one.value), ())
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute)
    )


def _calls(path: Path, node: Function) -> set[str]:
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    return {called(path, _name(one)) for one in calls}


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


FOUND = changing()
VERBS = sorted(name for name in FOUND.keys() - INNER.keys() if "/" not in name)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_changes_something_takes_its_caller(verb: str) -> None:
    arguments = FOUND[verb].args

    assert "caller" in [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]


def test_the_known_verbs_are_among_them() -> None:
    known = {"cancel_run", "carry_out", "create_run", "evaluate", "execute_run", "fix"}
    known |= {"import_labels", "measure_shift", "prune", "publish_dataset", "resume_run"}
    known |= {"start_run", "validate_judge", "add_user", "create_key", "log_in", "log_out"}

    assert known <= set(VERBS)
