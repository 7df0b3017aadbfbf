"""Records go from their pages to a review queue, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from servers.browser_pages import NARROW, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def conversations(site: str) -> str:
    """The address of the run that a question rubric has graded."""
    runs = httpx.get(f"{site}/v1/runs", params={"q": "conversations"}).json()["data"]
    return f"/runs/{runs[0]['run_id']}"


def test_a_filtered_list_and_then_a_record_go_to_one_queue(
    browser: Browser, changing_site: str, check_accessible: Callable[[Page], None]
) -> None:
    run = conversations(changing_site)
    with new_page(browser, changing_site) as page:
        page.goto(f"{run}?passed=false")
        page.get_by_role("link", name="to review").click()
        number = page.get_by_role("button", name="Send ").inner_text().split()[1]
        check_accessible(page)
        page.get_by_label("Name of the queue").fill("Why did these fail?")
        page.get_by_role("button", name="Send ").click()
        expect(page.get_by_role("status")).to_contain_text(f"{number} record")

        page.goto(f"{run}?passed=true")
        page.locator("tr[data-row] .row-link").first.click()
        page.locator(".side").get_by_role("link", name="Send to review").click()
        expect(page.get_by_label("Queue", exact=True)).to_contain_text("Why did these fail?")
        page.get_by_role("button", name="Send 1 record").click()
        expect(page.get_by_role("status")).to_contain_text("1 record sent")
        page.go_back()
        page.get_by_role("button", name="Send 1 record").click()
        expect(page.get_by_role("status")).to_contain_text("1 record was in it before")

        page.get_by_role("link", name="Why did these fail?").click()
        expect(page.locator("main")).to_contain_text("correct no rate")
        expect(page.locator("main")).to_contain_text(f"of {int(number) + 1} items finished")


def test_a_record_that_checks_graded_goes_to_review(browser: Browser, changing_site: str) -> None:
    runs = httpx.get(f"{changing_site}/v1/runs", params={"q": "library-helpdesk"}).json()["data"]
    with new_page(browser, changing_site) as page:
        page.goto(f"/runs/{runs[0]['run_id']}?passed=false")
        page.locator("tr[data-row] .row-link").first.click()
        page.locator(".side").get_by_role("link", name="Send to review").click()
        expect(page.get_by_label("Rubric")).to_have_value("rubric/desk-conversation-v1")
        page.get_by_label("Name of the queue").fill("Why did it fail?")
        page.get_by_role("button", name="Send 1 record").click()
        expect(page.get_by_role("status")).to_contain_text("1 record sent")


def test_a_wrong_form_keeps_what_was_typed(browser: Browser, changing_site: str) -> None:
    """A browser logs the refused form, so that this page is not watched."""
    context = browser.new_context(base_url=changing_site)
    page = context.new_page()
    page.goto(f"{conversations(changing_site)}/review?record=1.0")
    page.get_by_label("Name of the queue").fill(" ")
    page.get_by_label("Instructions").fill("Read twice.")
    page.get_by_role("button", name="Send 1 record").click()
    expect(page.locator(".note.bad")).to_contain_text("name")
    expect(page.get_by_label("Instructions")).to_have_value("Read twice.")
    context.close()


@pytest.mark.trials
def test_the_form_fits_a_small_dark_screen(
    browser: Browser, site: str, check_accessible: Callable[[Page], None]
) -> None:
    with new_page(browser, site, viewport=NARROW, color_scheme="dark") as page:
        page.goto(f"{conversations(site)}/review")
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("address", ["record=12", "record=x.0", "record=99999.0"])
def test_an_address_of_no_record_is_refused(site: str, address: str) -> None:
    answer = httpx.get(f"{site}{conversations(site)}/review?{address}")
    assert answer.status_code in {400, 404}
    assert "record" in answer.text
