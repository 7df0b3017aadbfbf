"""The OpenAPI document, made from the operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, TypeAlias

import msgspec

from steelyard.api.errors import CODES, ErrorBody
from steelyard.api.operation import Operation

Json: TypeAlias = dict[str, Any]
_REF = "#/components/schemas/{name}"
_EVERYWHERE = (400, 403, 413, 429, 500, 503)
"""Errors that any request can have."""
_PATH_NAME = re.compile(r"{(\w+)(?::\w+)?}")


def document(operations: Sequence[Operation[Any, Any]]) -> Json:
    """The whole API."""
    kinds = list(_kinds(operations))
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    by_kind = dict(zip(map(repr, kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for operation in operations:
        path = _PATH_NAME.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Steelyard", "version": version("steelyard")},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _kinds(operations: Iterable[Operation[Any, Any]]) -> Iterable[Any]:
    """Every type that the document describes, each once."""
    found: dict[str, Any] = {repr(ErrorBody): ErrorBody}
    for operation in operations:
        for kind in (operation.body, *operation.streamed.values(), *operation.answers.values()):
            if kind is not None:
                found[repr(kind)] = kind
    return found.values()


def _operation(operation: Operation[Any, Any], schemas: dict[str, Any]) -> Json:
    made: dict[str, Any] = {
        "operationId": _operation_id(operation),
        "summary": operation.summary,
        "tags": [_resource(operation)],
        "parameters": [*_path_parameters(operation), *_query_parameters(operation)],
        "responses": _responses(operation, schemas),
        "security": [{"bearer": []}, {"key": []}] if operation.is_protected else [],
    }
    if operation.scope:
        made["x-scope"] = operation.scope
    bodies = {"application/json": operation.body} if operation.body else operation.streamed
    if bodies:
        content: Json = {
            media: {"schema": schemas[repr(kind)] if kind else {}}
            for media, kind in bodies.items()
        }
        made["requestBody"] = {"required": True, "content": content}
    return made


def _operation_id(operation: Operation[Any, Any]) -> str:
    parts = re.findall(r"[A-Za-z]+", operation.path.removeprefix("/v1"))
    return "_".join([operation.method.lower(), *parts])


def _resource(operation: Operation[Any, Any]) -> str:
    parts = operation.path.strip("/").split("/")
    return parts[1] if parts[0] == "v1" else "operations"


def _path_parameters(operation: Operation[Any, Any]) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PATH_NAME.findall(operation.path)
    ]


def _query_parameters(operation: Operation[Any, Any]) -> list[Json]:
    (schema,), components = msgspec.json.schema_components([operation.query], ref_template=_REF)
    named = components[schema["$ref"].rsplit("/", 1)[-1]]
    required = named.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _of_text(field)}
        for name, field in named["properties"].items()
    ]


def _of_text(field: Json) -> Json:
    """The schema of a value that can be left out, but never be null in a query."""
    kinds = [kind for kind in field.get("anyOf", []) if kind != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else field


def _responses(operation: Operation[Any, Any], schemas: dict[str, Any]) -> Json:
    made: dict[str, Any] = {}
    for status, kind in operation.answers.items():
        content: Json = (
            {} if kind is None else {"application/json": {"schema": _with_id(schemas[repr(kind)])}}
        )
        made[str(status)] = {"description": operation.summary, "content": content}
    login = (401,) if operation.is_protected else ()
    for status in sorted({*_EVERYWHERE, *login, *operation.errors}):
        content = {"application/json": {"schema": schemas[repr(ErrorBody)]}}
        made[str(status)] = {"description": CODES[status], "content": content}
    return made


def _with_id(schema: Json) -> Json:
    named: Json = {"type": "object", "properties": {"request_id": {"type": "string"}}}
    return {"allOf": [schema, {**named, "required": ["request_id"]}]}
