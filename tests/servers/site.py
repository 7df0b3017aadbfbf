"""The pages of a server, as a test reads them."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from html import unescape
from typing import Any

import httpx

from servers.accounts import PASSWORD
from servers.service import running
from steelyard.api.cookies import COOKIE
from steelyard.project import Project

_TAG = re.compile(r"<[^>]*>")


class Site:
    """A browser without scripts: it keeps its session and sends forms with their token."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.origin = str(client.base_url).rstrip("/")
        self._cookie: dict[str, str] = {}

    def open(self, address: str, **more: Any) -> httpx.Response:
        """A page."""
        return self.client.get(address, headers=self._cookie, **more)

    def text(self, address: str) -> str:
        """The words of a page that must be there."""
        answer = self.open(address)
        assert answer.status_code == 200, answer.text
        return words_of(answer.text)

    def send(self, address: str, **fields: str) -> httpx.Response:
        """A form of that page, with what its hidden fields say."""
        page = self.open(address)
        token = re.search(r'name="form_token" value="([^"]*)"', page.text)
        known = {"form_token": token[1]} if token else {}
        headers = {**self._cookie, "origin": self.origin}
        return self.client.post(address, data={**known, **fields}, headers=headers)

    def log_in(self, name: str, **fields: str) -> httpx.Response:
        """Log in by the form."""
        answer = self.send("/login", name=name, password=PASSWORD, **fields)
        found = re.match(rf"{COOKIE}=([^;]*)", answer.headers.get("set-cookie", ""))
        if found:
            self._cookie = {"cookie": f"{COOKIE}={found[1]}"}
        # Over plain HTTP a client would not send it; each request names it by itself.
        self.client.cookies.clear()
        return answer


def words_of(html: str) -> str:
    """The text of a page without its markup, with single blanks."""
    body = html.partition("<main")[2] or html
    return " ".join(unescape(_TAG.sub(" ", body)).split())


@contextmanager
def site_of(project: Project, **settings: Any) -> Generator[Site]:
    """The site of a project that is served for the length of a test."""
    with running(project, **settings) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield Site(client)
