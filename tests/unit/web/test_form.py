"""Forms of pages: read once their sender is known and counted, decoded beside other requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from starlette.requests import Request

from servers.accounts import add_users, key_of, logged_in
from servers.raw_http import answers, connected, read_all
from servers.service import running
from steelyard.errors import InvalidError
from steelyard.project import Project, open_project
from steelyard.web.form import form_fields, read_form

if TYPE_CHECKING:
    from starlette.types import Message

KIND = "application/x-www-form-urlencoded"


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    with open_project(tmp_path) as made:
        add_users(made)
        yield made


def head_of(url: str, path: str, more: dict[str, str], size: int) -> bytes:
    """The head of a form whose body is still to come."""
    named = {
        "Host": urlsplit(url).netloc,
        "Content-Type": KIND,
        "Content-Length": str(size),
        "Connection": "close",
        **more,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode()


def test_a_stranger_is_sent_to_log_in_before_the_form_is_read(project: Project) -> None:
    """The answer comes though nothing of the body was sent."""
    with running(project, has_login=True) as url, connected(url) as client:
        client.sendall(head_of(url, "/datasets/new", {}, 8_000_000))
        (answer,) = answers(read_all(client))

    assert answer.status == 303
    assert answer.headers["location"] == "/login?next=/datasets/new"


def test_whoever_may_not_is_refused_before_the_form_is_read(project: Project) -> None:
    """For want of a scope, or because a page of another site sends it."""
    with (
        running(project, has_login=True) as url,
        httpx.Client(base_url=url) as client,
    ):
        session = logged_in(client, "editor")
        ways = (
            key_of(project, "viewer"),
            session.cookie | {"origin": "https://evil.example"},
            session.cookie,
        )
        for headers in ways:
            with connected(url) as raw:
                raw.sendall(head_of(url, "/datasets/new", headers, 8_000_000))
                (answer,) = answers(read_all(raw))
            assert answer.status == 403


def test_a_form_counts_before_it_is_read(project: Project) -> None:
    """Also one that would be refused for what it says."""
    with (
        running(project, has_login=True, requests_per_minute=3) as url,
        httpx.Client(base_url=url) as client,
    ):
        headers = {**key_of(project, "editor"), "content-type": KIND}
        sent = [client.post("/datasets/new", content=b"a=%ff", headers=headers) for _ in range(5)]

    assert [one.status_code for one in sent] == [400, 400, 400, 429, 429]
    assert 0 < int(sent[-1].headers["retry-after"]) <= 60
    assert sent[-1].headers["x-ratelimit-limit"] == "3"
    assert sent[-1].headers["x-ratelimit-remaining"] == "0"


def test_a_wrong_key_is_told_how_to_authenticate(project: Project) -> None:
    """The page of an error has the headers that the API has."""
    headers = {"authorization": "Bearer steelyard_wrong"}
    with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
        page, reply = (client.get(path, headers=headers) for path in ("/runs", "/v1/runs"))

    assert page.status_code == reply.status_code == 401
    assert page.headers["www-authenticate"] == reply.headers["www-authenticate"] == "Bearer"


def test_a_method_that_a_page_has_not_is_told_which_it_has(project: Project) -> None:
    with running(project) as url, httpx.Client(base_url=url) as client:
        answer = client.put("/runs", headers={"accept": "text/html"})

    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


def test_a_session_needs_the_token_of_its_form(project: Project) -> None:
    with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
        session = logged_in(client, "viewer")
        own = session.cookie | {"origin": session.origin}
        statuses = [
            client.post("/logout", data=fields, headers=own).status_code
            for fields in ({"x": "y"}, {"form_token": "é"}, {"form_token": session.form_token})
        ]

    assert statuses == [403, 403, 303]


def test_a_form_is_decoded_beside_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """In another thread than that of the event loop."""
    threads: list[int] = []

    def noted(data: bytes, most: int) -> dict[str, str]:
        threads.append(get_ident())
        return form_fields(data, most)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"a=%C3%A9", "more_body": False}

    monkeypatch.setattr("steelyard.web.form.form_fields", noted)
    headers = [(b"content-type", KIND.encode())]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)

    assert asyncio.run(read_form(request, 100)) == {"a": "é"}
    assert threads != [get_ident()]


@pytest.mark.parametrize(
    "data",
    [b"a=%ff", b"a=%C0%80", b"a=%f5", b"a=%zz", b"a=%4", b"a=%", b"a=%80", b"a=\xc3", b"a=1&a=2"],
)
def test_what_is_no_form_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidError, match="form"):
        form_fields(data)


def test_what_a_browser_sends_is_read() -> None:
    fields = {"text": "a\r\nb 100% + é 😀 &=", "empty": "", "é": "\U0010ffff"}

    found = form_fields(urlencode(fields).encode())

    assert found == {**fields, "text": "a\nb 100% + é 😀 &="}


def test_bytes_that_are_never_utf8_are_refused_at_once() -> None:
    """Eight million of them, which took seconds to decode."""
    began = time.process_time()
    with pytest.raises(InvalidError):
        form_fields(b"a=" + b"%ff" * 2_700_000)

    assert time.process_time() - began < 0.2
