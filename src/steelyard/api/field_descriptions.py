"""Descriptions of fields for OpenAPI: what stands beneath them in the code, or is published."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast, get_origin

import msgspec
from msgspec import inspect as types

from steelyard.contracts.schemas import load_schema

_PUBLISHED = {
    "SuiteBody": ("project", "suite"),
    "TargetBody": ("project", "target"),
    "Attempt": ("attempt_log", None),
    "Failure": ("failure", None),
    "Prediction": ("prediction", None),
    "CheckScore": ("prediction", "score"),
    "Metrics": ("metrics_summary", None),
    "Interval": ("metrics_summary", "estimate"),
    "Slice": ("metrics_by_slice", "slice"),
}
"""Classes of what files hold: their published schemas, and the definition within."""


def describe(components: Mapping[str, dict[str, Any]], kinds: Iterable[Any]) -> None:
    """Add what is known of fields to named schemas that say nothing about them."""
    known = {one.__name__: one for one in _classes(kinds)}
    for name, schema in components.items():
        # Msgspec names a generic class by its parameters, too: `Page_RunBody_`.
        texts = _texts(known[name.partition("_")[0]])
        for field, about in schema.get("properties", {}).items():
            if field in texts and "$ref" not in about:
                about.setdefault("description", texts[field])


def _classes(kinds: Iterable[Any]) -> Iterator[type]:
    """Every class with fields that some types are made of."""
    left: list[object] = [types.type_info(kind) for kind in kinds]
    seen: set[type] = set()
    while left:
        node = left.pop()
        if isinstance(node, types.StructType | types.DataclassType):
            if node.cls in seen:
                continue
            seen.add(node.cls)
            yield get_origin(node.cls) or node.cls
        if isinstance(node, msgspec.Struct):
            left += [getattr(node, name) for name in node.__struct_fields__]
        elif isinstance(node, tuple):
            left += cast("tuple[object, ...]", node)


@cache
def _texts(kind: type) -> dict[str, str]:
    """The description of each field, its own and those of the classes above it."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("steelyard."):
            found |= _published(base.__name__)
            found |= _docstrings(base.__module__).get(base.__qualname__, {})
    return found


def _published(name: str) -> dict[str, str]:
    if name not in _PUBLISHED:
        return {}
    schema, part = _PUBLISHED[name]
    package = "steelyard" if schema == "project" else "steelyard.results"
    loaded: Any = load_schema(schema, package)
    fields: dict[str, Any] = (loaded["$defs"][part] if part else loaded)["properties"]
    return {key: one["description"] for key, one in fields.items() if "description" in one}


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """The text beneath each field of each class of a module; none where there is no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: dict(_fields(node)) for node in classes}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(node.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())
            case _:
                pass
