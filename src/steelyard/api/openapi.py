"""The OpenAPI document, made from the operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias, cast

import msgspec

from steelyard.api.errors import CODES, MEANINGS, ErrorBody
from steelyard.api.field_descriptions import describe
from steelyard.api.openapi_links import add_links
from steelyard.api.operation import Operation
from steelyard.api.operation_names import operation_id, resource_of
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.records import MAX_COUNT

Json: TypeAlias = dict[str, Any]
_SCHEMAS = "#/components/schemas/"
_EVERYWHERE = (400, 403, 405, 408, 413, 429, 500, 503)
"""Errors that any request can have."""
_PATH_NAME = re.compile(r"{(\w+)(?::\w+)?}")
_FILES = {"application/octet-stream": {"type": "string", "format": "binary"}}
"""What generators of clients take for a file."""
_TEXT: Json = {"type": "string"}
_REQUEST_ID: Json = {**_TEXT, "description": "The id of the request, as in its header."}
_ABOUT = (
    "Evaluate language models. Every answer has the header `x-request-id`, which a request may "
    "set, and every JSON object has it as `request_id`. Lists have `data` and `next_cursor`, "
    "which is `cursor` for the next page. Errors have one shape. OpenTelemetry's protocol has "
    "answers and errors of its own. Every address that answers GET answers HEAD, too: with the "
    "same status and headers, and without a body."
)
_PATH_PARTS: dict[str, Json] = {
    "run_id": {
        **_TEXT,
        "minLength": 1,
        "description": "A run: its id, a unique beginning of it, `latest`, or `latest~1`.",
        "examples": ["run_01J8Q4ER9Z7Y5V5K6F4A1P2M3N"],
    },
    "index": {
        "type": "integer",
        "minimum": 0,
        "maximum": MAX_COUNT,
        "description": "The place of a record in its dataset, from 0 on.",
    },
    "group_id": {
        **_TEXT,
        "minLength": 1,
        "description": "The group of runs that were started together.",
    },
    "queue_id": {**_TEXT, "minLength": 1, "description": "The id of a review queue."},
    "item_id": {**_TEXT, "minLength": 1, "description": "The id of an item of a review queue."},
    "key_id": {**_TEXT, "minLength": 1, "description": "The id of a key, or its name."},
    "name": {**_TEXT, "minLength": 1, "description": "A name, as lists show it."},
    "trace_set": {**_TEXT, "minLength": 1, "description": "The name of a trace set."},
    "trace_id": {
        **_TEXT,
        "minLength": 1,
        "description": "The id of a trace: 32 hexadecimal digits.",
        "examples": ["5b8efff798038103d269b633813fc60c"],
    },
    "artifact": {**_TEXT, "enum": list(ARTIFACTS), "description": "The name of a file."},
    "ref": {
        **_TEXT,
        "minLength": 1,
        "description": "An id with its version, or alone; without its kind, percent-encoded.",
        "examples": ["polite@1.2.0"],
    },
}
"""What the parts of addresses are; any other is a text."""
_ERROR_HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "How to log in."},
    409: {
        "Retry-After": "Seconds until another try, where the first request with the same "
        "Idempotency-Key is still being served."
    },
    416: {"Content-Range": "The size of the file."},
    429: {
        "Retry-After": "Seconds until the next request is answered.",
        "X-RateLimit-Limit": "How many requests a minute are answered.",
        "X-RateLimit-Remaining": "How many are left in this minute: none.",
        "X-RateLimit-Reset": "Seconds until the next minute begins.",
    },
}


def document(operations: Sequence[Operation[Any, Any]]) -> Json:
    """The whole API."""
    schemas = _Schemas(operations)
    paths: dict[str, Any] = {}
    for operation in operations:
        path = _PATH_NAME.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, schemas)
    add_links(paths)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Steelyard",
            "version": version("steelyard"),
            "description": _ABOUT,
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in sorted({resource_of(one) for one in operations})],
        "paths": paths,
        "components": {
            "schemas": schemas.used_in(paths),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


class _Schemas:
    """The schema of every type of the API: of bodies as they are, of answers with their id."""

    def __init__(self, operations: Iterable[Operation[Any, Any]]) -> None:
        kinds = list(_kinds(operations))
        schemas, components = msgspec.json.schema_components(
            kinds, ref_template=f"{_SCHEMAS}{{name}}"
        )
        self._by_kind = dict(zip(map(repr, kinds), schemas, strict=True))
        self._components: dict[str, Json] = components
        for schema in components.values():
            _name_types(schema)
        describe(components, kinds)

    def of(self, kind: Any) -> Json:
        """The schema of a type."""
        return self._by_kind[repr(kind)]

    def answer(self, kind: Any) -> Json:
        """The schema of an answer: one object, which has the id of its request."""
        schema = self.of(kind)
        if "$ref" not in schema:
            return _with_id(schema)
        name = schema["$ref"].removeprefix(_SCHEMAS)
        answer = _answer_name(name)
        self._components[answer] = {**_with_id(self._components[name]), "title": answer}
        return {"$ref": f"{_SCHEMAS}{answer}"}

    def used_in(self, part: Json) -> dict[str, Json]:
        """The named schemas that a part of the document refers to, and those within them."""
        used: dict[str, Json] = {}
        left = [part]
        while left:
            for found in _objects(left.pop()):
                name = str(found.get("$ref", "")).removeprefix(_SCHEMAS)
                if name and name not in used:
                    used[name] = self._components[name]
                    left.append(used[name])
        return dict(sorted(used.items()))


def _answer_name(name: str) -> str:
    page = re.fullmatch(r"Page_(\w+?)(?:Body)?_", name)
    return f"{page[1]}Page" if page else f"{name.removesuffix('Body')}Answer"


def _with_id(schema: Json) -> Json:
    properties = {**schema.get("properties", {}), "request_id": _REQUEST_ID}
    required = [*schema.get("required", []), "request_id"]
    return {**schema, "properties": properties, "required": required}


def _objects(part: object) -> Iterator[Json]:
    """Every object in a part of the document."""
    if isinstance(part, dict):
        yield cast(Json, part)
    entries = cast(Json, part).values() if isinstance(part, dict) else part
    if isinstance(part, dict | list):
        for value in cast(Iterable[object], entries):
            yield from _objects(value)


def _name_types(part: object) -> None:
    """Say of every list of texts that it lists texts, which generators ask for."""
    for found in _objects(part):
        if all(isinstance(value, str) for value in found.get("enum", (None,))):
            found["type"] = "string"


def _kinds(operations: Iterable[Operation[Any, Any]]) -> Iterable[Any]:
    """Every type that the document describes, each once."""
    found: dict[str, Any] = {repr(ErrorBody): ErrorBody}
    for operation in operations:
        errors = operation.error_form.content.values() if operation.error_form else ()
        bodies = (operation.body, *operation.streamed.values(), *errors)
        for kind in (*bodies, *operation.answers.values()):
            if kind is not None and not isinstance(kind, str):
                found[repr(kind)] = kind
    return found.values()


def _operation(operation: Operation[Any, Any], schemas: _Schemas) -> Json:
    made: Json = {
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "tags": [resource_of(operation)],
        "parameters": [
            *_path_parameters(operation),
            *_query_parameters(operation),
            *_header_parameters(operation),
        ],
        "responses": _responses(operation, schemas),
        "security": [{"bearer": []}, {"key": []}] if operation.is_protected else [],
    }
    handle: Any = operation.handle
    about = handle.func.__doc__ if isinstance(handle, partial) else handle.__doc__
    if about:
        made["description"] = inspect.cleandoc(about)
    if operation.scope:
        made["x-scope"] = operation.scope
    bodies = {"application/json": operation.body} if operation.body else operation.streamed
    if bodies:
        content: Json = {
            media: {"schema": schemas.of(kind) if kind else _FILES.get(media, {})}
            for media, kind in bodies.items()
        }
        if operation.example:
            content["application/json"]["example"] = operation.example
        made["requestBody"] = {"required": True, "content": content}
    return made


def _path_parameters(operation: Operation[Any, Any]) -> Iterator[Json]:
    for name in _PATH_NAME.findall(operation.path):
        schema = _PATH_PARTS.get(name, {**_TEXT, "minLength": 1})
        yield _parameter("path", name, schema, required=True)


def _query_parameters(operation: Operation[Any, Any]) -> Iterator[Json]:
    (schema,), components = msgspec.json.schema_components(
        [operation.query], ref_template=f"{_SCHEMAS}{{name}}"
    )
    named = components[schema["$ref"].removeprefix(_SCHEMAS)]
    _name_types(named)
    describe(components, [operation.query])
    required = named.get("required", [])
    for name, field in named["properties"].items():
        yield _parameter("query", name, _never_null(field), required=name in required)


def _header_parameters(operation: Operation[Any, Any]) -> Iterator[Json]:
    for name, about in operation.request_headers.items():
        yield _parameter("header", name, {**_TEXT, "description": about}, required=False)


def _parameter(place: str, name: str, schema: Json, *, required: bool) -> Json:
    made: Json = {"name": name, "in": place, "required": required, "schema": {**schema}}
    if "description" in schema:
        made["description"] = made["schema"].pop("description")
    return made


def _never_null(field: Json) -> Json:
    """The schema of a value that can be left out, but never be null in a query."""
    kinds = [kind for kind in field.get("anyOf", []) if kind != {"type": "null"}]
    more = {
        name: value
        for name, value in field.items()
        if name != "anyOf" and (name, value) != ("default", None)
    }
    return {**kinds[0], **more} if len(kinds) == 1 else more


def _responses(operation: Operation[Any, Any], schemas: _Schemas) -> Json:
    made: Json = {}
    for status, kind in operation.answers.items():
        made[str(status)] = _response(operation.summary, operation.answer_headers)
        content = _content(kind, schemas)
        if content:
            made[str(status)]["content"] = content
    login = (401,) if operation.is_protected else ()
    for status in sorted({*_EVERYWHERE, *login, *operation.errors}):
        about = f"`{CODES[status]}`: {MEANINGS[status]}."
        made[str(status)] = _response(about, _ERROR_HEADERS.get(status, {}))
        made[str(status)]["content"] = _error_content(operation, schemas)
    return made


def _error_content(operation: Operation[Any, Any], schemas: _Schemas) -> Json:
    form = operation.error_form
    content = form.content if form else {"application/json": ErrorBody}
    return {media: {"schema": schemas.of(kind)} if kind else {} for media, kind in content.items()}


def _content(kind: Any, schemas: _Schemas) -> Json:
    """The bodies of an answer by media type; a text names the type of one that is no JSON."""
    if kind is None:
        return {}
    if isinstance(kind, str):
        return {media: {} for media in kind.split()}
    return {"application/json": {"schema": schemas.answer(kind)}}


def _response(about: str, headers: Mapping[str, str]) -> Json:
    known = {"x-request-id": "The id of the request.", **headers}
    listed = {name: {"description": text, "schema": _TEXT} for name, text in known.items()}
    return {"description": about, "headers": listed}
