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

_VARIABLE = re.compile(r"{(\w+)}")


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
                # Errors of OpenTelemetry's protocol have the form that it gives them.
                assert "request_id" in whole["required"] or whole["title"] == "RpcStatus"


def test_metrics_are_declared_as_text(document: dict[str, Any]) -> None:
    answer = document["paths"]["/metrics"]["get"]["responses"]["200"]

    assert list(answer["content"]) == ["text/plain"]


def test_every_operation_says_what_may_go_wrong(document: dict[str, Any]) -> None:
    for operation in described(document):
        assert {"400", "403", "429", "500", "503"} <= operation["responses"].keys()
        assert "401" in operation["responses"] or not operation["security"]
        assert all("x-request-id" in one["headers"] for one in operation["responses"].values())


def test_every_operation_has_a_summary_in_one_sentence(document: dict[str, Any]) -> None:
    for operation in described(document):
        assert re.fullmatch(r"[A-Z].+\.", operation["summary"])


def test_every_parameter_is_described(document: dict[str, Any]) -> None:
    bare = [
        (operation["operationId"], one["name"])
        for operation in described(document)
        for one in operation["parameters"]
        if not one.get("description")
    ]

    assert bare == []


OWN = {
    kind.__name__
    for operation in operations()
    for kind in (operation.query, operation.body, *operation.answers.values())
    if isinstance(kind, type) and kind.__module__.startswith("steelyard.api")
}


def test_every_field_of_a_body_of_the_api_is_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    results = {"Prediction", "Attempt", "Failure", "RunSettings", "GradingSummary", "FindingBody"}
    names = {name for name in schemas if name.removesuffix("Answer") in OWN | results}
    names |= {name for name in schemas if name.endswith(("Body", "Page"))}
    bare = [
        (name, field)
        for name in sorted(names - {"ComparisonBody"})
        for field, about in schemas[name].get("properties", {}).items()
        if "description" not in about and "$ref" not in about
    ]

    assert len(names) > 30
    assert bare == []


def test_descriptions_come_from_the_code_and_from_published_schemas(
    document: dict[str, Any],
) -> None:
    schemas = document["components"]["schemas"]

    assert schemas["NewKey"]["properties"]["role"]["description"].startswith("The most that")
    assert schemas["Prediction"]["properties"]["index"]["description"].startswith("The place of")
    assert schemas["RunBody"]["properties"]["grading"]["description"].startswith("What grades")
    assert schemas["SuiteBody"]["properties"]["fail_under"]["description"]
    assert schemas["RunPage"]["properties"]["next_cursor"]["description"].startswith("`cursor`")


def test_every_error_says_when_it_is_answered(document: dict[str, Any]) -> None:
    for operation in described(document):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert re.fullmatch(r"`[a-z_]+`: .+\.", answer["description"])


EXAMPLES = {
    "/v1/rubrics": 201,
    "/v1/judges": 201,
    "/v1/datasets": 201,
    "/v1/suites": 201,
    "/v1/targets": 201,
    "/v1/validate": 200,
    "/v1/runs": 202,
}


def test_the_examples_of_the_document_can_be_sent(
    document: dict[str, Any], tmp_path: Path
) -> None:
    sent: dict[str, int] = {}
    with open_project(tmp_path) as project, served(project) as client:
        for path in EXAMPLES:
            body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            answer = client.post(path, json=body["example"])
            sent[path] = answer.status_code
            findings = [*answer.json().get("findings", ()), *answer.json().get("errors", ())]
            assert path == "/v1/validate" or not findings, answer.text

    assert sent == EXAMPLES


def test_links_lead_from_what_an_answer_names_to_what_is_done_with_it(
    document: dict[str, Any],
) -> None:
    operations = {
        operation["operationId"]: (path, operation)
        for path, item in document["paths"].items()
        for operation in item.values()
    }
    linked: set[str] = set()
    for _, operation in operations.values():
        for answer in operation["responses"].values():
            for name, link in answer.get("links", {}).items():
                path, target = operations[link["operationId"]]
                linked.add(name)
                assert name == target["operationId"]
                assert set(link["parameters"]) == set(_VARIABLE.findall(path))
                for value in link["parameters"].values():
                    _require_named(document, operation, answer, value)

    about = {name for name, (path, _) in operations.items() if "{" in path}
    assert about - linked == {"get_run_artifact", "get_group", "get_schema"}


def _require_named(document: dict[str, Any], operation: Any, answer: Any, value: str) -> None:
    """Require that a link takes its value from a field of the answer, or from the request."""
    place, _, pointer = value.partition("#/")
    if place != "$response.body":
        asked = {f"$request.path.{one['name']}" for one in operation["parameters"]}
        assert value in asked
        return
    schema = answer["content"]["application/json"]["schema"]
    for part in pointer.split("/"):
        while "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        schema = schema["items"] if part == "0" else schema["properties"][part]


def test_only_bodies_have_examples(document: dict[str, Any]) -> None:
    found = {
        path
        for path, item in document["paths"].items()
        for operation in item.values()
        for body in operation.get("requestBody", {}).get("content", {}).values()
        if "example" in body
    }

    assert found == {*EXAMPLES, "/v1/suites/{name}", "/v1/targets/{name}"}
