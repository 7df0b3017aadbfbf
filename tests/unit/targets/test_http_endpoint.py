"""One endpoint over connections that stay open: framing, reuse, endings, deadlines, TLS."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from servers.scripted_bytes import Scripted, scripted
from steelyard.errors import ConnectionLostError, TargetError
from steelyard.targets.http_endpoint import MAX_BODY, HttpEndpoint, HttpReply

TLS = Path(__file__).parents[2] / "servers" / "tls"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
Made = TypeVar("Made")


def sized(body: bytes = b"yes", more: bytes = b"") -> bytes:
    """An answer with its length."""
    return b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (more, len(body), body)


def talk(
    answers: Sequence[Sequence[bytes]],
    ask: Callable[[HttpEndpoint, Scripted], Awaitable[Made]],
    *,
    timeout_s: float = 5.0,
    method: str = "POST",
    path: str = "/v1/chat",
    headers: dict[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> tuple[Made, Scripted]:
    """What comes of asking a server with such answers."""

    async def main() -> tuple[Made, Scripted]:
        async with scripted(*answers, tls=tls) as server:
            endpoint = HttpEndpoint(server.url + path, headers or {}, timeout_s, method=method)
            try:
                return await ask(endpoint, server), server
            finally:
                await endpoint.close()

    return asyncio.run(main())


async def once(endpoint: HttpEndpoint, _server: Scripted) -> HttpReply:
    return await endpoint.send(b"{}")


@pytest.mark.parametrize(
    "pieces",
    [
        [sized()],
        [b"HTTP/1.1 200 OK\r\nContent-", b"Length: 3\r\n\r\ny", b"es"],
        [CHUNKED + b"2\r\nye\r\n", b"1\r\ns\r\n0\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n\r\n", b"ye", b"s", b""],
        [b"HTTP/1.0 200 OK\r\n\r\nyes", b""],
        [b"HTTP/1.1 100 Continue\r\n\r\n", sized()],
        [b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + sized()],
        [sized() + b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nX"],
        [sized() + b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nX"],
        [sized() + b"not HTTP"],
        [sized(more=b"upgrade: h2c\r\nconnection: upgrade\r\n")],
    ],
    ids=[
        *("whole", "pieces", "chunked", "until the end", "old", "100", "103", "one too many"),
        *("half of one too many", "something too many", "an offer of another protocol"),
    ],
)
def test_an_answer_is_read_however_it_is_framed(
    pieces: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    reply, _ = talk([pieces], once)

    assert (reply.status, reply.data) == (200, b"yes")
    assert "Fatal error" not in caplog.text


def test_headers_are_found_by_small_letters() -> None:
    reply, _ = talk([[sized(more=b"Retry-AFTER: 7\r\nX-Name: \xc3\xa9\xff\r\n")]], once)

    assert (reply.headers["retry-after"], reply.headers["x-name"]) == ("7", "é\ufffd")


def test_the_request_is_whole_and_its_framing_is_ours() -> None:
    headers = {"x-a": "1", "content-length": "99", "connection": "close", "host": "elsewhere"}
    _, server = talk([[sized()]], once, headers=headers)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")

    assert head.decode().split("\r\n") == [
        "POST /v1/chat HTTP/1.1",
        "host: elsewhere",
        "user-agent: steelyard",
        "accept: */*",
        "x-a: 1",
        "content-length: 2",
    ]
    assert body == b"{}"


@pytest.mark.parametrize(
    ("method", "body", "query", "line", "sent"),
    [
        ("POST", b"{}", "a=1&b=%20", "POST /v1/chat?a=1&b=%20 HTTP/1.1", b"{}"),
        ("POST", b"", "", "POST /v1/chat HTTP/1.1", b""),
        ("GET", b"", "q=why", "GET /v1/chat?q=why HTTP/1.1", b""),
        ("GET", b"", "", "GET /v1/chat HTTP/1.1", b""),
    ],
)
def test_a_question_may_stand_in_the_address(
    method: str, body: bytes, query: str, line: str, sent: bytes
) -> None:
    async def ask(endpoint: HttpEndpoint, _server: Scripted) -> HttpReply:
        return await endpoint.send(body, query)

    reply, server = talk([[sized()]], ask, method=method)
    head, _, rest = server.requests[0].partition(b"\r\n\r\n")

    assert (reply.data, rest) == (b"yes", sent)
    assert head.decode().split("\r\n")[0] == line
    assert (b"content-length" in head) is (method == "POST")


def test_an_address_without_a_path_has_its_root_asked() -> None:
    _, server = talk([[sized()]], once, path="")

    assert server.requests[0].startswith(b"POST / HTTP/1.1\r\n")


async def twice(endpoint: HttpEndpoint, _server: Scripted) -> list[bytes]:
    replies = [await endpoint.send(b"{}")]
    await asyncio.sleep(0.05)
    replies.append(await endpoint.send(b"{}"))
    return [reply.data for reply in replies]


@pytest.mark.parametrize(
    ("first", "connections"),
    [
        ([sized(b"a")], 1),
        ([sized(b"a", b"connection: close\r\n")], 2),
        ([sized(b"a"), b""], 2),
        ([b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na"], 2),
        ([b"HTTP/1.1 200 OK\r\n\r\na", b""], 2),
        ([sized(b"a"), b"unasked"], 2),
        ([sized(b"a") + b"unasked"], 2),
        ([sized(b"a") + sized(b"unasked")], 2),
        ([sized(b"a") + sized(b"unasked")[:-3]], 2),
        ([sized(b"a") + b"HTTP/1.1 2"], 2),
    ],
    ids=[
        *("kept", "closed by a word", "closed", "old", "until the end", "unasked"),
        *("unasked at once", "an answer too many", "most of one", "the beginning of one"),
    ],
)
def test_a_connection_is_used_again_unless_it_was_closed(
    first: list[bytes], connections: int
) -> None:
    data, server = talk([first, [sized(b"b")]], twice)

    assert (data, server.connections) == ([b"a", b"b"], connections)


def test_what_comes_after_an_answer_is_no_part_of_it() -> None:
    second = sized(b"later", b"retry-after: 9\r\ncontent-encoding: gzip\r\n")
    reply, _ = talk([[sized(more=b"x-a: 1\r\n") + second]], once)

    assert (reply.headers, reply.data) == ({"x-a": "1", "content-length": "3"}, b"yes")


async def lost_once(endpoint: HttpEndpoint, server: Scripted) -> tuple[int, HttpReply]:
    """Ask again after a kept connection was lost; how often was asked until then."""
    await asyncio.gather(endpoint.send(b"a"), endpoint.send(b"b"))
    with pytest.raises(ConnectionLostError, match="closed"):
        await endpoint.send(b"{}")
    return len(server.requests), await endpoint.send(b"{}")


def test_a_request_that_a_kept_connection_loses_is_sent_again_by_whoever_asked() -> None:
    """On a connection of its own, whatever else is kept."""
    answers = [[sized()], [sized()], [b""], [sized(b"again")]]
    (asked, reply), server = talk(answers, lost_once)

    assert (asked, reply.data) == (3, b"again")
    assert (server.connections, len(server.requests)) == (3, 4)


def test_a_fresh_connection_that_is_closed_without_a_word_is_a_failure() -> None:
    with pytest.raises(TargetError, match="closed") as caught:
        talk([[b""], [sized()]], once)

    assert (caught.value.code, caught.value.away) == ("service_unavailable", "unavailable")


def test_a_request_that_a_new_connection_loses_is_a_failure() -> None:
    with pytest.raises(TargetError, match="closed") as caught:
        talk([[sized()], [sized()], [b""], [b""], [sized()]], lost_once)

    assert not isinstance(caught.value, ConnectionLostError)


def test_a_request_of_which_an_answer_began_is_not_sent_again() -> None:
    with pytest.raises(TargetError, match="cut off"):
        talk([[sized()], [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", b""]], twice)


@pytest.mark.parametrize("said", [b"HTTP/1.1 408 Request Timeout\r\n\r\n", b"x"])
def test_an_answer_that_nobody_asked_for_is_nobodys(said: bytes) -> None:
    heard, server = talk([[sized(), said], [sized(b"ours")]], twice)

    assert heard == [b"yes", b"ours"]
    assert server.connections == 2


def test_two_calls_at_once_have_a_connection_each() -> None:
    async def both(endpoint: HttpEndpoint, _server: Scripted) -> list[bytes]:
        replies = await asyncio.gather(endpoint.send(b"1"), endpoint.send(b"2"))
        return [reply.data for reply in replies]

    data, server = talk([[sized()], [sized()]], both)

    assert (data, server.connections) == ([b"yes", b"yes"], 2)


@pytest.mark.parametrize(
    ("pieces", "code", "message"),
    [
        ([b""], "service_unavailable", "the connection was closed"),
        ([b"HTTP/1.1 200 OK\r\ncontent-len", b""], "service_unavailable", "closed"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nyes", b""], "internal_error", "cut off"),
        ([b"SSH-2.0-x\r\n"], "service_unavailable", "the answer is not HTTP"),
        (
            [b"HTTP/1.1 101 Go\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nyes"],
            "bad_response",
            "the server changes to another protocol",
        ),
        ([sized(b"a" * (MAX_BODY + 1))], "bad_response", "larger than 16 MB"),
        ([b"HTTP/1.1 200 OK\r\nx: " + b"a" * (18 << 20)], "bad_response", "larger than 16 MB"),
    ],
    ids=[
        *("nothing", "half a head", "half a body", "no HTTP", "another protocol"),
        *("a body without end", "a head alike"),
    ],
)
def test_an_answer_that_is_none_is_told(
    pieces: list[bytes], code: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        talk([pieces], once)

    assert caught.value.code == code
    assert "Fatal error" not in caplog.text


def test_a_body_may_be_as_large_as_it_may_be() -> None:
    reply, _ = talk([[sized(b"a" * MAX_BODY)]], once)

    assert len(reply.data) == MAX_BODY


def test_the_deadline_holds_for_the_whole_answer() -> None:
    with pytest.raises(TargetError, match=r"no answer within 0\.2 s") as caught:
        talk([[b"HTTP/1.1 200 OK\r\n", *[b"x: y\r\n"] * 1000]], once, timeout_s=0.2)

    assert caught.value.code == "timeout"


@pytest.mark.trials
@pytest.mark.parametrize("pauses", [(0.0, 0.0), (0.0, 0.1), (0.1, 0.0)])
def test_every_call_has_the_deadline_that_it_began_with(pauses: tuple[float, float]) -> None:
    """One alarm is set for all of them; each must ring when its own time is over."""

    async def late(endpoint: HttpEndpoint, _server: Scripted) -> list[float]:
        async def call(pause: float) -> float:
            await asyncio.sleep(pause)
            started = time.monotonic()
            with pytest.raises(TargetError, match=r"no answer within 1\.5 s"):
                await endpoint.send(b"{}")
            return time.monotonic() - started

        assert (await endpoint.send(b"{}")).data == b"yes"
        return await asyncio.gather(*map(call, pauses))

    nothing = [b"HTTP/1.1 200 OK\r\n"]
    took, _ = talk([[sized()], nothing, nothing], late, timeout_s=1.5)

    assert all(1.49 <= seconds < 30 for seconds in took)


@pytest.mark.trials
def test_an_endpoint_that_was_closed_keeps_its_deadline() -> None:
    async def again(endpoint: HttpEndpoint, _server: Scripted) -> str:
        await endpoint.send(b"{}")
        await endpoint.close()
        await asyncio.sleep(1.6)
        with pytest.raises(TargetError) as caught:
            await asyncio.wait_for(endpoint.send(b"{}"), 120)
        return caught.value.code

    assert talk([[sized()], [b"HTTP"]], again, timeout_s=1.5)[0] == "timeout"


def test_a_call_that_is_cancelled_takes_its_connection_with_it() -> None:
    async def cancelled(endpoint: HttpEndpoint, server: Scripted) -> HttpReply:
        call = asyncio.ensure_future(endpoint.send(b"1"))
        while not server.requests:
            await asyncio.sleep(0.005)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        return await endpoint.send(b"2")

    reply, server = talk([[b"HTTP/1.1 200 OK\r\n"], [sized()]], cancelled)

    assert (reply.data, server.connections) == (b"yes", 2)


def test_nothing_is_left_when_it_is_closed_during_a_call() -> None:
    async def closed(endpoint: HttpEndpoint, server: Scripted) -> str:
        call = asyncio.ensure_future(endpoint.send(b"1"))
        while not server.requests:
            await asyncio.sleep(0.005)
        call.cancel()
        await endpoint.close()
        (ended,) = await asyncio.gather(call, return_exceptions=True)
        return type(ended).__name__

    assert talk([[b"HTTP/1.1 200 OK\r\n"]], closed)[0] == "CancelledError"


def server_tls() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    return made


def test_a_known_certificate_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "certificate.pem"))
    data, server = talk([[sized(b"a")], [sized(b"b")]], twice, tls=server_tls())

    assert (data, server.connections) == ([b"a", b"b"], 1)


def test_an_unknown_certificate_is_refused() -> None:
    with pytest.raises(TargetError, match="certificate verify failed") as caught:
        talk([[sized()]], once, tls=server_tls())

    assert (caught.value.code, caught.value.away) == ("tls_error", None)
