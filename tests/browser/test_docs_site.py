"""The documentation as a site, opened from its folder: the search, by keyboard, at any width."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from servers.browser_pages import NARROW, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MAKE = Path(__file__).parents[2] / "docs" / "site" / "make.py"
PASTED = "steelyard: targets.mine: the environment variable ACME_KEY is not set; it holds the key"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-P", MAKE, made], check=True, capture_output=True)
    return made


@pytest.fixture
def docs(browser: Browser, folder: Path) -> Generator[Page]:
    with new_page(browser, folder.as_uri()) as opened:
        opened.goto((folder / "index.html").as_uri())
        yield opened


def search(page: Page, text: str) -> list[str]:
    """The first results."""
    page.keyboard.press("/")
    page.keyboard.insert_text(text)
    page.wait_for_selector("#results a")
    return page.locator("#results a").all_inner_texts()[:3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PASTED, "the environment variable … is not set; it holds the key"),
        ("pass rate interval", "How far can I trust this number?"),
        ("unknown_field", "Findings"),
        ("idempotency-key", "HTTP"),
        ("tutorial spreadsheet", "Tutorial: labels in a spreadsheet"),
    ],
    ids=["message", "words", "code", "word", "title"],
)
def test_a_search_finds(text: str, expected: str, docs: Page) -> None:
    found = search(docs, text)

    assert any(expected.lower() in one.lower() for one in found), found


def test_enter_opens_the_first_result_at_its_heading(docs: Page) -> None:
    search(docs, PASTED)
    docs.keyboard.press("Enter")
    docs.wait_for_url("**/troubleshooting.html#*")

    assert "it-holds-the-key" in docs.url


def test_a_search_works_from_a_page_beneath(docs: Page, folder: Path) -> None:
    docs.goto((folder / "contracts" / "trace.html").as_uri())
    search(docs, "fail_under_low")
    docs.keyboard.press("Enter")
    docs.wait_for_url("**/*.html#*")

    assert docs.url.startswith(folder.as_uri())
    assert docs.locator("h1").count() == 1


def test_nothing_found_says_so_and_escape_closes(docs: Page) -> None:
    docs.keyboard.press("/")
    docs.keyboard.insert_text("qqqqzzzz")
    docs.wait_for_selector("#count:has-text('Nothing found')")
    docs.keyboard.press("Escape")

    assert docs.locator("#found").is_hidden()


class Quiet(SimpleHTTPRequestHandler):
    """Files, without a line on the terminal for each."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by http.server
        """Say nothing."""


@pytest.fixture
def address(folder: Path) -> Generator[str]:
    """The site at a server: axe reads the style sheet again, which no page of a folder may."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(10)


def test_pages_are_accessible_and_fit_a_telephone(
    browser: Browser,
    address: str,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Path],
) -> None:
    with new_page(browser, address) as wide:
        wide.goto("/index.html")
        search(wide, "interval")
        check_accessible(wide)
        take_picture(wide, "docs-search", is_whole=False)
    with new_page(browser, address, viewport=NARROW) as small:
        small.goto("/tutorial-table.html")
        check_accessible(small)
        take_picture(small, "docs-small", is_whole=False)
        assert small.evaluate("document.documentElement.scrollWidth <= innerWidth")
