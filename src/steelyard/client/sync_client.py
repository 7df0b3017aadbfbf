"""`steelyard.Client`: the verbs of Steelyard over HTTP."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from steelyard.client.address import path_of
from steelyard.client.downloads import Download, download, list_artifacts
from steelyard.client.event_stream import follow
from steelyard.client.http_requests import IDEMPOTENCY_KEY, HttpRequest, QueryValue
from steelyard.client.remote import (
    RemoteArtifact,
    RemoteCaller,
    RemoteChange,
    RemoteEvent,
    RemoteRecord,
    RemoteReport,
    RemoteRun,
    StartedRun,
)
from steelyard.client.remote_catalog import (
    Content,
    RemoteCatalog,
    RemoteSettings,
    file_request,
    pages,
)
from steelyard.client.remote_review import RemoteReview
from steelyard.client.sent_body import SentBody, document_body, json_body
from steelyard.client.transport import Transport, TransportSettings
from steelyard.errors import InvalidError
from steelyard.model.statistics.comparison import Comparison
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure
from steelyard.results.manifest import Manifest, read_manifest
from steelyard.results.metrics import Metrics, Slice
from steelyard.results.predictions import Prediction

SERVER_VARIABLE = "STEELYARD_SERVER"
KEY_VARIABLE = "STEELYARD_KEY"


class Client:
    """One server. It may be used from several threads, and closes its connections with `with`.

    A run is named by its id, a unique prefix, `latest` or `latest~1`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout_s: float = 60.0,
        retries: int = 3,
        ca_file: str | Path | None = None,
        proxy: str | None = None,
    ) -> None:
        """Take address and key from STEELYARD_SERVER and STEELYARD_KEY where they are not given.

        Nothing is sent yet. `timeout_s` limits the wait for each answer; `retries` counts
        further tries after 429, 503, a broken connection, or a 409 that says when to try again,
        where a repeat does no harm.
        """
        url = url or os.environ.get(SERVER_VARIABLE)
        if not url:
            raise InvalidError(f"no server: pass its address, or set {SERVER_VARIABLE}")
        settings = TransportSettings(
            key=key or os.environ.get(KEY_VARIABLE) or None,
            timeout_s=timeout_s,
            retries=retries,
            ca_file=ca_file,
            proxy=proxy,
        )
        self.transport = Transport(url, settings, os.environ)

    def __repr__(self) -> str:
        return f"Client('{self.transport.address}')"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    @property
    def address(self) -> str:
        """Where the server is."""
        return str(self.transport.address)

    def me(self) -> RemoteCaller:
        """Who the server takes the owner of the key for, and what they may do."""
        return self.transport.json(HttpRequest(path=path_of("me")), RemoteCaller)

    def runs(self, **filters: QueryValue) -> Iterator[RemoteRun]:
        """The runs, newest first; filters are `status`, `group_id` and `q`."""
        request = HttpRequest(path=path_of("runs"), query=filters)
        return pages(self.transport, request, RemoteRun)

    def run(self, run: str) -> RemoteRun:
        """A run as it stands."""
        return self.transport.json(HttpRequest(path=path_of("runs", run)), RemoteRun)

    def start_run(
        self,
        document: Content | None = None,
        /,
        *,
        idempotency_key: str | None = None,
        **settings: QueryValue,
    ) -> StartedRun:
        """Start a run of a dataset document (contract 2): a path, its bytes, or a value.

        Its strings are sent in Unicode NFC.

        Without one, the server has the dataset: that of a `suite`, or `dataset`, a reference.
        Settings are those of `POST /v1/runs`: `target`, `rubric`, `judge` and more. The server
        starts one run for one `idempotency_key`, whatever the client has to repeat.
        """
        request = HttpRequest(
            method="POST",
            path=path_of("runs"),
            query={} if document is None else settings,
            headers={IDEMPOTENCY_KEY: idempotency_key or str(uuid.uuid4())},
            body=(
                json_body({"run": _given(settings)})
                if document is None
                else document_body(document)
            ),
        )
        return self.transport.json(request, StartedRun)

    def events(self, run: str, *, after: int = 0) -> Iterator[RemoteEvent]:
        """What happens to a run until its end, each event once, from one id on."""
        return follow(self.transport, run, after)

    def wait(
        self, run: str, *, on_event: Callable[[RemoteEvent], object] | None = None
    ) -> RemoteRun:
        """The run, when it has finished, or has stopped and waits for `resume` or `cancel`."""
        for event in self.events(run):
            if on_event:
                on_event(event)
            # A run that no worker can go on with has no end, but a warning that says why.
            if event.kind == "warning" and (now := self.run(run)).is_stopped:
                return now
        return self.run(run)

    def records(self, run: str, **filters: QueryValue) -> Iterator[Prediction]:
        """The records of a run; filters are `status`, `passed`, `check`, `tag`, `label`, `q`,
        `record_id` and `sort`."""
        request = HttpRequest(path=path_of("runs", run, "records"), query=filters)
        return pages(self.transport, request, Prediction)

    def record(self, run: str, index: int, *, repeat: int = 0) -> RemoteRecord:
        """One record, with why it failed and what judges were asked."""
        request = HttpRequest(
            path=path_of("runs", run, "records", index), query={"repeat": repeat}
        )
        return self.transport.json(request, RemoteRecord)

    def attempts(self, run: str, index: int, *, repeat: int | None = None) -> Iterator[Attempt]:
        """Every call for a record, of one repeat or of all."""
        path = path_of("runs", run, "records", index, "attempts")
        return pages(self.transport, HttpRequest(path=path, query={"repeat": repeat}), Attempt)

    def failures(self, run: str, **filters: QueryValue) -> Iterator[Failure]:
        """Why records have no score; filters are `record_id`, `status` and `label`."""
        request = HttpRequest(path=path_of("runs", run, "failures"), query=filters)
        return pages(self.transport, request, Failure)

    def metrics(self, run: str) -> Metrics:
        """The numbers of a finished run."""
        return self.transport.json(HttpRequest(path=path_of("runs", run, "metrics")), Metrics)

    def slices(self, run: str) -> tuple[Slice, ...]:
        """The numbers of a finished run by slice."""
        request = HttpRequest(path=path_of("runs", run, "slices"))
        return tuple(pages(self.transport, request, Slice))

    def artifacts(self, run: str) -> tuple[RemoteArtifact, ...]:
        """The files of a finished run, with size and hash."""
        return list_artifacts(self.transport, run)

    def download(self, run: str, folder: str | Path) -> Download:
        """Fetch the files of a finished run into a folder; each is checked against the manifest.

        What is there already is not fetched again.
        """
        return download(self.transport, self.run(run).run_id, Path(folder))

    def manifest(self, run: str) -> Manifest:
        """What was run, how, and the hash of every file."""
        path = path_of("runs", run, "artifacts", "run_manifest.json")
        return read_manifest(self.transport.bytes(HttpRequest(path=path)))

    def cancel(self, run: str) -> RemoteChange:
        """Stop a run; what it has is kept."""
        return self._changed(run, "cancel")

    def resume(self, run: str) -> RemoteChange:
        """Let a worker go on with an interrupted run."""
        return self._changed(run, "resume")

    def retry(self, run: str) -> RemoteChange:
        """Start a run in which only the failed records are asked again."""
        return self._changed(run, "retry")

    def regrade(self, run: str, *, rubric: str) -> RemoteChange:
        """Start a run that grades the stored answers by another rubric."""
        return self._changed(run, "regrade", json_body({"rubric": rubric}))

    def compare(self, a: str, b: str, *, strict: bool = False) -> Comparison:
        """Whether run B is better than run A, over the records that both have a score for."""
        request = HttpRequest(path=path_of("compare"), query={"a": a, "b": b, "strict": strict})
        return self.transport.json(request, Comparison)

    def group(self, group_id: str) -> Iterator[RemoteRun]:
        """The runs that were started together."""
        return pages(self.transport, HttpRequest(path=path_of("groups", group_id)), RemoteRun)

    def validate(self, content: Content, **settings: QueryValue) -> RemoteReport:
        """The findings of a file of any contract; `name` says how bytes are read."""
        return self.transport.json(file_request("validate", content, settings), RemoteReport)

    @cached_property
    def datasets(self) -> RemoteCatalog:
        """The datasets that the server keeps."""
        return RemoteCatalog(self.transport, "datasets")

    @cached_property
    def rubrics(self) -> RemoteCatalog:
        """Its rubrics."""
        return RemoteCatalog(self.transport, "rubrics")

    @cached_property
    def judges(self) -> RemoteCatalog:
        """Its judges."""
        return RemoteCatalog(self.transport, "judges")

    @cached_property
    def suites(self) -> RemoteSettings:
        """Its suites."""
        return RemoteSettings(self.transport, "suites")

    @cached_property
    def targets(self) -> RemoteSettings:
        """Its targets, without their secrets."""
        return RemoteSettings(self.transport, "targets")

    @cached_property
    def review(self) -> RemoteReview:
        """Its review queues, and the labels of people."""
        return RemoteReview(self.transport)

    def _changed(self, run: str, verb: str, body: SentBody | None = None) -> RemoteChange:
        request = HttpRequest(
            method="POST",
            path=path_of("runs", run, verb),
            headers={IDEMPOTENCY_KEY: str(uuid.uuid4())},
            body=body,
        )
        return self.transport.json(request, RemoteChange)


def _given(settings: Mapping[str, QueryValue]) -> dict[str, QueryValue]:
    return {name: value for name, value in settings.items() if value is not None}
