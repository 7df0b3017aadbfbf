"""The API as people read it: everything that the document has, in words."""

from __future__ import annotations

import pytest

from steelyard.api.application import operations
from steelyard.api.openapi import document
from steelyard.reports.api_reference import ApiOperation, ApiReference, api_reference

ORIGIN = "https://evals.example.org"


@pytest.fixture(scope="module")
def reference() -> ApiReference:
    return api_reference(document(operations()), ORIGIN)


def operation(reference: ApiReference, method: str, path: str) -> ApiOperation:
    found = (one for resource in reference.resources for one in resource.operations)
    return next(one for one in found if (one.method, one.path) == (method, path))


def test_every_operation_is_there_once(reference: ApiReference) -> None:
    shown = [(one.method, one.path) for group in reference.resources for one in group.operations]

    assert len(shown) == len(set(shown)) == len(operations())


def test_an_operation_says_what_it_takes_and_answers(reference: ApiReference) -> None:
    made = operation(reference, "POST", "/v1/keys")

    assert made.scope == "admin"
    assert [body.shape for body in made.bodies] == ["NewKey"]
    assert [(one.status, one.bodies[0].shape) for one in made.answers] == [("201", "NewKeyAnswer")]
    assert made.example == (
        f'curl -X POST {ORIGIN}/v1/keys -H "Authorization: Bearer $STEELYARD_KEY" '
        '-H \'content-type: application/json\' -d \'{"name": "…", "role": "admin"}\''
    )


def test_parameters_have_their_place_their_type_and_their_meaning(reference: ApiReference) -> None:
    listed = operation(reference, "GET", "/v1/runs")
    limit = next(one for one in listed.parameters if one.name == "limit")

    assert (limit.place, limit.type, limit.is_required) == ("query", "integer, 1 to 100", False)
    assert limit.about == "The most entries of a page."
    shown = operation(reference, "GET", "/v1/runs/{run_id}")
    assert shown.example.startswith(f"curl {ORIGIN}/v1/runs/latest ")
    assert dict(shown.errors)["404"].startswith("`not_found`: ")


def test_errors_of_every_operation_are_listed_once(reference: ApiReference) -> None:
    common = [status for status, _ in reference.common_errors]

    assert common == ["400", "403", "405", "408", "413", "429", "500", "503"]
    assert not {status for status, _ in operation(reference, "GET", "/v1/me").errors} & set(common)


def test_shapes_name_the_types_of_their_fields(reference: ApiReference) -> None:
    shape = next(one for one in reference.shapes if one.name == "NewKey")
    fields = {field.name: field for field in shape.fields}

    assert fields["role"].type == "admin | annotator | editor | viewer"
    assert fields["role"].is_required
    assert fields["expires_in_days"].type == "integer, 1 to 3650 or null"
    page = next(one for one in reference.shapes if one.name == "RunPage")
    assert next(one for one in page.fields if one.name == "data").shape == "RunBody"


def test_what_needs_no_login_has_no_key_in_its_example(reference: ApiReference) -> None:
    assert "Authorization" not in operation(reference, "GET", "/healthz").example
