"""Pages in a browser that must not complain."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}
PATIENCE_MS = 60_000
"""So long is waited for what a page should show; a loaded machine is many times slower."""


class Complaints(NamedTuple):
    """What a browser has to say against a page."""

    console: list[str]
    foreign: list[str]
    """Requests to other hosts."""


@contextmanager
def watched(context: BrowserContext, url: str) -> Generator[Page]:
    """A page that must not write errors to the console, nor ask another host for anything."""
    page = context.new_page()
    found = Complaints([], [])

    def note(line: ConsoleMessage) -> None:
        if line.type in {"error", "warning"}:
            found.console.append(line.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.console.append(str(error)))
    page.on(
        "request",
        lambda one: (
            None if one.url.startswith((url, "data:", "blob:")) else found.foreign.append(one.url)
        ),
    )
    yield page
    assert found == Complaints([], []), found


@contextmanager
def new_page(browser: Browser, url: str, **options: Any) -> Generator[Page]:
    """A page of its own session, at a base address."""
    settings: dict[str, Any] = {"viewport": WIDE, "base_url": url, **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE_MS)
    try:
        with watched(context, url) as opened:
            yield opened
    finally:
        context.close()
