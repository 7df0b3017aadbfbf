"""The cookie of a session in a real browser, over plain HTTP on this machine and over HTTPS."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.accounts import PASSWORD, add_users
from servers.nginx import free_port, nginx_before
from servers.service import running
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.trials
COOKIE = "__Host-steelyard"
_SEND = """
async ([method, path, headers, body]) => {
    const sent = body === null ? undefined : JSON.stringify(body);
    const type = body === null ? {} : {"content-type": "application/json"};
    const answer = await fetch(path, {method, headers: {...headers, ...type}, body: sent});
    const text = await answer.text();
    return [answer.status, text === "" ? null : JSON.parse(text)];
}
"""


def send(
    page: Page, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """What a script of a page of the server gets for a request: the status and the body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    status, found = page.evaluate(_SEND, [method, path, named, body])
    return status, found or {}


@pytest.fixture(params=["http", "https"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """A server with login, at a loopback address or behind nginx with TLS."""
    with ExitStack() as stack:
        project = stack.enter_context(open_project(tmp_path))
        add_users(project)
        if request.param == "http":
            yield stack.enter_context(running(project, has_login=True))
            return
        port = free_port()
        url = f"https://localhost:{port}"
        behind = {"public_url": url, "trusted_proxies": ("127.0.0.1",)}
        server = stack.enter_context(running(project, has_login=True, **behind))
        folder = tmp_path / "nginx"
        yield stack.enter_context(nginx_before(server, folder, port=port, has_tls=True))


def test_a_browser_keeps_the_cookie_of_a_session(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, ignore_https_errors=True)
    page = context.new_page()
    page.goto("/healthz")
    body = {"name": "editor", "password": PASSWORD}

    assert send(page, "GET", "/v1/me")[0] == 401
    logged_in, login = send(page, "POST", "/v1/login", body)
    (cookie,) = context.cookies()
    known, me = send(page, "GET", "/v1/me")
    refused, _ = send(page, "POST", "/v1/logout")
    ended, _ = send(page, "POST", "/v1/logout", x_form_token=login["form_token"])

    assert (logged_in, known, refused, ended) == (200, 200, 403, 204)
    assert (me["actor"], me["credential"]) == ("editor", "session")
    assert (cookie.get("name"), cookie.get("path"), cookie.get("sameSite")) == (COOKIE, "/", "Lax")
    assert (cookie.get("secure"), cookie.get("httpOnly")) == (True, True)
    assert page.evaluate("document.cookie") == ""
    assert context.cookies() == []
    assert send(page, "GET", "/v1/me")[0] == 401
    context.close()
