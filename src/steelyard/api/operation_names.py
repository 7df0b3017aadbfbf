"""Names of operations in the OpenAPI document, from which generators name functions."""

from __future__ import annotations

import re
from typing import Any, get_origin

from steelyard.api.operation import Operation
from steelyard.api.paging import Page

_WORD = re.compile(r"[A-Za-z0-9]+")
_CHANGES = {"PUT": "update", "DELETE": "delete"}


def operation_id(operation: Operation[Any, Any]) -> str:
    """A verb and what it is about: `list_runs`, `get_run_record`, `cancel_run`."""
    parts = operation.path.removeprefix("/v1").strip("/").split("/")
    names = [
        _singular(name) if _is_variable(parts, number + 1) else name
        for number, name in enumerate(parts)
        if not name.startswith("{")
    ]
    *before, last = ["_".join(_WORD.findall(name)).lower() for name in names]
    is_item = _is_variable(parts, len(parts) - 1)
    if operation.method == "GET":
        kinds = [get_origin(kind) for kind in operation.answers.values()]
        return "_".join(["list" if Page in kinds else "get", *before, last])
    if operation.method == "POST" and not is_item:
        is_verb = not last.endswith("s")
        return "_".join([last, *before] if is_verb else ["create", *before, _singular(last)])
    return "_".join([_CHANGES.get(operation.method, "post"), *before, last])


def resource_of(operation: Operation[Any, Any]) -> str:
    """The kind of thing that an operation is about."""
    parts = operation.path.strip("/").split("/")
    return parts[1] if parts[0] == "v1" and len(parts) > 1 else "operations"


def _is_variable(parts: list[str], number: int) -> bool:
    return number < len(parts) and parts[number].startswith("{")


def _singular(name: str) -> str:
    return re.sub("(?<=..)ie$", "y", name.removesuffix("s"))
