"""Checks answers of a server against the OpenAPI document of the API."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from steelyard.api.application import operations
from steelyard.api.openapi import document

if TYPE_CHECKING:
    import httpx

_NOT_ROUTED = (400, 403, 404, 405)
_JSON = "application/json"
_VARIABLE = re.compile(r"\\{\w+\\}")


def check_answer(answer: httpx.Response) -> None:
    """Fail unless the status of an answer is documented and its body is as documented.

    An answer that no operation has made is one of the few that have no route.
    """
    request = answer.request
    path = request.url.raw_path.decode("ascii").partition("?")[0]
    method = "get" if request.method == "HEAD" else request.method.lower()
    operation = _operation(path, method)
    if operation is None:
        assert answer.status_code in _NOT_ROUTED, f"{request.method} {path} is not documented"
        return
    documented = _document()["paths"][operation][method]["responses"]
    status = str(answer.status_code)
    assert status in documented, f"{request.method} {path}: {status} is not documented"
    assert "x-request-id" in answer.headers
    media = answer.headers.get("content-type", "").partition(";")[0]
    content = documented[status].get("content", {})
    if "content-type" in answer.headers and content:
        assert media in content, f"{request.method} {path}: {media} is not documented"
    if media == _JSON and "schema" in content.get(_JSON, {}) and request.method != "HEAD":
        body = answer.read()
        validator = _validator(operation, method, status)
        errors = [error.message for error in validator.iter_errors(answer.json())]
        assert not errors, f"{request.method} {path}: {errors[:3]} in {body[:500]!r}"


@cache
def _document() -> dict[str, Any]:
    return document(operations())


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Every path, those without variables first, as routes are found."""
    paths = sorted(_document()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(_VARIABLE.sub("[^/]+", re.escape(path))), path) for path in paths]


def _operation(path: str, method: str) -> str | None:
    """The path of the operation that answers."""
    fitting = (known for pattern, known in _patterns() if pattern.fullmatch(path))
    return next((known for known in fitting if method in _document()["paths"][known]), None)


@cache
def _validator(operation: str, method: str, status: str) -> jsonschema_rs.Draft202012Validator:
    responses = _document()["paths"][operation][method]["responses"]
    schema = responses[status]["content"][_JSON]["schema"]
    components = _document()["components"]
    return jsonschema_rs.Draft202012Validator({**schema, "components": components})
