"""Validate a file of any contract, and the schemas that say what is valid."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.findings import FindingBody, finding_bodies
from steelyard.api.operation import Operation
from steelyard.api.resources.uploads import MAX_JSON, MEDIA, in_turn, received
from steelyard.contracts.published_schemas import Schemas
from steelyard.plugins import installed_contracts
from steelyard.usecases.datasets.uploads import Upload, validate_upload
from steelyard.usecases.datasets.validate import ValidateOptions


class ValidateQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a file is validated."""

    name: str | None = None
    """The name of the file; its ending says how it is read."""
    kind: str | None = None
    """`dataset`, `rubric`, `judge` or the exact name of a contract."""
    strict: bool = False
    """Whether warnings about misspelt fields are errors."""


class ReportBody(msgspec.Struct, frozen=True):
    """What was found in a file."""

    path: str
    """The name of the file."""
    contract: str | None
    """The contract it was read as; null where none fits."""
    valid: bool
    """Whether it has no error."""
    total: int
    """How many records it has."""
    accepted: int
    """How many of them are valid."""
    rejected: int
    """How many are not."""
    findings: list[FindingBody]
    """Everything that was found, in order."""


async def _validate(call: Call[ValidateQuery, None]) -> JsonReply:
    """The body is the file. The answer is 200 whether it is valid or not; nothing is saved."""
    asked = call.query

    def work(upload: Upload) -> JsonReply:
        options = ValidateOptions(kind=asked.kind, strict=asked.strict)
        report = validate_upload(call.project.registry_ports(), upload, options)
        return JsonReply(
            body=ReportBody(
                path=report.path,
                contract=report.contract,
                valid=report.is_valid,
                total=report.total,
                accepted=report.accepted,
                rejected=report.rejected,
                findings=finding_bodies(report.findings),
            )
        )

    async with received(call.request, asked.name, "file") as upload:
        return await in_turn(upload, work)


def _schema(call: Call[NoQuery, None]) -> Response:
    """The names are those of `steelyard schema`, and `dataset`, `rubric` and `judge`.

    It needs no login and may be read by pages of any origin. `$id` is the address asked for.
    """
    settings, request = call.served.settings, call.request
    public = settings.public_url or f"{request.url.scheme}://{request.headers.get('host', '')}"
    address = f"{public.rstrip('/')}/schemas"
    schema = Schemas(installed_contracts()).published(call.path["name"], address)
    return Response(msgspec.json.encode(schema), media_type="application/json")


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/validate",
        summary="Report every problem in a file of any contract.",
        scope="registry:read",
        handle=_validate,
        query=ValidateQuery,
        streamed=MEDIA,
        example={
            "dataset_id": "desk",
            "dataset_version": "2026.1",
            "schema_version": "1.0",
            "created_at": "2026-01-15T10:00:00Z",
            "records": [{"record_id": "refund", "input": {"prompt": 42}}],
        },
        answers={200: ReportBody},
        max_body=MAX_JSON,
    ),
    Operation(
        method="GET",
        path="/schemas/{name}.schema.json",
        summary="A published JSON Schema.",
        scope=None,
        handle=_schema,
        answers={200: "application/json"},
        errors=(404,),
        is_open=True,
    ),
)
