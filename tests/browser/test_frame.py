"""What every page has: frame, theme, accessible, errors as pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_home_page_is_accessible(page: Page, check_accessible: Callable[[Page], None]) -> None:
    """The frame has landmarks, a title and a way to skip the navigation."""
    page.goto("/")
    assert page.title() == "Home · Steelyard"
    check_accessible(page)


def test_a_chosen_theme_is_kept(page: Page) -> None:
    """The button switches to dark, and a reload keeps it."""
    page.goto("/")
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(site: str) -> None:
    """Both say what is wrong, with the same status."""
    page = httpx.get(f"{site}/nothing", headers={"accept": "text/html"})
    body = httpx.get(f"{site}/nothing")
    assert page.status_code == body.status_code == 404
    assert "<h1>Not found</h1>" in page.text
    assert body.json()["error"]["code"] == "not_found"


def test_files_are_addressed_by_their_content(site: str) -> None:
    """They may be kept for good; another version may not."""
    html = httpx.get(f"{site}/").text
    address = html.split('src="')[1].split('"')[0]
    found = httpx.get(f"{site}{address}")
    assert found.headers["cache-control"].endswith("immutable")
    assert found.headers["content-encoding"] == "gzip"
    old = httpx.get(f"{site}/assets/old/theme.js")
    assert old.headers["cache-control"] == "no-store"
    assert httpx.get(f"{site}/assets/old/none.js").status_code == 404
