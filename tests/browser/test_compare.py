"""Comparisons and groups in a real Chromium: one verdict, both answers, state in the URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from servers.browser_pages import NARROW, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAIR = "/compare?a=latest~1&b=latest"
Check = Callable[["Page"], None]
Take = Callable[..., Path]


def width_of(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth")


def group_of(site: str) -> str:
    """The address of the group of the demo."""
    runs = httpx.get(f"{site}/v1/runs").json()["data"]
    groups = (str(run["group_id"]) for run in runs)
    return next(f"/groups/{name}" for name in groups if name.startswith("group_"))


def test_a_comparison_leads_with_one_verdict_and_its_worst_regression(
    page: Page, check_accessible: Check
) -> None:
    """Nobody has to click to read the verdict and the answer that got worse."""
    page.goto(PAIR)

    verdict = page.locator(".verdict h2")
    assert verdict.inner_text() == "No difference detectable."
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    sizes = page.evaluate(f"[...document.querySelectorAll('main *')].map({size})")
    assert verdict.evaluate(size) == max(sizes)
    first = page.locator("article.change").first
    assert first.locator("h4").inner_text() == "accessibility-helper-card"
    assert first.locator("del").first.is_visible()
    assert first.locator("ins").first.is_visible()
    check_accessible(page)


@pytest.mark.trials
def test_corrected_and_raw_stand_on_one_axis_with_what_would_settle_it(page: Page) -> None:
    """The corrected difference is larger, and first."""
    page.goto(PAIR)

    rows = page.locator(".cmp-figs .forest").first.locator(".f-row")
    assert [row.split("\n")[0] for row in rows.all_inner_texts()] == [
        "Corrected",
        "Raw, judge only",
    ]
    assert page.get_by_text("What would settle it").is_visible()
    assert page.get_by_text("May they be compared?").is_visible()
    assert "timeout in B" in page.locator(".facts").inner_text()


@pytest.mark.trials
def test_tabs_and_ways_are_in_the_address_and_back_and_reload_keep_them(page: Page) -> None:
    """State is in the URL."""
    page.goto(PAIR)
    page.get_by_role("link", name="Better 12").click()
    page.get_by_role("link", name="Plain").click()

    assert re.search(r"show=better.*how=plain|how=plain.*show=better", page.url)
    assert page.locator("article.change").count() == 10
    assert page.locator("article.change ins").count() == 0
    page.reload()
    assert page.get_by_role("link", name="Plain").get_attribute("aria-current") == "page"
    page.go_back()
    assert page.locator("article.change ins").count() > 0
    assert page.get_by_role("link", name="Better 12").get_attribute("aria-current") == "page"


@pytest.mark.trials
def test_pages_are_made_by_the_server(page: Page) -> None:
    """Ten records at a time, with the way back."""
    page.goto(f"{PAIR}&show=all")
    names = page.locator("article.change h4").all_inner_texts()
    page.get_by_role("link", name="Next").click()

    assert "page=2" in page.url
    assert "11 to 20 of 46" in page.locator(".pager").inner_text()
    assert not set(names) & set(page.locator("article.change h4").all_inner_texts())
    page.get_by_role("link", name="Previous").click()
    assert page.locator("article.change h4").all_inner_texts() == names


@pytest.mark.trials
def test_pairs_after_the_third_are_folded(page: Page) -> None:
    page.goto(PAIR)

    assert page.locator("#records > article.change").count() == 3
    folded = page.locator("details.more-pairs")
    assert folded.count() == 7
    assert not folded.first.locator("article").is_visible()
    folded.first.locator("summary").click()
    assert folded.first.locator("article").is_visible()


def test_only_what_differs_leaves_out_equal_words(page: Page) -> None:
    """The text gets shorter, and what differs stays."""
    page.goto(f"{PAIR}&show=all")
    texts = page.locator(".pair").all_inner_texts()
    marked = page.locator(".pair ins").count()
    page.get_by_role("link", name="Only what differs").click()

    assert page.locator(".pair ins").count() == marked
    assert sum(map(len, page.locator(".pair").all_inner_texts())) <= sum(map(len, texts))


@pytest.mark.trials
def test_a_search_looks_into_questions_and_answers(page: Page) -> None:
    """Enter searches; the address keeps it."""
    page.goto(PAIR)
    box = page.get_by_role("searchbox", name="Search questions and answers")
    box.fill("damaged at the stand")
    box.press("Enter")

    assert "q=damaged" in page.url
    assert page.locator("article.change h4").all_inner_texts() == ["privacy-camera"]
    assert page.get_by_role("link", name="Better 1", exact=True).is_visible()


@pytest.mark.trials
def test_people_stand_beside_the_judge(page: Page) -> None:
    """Where they say the opposite, that is said; what they read comes first in its part."""
    page.goto(f"{PAIR}&show=better")

    heads = page.locator("article.change > header").all_inner_texts()
    assert any("People say the opposite" in head for head in heads)
    assert "People" in heads[0]
    assert page.get_by_text("0 of 3 pass it").first.is_visible()


@pytest.mark.trials
def test_b_can_be_made_the_baseline_and_records_can_be_opened(page: Page) -> None:
    """The swap changes the sign; the name of a record leads to its page."""
    page.goto(PAIR)
    before = page.locator(".f-row.lead .f-fig b").first.inner_text()
    page.get_by_role("link", name="Make B the baseline").click()

    assert page.locator(".f-row.lead .f-fig b").first.inner_text() == before.replace("+", "-")
    href = page.locator("article.change h4 a").first.get_attribute("href") or ""
    assert re.fullmatch(r"/runs/run_[0-9A-Z]+/records/\d+", href)


@pytest.mark.trials
def test_two_runs_are_chosen_with_the_keyboard_alone(page: Page) -> None:
    """Radio buttons and a real form."""
    page.goto("/compare")
    assert page.locator("input[name=a]:checked").count() == 1
    page.locator("input[name=b]").first.focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?a=run_*&b=run_*")


@pytest.mark.trials
def test_every_control_of_a_comparison_can_be_reached_by_tab(page: Page) -> None:
    """The order is that of the page."""
    page.goto(PAIR)
    reached: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 40)"))
    wanted = ["Copy link", "Make B the baseline", "Different 13", "All 46", "Plain"]
    assert [name for name in reached if name in wanted] == wanted


@pytest.mark.trials
@pytest.mark.parametrize("path", [PAIR, "/compare", "group"])
@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": NARROW}])
def test_pages_are_accessible_dark_and_narrow(
    browser: Browser, site: str, check_accessible: Check, path: str, options: dict[str, object]
) -> None:
    """Nothing scrolls sideways but tables."""
    with new_page(browser, site, **options) as page:
        page.goto(group_of(site) if path == "group" else path)
        check_accessible(page)
        assert width_of(page) <= page.evaluate("innerWidth")


@pytest.mark.trials
def test_a_group_shows_its_runs_side_by_side(
    page: Page, site: str, check_accessible: Check
) -> None:
    """Different records first, all on request, and a link to the comparison."""
    page.goto(group_of(site))
    check_accessible(page)
    rows = page.locator("table.side-by-side tbody tr")
    assert rows.count() == 20
    for row in rows.all():
        assert {"Pass", "Fail"} <= set(row.locator(".v").all_inner_texts())
    page.get_by_role("link", name="All 48").click()
    assert "show=all" in page.url
    assert rows.count() == 25
    page.get_by_role("link", name="Next").click()
    assert rows.count() == 23
    page.get_by_role("link", name="B against A").click()
    assert page.url.startswith(f"{site}/compare?a=run_")


@pytest.mark.trials
def test_pages_have_pictures(browser: Browser, page: Page, site: str, take_picture: Take) -> None:
    """Looked at by people."""
    page.goto(PAIR)
    take_picture(page, "compare")
    page.goto(group_of(site))
    take_picture(page, "group")
    page.goto("/compare")
    take_picture(page, "compare-choice", is_whole=False)
    with new_page(browser, site, viewport=NARROW, color_scheme="dark") as small:
        small.goto(PAIR)
        take_picture(small, "compare-narrow-dark")
