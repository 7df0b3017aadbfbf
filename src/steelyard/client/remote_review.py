"""Review queues and the labels of people, as a server keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.client.address import path_of
from steelyard.client.http_requests import HttpRequest, QueryValue
from steelyard.client.remote_catalog import file_request, pages
from steelyard.client.sent_body import json_body
from steelyard.client.transport import Transport


class RemoteReview:
    """What whoever leads a review does; people answer on the pages of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def queues(self) -> Iterator[dict[str, Any]]:
        """The queues, newest first."""
        return pages(self._transport, HttpRequest(path=path_of("queues")), dict[str, Any])

    def create_queue(self, **settings: Any) -> dict[str, Any]:
        """Make a queue; settings are those of `POST /v1/queues`."""
        return self._post("queues", **settings)

    def labels(self, queue_id: str) -> Iterator[dict[str, Any]]:
        """What everybody answered in a queue, then gold labels; the caller is not blind then."""
        request = HttpRequest(path=path_of("queues", queue_id, "labels"))
        return pages(self._transport, request, dict[str, Any])

    def export_labels(self, queue_id: str, *, format: str = "jsonl") -> bytes:  # noqa: A002
        """The same as a file, in JSONL or CSV."""
        path = path_of("queues", queue_id, "labels", "export")
        return self._transport.bytes(HttpRequest(path=path, query={"format": format}))

    def import_labels(self, content: str | Path | bytes, **settings: QueryValue) -> dict[str, Any]:
        """Import labels from a path or bytes, whose `name` says how they are read.

        Settings are those of `POST /v1/labels`: `run`, `rubric`, `annotator`, `exposure`,
        `replace`.
        """
        settings = {"name": "labels.jsonl", **settings} if isinstance(content, bytes) else settings
        return self._transport.json(file_request("labels", content, settings), dict[str, Any])

    def judge(self, queue_id: str, *, judge: str | None = None) -> dict[str, Any]:
        """Let a judge answer the items of a queue, in a new run."""
        given = {} if judge is None else {"judge": judge}
        return self._post("judgements", queue_id=queue_id, **given)

    def agreement(self, queue_id: str) -> dict[str, Any]:
        """How far people agree in a queue, and the judge with them."""
        request = HttpRequest(path=path_of("agreement", queue_id))
        return self._transport.json(request, dict[str, Any])

    def validate(self, queue_id: str) -> dict[str, Any]:
        """Validate the judge of a queue with its blind labels."""
        request = HttpRequest(method="POST", path=path_of("queues", queue_id, "validate"))
        return self._transport.json(request, dict[str, Any])

    def _post(self, kind: str, **body: Any) -> dict[str, Any]:
        request = HttpRequest(method="POST", path=path_of(kind), body=json_body(body))
        return self._transport.json(request, dict[str, Any])
