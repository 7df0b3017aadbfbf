"""The document that describes the API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from servers.service import served
from steelyard.api.application import operations
from steelyard.project import open_project


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server says of itself."""
    folder: Path = tmp_path_factory.mktemp("project")
    with open_project(folder) as project, served(project) as client:
        return client.get("/openapi.json").json()


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    listed = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }

    assert listed == {(one.method, re.sub(r":\w+}", "}", one.path)) for one in operations()}


def described(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Every operation of the document."""
    return [operation for item in document["paths"].values() for operation in item.values()]


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [one["operationId"] for one in described(document)]

    assert len(ids) == len(set(ids))


def test_every_schema_is_a_json_schema(document: dict[str, Any]) -> None:
    jsonschema_rs.meta.validate(
        {
            "$defs": document["components"]["schemas"],
            "$schema": "https://json-schema.org/draft/2020-12/schema",
        }
    )
    for name in document["components"]["schemas"]:
        jsonschema_rs.Draft202012Validator(
            {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        )


def test_every_variable_of_a_path_is_described(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for operation in item.values():
            named = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
            assert named == re.findall(r"{(\w+)}", path)


def test_every_answer_is_one_object_with_the_id_of_its_request(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for operation in described(document):
        for answer in operation["responses"].values():
            schema = answer.get("content", {}).get("application/json", {}).get("schema")
            if schema:
                whole = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
                assert whole["type"] == "object"
                assert "request_id" in whole["required"]


def test_every_operation_says_what_may_go_wrong(document: dict[str, Any]) -> None:
    for operation in described(document):
        assert {"400", "403", "429", "500", "503"} <= operation["responses"].keys()
        assert "401" in operation["responses"] or not operation["security"]
        assert all("x-request-id" in one["headers"] for one in operation["responses"].values())


def test_every_operation_has_a_summary_in_one_sentence(document: dict[str, Any]) -> None:
    for operation in described(document):
        assert re.fullmatch(r"[A-Z].+\.", operation["summary"])
