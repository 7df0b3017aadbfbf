"""HTML as its elements and texts, for tests of pages and reports."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser

HOSTILE = '</pre></td></script><script>alert("1")</script>\'"><img onerror=x {{ 7 * 7 }}'
VOID = {"meta", "br", "input", "link", "wbr"}


class HtmlPage(HTMLParser):
    """The elements and texts of a page; elements that are not closed are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    @property
    def text(self) -> str:
        """What a reader sees."""
        body = self.html.partition("<body>")[2].rpartition("<script>")[0]
        return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())

    @property
    def policy(self) -> str:
        """The content policy."""
        return next(value for _, value in self.attributes if value.startswith("default-src"))

    def hash_of(self, tag: str) -> str:
        """The hash of the only element of a kind, as a content policy writes it."""
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", self.html, flags=re.DOTALL)
        digest = hashlib.sha256(content.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def require_closed(page: HtmlPage) -> None:
    """Nothing is loaded, and nothing runs or styles but what the file itself has inside."""
    assert page.policy == (
        f"default-src 'none'; style-src {page.hash_of('style')}; "
        f"script-src {page.hash_of('script')}"
    )
    loading = {"src", "srcset", "data", "action", "poster", "xlink:href", "style"}
    assert not {name for name, _ in page.attributes} & loading
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert not set(page.tags) & {"link", "img", "iframe", "object", "form", "base"}
    assert "url(" not in page.html
    assert "@import" not in page.html
