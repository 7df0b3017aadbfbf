"""An OpenAPI document as a reference for people: operations by resource, and shapes of bodies."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

Json: TypeAlias = Mapping[str, Any]
_SCHEMAS = "#/components/schemas/"
_SHOWN_CHOICES = 12
_EXAMPLES = {"run_id": "latest", "index": "0", "artifact": "metrics_summary.json"}


class Field(NamedTuple):
    """A parameter, or a field of a body."""

    name: str
    type: str
    shape: str | None
    """The shape that the type refers to."""
    about: str
    is_required: bool
    place: str = ""
    """Of a parameter: path, query or header."""


class Body(NamedTuple):
    """What is sent or answered: its media type, and its shape where that is known."""

    media_type: str
    type: str
    shape: str | None


class ApiAnswer(NamedTuple):
    """An answer by its status."""

    status: str
    about: str
    bodies: tuple[Body, ...]


class ApiOperation(NamedTuple):
    """One method of one path."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    scope: str | None
    is_open: bool
    """Whether no login is needed."""
    parameters: tuple[Field, ...]
    bodies: tuple[Body, ...]
    answers: tuple[ApiAnswer, ...]
    errors: tuple[tuple[str, str], ...]
    """Status and meaning of errors that not every operation has."""
    example: str
    """A command for curl."""


class Resource(NamedTuple):
    """Operations that belong together."""

    name: str
    operations: tuple[ApiOperation, ...]


class Shape(NamedTuple):
    """The fields of a JSON object that bodies refer to."""

    name: str
    about: str
    fields: tuple[Field, ...]


class ApiReference(NamedTuple):
    """A whole API."""

    about: str
    version: str
    resources: tuple[Resource, ...]
    shapes: tuple[Shape, ...]
    common_errors: tuple[tuple[str, str], ...]
    """Status and meaning of errors that every operation has."""


def api_reference(document: Json, origin: str) -> ApiReference:
    """The reference of a document; examples call the origin."""
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    common = _common_errors([operation for _, _, operation in operations])
    shapes = document["components"]["schemas"]
    found: dict[str, list[ApiOperation]] = {}
    for path, method, operation in operations:
        made = _operation(path, method, operation, common)
        example = _example(made, operation, shapes, origin)
        found.setdefault(operation["tags"][0], []).append(made._replace(example=example))
    return ApiReference(
        about=document["info"]["description"],
        version=document["info"]["version"],
        resources=tuple(Resource(name, tuple(ones)) for name, ones in sorted(found.items())),
        shapes=tuple(_shape(name, schema) for name, schema in shapes.items()),
        common_errors=tuple(sorted(common.items())),
    )


def _common_errors(operations: list[Json]) -> dict[str, str]:
    """The errors that every operation has."""
    first: Json = operations[0]["responses"]
    statuses = {status for status in first if int(status) >= 400}
    for operation in operations:
        statuses &= set(operation["responses"])
    return {status: first[status]["description"] for status in statuses}


def _operation(path: str, method: str, operation: Json, common: Json) -> ApiOperation:
    answers: Json = operation["responses"]
    return ApiOperation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        about=operation.get("description", ""),
        scope=operation.get("x-scope"),
        is_open=not operation["security"],
        parameters=tuple(_parameter(one) for one in operation["parameters"]),
        bodies=_bodies(operation.get("requestBody", {})),
        answers=tuple(
            ApiAnswer(status, found["description"], _bodies(found))
            for status, found in answers.items()
            if int(status) < 400
        ),
        errors=tuple(
            (status, found["description"])
            for status, found in sorted(answers.items())
            if int(status) >= 400 and status not in common
        ),
        example="",
    )


def _bodies(found: Json) -> tuple[Body, ...]:
    content: Json = found.get("content", {})
    return tuple(
        Body(media, *_type(one["schema"])) if one.get("schema") else Body(media, "", None)
        for media, one in content.items()
    )


def _parameter(one: Json) -> Field:
    return Field(
        one["name"], *_type(one["schema"]), one.get("description", ""), one["required"], one["in"]
    )


def _shape(name: str, schema: Json) -> Shape:
    return Shape(name, schema.get("description", ""), tuple(_fields(schema)))


def _fields(schema: Json) -> Iterator[Field]:
    required = schema.get("required", ())
    properties: Json = schema.get("properties", {})
    for name, field in properties.items():
        yield Field(name, *_type(field), field.get("description", ""), name in required)


def _type(schema: Json) -> tuple[str, str | None]:
    """A type in words, and the shape that it refers to."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(_SCHEMAS)
        return name, name
    if "anyOf" in schema:
        found = [_type(one) for one in schema["anyOf"]]
        words = " or ".join(dict.fromkeys(word for word, _ in found))
        return words, next((shape for _, shape in found if shape), None)
    if "enum" in schema:
        values = [str(value) for value in schema["enum"]]
        more = ["…"] if len(values) > _SHOWN_CHOICES else []
        return " | ".join([*values[:_SHOWN_CHOICES], *more]), None
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        word, shape = _type(schema["items"])
        return f"list of {word}", shape
    return f"{schema.get('type', 'any JSON')}{_range(schema)}", None


def _range(schema: Json) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f", at least {low}"
    return f", at most {high}" if low is None else f", {low} to {high}"


def _example(one: ApiOperation, operation: Json, shapes: Json, origin: str) -> str:
    path = one.path
    for field in one.parameters:
        if field.place == "path":
            path = path.replace(f"{{{field.name}}}", _EXAMPLES.get(field.name, field.name.upper()))
    needed = [f"{field.name}=…" for field in one.parameters if _is_needed(field)]
    address = origin + path + ("?" + "&".join(needed) if needed else "")
    words = ["curl"] if one.method == "GET" else ["curl", "-X", one.method]
    words.append(shlex.quote(address))
    if not one.is_open:
        words.append('-H "Authorization: Bearer $STEELYARD_KEY"')
    content: Json = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = _sample(content["application/json"]["schema"], shapes, 0)
        words.append("-H 'content-type: application/json'")
        words.append(f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}")
    elif content:
        words.append(f"-H 'content-type: {next(iter(content))}' --data-binary @FILE")
    return " ".join(words)


def _is_needed(field: Field) -> bool:
    return field.place == "query" and field.is_required


def _sample(schema: Json, shapes: Json, depth: int) -> Any:
    """A smallest value of a schema, with what is required."""
    if "$ref" in schema:
        schema = shapes[str(schema["$ref"]).removeprefix(_SCHEMAS)]
    if "anyOf" in schema:
        return _sample(schema["anyOf"][0], shapes, depth)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object" and depth < 4:
        properties = cast(Json, schema.get("properties", {}))
        required = schema.get("required", ())
        return {name: _sample(properties[name], shapes, depth + 1) for name in required}
    samples: Json = {
        "string": "…",
        "integer": schema.get("minimum", 1),
        "number": 0.5,
        "boolean": True,
        "array": [],
    }
    return samples.get(str(kind), {})
