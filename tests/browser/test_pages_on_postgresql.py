"""The main pages and Trace Review of a project whose store is a PostgreSQL server."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from fakes.annotated_desk import write_desk
from fakes.stores import stores_on_server
from servers.browser_pages import new_page
from servers.review_site import ReviewSite, press, review_site, reviewer, submit
from steelyard.usecases.results.runs import list_runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.trials


@pytest.fixture
def desk(tmp_path: Path) -> Generator[ReviewSite]:
    """The project of the desk, with everything that is no file on a server."""
    with stores_on_server(os.environ):
        project = write_desk(tmp_path / "desk")
        with review_site(project, tmp_path / "site", reviews=2, size=2) as site:
            yield site
        assert not (project / ".steelyard" / "steelyard.db").exists()


def test_the_main_pages_show_what_the_server_holds(browser: Browser, desk: ReviewSite) -> None:
    (run_id,) = (
        one.run_id for one in list_runs(desk.project.store, limit=9).runs if one.dataset == "desk"
    )
    with new_page(browser, desk.url) as page:
        page.goto("/")
        links = page.locator("nav a[href^='/']").evaluate_all("all => all.map(one => one.href)")
        assert len(links) > 5
        for link in links:
            answer = page.goto(link)
            assert answer
            assert answer.status == 200, link
            expect(page.locator("h1").first).to_be_visible()
        page.goto("/runs")
        expect(page.locator("main")).to_contain_text("desk")
        page.goto(f"/runs/{run_id}")
        expect(page.locator("main")).to_contain_text("24")
        page.goto(f"/runs/{run_id}/records/0")
        expect(page.locator("main")).to_contain_text("Answer number")


def test_two_people_annotate_and_the_lead_sees_it(browser: Browser, desk: ReviewSite) -> None:
    for who, keys in {"mara": ("y", "4", "1"), "jon": ("n", "2", "2")}.items():
        with reviewer(browser, desk, who) as page:
            page.goto(desk.page)
            for _ in range(2):
                press(page, *keys)
                submit(page)
            expect(
                page.get_by_role("heading", name="Nothing is left for you here")
            ).to_be_visible()
    counts = desk.ports.progress.counts(desk.queue_id)
    assert (counts.complete, counts.reviews) == (2, 4)
    with new_page(browser, desk.url) as page:
        page.goto(f"{desk.page}/progress")
        expect(page.locator("main")).to_contain_text("mara")
