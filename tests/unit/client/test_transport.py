"""A client is told clearly what is wrong, whatever answers at the address."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import steelyard
from servers.hostile import Script, hang_up, hostile, replied, sent
from servers.in_thread import in_thread
from servers.scripted_bytes import scripted
from steelyard.client.address import parse_address
from steelyard.client.proxies import find_proxy
from steelyard.client.remote import RemoteChange
from steelyard.client.sent_body import file_body
from steelyard.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    RequestError,
    ServerUnreachableError,
    SourceError,
    SteelyardError,
    TooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)

TLS = Path(__file__).parents[2] / "servers" / "tls"
RUN = json.dumps({"run_id": "run_1", "status": "running", "created_at": "2026-01-01"}).encode()
ME = json.dumps({"actor": "ada", "role": "viewer", "request_id": "r"}).encode()
STARTED = json.dumps({"run_id": "run_1", "status": "accepted", "request_id": "r"}).encode()


def envelope(message: str, code: str = "conflict", **more: Any) -> bytes:
    error = {"code": code, "message": message, **more}
    return json.dumps({"error": error, "request_id": "req-7"}).encode()


def endless(connected: socket.socket) -> None:
    while True:
        connected.sendall(b"x" * 65536)


def stall(_connected: socket.socket) -> None:
    time.sleep(3)


def drip(connected: socket.socket) -> None:
    while True:
        connected.sendall(b"a")
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("400 Bad Request", InvalidError),
        ("401 Unauthorized", UnauthorizedError),
        ("403 Forbidden", ForbiddenError),
        ("404 Not Found", NotFoundError),
        ("405 Method Not Allowed", InvalidError),
        ("409 Conflict", ConflictError),
        ("410 Gone", GoneError),
        ("413 Content Too Large", TooLargeError),
        ("416 Range Not Satisfiable", InvalidError),
        ("429 Too Many Requests", TooManyRequestsError),
        ("500 Internal Server Error", UnavailableError),
        ("503 Service Unavailable", UnavailableError),
    ],
)
def test_an_error_of_the_server_is_the_same_exception(
    status: str, kind: type[SteelyardError]
) -> None:
    body = envelope("it is so", details={"index": 3})
    with hostile(replied(body, status)) as server, pytest.raises(kind) as raised:
        steelyard.Client(server.url, retries=0).run("latest")

    assert str(raised.value) == "it is so (request req-7)"
    assert raised.value.details == {"index": 3}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (replied(b"<html>Welcome</html>", kind="text/html"), r"text/html: <html>Welcome</html>"),
        (replied(b"{}"), "missing required field `run_id`"),
        (replied(b"[1"), "its JSON is not what was expected"),
        (replied(b"\xff\xfe"), "its JSON is not what was expected"),
        (replied(b"[" * 100_000), "its JSON is not what was expected"),
        (replied(b"no", "418 I'm a teapot", "text/plain"), "HTTP 418: no"),
        (replied(b"{}", "404 Not Found"), "HTTP 404"),
        (replied(b"", "304 Not Modified"), "redirects to elsewhere"),
        (replied(RUN, head="content-encoding: gzip\r\n"), "compressed"),
    ],
)
def test_what_is_no_steelyard_server_is_named(script: Script, message: str) -> None:
    with hostile(script) as server, pytest.raises(InvalidError, match=message):
        steelyard.Client(server.url).run("latest")


@pytest.mark.parametrize(
    "script",
    [
        hang_up,
        sent(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", then=hang_up),
        sent(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", then=hang_up),
        sent(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab", then=hang_up),
        sent(b"HTTP/1.1 200 OK\r\nx: ", b"y" * 100_000, then=hang_up),
        sent(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 1000, then=hang_up),
        sent(b"HTTP/1.1 abc OK\r\n\r\n", then=hang_up),
        sent(b"SSH-2.0-OpenSSH_9.6\r\n", then=hang_up),
        sent(b"\x00" * 1000, then=hang_up),
        sent(then=drip),
        sent(b"HTTP/1.1 200 OK\r\nx: ", then=drip),
        sent(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", then=drip),
        stall,
    ],
)
def test_a_broken_answer_is_a_connection_that_failed(script: Script) -> None:
    began = time.monotonic()
    with hostile(script) as server, pytest.raises(ServerUnreachableError, match="connection to"):
        steelyard.Client(server.url, retries=0, timeout_s=0.4).run("latest")

    assert time.monotonic() - began < 2


def test_an_endless_answer_is_refused_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steelyard.client.transport.MAX_JSON", 4 << 20)
    monkeypatch.setattr("steelyard.client.answers.MAX_JSON", 4 << 20)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    with hostile(sent(head, then=endless)) as server:
        tracemalloc.start()
        with pytest.raises(InvalidError, match="larger than 4 MB"):
            steelyard.Client(server.url).run("latest")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert peak < 16 << 20


def test_a_redirect_is_not_followed_and_the_key_stays() -> None:
    with hostile(replied(ME)) as other:
        moved = replied(b"", "302 Found", head=f"location: {other.url}/v1/me\r\n")
        with (
            hostile(moved) as server,
            pytest.raises(InvalidError, match=f"redirects to {other.url}/v1/me"),
        ):
            steelyard.Client(server.url, key="sy_secret").me()

        assert other.connections == 0


def test_the_key_is_sent_and_appears_in_no_message() -> None:
    refusal = replied(envelope("no key sy_secret", "unauthorized"), "401 Unauthorized")
    with hostile(refusal) as server:
        client = steelyard.Client(server.url, key="sy_secret")
        with pytest.raises(UnauthorizedError) as raised:
            client.me()

        assert server.heads("authorization") == ["Bearer sy_secret"]
    assert "sy_secret" not in f"{raised.value} {client!r} {raised.value!r}"


def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile(replied(ME)) as server:
        monkeypatch.setenv("STEELYARD_SERVER", f"{server.url}/team/")
        monkeypatch.setenv("STEELYARD_KEY", "sy_other")
        me = steelyard.Client().me()

        assert me.actor == "ada"
        assert server.requests[0].startswith(b"GET /team/v1/me HTTP/1.1\r\n")
        assert server.heads("authorization") == ["Bearer sy_other"]
        assert len(server.heads("x-request-id")[0]) == 36


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "no server"),
        ("localhost:8765", "it needs a scheme"),
        ("ftp://example.org", "it needs a scheme"),
        ("http://", "it needs a scheme"),
        ("http://ada:secret@example.org", "holds no user"),
        ("http://example.org?x=1", "no query"),
        ("http://example.org:99999", "no URL"),
        ("http://[::1", "no URL"),
    ],
)
def test_a_wrong_address_is_refused_at_once(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STEELYARD_SERVER", raising=False)
    with pytest.raises(InvalidError, match=message) as raised:
        steelyard.Client(url)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ключ", "x\x00"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidError, match="characters that no key has") as raised:
        steelyard.Client("http://example.org", key=key)

    assert key not in str(raised.value)


@pytest.mark.parametrize("name", ["", ".", "..", "half \ud800"])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidError, match="is no name"):
        steelyard.Client("http://example.org").run(name)


def test_names_are_encoded() -> None:
    with hostile(replied(RUN)) as server:
        steelyard.Client(server.url).run("../a b/ü?#")

        assert server.requests[0].startswith(b"GET /v1/runs/..%2Fa%20b%2F%C3%BC%3F%23 HTTP")


def test_a_connection_is_used_again() -> None:
    with hostile(replied(ME)) as server:
        with steelyard.Client(server.url) as client:
            for _ in range(5):
                client.me()

        assert (server.connections, len(server.requests)) == (1, 5)


def test_threads_share_a_client() -> None:
    with hostile(replied(ME)) as server, steelyard.Client(server.url) as client:
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda: found.append(client.me().actor)) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert found == ["ada"] * 20


@pytest.mark.parametrize(
    "first",
    [
        hang_up,
        replied(envelope("busy"), "503 Service Unavailable"),
        replied(b"<html>", "502 Bad Gateway", "text/html"),
        replied(envelope("soon"), "429 Too Many Requests", head="retry-after: 0\r\n"),
        sent(b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{", then=hang_up),
    ],
)
def test_a_safe_request_is_tried_again(first: Script) -> None:
    with hostile(first, replied(ME)) as server:
        assert steelyard.Client(server.url).me().actor == "ada"


def test_a_started_run_is_repeated_under_its_own_key() -> None:
    with hostile(hang_up, replied(STARTED, "202 Accepted")) as server:
        steelyard.Client(server.url).start_run({"records": []}, target="echo", strict=True)

        first, second = server.heads("idempotency-key")
        assert first == second
        assert server.requests[1].startswith(b"POST /v1/runs?target=echo&strict=true HTTP")
        assert server.requests[1].endswith(b'\r\n\r\n{"records":[]}')


@pytest.mark.parametrize("first", [hang_up, replied(envelope("busy"), "503 Service Unavailable")])
def test_what_may_have_been_done_is_not_repeated(first: Script) -> None:
    with hostile(first, replied(STARTED, "202 Accepted")) as server:
        with pytest.raises(UnavailableError):
            steelyard.Client(server.url).rubrics.publish("polite@1.0.0")

        assert len(server.requests) == 1


def regrade(client: steelyard.Client, run: str) -> RemoteChange:
    return client.regrade(run, rubric="polite@1.0.0")


@pytest.mark.parametrize(
    "change",
    [steelyard.Client.cancel, steelyard.Client.resume, steelyard.Client.retry, regrade],
)
@pytest.mark.parametrize(
    "first",
    [
        hang_up,
        replied(envelope("in progress"), "409 Conflict", head="retry-after: 0\r\n"),
    ],
)
def test_a_change_of_a_run_is_repeated_under_its_own_key(
    change: Callable[[steelyard.Client, str], RemoteChange], first: Script
) -> None:
    with hostile(first, replied(STARTED, "202 Accepted")) as server:
        assert change(steelyard.Client(server.url), "run_1").run_id == "run_1"

        keys = server.heads("idempotency-key")
        assert len(keys) == 2
        assert len({*keys}) == 1


def test_a_conflict_is_not_tried_again() -> None:
    with hostile(replied(envelope("finished"), "409 Conflict")) as server:
        with pytest.raises(ConflictError):
            steelyard.Client(server.url).cancel("run_1")

        assert len(server.requests) == 1


def test_a_change_that_comes_too_soon_is_repeated() -> None:
    soon = replied(envelope("soon"), "429 Too Many Requests", head="retry-after: 0\r\n")
    with hostile(soon, replied(STARTED, "202 Accepted")) as server:
        assert steelyard.Client(server.url).cancel("run_1").run_id == "run_1"


def test_a_server_that_asks_for_a_long_wait_is_not_waited_for() -> None:
    late = replied(envelope("later"), "429 Too Many Requests", head="retry-after: 3600\r\n")
    with hostile(late) as server, pytest.raises(TooManyRequestsError) as raised:
        steelyard.Client(server.url).me()

    assert raised.value.retry_after_s == 3600


def test_the_number_of_tries_is_limited() -> None:
    with hostile(hang_up) as server:
        with pytest.raises(ServerUnreachableError):
            steelyard.Client(server.url, retries=2).me()

        assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(
        ServerUnreachableError,
        match=f"cannot connect to http://127.0.0.1:{port}: Connection refused",
    ):
        steelyard.Client(f"http://127.0.0.1:{port}", retries=0).me()


def test_an_unknown_host_is_not_asked_again() -> None:
    began = time.monotonic()
    with pytest.raises(ServerUnreachableError, match=r"cannot connect to http://nowhere\.invalid"):
        steelyard.Client("http://nowhere.invalid", retries=9).me()

    assert time.monotonic() - began < 5


def test_a_refusal_of_a_large_upload_is_read_though_the_server_reads_no_further(
    tmp_path: Path,
) -> None:
    body = envelope("more than 100 MB", "payload_too_large")
    refusal = replied(body, "413 Content Too Large", head="connection: close\r\n")

    def refuse(listener: socket.socket) -> None:
        connected, _ = listener.accept()
        with connected:
            connected.recv(65536)
            refusal(connected)
            connected.shutdown(socket.SHUT_WR)
            while connected.recv(1 << 20):
                pass

    path = tmp_path / "large.json"
    path.write_bytes(b" " * (8 << 20))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=refuse, args=(listener,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(TooLargeError, match="more than 100 MB"):
            steelyard.Client(url).start_run(path)


def test_a_file_is_never_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b"[]" * (16 << 20))
    tracemalloc.start()
    sizes = [len(block) for block in file_body(path).blocks(65536)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (max(sizes), sum(sizes)) == (65536, 32 << 20)
    assert peak < 2 << 20


def test_a_file_arrives_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(b'{"records": []}' * 20_000)
    with hostile(replied(STARTED, "202 Accepted")) as server:
        steelyard.Client(server.url).start_run(path)

        assert server.requests[0].partition(b"\r\n\r\n")[2] == path.read_bytes()


def test_a_file_that_shrinks_while_it_is_sent_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(b"[]" * 100)
    body = file_body(path)
    path.write_bytes(b"[]")
    with pytest.raises(SourceError, match="shorter"):
        list(body.blocks(64))


@pytest.mark.parametrize(
    ("content", "error"),
    [("no/such/file.json", NotFoundError), ({"x": object()}, InvalidError)],
)
def test_what_cannot_be_sent_is_refused_before_anything_is_sent(
    content: Any, error: type[SteelyardError]
) -> None:
    with hostile(replied(STARTED)) as server:
        with pytest.raises(error):
            steelyard.Client(server.url).start_run(content)

        assert server.connections == 0


@pytest.fixture
def secure() -> Iterator[str]:
    """The address of a server with a certificate that no machine trusts."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(ME)}\r\n\r\n"
    with in_thread(scripted([head.encode() + ME], tls=tls)) as server:
        yield server.url


def test_a_certificate_is_checked(secure: str) -> None:
    with pytest.raises(ServerUnreachableError, match="certificate verify failed"):
        steelyard.Client(secure).me()


def test_a_certificate_of_ones_own_is_trusted(secure: str) -> None:
    assert steelyard.Client(secure, ca_file=TLS / "certificate.pem").me().actor == "ada"


@pytest.mark.parametrize(
    ("url", "ca_file", "message"),
    [
        ("http://localhost", TLS / "certificate.pem", "is not https"),
        ("https://localhost", TLS / "none.pem", "cannot be read"),
        ("https://localhost", Path(__file__), "holds no PEM certificate"),
    ],
)
def test_a_wrong_ca_file_is_refused_at_once(url: str, ca_file: Path, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        steelyard.Client(url, ca_file=ca_file)


def test_a_proxy_is_asked_with_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile(replied(ME)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("http://", "http://ada:se%20cret@"))
        steelyard.Client("http://example.org/team").me()

        assert proxy.requests[0].startswith(b"GET http://example.org/team/v1/me HTTP/1.1\r\n")
        assert proxy.heads("host") == ["example.org"]
        assert proxy.heads("proxy-authorization") == ["Basic YWRhOnNlIGNyZXQ="]


def test_a_proxy_leads_to_a_secure_server_without_seeing_the_key() -> None:
    with hostile(replied(b"no", "403 Forbidden", "text/plain")) as proxy:
        client = steelyard.Client(
            "https://example.org", key="sy_secret", proxy=proxy.url, retries=0
        )
        with pytest.raises(ServerUnreachableError, match="403"):
            client.me()

        assert proxy.requests[0].startswith(b"CONNECT example.org:443 HTTP/1.")
        assert proxy.heads("authorization") == []


@pytest.mark.parametrize(
    ("no_proxy", "is_asked"),
    [("", True), ("other.org", True), ("example.org", False), (".org", False), ("*", False)],
)
def test_no_proxy_exempts_hosts(no_proxy: str, is_asked: bool) -> None:
    environ = {"http_proxy": "http://proxy:3128", "no_proxy": no_proxy}
    found = find_proxy(parse_address("http://example.org"), None, environ)

    assert bool(found) is is_asked


@pytest.mark.parametrize(
    "proxy", ["https://proxy:1", "socks5://u:secret@h", "http://", "http://[x"]
)
def test_a_wrong_proxy_is_refused_and_not_shown(proxy: str) -> None:
    with pytest.raises(InvalidError, match="http://host:port") as raised:
        steelyard.Client("http://example.org", proxy=proxy)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "address", ["http://me:hid/den@example.org", "me:hidden@example.org", "ftp://me:hid@den.org"]
)
def test_an_address_that_may_hold_a_password_is_not_repeated(address: str) -> None:
    with pytest.raises(InvalidError, match=r"^what was given is no address") as refused:
        parse_address(address)

    assert "me" not in str(refused.value).split("; write")[0].replace("scheme", "")
