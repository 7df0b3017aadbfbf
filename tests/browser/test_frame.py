"""What every page has: frame, theme, accessible, errors as pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from servers.browser_pages import new_page
from servers.browsing import check_looks
from servers.service import running
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOOKED_AT = (
    "/datasets",
    "/datasets/file?path=datasets/helpdesk.jsonl",
    "/datasets/file?path=datasets/opening-day.yaml",
    "/datasets/rules-quiz%401.0",
    "/suites",
    "/suites/new",
    "/suites/quiz",
    "/targets",
    "/trace-sets",
    "/review",
    "/review/new",
    "/goto?q=help",
)
"""Pages whose looks no other test goes through."""


@pytest.fixture(scope="module")
def stocked_site(demo_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a server of the demo's project that has a published dataset, too."""
    copy = shutil.copytree(demo_project, tmp_path_factory.mktemp("stocked") / "library")
    with open_project(copy) as project, running(project) as url:
        sent = httpx.post(
            f"{url}/v1/datasets",
            params={"name": "rules-quiz.jsonl", "version": "1.0"},
            content=(copy / "datasets" / "rules-quiz.jsonl").read_bytes(),
            headers={"content-type": "application/octet-stream"},
        )
        assert sent.status_code == 201, sent.text
        yield url


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


@pytest.mark.trials
@pytest.mark.parametrize("address", LOOKED_AT)
def test_a_page_is_accessible_in_every_look(
    browser: Browser, stocked_site: str, check_accessible: Callable[[Page], None], address: str
) -> None:
    with new_page(browser, stocked_site) as page:
        page.goto(address)
        for _ in check_looks(page, check_accessible):
            assert page.locator("main h1").count() == 1


def test_an_error_is_accessible_in_every_look(
    browser: Browser, site: str, check_accessible: Callable[[Page], None]
) -> None:
    """A browser logs the status of such a page, so that it is not watched."""
    context = browser.new_context(base_url=site)
    page = context.new_page()
    page.goto("/runs/run_none")
    for _ in check_looks(page, check_accessible):
        assert page.get_by_role("heading", level=1).inner_text() == "Not found"
    context.close()
