"""Every way in which an endpoint can fail ends in its error code, in time and in little memory."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fakes.asking import ask_once, question
from servers.anthropic_server import MESSAGE
from servers.openai_server import (
    COMPLETION,
    Answer,
    cuts_off,
    floods,
    hangs,
    packs,
    resets,
    says,
    sends,
    serving,
    trickles,
)
from servers.responses_server import RESPONSE
from steelyard.errors import TargetError
from steelyard.model.run import TRANSIENT
from steelyard.ports import Request, Target
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.http_calls import MAX_BODY, retry_after_s, unpacked
from steelyard.targets.making import TargetMaker

if TYPE_CHECKING:
    from aiohttp import web


KEY = "sk-canary-1234567890"
HEADER = "hush-hush-hush"


class Kind(NamedTuple):
    """A provider that speaks HTTP: its settings, what it sends where, and what it looks for."""

    settings: dict[str, Any]
    path: str
    good: dict[str, Any]
    looks_for: str


KINDS = {
    "openai": Kind({"model": "m-1"}, "/v1/chat/completions", COMPLETION, "no choices[0].message"),
    "responses": Kind(
        {"provider": "openai", "model": "m-1", "api": "responses"},
        "/v1/responses",
        RESPONSE,
        "no list 'output'",
    ),
    "anthropic": Kind({"model": "m-1"}, "/v1/messages", MESSAGE, "no list 'content'"),
    "http": Kind(
        {"answer": "outputs[0].text"},
        "/v1",
        {"outputs": [{"text": "At nine."}]},
        "'outputs[0].text' (answer) is not there in the reply",
    ),
}


@pytest.fixture(params=KINDS)
def provider(request: pytest.FixtureRequest) -> str:
    """Every provider that speaks HTTP."""
    return request.param


def target(provider: str, base_url: str, timeout_s: float = 20.0) -> Target:
    settings: dict[str, Any] = {
        "provider": provider,
        "url" if provider == "http" else "base_url": base_url,
        "api_key_env": "MY_KEY",
        "headers": {"X-Secret": HEADER},
        "timeout_s": timeout_s,
        **KINDS[provider].settings,
    }
    maker = TargetMaker(
        Path.cwd(), {"live": TargetEntry.of(settings)}, {"MY_KEY": KEY}, SystemClock()
    )
    return maker.make("live").target


def fault(
    provider: str, answer: Answer, timeout_s: float = 20.0, request: Request | None = None
) -> TargetError:
    """The error with which a call to such an endpoint ends."""

    async def main() -> TargetError:
        async with serving(answer) as url:
            with pytest.raises(TargetError) as caught:
                await ask_once(target(provider, url, timeout_s), request)
            return caught.value

    return asyncio.run(main())


def test_an_answer_comes_with_what_the_endpoint_says_of_the_call(provider: str) -> None:
    async def main() -> tuple[int, str | None] | None:
        async with serving(says(KINDS[provider].good, x_request_id="r-8")) as url:
            return (await ask_once(target(provider, url))).served

    assert asyncio.run(main()) == (200, "r-8")


def spoken(**error: Any) -> dict[str, Any]:
    return {"error": error}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (408, "timeout"),
        (504, "timeout"),
        (429, "rate_limited"),
        (502, "service_unavailable"),
        (503, "service_unavailable"),
        (529, "service_unavailable"),
        (500, "internal_error"),
        (501, "internal_error"),
        (599, "internal_error"),
    ],
)
def test_a_status_that_may_pass_is_transient(provider: str, status: int, code: str) -> None:
    error = fault(provider, says(spoken(message="later"), status, x_request_id="r-7"))

    assert (error.code, error.http_status) == (code, status)
    assert error.code in TRANSIENT
    assert (str(error), error.request_id) == (f"HTTP {status}: later", "r-7")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (401, "unauthorized"),
        (403, "forbidden"),
        (404, "not_found"),
        (413, "bad_request"),
        (422, "bad_request"),
    ],
)
def test_a_status_that_will_not_pass_is_permanent(provider: str, status: int, code: str) -> None:
    error = fault(provider, sends(b"", status))

    assert (error.code, error.http_status, str(error)) == (code, status, f"HTTP {status}")
    assert error.code not in TRANSIENT


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_told_and_not_followed(provider: str, status: int) -> None:
    visited: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        visited.append(request.path)
        return await says({}, status, location="http://127.0.0.1:1/other")(request)

    error = fault(provider, elsewhere)

    assert (error.code, error.http_status) == ("bad_request", status)
    assert "redirects to http://127.0.0.1:1/other, which is not followed" in str(error)
    assert visited == [KINDS[provider].path]


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (lambda: "7", 7, 7),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=90)), 80, 91),  # noqa: TID251
        (lambda: "86400000", 86_400_000, 86_400_000),
        (lambda: "Fri, 31 Dec 9999 23:59:59 GMT", 1e11, 1e12),
    ],
    ids=["seconds", "date", "absurd seconds", "absurd date"],
)
def test_retry_after_is_passed_on(
    provider: str, header: Callable[[], str], least: float, most: float
) -> None:
    error = fault(provider, says(spoken(message="slow down"), 429, retry_after=header()))

    assert error.code == "rate_limited"
    assert error.retry_after_s is not None
    assert least <= error.retry_after_s <= most


@pytest.mark.parametrize("headers", [{}, {"retry_after": "soon"}])
def test_a_wait_that_is_not_named_is_left_to_the_engine(
    provider: str, headers: dict[str, str]
) -> None:
    assert fault(provider, says({}, 429, **headers)).retry_after_s is None


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def test_a_refused_connection_is_service_unavailable(provider: str) -> None:
    with pytest.raises(TargetError) as caught:
        asyncio.run(ask_once(target(provider, f"http://127.0.0.1:{closed_port()}/v1")))

    assert caught.value.code == "service_unavailable"
    assert "cannot connect to 127.0.0.1:" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (resets, "service_unavailable", "connection"),
        (cuts_off, "internal_error", "cut off"),
        (sends(b"<h1>Welcome</h1>", kind="text/html"), "internal_error", "not JSON"),
        (sends(b'{"choices": [{"message": '), "internal_error", "not JSON"),
        (sends(b'{"choices": "\xff"}'), "internal_error", "not UTF-8"),
        (sends(b""), "internal_error", "not JSON"),
        (sends(b"plain", content_encoding="gzip"), "internal_error", "damaged"),
        (says(spoken(message="no such model")), "bad_request", "error: no such model"),
        (says({"choices": []}), "bad_response", None),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_an_answer_that_is_none_has_its_code(
    provider: str, answer: Answer, code: str, said: str | None
) -> None:
    error = fault(provider, answer)

    assert error.code == code
    assert (said or KINDS[provider].looks_for) in str(error)


@pytest.mark.parametrize("answer", [hangs, trickles])
def test_one_deadline_holds_for_the_whole_call(provider: str, answer: Answer) -> None:
    began = time.monotonic()
    error = fault(provider, answer, timeout_s=0.2)

    assert (error.code, str(error)) == ("timeout", "no answer within 0.2 s")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "answer",
    [floods, sends(b" " * (MAX_BODY + 1)), packs(bytes(8 * MAX_BODY))],
    ids=["endless", "large", "bomb"],
)
def test_a_body_has_its_cap_packed_or_not(provider: str, answer: Answer) -> None:
    tracemalloc.start()
    error = fault(provider, answer)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (error.code, str(error)) == ("bad_response", "the answer is larger than 16 MB")
    assert peak < 5 * MAX_BODY


def test_a_prompt_that_is_no_text_is_a_bad_request(provider: str) -> None:
    error = fault(provider, says({}), request=question("half \ud83d"))

    assert error.code == "bad_request"


@pytest.mark.parametrize(
    "answer",
    [
        says(spoken(message=f"wrong key {KEY} with {HEADER}"), 401),
        says(spoken(message="x" * 378 + KEY), 401),
        sends(f"you sent {KEY} and {HEADER}".encode(), 500, "text/plain"),
        says(spoken(message=f"wrong key {KEY}")),
        says({}, 307, location=f"http://elsewhere/?key={KEY}"),
    ],
)
def test_no_message_repeats_the_key_or_a_header(provider: str, answer: Answer) -> None:
    said = str(fault(provider, answer))

    assert KEY not in said
    assert KEY[:12] not in said
    assert HEADER not in said
    assert "[redact" in said


def test_a_long_body_is_told_in_short(provider: str) -> None:
    assert len(str(fault(provider, sends(b"word " * 10_000, 500, "text/plain")))) == 400


def test_one_failed_call_does_not_spoil_the_next(provider: str) -> None:
    answers = iter(
        [says({}, 503), cuts_off, packs(gzip.compress(b"", mtime=0)), says(KINDS[provider].good)]
    )

    async def in_turn(request: web.Request) -> web.StreamResponse:
        return await next(answers)(request)

    async def main() -> list[str]:
        said: list[str] = []
        async with serving(in_turn) as url:
            asked = target(provider, url)
            for _ in range(4):
                try:
                    said.append((await asked.ask(question())).response)
                except TargetError as error:
                    said.append(error.code)
            await asked.close()
        return said

    assert asyncio.run(main()) == [
        "service_unavailable",
        "internal_error",
        "internal_error",
        "At nine.",
    ]


NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("86400000", 86_400_000.0),
        ("1e400", float("inf")),
        ("nan", 0.0),
        ("Sun, 15 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 15 Nov 2026 13:00:30 +0100", 30.0),
        ("Sun, 15 Nov 2026 12:00:30 -0000", 30.0),
        ("Sun, 15 Nov 2026 12:00:30", 30.0),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(2.5e11, rel=0.1)),
        ("Sun, 99 Nov 2026 12:00:30 GMT", None),
        ("Sun, 15 Nov 99999 12:00:30 GMT", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_is_seconds_a_date_or_nothing(text: str | None, seconds: float | None) -> None:
    assert retry_after_s(text, NOW) == seconds


TEXT = b'{"said": "nine"}' * 50
PACKED = gzip.compress(TEXT, mtime=0)
TOO_LARGE = gzip.compress(bytes(MAX_BODY), mtime=0) + gzip.compress(b"1", mtime=0)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def bomb() -> bytes:
    """128 megabytes of zeros in 128 kilobytes."""
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(128)) + packer.flush()


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (TEXT, "identity"),
        (PACKED, "gzip"),
        (PACKED, " GZip "),
        (PACKED, "x-gzip"),
        (zlib.compress(TEXT), "deflate"),
        (raw_deflate(TEXT), "deflate"),
    ],
)
def test_what_was_packed_comes_out_again(packed: bytes, encoding: str) -> None:
    assert unpacked(packed, encoding) == TEXT


@pytest.mark.parametrize(
    ("packed", "encoding", "code", "said"),
    [
        (b"plain", "gzip", "internal_error", "damaged or cut off"),
        (b"plain", "deflate", "internal_error", "damaged or cut off"),
        (PACKED[:-4], "gzip", "internal_error", "damaged or cut off"),
        (PACKED + b"junk", "gzip", "internal_error", "damaged or cut off"),
        (PACKED + PACKED[:9], "gzip", "internal_error", "cut off"),
        (raw_deflate(TEXT) * 2, "deflate", "internal_error", "damaged or cut off"),
        (b"", "gzip", "internal_error", "damaged or cut off"),
        (TOO_LARGE, "gzip", "bad_response", "larger"),
        (TEXT, "br", "bad_response", "packed as 'br'"),
        (TEXT, "gzip, gzip", "bad_response", "packed as 'gzip, gzip'"),
    ],
)
def test_what_cannot_be_unpacked_is_told(
    packed: bytes, encoding: str, code: str, said: str
) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        unpacked(packed, encoding)

    assert caught.value.code == code


@pytest.mark.parametrize("size", [1, 100, 799])
def test_gzip_of_several_members_is_all_of_them(size: int) -> None:
    members = [TEXT[start : start + size] for start in range(0, len(TEXT), size)]

    assert unpacked(b"".join(map(gzip.compress, members)), "gzip") == TEXT


def test_a_bomb_is_refused_before_it_fills_the_memory() -> None:
    packed = bomb()
    tracemalloc.start()
    with pytest.raises(TargetError, match="larger than 16 MB") as caught:
        unpacked(packed, "gzip")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert caught.value.code == "bad_response"
    assert peak < 3 * MAX_BODY
