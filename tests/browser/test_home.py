"""The home page in a browser, and the switcher that every page has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.browser_pages import new_page
from servers.browsing import check_looks, tab_to
from servers.service import running
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_the_switcher_goes_to_a_run_by_keyboard(
    page: Page, check_accessible: Callable[[Page], None]
) -> None:
    """A screen reader hears which place is chosen: the field names it."""
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("rules-quiz")
    page.wait_for_function(
        "() => document.querySelector('dialog .goto a')?.innerText.includes('quiz')"
    )
    field = page.get_by_role("combobox", name="Go to")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("dialog [role=option][aria-selected=true]")
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    check_accessible(page)
    page.keyboard.press("ArrowUp")
    assert field.get_attribute("aria-activedescendant") == "goto-0"
    page.route("**/runs/run_*", lambda route: route.fulfill(body="<title>x</title>"))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "/runs/run_" in page.url


@pytest.mark.trials
def test_the_switcher_says_that_nothing_is_found(
    page: Page, check_accessible: Callable[[Page], None]
) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("no such place")
    page.get_by_role("status").filter(has_text="Nothing here has").wait_for()
    assert page.get_by_role("combobox").get_attribute("aria-expanded") == "false"
    check_accessible(page)


@pytest.mark.trials
def test_escape_closes_the_switcher(page: Page) -> None:
    page.goto("/runs")
    page.get_by_role("button", name="Go to").click()
    page.wait_for_selector("dialog .goto a")
    page.keyboard.press("Escape")
    assert not page.locator("dialog[open]").count()


@pytest.mark.trials
def test_the_switcher_is_a_page_without_scripts(browser: Browser, site: str) -> None:
    with new_page(browser, site, java_script_enabled=False) as page:
        page.goto("/goto")
        page.get_by_label("Part of a name or id").fill("audit")
        page.get_by_role("button", name="Find").click()
        page.get_by_role("link", name="Settings: audit log").click()
        assert page.url.endswith("/settings/audit")


@pytest.mark.trials
def test_every_link_of_the_home_page_is_reached_by_keyboard(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to content"
    page.keyboard.press("Enter")
    tab_to(page, "Open the run")
    tab_to(page, "Compare A with B")
    tab_to(page, "Open the suite")


@pytest.mark.trials
@pytest.mark.parametrize(("name", "path"), [("home", "/"), ("goto", "/goto?q=help")])
def test_the_pages_are_accessible_in_every_look(
    page: Page,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Any],
    name: str,
    path: str,
) -> None:
    page.goto(path)
    for look in check_looks(page, check_accessible):
        take_picture(page, f"{name}-{look}")


@pytest.mark.trials
def test_an_empty_project_has_a_first_page(
    browser: Browser,
    tmp_path: Path,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Any],
) -> None:
    with (
        open_project(tmp_path) as project,
        running(project) as url,
        new_page(browser, url) as page,
    ):
        for path in ("/runs", "/"):
            page.goto(path)
            for _ in check_looks(page, check_accessible):
                pass
        take_picture(page, "home-empty")
        assert page.get_by_role("heading", name="3. Run it").is_visible()
