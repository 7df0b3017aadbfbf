"""What runs use, as a server keeps it: datasets, rubrics, judges, suites and targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from steelyard.client.address import path_of
from steelyard.client.http_requests import HttpRequest, QueryValue
from steelyard.client.remote import RemoteDefinition, RemotePage, RemoteVersion
from steelyard.client.sent_body import JSON, body_of, document_body, json_body
from steelyard.client.transport import Transport
from steelyard.errors import UnavailableError

Item = TypeVar("Item")
Content: TypeAlias = str | Path | bytes | Mapping[str, Any]
"""A path, the bytes of a file, or its value."""
_PAGE = 100
_DOCUMENTS = ("datasets", "validate")
"""What takes dataset documents, whose strings servers want in NFC."""
_ANY = "application/octet-stream"
_MEDIA_TYPES = {
    ".json": JSON,
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/x-ndjson",
}


class RemoteCatalog:
    """Datasets, rubrics or judges; `ref` is an id with its version, such as `polite@1.2.0`."""

    def __init__(self, transport: Transport, kind: str) -> None:
        self._transport = transport
        self._kind = kind

    def list(self) -> Iterator[RemoteVersion]:
        """All versions, page by page."""
        request = HttpRequest(path=path_of(self._kind))
        return pages(self._transport, request, RemoteVersion)

    def get(self, ref: str) -> RemoteDefinition:
        """One version."""
        return self._transport.json(HttpRequest(path=path_of(self._kind, ref)), RemoteDefinition)

    def create(self, content: Content, **settings: QueryValue) -> RemoteDefinition:
        """Create a version from a path, bytes or a value; the answer has the findings.

        `name` is that of a file, whose ending says how bytes are read. `strict` refuses what has
        any error. `version` is that of a dataset whose contract has none.
        """
        return self._transport.json(file_request(self._kind, content, settings), RemoteDefinition)

    def publish(self, ref: str) -> dict[str, Any]:
        """Publish a version, which never changes from then on: `outcome`, `refusals` and more."""
        return self._post(ref, "publish")

    def archive(self, ref: str) -> dict[str, Any]:
        """Keep a version from new runs, for good."""
        return self._post(ref, "archive")

    def diff(self, ref: str, to: str) -> dict[str, Any]:
        """How one version differs from another: `is_breaking` and `differences`."""
        request = HttpRequest(path=path_of(self._kind, ref, "diff"), query={"to": to})
        return self._transport.json(request, dict[str, Any])

    def _post(self, ref: str, verb: str) -> dict[str, Any]:
        request = HttpRequest(method="POST", path=path_of(self._kind, ref, verb))
        return self._transport.json(request, dict[str, Any])


class RemoteSettings:
    """Suites or targets, by name."""

    def __init__(self, transport: Transport, kind: str) -> None:
        self._transport = transport
        self._kind = kind

    def list(self) -> Iterator[dict[str, Any]]:
        """All entries, page by page: those of the project file and those that were saved."""
        return pages(self._transport, HttpRequest(path=path_of(self._kind)), dict[str, Any])

    def get(self, name: str) -> dict[str, Any]:
        """One entry."""
        return self._transport.json(HttpRequest(path=path_of(self._kind, name)), dict[str, Any])

    def create(self, entry: Mapping[str, Any], **settings: QueryValue) -> dict[str, Any]:
        """Save an entry with its `name`; of a suite, the answer has the findings."""
        request = HttpRequest(
            method="POST", path=path_of(self._kind), query=settings, body=json_body(entry)
        )
        return self._transport.json(request, dict[str, Any])

    def update(
        self, name: str, entry: Mapping[str, Any], **settings: QueryValue
    ) -> dict[str, Any]:
        """Save an entry, replacing a saved one."""
        path = path_of(self._kind, name)
        request = HttpRequest(method="PUT", path=path, query=settings, body=json_body(entry))
        return self._transport.json(request, dict[str, Any])

    def delete(self, name: str) -> None:
        """Remove a saved entry."""
        self._transport.bytes(HttpRequest(method="DELETE", path=path_of(self._kind, name)))


def file_request(kind: str, content: Content, settings: Mapping[str, QueryValue]) -> HttpRequest:
    """A request that carries a file; a path says by its name how it is read."""
    name = str(settings.get("name") or (content if isinstance(content, str | Path) else ""))
    query = {**settings, "name": Path(name).name} if name else settings
    media_type = _MEDIA_TYPES.get(Path(name).suffix.lower(), JSON if not name else _ANY)
    is_document = kind in _DOCUMENTS and media_type == JSON
    body = document_body(content) if is_document else body_of(content, media_type)
    return HttpRequest(method="POST", path=path_of(kind), query=query, body=body)


def pages(transport: Transport, request: HttpRequest, kind: type[Item]) -> Iterator[Item]:
    """The entries of a list; the next page is asked for when the one before is through."""
    query: dict[str, QueryValue] = {"limit": _PAGE, **request.query}
    while True:
        asked = HttpRequest(path=request.path, query=query)
        page = transport.json(asked, RemotePage[kind])
        yield from page.data
        if page.next_cursor is None:
            return
        if page.next_cursor == query.get("cursor") or not page.data:
            raise UnavailableError(
                f"{request.path}: the server names a next page again and again; is this Steelyard?"
            )
        query["cursor"] = page.next_cursor
