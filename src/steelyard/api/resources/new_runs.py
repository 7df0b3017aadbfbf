"""Start runs: of the dataset document that is posted, or of a saved dataset."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
import msgspec
from msgspec import structs
from starlette.requests import Request

from steelyard.api.call import Call, JsonReply
from steelyard.api.errors import ErrorReply
from steelyard.api.operation import Operation, require_json
from steelyard.api.repeated_requests import IDEMPOTENCY_KEY, answer_once
from steelyard.api.request_body import body_chunks
from steelyard.api.resources.run_settings import RunSettings, merged_settings, suite_choice
from steelyard.errors import (
    InvalidError,
    NotFoundError,
    RequestError,
    RunError,
    SteelyardError,
    UnavailableError,
)
from steelyard.event_loop import run_async
from steelyard.model.finding import Finding
from steelyard.model.upload import upload_name
from steelyard.results.stored_run import require_plan
from steelyard.usecases.datasets.open_dataset import MAX_JSON
from steelyard.usecases.operations.readiness import require_free_space
from steelyard.usecases.runs.posted_runs import (
    RECORD_CODES,
    DocumentCheck,
    UploadDraft,
    check_document,
    post_run,
    posted_options,
    split_posted,
)

_OTHER_CODE = "invalid_field_type"
# Documents are validated beside the event loop, at most two at once: each may be 100 MB.
_VALIDATION = ThreadPoolExecutor(2, "steelyard-validation")


class RecordError(msgspec.Struct, frozen=True):
    """What is wrong with a record."""

    index: int
    """The place of the record in the document, from 0."""
    record_id: str | None
    """Its id, where it has one."""
    code: str
    """One of the codes of contract 2."""
    message: str
    """What is wrong."""
    path: str
    """Where, such as `records[2].input.prompt`."""
    severity: Literal["error"] = "error"


class RecordCounts(msgspec.Struct, frozen=True):
    """How many records of a document can be evaluated."""

    total_records: int
    """Records of the document."""
    accepted_records: int
    """Those that are evaluated."""
    rejected_records: int
    """Those that are not, with the errors below."""


class AcceptedRun(msgspec.Struct, frozen=True):
    """A run that waits for a worker."""

    run_id: str
    """The new run."""
    status: Literal["accepted", "accepted_with_record_errors"]
    """Whether records were rejected."""
    summary: RecordCounts
    record_errors: list[RecordError]
    """What is wrong with rejected records; empty where none is."""


class PostedDocument(msgspec.Struct, frozen=True):
    """A dataset document of contract 2, with the settings of its run; or these alone."""

    run: RunSettings | msgspec.UnsetType = msgspec.UNSET
    dataset_id: str | msgspec.UnsetType = msgspec.UNSET
    """The id of the dataset."""
    dataset_version: str | msgspec.UnsetType = msgspec.UNSET
    """Its version."""
    schema_version: str | msgspec.UnsetType = msgspec.UNSET
    """The version of the contract."""
    created_at: str | msgspec.UnsetType = msgspec.UNSET
    """When the document was made."""
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Anything else about the dataset."""
    records: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    """The records, each with `record_id` and `input`."""


async def _post(call: Call[RunSettings, None]) -> JsonReply:
    """The body is a dataset document of contract 2; its member `run`, or the query, has settings.

    Without records, a saved dataset is run: that of `dataset` or of `suite`.
    """
    writer = await anyio.to_thread.run_sync(_writer, call)
    try:
        sha256 = await _spooled(call.request, writer)
    except BaseException:
        writer.give_up()
        raise
    upload_id, used = writer.upload_id, list[str]()

    def make(run_id: str) -> JsonReply:
        used.append(upload_id)
        return JsonReply(body=_created(call, upload_id, run_id), status=202)

    try:
        return await answer_once(call, sha256, make, _VALIDATION)
    finally:
        if not used:
            call.project.spool.delete(Path(upload_name(upload_id)))


def _writer(call: Call[RunSettings, None]) -> UploadDraft:
    require_free_space(call.project.condition)
    return call.project.spool.writer(call.served.settings.spool_quota)


async def _spooled(request: Request, writer: UploadDraft) -> str:
    """Write the body to the spool, chunk by chunk; its hash."""
    found = hashlib.sha256()
    async for chunk in body_chunks(request, MAX_JSON):
        if chunk:
            require_json(request)
        found.update(chunk)
        writer.write(chunk)
    await anyio.to_thread.run_sync(writer.end)
    return found.hexdigest()


def _created(call: Call[RunSettings, None], upload_id: str, run_id: str) -> AcceptedRun:
    spool, uploaded = call.project.spool, [upload_id]
    try:
        posted = split_posted(spool, upload_id)
        if posted.upload_id:
            uploaded.append(posted.upload_id)
        settings = merged_settings(call.query, posted.settings)
        return _run_of(call, settings, posted.upload_id, run_id)
    except BaseException as error:  # noqa: BLE001 - raised again
        for one in uploaded:
            spool.delete(Path(upload_name(one)))
        raise _of_request(error) from None


def _run_of(
    call: Call[RunSettings, None], settings: RunSettings, upload_id: str | None, run_id: str
) -> AcceptedRun:
    ports = call.project.run_ports()
    options = posted_options(ports, upload_id, suite_choice(settings))
    options = structs.replace(options, group_id=settings.group_id)
    check = check_document(ports, options)
    if check.total and not check.accepted:
        raise ErrorReply(
            status=400,
            message="All records failed validation",
            details={"rejected_records": check.rejected, "accepted_records": 0},
        )
    run = run_async(lambda: post_run(ports, options, run_id=run_id, caller=call.caller))
    if upload_id and require_plan(run).options.dataset != options.dataset:
        call.project.spool.delete(options.dataset)  # an earlier request has made the run
    return _accepted(run.run_id, check)


def _accepted(run_id: str, check: DocumentCheck) -> AcceptedRun:
    return AcceptedRun(
        run_id=run_id,
        status="accepted_with_record_errors" if check.rejected else "accepted",
        summary=RecordCounts(check.total, check.accepted, check.rejected),
        record_errors=[_record_error(finding) for finding in check.errors],
    )


def _record_error(finding: Finding) -> RecordError:
    return RecordError(
        index=finding.index or 0,
        record_id=finding.record_id,
        code=finding.code if finding.code in RECORD_CODES else _OTHER_CODE,
        message=finding.message,
        path=finding.path,
    )


def _of_request(error: BaseException) -> BaseException:
    """The error of a request that cannot be served: what it names is missing, or is wrong."""
    if isinstance(error, NotFoundError):
        return InvalidError(*error.args)
    if isinstance(error, RequestError | UnavailableError) or not isinstance(error, SteelyardError):
        return error
    kind = UnavailableError if isinstance(error, RunError) else InvalidError
    return kind(*error.args)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/runs",
        summary="Start a run of a posted dataset document, or of a saved dataset.",
        scope="runs:write",
        handle=_post,
        query=RunSettings,
        streamed={"application/json": PostedDocument},
        example={
            "run": {"target": "echo", "rubric": "rubric/polite@1.2.0"},
            "dataset_id": "support",
            "dataset_version": "2026-01",
            "schema_version": "1.0",
            "created_at": "2026-01-15T10:00:00Z",
            "records": [
                {
                    "record_id": "refund",
                    "input": {"prompt": "How long does a refund take?"},
                    "tags": ["money"],
                }
            ],
        },
        answers={202: AcceptedRun},
        request_headers=IDEMPOTENCY_KEY,
        errors=(409, 413, 503),
    ),
)
