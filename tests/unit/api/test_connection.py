"""What a connection takes before an operation sees it: sizes, times, and only valid HTTP."""

from __future__ import annotations

import gzip
import time
from collections.abc import Generator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from servers.raw_http import answers, connected, exchange, read_all
from servers.service import running
from steelyard.api.serving import TransportLimits
from steelyard.project import open_project

LIMITS = TransportLimits(
    max_connections=8,
    head_s=1,
    idle_body_s=1,
    min_body_rate=1000,
    lingering_s=1,
    keep_alive_s=1,
    grace_s=2,
)
CLOSE = b"Connection: close\r\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with short limits."""
    with (
        open_project(tmp_path_factory.mktemp("project")) as project,
        running(project, limits=LIMITS) as address,
    ):
        yield address


def request(url: str, head: bytes = CLOSE, target: str = "/healthz", body: bytes = b"") -> bytes:
    """A request with one Host header."""
    line = f"GET {target} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n".encode()
    return line + head + b"\r\n" + body


def test_a_valid_request_is_answered(url: str) -> None:
    (answer,) = exchange(url, request(url))

    assert answer.status == 200


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 4\r\nContent-Length: 5\r\n",
        b"Content-Length: 4\r\nContent-Length: 4\r\n",
        b"Content-Length: 4, 4\r\n",
        b"Content-Length: +4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"X-Folded: a\r\n b\r\n",
        b"X-Nul: a\x00b\r\n",
        b"X-Cr: a\rb\r\n",
        b"No colon\r\n",
        b": no name\r\n",
        b"Host: localhost\r\n",
    ],
    ids=repr,
)
def test_an_ambiguous_request_is_refused_and_what_follows_it_is_never_served(
    url: str, head: bytes
) -> None:
    found = exchange(url, request(url, head, body=b"abcd" + request(url)))

    assert [answer.status for answer in found] == [400]
    assert found[0].json()["error"]["code"] == "invalid_request"
    assert found[0].json()["request_id"] == found[0].headers["x-request-id"]
    assert "content-security-policy" in found[0].headers


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.0\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
        (b"GET /healthz HTTP/1.1\r\nHost: LOCALHOST:1\r\nConnection: close\r\n\r\n", 200),
        (b"GET /healthz HTTP/1.1\r\nHost: [::1]:99\r\nConnection: close\r\n\r\n", 200),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost.\r\nConnection: close\r\n\r\n", 403),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost:1x\r\nConnection: close\r\n\r\n", 403),
        (b"GET /healthz HTTP/1.1\r\nHost: a@localhost\r\nConnection: close\r\n\r\n", 403),
        (b"GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 403),
        (b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 403),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost, evil\r\nConnection: close\r\n\r\n", 403),
        (b"GET http://localhost/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
        (b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (b"BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ],
    ids=repr,
)
def test_the_first_line_and_the_host_decide(url: str, data: bytes, status: int) -> None:
    found = exchange(url, data)

    assert [answer.status for answer in found] == [status]


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (b"X-Long: " + b"a" * 70_000 + b"\r\n", "/healthz"),
        (b"X-Many: 1\r\n" * 100, "/healthz"),
        (b"X-Long: " + b"a" * 3_000_000, "/healthz"),
        (b"", "/" + "a" * 17_000),
    ],
    ids=["bytes", "count", "endless", "address"],
)
def test_the_head_of_a_request_is_bounded(url: str, head: bytes, target: str) -> None:
    with connected(url) as client:
        try:
            client.sendall(request(url, head, target))
        except ConnectionError:  # refused before all of it was sent
            return
        found = answers(read_all(client))

    assert [answer.status for answer in found] in ([400], [])


def test_pipelined_requests_are_answered_in_order(url: str) -> None:
    data = request(url, b"X-Request-Id: a\r\n") + request(url, b"X-Request-Id: b\r\n")

    found = exchange(url, data + request(url, b"X-Request-Id: c\r\n" + CLOSE))

    assert [answer.headers["x-request-id"] for answer in found] == ["a", "b", "c"]


def test_an_invalid_pipelined_request_leaves_the_answer_before_it_whole(url: str) -> None:
    found = exchange(url, request(url, b"") + b"nonsense\r\n\r\n")

    assert [answer.status for answer in found] == [200]


def test_a_flood_of_pipelined_requests_is_cut_off(url: str) -> None:
    found = exchange(url, request(url, b"") * 2000)

    assert 0 < len(found) < 100


def test_a_trailer_is_no_header(url: str) -> None:
    head = b"Transfer-Encoding: chunked\r\nTrailer: X-Request-Id\r\n" + CLOSE
    body = b"1\r\na\r\n0\r\nX-Request-Id: smuggled\r\n\r\n"

    (answer,) = exchange(url, request(url, head, body=body))

    assert answer.headers["x-request-id"] != "smuggled"


def test_a_request_for_an_upgrade_is_served_without_it(url: str) -> None:
    head = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"

    found = exchange(url, request(url, head) + request(url))

    assert [answer.status for answer in found] == [200]


def test_a_body_where_none_is_expected_is_dropped(url: str) -> None:
    head, target = b"Content-Length: 7\r\n", "/v1/runs?limit=1"

    found = exchange(url, request(url, head, target, b"ignored") + request(url))

    assert [answer.status for answer in found] == [200, 200]


def upload(url: str, head: bytes, body: bytes = b"", path: str = "/v1/validate") -> bytes:
    """A request with a body that is read."""
    line = f"POST {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n".encode()
    return line + b"Content-Type: application/json\r\n" + head + b"\r\n" + body


@pytest.mark.parametrize("path", ["/v1/validate", "/v1/runs?target=echo", "/v1/rubrics"])
@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"br", b"identity, gzip"])
def test_a_compressed_body_is_refused(url: str, path: str, coding: bytes) -> None:
    bomb = gzip.compress(b" " * 1_000_000, mtime=0)
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n" % (coding, len(bomb))

    (answer,) = exchange(url, upload(url, head + CLOSE, bomb, path))

    assert answer.status == 400
    assert answer.json()["error"]["code"] == "invalid_request"


def test_a_body_that_pauses_too_long_is_refused(url: str) -> None:
    (answer,) = exchange(url, upload(url, b"Content-Length: 100\r\n", b"{"))

    assert answer.status == 408
    assert "body" in answer.json()["error"]["message"]


def test_a_body_that_drips_is_refused(url: str) -> None:
    with connected(url) as client:
        client.sendall(upload(url, b"Content-Length: 100000\r\n"))
        with suppress(ConnectionError):
            for _ in range(100):
                client.sendall(b" ")
                time.sleep(0.05)
        found = answers(read_all(client))

    assert [answer.status for answer in found] in ([408], [])


def test_a_body_in_good_time_is_taken_however_it_is_split(url: str) -> None:
    body = b'{"dataset_id": "a"}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"

    (answer,) = exchange(url, upload(url, b"Transfer-Encoding: chunked\r\n" + CLOSE, chunks))

    assert answer.status == 200


@pytest.mark.parametrize(
    "body", [b"zz\r\n", b"5\r\nabcdefgh\r\n0\r\n\r\n", b"-1\r\n", b"fffffffffffffffff\r\n"]
)
def test_invalid_chunks_are_refused(url: str, body: bytes) -> None:
    found = exchange(
        url, upload(url, b"Transfer-Encoding: chunked\r\n", body + upload(url, CLOSE))
    )

    assert [answer.status for answer in found] == [400]


@pytest.mark.parametrize("begun", [b"", b"4;", b"1\r\na\r\n4;x="])
def test_an_extension_of_a_chunk_is_bounded(url: str, begun: bytes) -> None:
    sent = 0
    with connected(url) as client:
        client.sendall(upload(url, b"Transfer-Encoding: chunked\r\n", begun or b"4;"))
        with suppress(ConnectionError):
            for _ in range(64):  # 16 MB, of which a fraction is taken
                client.sendall(b"x" * 262_144)
                sent += 1
        found = answers(read_all(client))

    assert sent < 64
    assert [answer.status for answer in found] in ([400], [])


def test_short_extensions_of_chunks_are_taken(url: str) -> None:
    chunks = b"".join(b"1;a=b\r\n%c\r\n" % byte for byte in b'{"dataset_id": "a"}' + b" " * 50_000)

    (answer,) = exchange(
        url, upload(url, b"Transfer-Encoding: chunked\r\n" + CLOSE, chunks + b"0\r\n\r\n")
    )

    assert answer.status == 200


def test_a_client_that_waits_for_leave_to_send_gets_it(url: str) -> None:
    with connected(url) as client:
        head = b"Expect: 100-continue\r\nContent-Length: 2\r\n" + CLOSE
        client.sendall(upload(url, head))
        leave = client.recv(1000)
        client.sendall(b"{}")
        (answer,) = answers(read_all(client))

    assert leave.startswith(b"HTTP/1.1 100")
    assert answer.status == 200


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTT", b"\r\n"], ids=repr)
def test_a_head_that_does_not_arrive_in_time_ends_the_connection(url: str, sent: bytes) -> None:
    began = time.monotonic()

    (answer,) = exchange(url, sent)

    assert answer.status == 408
    assert answer.json()["error"]["code"] == "timeout"
    assert time.monotonic() - began < 4


def test_a_head_that_drips_ends_the_connection(url: str) -> None:
    began = time.monotonic()
    with connected(url) as client, suppress(ConnectionError):
        for byte in request(url) * 10:
            client.sendall(bytes([byte]))
            time.sleep(0.05)

    assert time.monotonic() - began < 5


def test_an_idle_connection_is_closed(url: str) -> None:
    found = exchange(url, request(url, b""))

    assert [answer.status for answer in found] == [200]


def test_a_body_that_is_never_sent_does_not_keep_the_connection(url: str) -> None:
    head = b"Content-Type: application/json\r\nContent-Length: 100\r\n"
    began = time.monotonic()

    found = exchange(url, request(url, head))

    assert [answer.status for answer in found] == [200]
    assert time.monotonic() - began < 5


def test_more_connections_than_allowed_are_refused(url: str) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(url)) for _ in range(LIMITS.max_connections + 1)]
        last = answers(read_all(clients[-1]))

    assert [answer.status for answer in last] == [503]
    assert last[0].json()["error"]["code"] == "service_unavailable"


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [(b"", False), (b"X-Request-Id: mine-1\r\n", True), (b"X-Request-Id: <>\r\n", False)],
)
def test_a_refused_request_is_logged_with_the_id_of_its_answer(
    url: str, sent: bytes, is_kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING", "steelyard.connection"):
        (answer,) = exchange(url, request(url, sent + b"Host: localhost\r\n"))

    (logged,) = (one for one in caplog.records if one.name == "steelyard.connection")
    assert vars(logged)["request_id"] == answer.json()["request_id"]
    assert (answer.json()["request_id"] == "mine-1") == is_kept
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


def test_a_refused_request_does_not_have_the_id_of_the_one_before_it(url: str) -> None:
    with connected(url) as client:
        client.sendall(request(url, b"X-Request-Id: first\r\n"))
        first = client.recv(10_000)
        client.sendall(b"\x00nonsense\r\n\r\n")
        (second,) = answers(read_all(client))

    assert b"x-request-id: first" in first
    assert second.status == 400
    assert second.headers["x-request-id"] != "first"


def test_a_body_that_came_too_slowly_is_refused_with_the_id_that_was_sent(url: str) -> None:
    head = b"X-Request-Id: slow\r\nContent-Length: 100\r\n"
    (answer,) = exchange(url, upload(url, head, b"{"))

    assert (answer.status, answer.headers["x-request-id"]) == (408, "slow")
