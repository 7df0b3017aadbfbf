"""Datasets of every contract: list, create, show, compare, publish and archive them."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.api.resources.definitions import CreateQuery, DiffQuery
from steelyard.api.resources.sent_files import (
    ANSWER_HEADERS,
    REQUEST_HEADERS,
    SentFile,
    attachment,
)
from steelyard.api.resources.uploads import MEDIA, in_turn, media_type, received
from steelyard.api.resources.versions import (
    ArchivalBody,
    CreatedBody,
    DiffBody,
    PublicationBody,
    ShownBody,
    VersionBody,
    archival,
    created,
    difference,
    page_of,
    publication,
    shown_body,
)
from steelyard.errors import NotFoundError
from steelyard.model.published import dataset_name
from steelyard.usecases.datasets.create_definition import create_dataset
from steelyard.usecases.datasets.dataset_versions import (
    compare_datasets,
    list_datasets,
    show_dataset,
)
from steelyard.usecases.datasets.open_dataset import MAX_JSON
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.datasets.published_datasets import find_dataset
from steelyard.usecases.datasets.uploads import Upload
from steelyard.usecases.registry.archive import archive

_FILES = " ".join(MEDIA)


class DatasetQuery(CreateQuery, frozen=True, forbid_unknown_fields=True):
    """How a dataset is created."""

    version: str | None = None
    """The version, where the contract has none."""


def _list(call: Call[PageQuery, None]) -> JsonReply:
    return page_of("dataset", list_datasets(call.project.registry_ports()), call.query)


async def _create(call: Call[DatasetQuery, None]) -> JsonReply:
    """Where the contract has no id, the name of the file is the id; without a version, the hash
    of the content is."""
    asked = call.query

    def work(upload: Upload) -> JsonReply:
        ports = call.project.registry_ports()
        version, strict = asked.version, asked.strict
        return created(
            create_dataset(ports, upload, version=version, strict=strict, caller=call.caller)
        )

    async with received(call.request, asked.name, "dataset") as upload:
        return await in_turn(upload, work)


def _show(call: Call[NoQuery, None]) -> JsonReply:
    shown = show_dataset(call.project.registry_ports(), _reference(call.path["ref"]))
    return JsonReply(body=shown_body("dataset", shown))


async def _fetch(call: Call[NoQuery, None]) -> Response:
    """The file as an attachment, byte for byte as it was sent or published.

    `POST /v1/datasets` takes it with this content type, the name of the attachment as `name` and,
    where its contract has no version, `version`.
    """
    file = await anyio.to_thread.run_sync(_file, call)
    return await attachment(call.request, file, media_type(file.name))


def _file(call: Call[NoQuery, None]) -> SentFile:
    ports, reference = call.project.registry_ports(), _reference(call.path["ref"])
    file, path = find_dataset(ports.registry, ports.saved, ports.root, reference).main_file
    return SentFile(file.name, path, file.size, file.sha256)


def _compare(call: Call[DiffQuery, None]) -> JsonReply:
    old, new = (_reference(ref) for ref in (call.path["ref"], call.query.to))
    return difference(compare_datasets(call.project.registry_ports(), old, new))


def _publish(call: Call[NoQuery, None]) -> JsonReply:
    reference = _reference(call.path["ref"])
    ports = call.project.registry_ports()
    return publication(publish_dataset(ports, reference, caller=call.caller))


def _archive(call: Call[NoQuery, None]) -> JsonReply:
    name = _reference(call.path["ref"]).removeprefix("dataset/")
    ports = call.project.registry_ports()
    return archival(archive(ports, "dataset", name, caller=call.caller))


def _reference(ref: str) -> str:
    """What a name in an address refers to; never a path."""
    reference = f"dataset/{ref.removeprefix('dataset/')}"
    if dataset_name(reference) is None:
        raise NotFoundError(f"'{ref}' is no dataset; write id@version")
    return reference


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/datasets",
        summary="List datasets: saved and published versions.",
        scope="registry:read",
        handle=_list,
        query=PageQuery,
        answers={200: Page[VersionBody]},
    ),
    Operation(
        method="POST",
        path="/v1/datasets",
        summary="Create a dataset from its file; the findings are in the answer.",
        scope="registry:write",
        handle=_create,
        query=DatasetQuery,
        streamed=MEDIA,
        example={
            "dataset_id": "desk",
            "dataset_version": "2026.1",
            "schema_version": "1.0",
            "created_at": "2026-01-15T10:00:00Z",
            "records": [{"record_id": "refund", "input": {"prompt": "How long is a refund?"}}],
        },
        answers={200: CreatedBody, 201: CreatedBody},
        errors=(409,),
        max_body=MAX_JSON,
    ),
    Operation(
        method="GET",
        path="/v1/datasets/{ref}",
        summary="Show the metadata of a dataset, and what uses it.",
        scope="registry:read",
        handle=_show,
        answers={200: ShownBody},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/datasets/{ref}/file",
        summary="Fetch the file of a dataset.",
        scope="registry:read",
        handle=_fetch,
        answers={200: _FILES, 206: _FILES, 304: None},
        answer_headers=ANSWER_HEADERS,
        request_headers=REQUEST_HEADERS,
        errors=(404, 410, 416),
    ),
    Operation(
        method="GET",
        path="/v1/datasets/{ref}/diff",
        summary="Show the records that differ between two datasets.",
        scope="registry:read",
        handle=_compare,
        query=DiffQuery,
        answers={200: DiffBody},
        errors=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/datasets/{ref}/publish",
        summary="Publish a version of a dataset; its content never changes again.",
        scope="registry:write",
        handle=_publish,
        answers={200: PublicationBody},
        errors=(404, 409),
    ),
    Operation(
        method="POST",
        path="/v1/datasets/{ref}/archive",
        summary="Keep a version of a dataset from new runs, for good.",
        scope="registry:write",
        handle=_archive,
        answers={200: ArchivalBody},
        errors=(404, 409),
    ),
)
