"""Every way in which an endpoint can fail ends in its error code, in time and in little memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from fakes.asking import ask_once, question
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
from steelyard.errors import TargetError
from steelyard.model.run import TRANSIENT
from steelyard.ports import Request
from steelyard.store.clock import SystemClock
from steelyard.targets.openai import OpenAISettings, OpenAITarget
from steelyard.targets.response_body import MAX_BODY

if TYPE_CHECKING:
    from aiohttp import web

KEY = "sk-canary-1234567890"
HEADER = "hush-hush-hush"


def target(base_url: str, timeout_s: float = 20.0) -> OpenAITarget:
    settings = OpenAISettings(
        base_url=base_url,
        model="m-1",
        api_key=KEY,
        headers={"X-Secret": HEADER},
        sampling={},
        timeout_s=timeout_s,
    )
    return OpenAITarget("live", settings, SystemClock())


def fault(answer: Answer, timeout_s: float = 20.0, request: Request | None = None) -> TargetError:
    """The error with which a call to such an endpoint ends."""

    async def main() -> TargetError:
        async with serving(answer) as url:
            with pytest.raises(TargetError) as caught:
                await ask_once(target(url, timeout_s), request)
            return caught.value

    return asyncio.run(main())


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
def test_a_status_that_may_pass_is_transient(status: int, code: str) -> None:
    error = fault(says(spoken(message="later"), status, x_request_id="r-7"))

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
def test_a_status_that_will_not_pass_is_permanent(status: int, code: str) -> None:
    error = fault(sends(b"", status))

    assert (error.code, error.http_status, str(error)) == (code, status, f"HTTP {status}")
    assert error.code not in TRANSIENT


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_told_and_not_followed(status: int) -> None:
    visited: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        visited.append(request.path)
        return await says(COMPLETION, status, location="http://127.0.0.1:1/other")(request)

    error = fault(elsewhere)

    assert (error.code, error.http_status) == ("bad_request", status)
    assert "redirects to http://127.0.0.1:1/other, which is not followed" in str(error)
    assert visited == ["/v1/chat/completions"]


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
def test_retry_after_is_passed_on(header: Callable[[], str], least: float, most: float) -> None:
    error = fault(says(spoken(message="slow down"), 429, retry_after=header()))

    assert error.code == "rate_limited"
    assert error.retry_after_s is not None
    assert least <= error.retry_after_s <= most


@pytest.mark.parametrize("headers", [{}, {"retry_after": "soon"}])
def test_a_wait_that_is_not_named_is_left_to_the_engine(headers: dict[str, str]) -> None:
    assert fault(says({}, 429, **headers)).retry_after_s is None


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def test_a_refused_connection_is_service_unavailable() -> None:
    with pytest.raises(TargetError) as caught:
        asyncio.run(ask_once(target(f"http://127.0.0.1:{closed_port()}/v1")))

    assert caught.value.code == "service_unavailable"
    assert "cannot connect to 127.0.0.1:" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (resets, "service_unavailable", "connection"),
        (cuts_off, "internal_error", "cut off"),
        (sends(b"<h1>Welcome</h1>", kind="text/html"), "internal_error", "not JSON"),
        (sends(json.dumps(COMPLETION).encode()[:-9]), "internal_error", "not JSON"),
        (sends(b'{"choices": "\xff"}'), "internal_error", "not UTF-8"),
        (sends(b""), "internal_error", "not JSON"),
        (sends(b"plain", content_encoding="gzip"), "internal_error", "damaged"),
        (says(spoken(message="no such model")), "bad_request", "error: no such model"),
        (says({"choices": []}), "bad_response", "no choices[0].message"),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_an_answer_that_is_none_has_its_code(answer: Answer, code: str, said: str) -> None:
    error = fault(answer)

    assert error.code == code
    assert said in str(error)


@pytest.mark.parametrize("answer", [hangs, trickles])
def test_one_deadline_holds_for_the_whole_call(answer: Answer) -> None:
    began = time.monotonic()
    error = fault(answer, timeout_s=0.2)

    assert (error.code, str(error)) == ("timeout", "no answer within 0.2 s")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "answer",
    [floods, sends(b" " * (MAX_BODY + 1)), packs(bytes(8 * MAX_BODY))],
    ids=["endless", "large", "bomb"],
)
def test_a_body_has_its_cap_packed_or_not(answer: Answer) -> None:
    tracemalloc.start()
    error = fault(answer)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (error.code, str(error)) == ("bad_response", "the answer is larger than 16 MB")
    assert peak < 5 * MAX_BODY


def test_a_prompt_that_is_no_text_is_a_bad_request() -> None:
    error = fault(says(COMPLETION), request=question("half \ud83d"))

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
def test_no_message_repeats_the_key_or_a_header(answer: Answer) -> None:
    said = str(fault(answer))

    assert KEY not in said
    assert KEY[:12] not in said
    assert HEADER not in said
    assert "[redact" in said


def test_a_long_body_is_told_in_short() -> None:
    assert len(str(fault(sends(b"word " * 10_000, 500, "text/plain")))) == 400


def test_one_failed_call_does_not_spoil_the_next() -> None:
    answers = iter([says({}, 503), cuts_off, packs(gzip.compress(b"")), says(COMPLETION)])

    async def in_turn(request: web.Request) -> web.StreamResponse:
        return await next(answers)(request)

    async def main() -> list[str]:
        said: list[str] = []
        async with serving(in_turn) as url:
            asked = target(url)
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
