"""Spans over OTLP/HTTP: both encodings, the protocol's answers, and its errors."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from fakes.trace_sets import batch, hexadecimal, sent_span
from servers.accounts import add_users, key_of
from servers.service import served
from steelyard.api.resources.otlp import MAX_BATCH
from steelyard.project import Project, open_project

if TYPE_CHECKING:
    import httpx

ADDRESS = "/v1/otlp/v1/traces"
JSON, PROTOBUF = "application/json", "application/x-protobuf"


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    with open_project(tmp_path) as made:
        yield made


@pytest.fixture
def client(project: Project) -> Generator[httpx.Client]:
    with served(project) as made:
        yield made


def protobuf(*ids: tuple[int, int]) -> bytes:
    made = ExportTraceServiceRequest()
    group = made.resource_spans.add()
    attribute = group.resource.attributes.add(key="service.name")
    attribute.value.string_value = "desk"
    scope = group.scope_spans.add()
    for trace, number in ids:
        span = scope.spans.add(
            trace_id=bytes.fromhex(hexadecimal(trace, 32)),
            span_id=bytes.fromhex(hexadecimal(number, 16)),
            start_time_unix_nano=10**18,
            end_time_unix_nano=10**18 + 10**6,
        )
        for key, text in (("gen_ai.prompt", "Why?"), ("gen_ai.request.model", "m-1")):
            span.attributes.add(key=key).value.string_value = text
    return made.SerializeToString()


def send(client: httpx.Client, body: bytes, media: str = PROTOBUF, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(ADDRESS, content=body, headers={"content-type": media, **named})


def spans(client: httpx.Client) -> dict[str, int]:
    return {one["name"]: one["spans"] for one in client.get("/v1/trace-sets").json()["data"]}


def test_protobuf_is_answered_with_protobuf(client: httpx.Client) -> None:
    for _ in range(2):
        answer = send(client, protobuf((1, 1), (1, 2), (2, 1)), x_request_id="mine")

        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-type"] == PROTOBUF
        assert answer.headers["x-request-id"] == "mine"
    assert spans(client) == {"desk": 3}


def test_json_is_answered_with_json(client: httpx.Client) -> None:
    body = json.dumps(batch(sent_span(1, 1), sent_span(1, 2))).encode()
    for _ in range(2):
        answer = send(client, body, "application/json; charset=utf-8")

        assert (answer.status_code, answer.json()) == (200, {})
        assert answer.headers["content-type"] == JSON
    assert spans(client) == {"desk": 2}


def test_a_header_names_the_set(client: httpx.Client) -> None:
    send(client, protobuf((1, 1)), x_steelyard_trace_set="mine")
    wrong = send(client, protobuf((1, 1)), x_steelyard_trace_set="a b")

    assert spans(client) == {"mine": 1}
    assert wrong.status_code == 400
    assert "a trace set is called by" in Status.FromString(wrong.content).message


def test_spans_that_cannot_be_stored_are_a_partial_success(client: httpx.Client) -> None:
    answer = send(client, protobuf((1, 1), (0, 1), (1, 0)))
    read = ExportTraceServiceResponse.FromString(answer.content).partial_success
    body = json.dumps(batch(sent_span(1, 2), sent_span(1, 1, trace="x"))).encode()

    assert (answer.status_code, read.rejected_spans) == (200, 2)
    assert "a trace id has 32 hexadecimal digits" in read.error_message
    assert send(client, body, JSON).json()["partialSuccess"]["rejectedSpans"] == "1"
    assert spans(client) == {"desk": 2}


@pytest.mark.parametrize("media", [JSON, PROTOBUF])
def test_a_compressed_batch_is_unpacked(client: httpx.Client, media: str) -> None:
    plain = protobuf((1, 1)) if media == PROTOBUF else json.dumps(batch(sent_span(1, 1))).encode()
    answer = send(client, gzip.compress(plain, mtime=0), media, content_encoding="gzip")

    assert answer.status_code == 200
    assert spans(client) == {"desk": 1}


def test_a_small_body_that_unpacks_to_a_large_one_is_refused(client: httpx.Client) -> None:
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    bomb = b"".join(packer.compress(b"\x00" * 2**20) for _ in range(100)) + packer.flush()
    answer = send(client, bomb, content_encoding="gzip")
    plain = send(client, b"x" * (MAX_BATCH + 1))

    assert len(bomb) < 200_000
    assert (answer.status_code, plain.status_code) == (413, 413)
    assert Status.FromString(answer.content).code == 8


@pytest.mark.parametrize(
    ("body", "media", "encoding"),
    [
        (b"\x0a\x05abc", PROTOBUF, "identity"),
        (b"{", JSON, "identity"),
        (b'{"resourceSpans": 5}', JSON, "identity"),
        (b"{}", PROTOBUF, "identity"),
        (b"not gzip", PROTOBUF, "gzip"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-9], JSON, "gzip"),
        (b"", PROTOBUF, "gzip"),
        (b"", PROTOBUF, "br"),
        (b"{}", "text/plain", "identity"),
        (b"{}", "", "identity"),
    ],
)
def test_a_malformed_batch_is_refused_in_the_form_of_the_protocol(
    client: httpx.Client, body: bytes, media: str, encoding: str
) -> None:
    answer = send(client, body, media, content_encoding=encoding)

    assert answer.status_code == 400
    if media == PROTOBUF:
        assert answer.headers["content-type"] == PROTOBUF
        status = Status.FromString(answer.content)
        assert status.code == 3
        assert status.message
    else:
        assert answer.headers["content-type"] == JSON
        assert answer.json().keys() == {"code", "message"}
        assert answer.json()["code"] == 3
    assert spans(client) == {}


def test_who_may_not_send_is_told_so_in_the_form_of_the_protocol(project: Project) -> None:
    add_users(project)
    public = "https://evals.example.org"
    with served(project, has_login=True, public_url=public, requests_per_minute=3) as client:
        keys = {role: key_of(project, role) for role in ("viewer", "editor")}
        unknown = send(client, protobuf((1, 1)))
        viewer = send(client, protobuf((1, 1)), **keys["viewer"])
        taken = [send(client, protobuf((1, 1)), **keys["editor"]) for _ in range(4)]

    assert (unknown.status_code, Status.FromString(unknown.content).code) == (401, 16)
    assert (viewer.status_code, Status.FromString(viewer.content).code) == (403, 7)
    assert [one.status_code for one in taken] == [200, 200, 200, 429]
    assert int(taken[-1].headers["retry-after"]) >= 1
    assert Status.FromString(taken[-1].content).code == 8


@pytest.mark.parametrize("headers", [{"host": "other.example.org"}, {"via": "1.1 proxy"}])
def test_a_request_that_is_refused_before_it_is_routed_has_the_same_form(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    answer = send(client, protobuf((1, 1)), **headers)

    assert (answer.status_code, answer.headers["content-type"]) == (403, PROTOBUF)
    assert Status.FromString(answer.content).code == 7
    assert "x-request-id" in answer.headers


def test_a_store_that_is_away_is_tried_again_later(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    with open_project(root) as project, served(project) as client:
        send(client, protobuf((1, 1)))
        project.store.engine.dispose()
        for path in (root / ".steelyard").glob("steelyard.db*"):
            path.unlink()
        (root / ".steelyard" / "steelyard.db").write_bytes(b"this is no database" * 1000)
        answer = send(client, protobuf((2, 1)))

    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert Status.FromString(answer.content).code == 14
