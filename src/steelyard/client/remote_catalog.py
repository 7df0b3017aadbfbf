"""What runs use, as a server keeps it: datasets, rubrics, judges, suites and targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from steelyard.client.address import path_of
from steelyard.client.http_requests import HttpRequest, QueryValue
from steelyard.client.remote import RemotePage
from steelyard.client.sent_body import JSON, body_of
from steelyard.client.transport import Transport

Item = TypeVar("Item")
_PAGE = 100
_ANY = "application/octet-stream"
_MEDIA_TYPES = {
    ".json": JSON,
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/x-ndjson",
}


class RemoteCatalog:
    """The entries of one kind; `ref` is an id with its version, such as `polite@1.2.0`."""

    def __init__(self, transport: Transport, kind: str) -> None:
        self._transport = transport
        self._kind = kind

    def list(self, **filters: QueryValue) -> Iterator[dict[str, Any]]:
        """The entries, page by page."""
        request = HttpRequest(path=path_of(self._kind), query=filters)
        return pages(self._transport, request, dict[str, Any])

    def get(self, ref: str) -> dict[str, Any]:
        """One entry."""
        return self._transport.json(HttpRequest(path=path_of(self._kind, ref)), dict[str, Any])

    def create(
        self, content: str | Path | bytes | Mapping[str, Any], **settings: QueryValue
    ) -> dict[str, Any]:
        """Create an entry from a path, bytes or a value; the answer has the findings.

        `name` is that of a file, whose ending says how bytes are read. `strict` refuses what has
        any error.
        """
        return self._transport.json(file_request(self._kind, content, settings), dict[str, Any])

    def publish(self, ref: str) -> dict[str, Any]:
        """Publish a version, which never changes from then on."""
        request = HttpRequest(method="POST", path=path_of(self._kind, ref, "publish"))
        return self._transport.json(request, dict[str, Any])

    def archive(self, ref: str) -> dict[str, Any]:
        """Take an entry out of the lists; runs that used it can still be read."""
        request = HttpRequest(method="POST", path=path_of(self._kind, ref, "archive"))
        return self._transport.json(request, dict[str, Any])

    def diff(self, ref: str, to: str) -> dict[str, Any]:
        """How one version differs from another."""
        request = HttpRequest(path=path_of(self._kind, ref, "diff"), query={"to": to})
        return self._transport.json(request, dict[str, Any])


def file_request(
    kind: str,
    content: str | Path | bytes | Mapping[str, Any],
    settings: Mapping[str, QueryValue],
) -> HttpRequest:
    """A request that carries a file; a path says by its name how it is read."""
    name = str(settings.get("name") or (content if isinstance(content, str | Path) else ""))
    query = {**settings, "name": Path(name).name} if name else settings
    media_type = _MEDIA_TYPES.get(Path(name).suffix.lower(), JSON if not name else _ANY)
    body = body_of(content, media_type)
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
        query["cursor"] = page.next_cursor
