"""Rubrics and judges: list, create, show, compare, publish and archive them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.api.resources.uploads import MEDIA, in_turn, received
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
from steelyard.contracts.definitions import MAX_DEFINITION
from steelyard.errors import NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.usecases.datasets.create_definition import create_definition
from steelyard.usecases.datasets.uploads import Upload
from steelyard.usecases.registry.archive import archive
from steelyard.usecases.registry.look_up import (
    compare_definitions,
    list_definitions,
    show_definition,
)
from steelyard.usecases.registry.publish import carry_out, plan_publication

_EXAMPLES: dict[ReferenceKind, JsonObject] = {
    "rubric": {
        "id": "polite",
        "version": "1.2.0",
        "checks": [{"id": "thanks", "kind": "must_contain_any", "phrases": ["thank you"]}],
        "scoring": {"combine": "all_pass"},
    },
    "judge": {
        "id": "helpful",
        "version": "1.0.0",
        "score_type": "binary",
        "template": "Question: {{ input }}\nAnswer: {{ output }}\nDoes the answer help?",
    },
}


class CreateQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a file is created."""

    strict: bool = False
    """Whether any error keeps it from being saved."""
    name: str | None = None
    """The name of the file; its ending says how it is read."""


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a version is compared with."""

    to: str
    """The other version, written as in addresses."""


def operations(kind: ReferenceKind) -> Iterator[Operation[Any, Any]]:
    """What there is to do with rubrics, or with judges."""
    path, one = f"/v1/{kind}s", f"/v1/{kind}s/{{ref}}"
    yield Operation(
        method="GET",
        path=path,
        summary=f"List {kind}s: files, saved, published and built-in versions.",
        scope="registry:read",
        handle=partial(_list, kind),
        query=PageQuery,
        answers={200: Page[VersionBody]},
    )
    yield Operation(
        method="POST",
        path=path,
        summary=f"Create a {kind} from its file; the findings are in the answer.",
        scope="registry:write",
        handle=_creating(kind),
        query=CreateQuery,
        streamed={media: kind for media, kind in MEDIA.items() if media != "application/x-ndjson"},
        example=_EXAMPLES[kind],
        answers={200: CreatedBody, 201: CreatedBody},
        errors=(409,),
        max_body=MAX_DEFINITION,
    )
    yield Operation(
        method="GET",
        path=one,
        summary=f"Show a {kind}.",
        scope="registry:read",
        handle=partial(_show, kind),
        answers={200: ShownBody},
        errors=(404,),
    )
    yield Operation(
        method="GET",
        path=f"{one}/diff",
        summary=f"Compare two {kind}s and mark changes that can move scores.",
        scope="registry:read",
        handle=partial(_compare, kind),
        query=DiffQuery,
        answers={200: DiffBody},
        errors=(404,),
    )
    yield Operation(
        method="POST",
        path=f"{one}/publish",
        summary=f"Publish a version of a {kind}; its content never changes again.",
        scope="registry:write",
        handle=partial(_publish, kind),
        answers={200: PublicationBody},
        errors=(404, 409),
    )
    yield Operation(
        method="POST",
        path=f"{one}/archive",
        summary=f"Keep a version of a {kind} from new runs, for good.",
        scope="registry:write",
        handle=partial(_archive, kind),
        answers={200: ArchivalBody},
        errors=(404, 409),
    )


def reference_of(kind: ReferenceKind, ref: str) -> Reference:
    """What a name in an address refers to; never a path."""
    found = Reference.parse(f"{kind}/{ref.removeprefix(f'{kind}/')}")
    if found is None:
        raise NotFoundError(f"'{ref}' is no {kind}; write id@version")
    return found


def _list(kind: ReferenceKind, call: Call[PageQuery, None]) -> JsonReply:
    return page_of(kind, list_definitions(call.project.registry_ports(), kind), call.query)


def _creating(kind: ReferenceKind) -> Any:
    async def create(call: Call[CreateQuery, None]) -> JsonReply:
        """The body is the file. Sent again, a version that is not published is replaced."""

        def work(upload: Upload) -> JsonReply:
            ports = call.project.registry_ports()
            strict, caller = call.query.strict, call.caller
            return created(create_definition(ports, kind, upload, strict=strict, caller=caller))

        async with received(call.request, call.query.name, kind, MAX_DEFINITION) as upload:
            return await in_turn(upload, work)

    return create


def _show(kind: ReferenceKind, call: Call[NoQuery, None]) -> JsonReply:
    reference = reference_of(kind, call.path["ref"])
    shown = show_definition(call.project.registry_ports(), kind, reference)
    return JsonReply(body=shown_body(kind, shown))


def _compare(kind: ReferenceKind, call: Call[DiffQuery, None]) -> JsonReply:
    old, new = (reference_of(kind, ref) for ref in (call.path["ref"], call.query.to))
    return difference(compare_definitions(call.project.registry_ports(), kind, old, new))


def _publish(kind: ReferenceKind, call: Call[NoQuery, None]) -> JsonReply:
    ports = call.project.registry_ports()
    plan = plan_publication(ports, kind, reference_of(kind, call.path["ref"]))
    return publication(carry_out(ports, plan, caller=call.caller))


def _archive(kind: ReferenceKind, call: Call[NoQuery, None]) -> JsonReply:
    reference = reference_of(kind, call.path["ref"])
    name = str(reference).removeprefix(f"{kind}/")
    return archival(archive(call.project.registry_ports(), kind, name, caller=call.caller))


OPERATIONS: tuple[Operation[Any, Any], ...] = tuple(
    operation
    for kind in cast("tuple[ReferenceKind, ...]", ("rubric", "judge"))
    for operation in operations(kind)
)
