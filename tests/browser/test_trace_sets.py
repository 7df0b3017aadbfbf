"""Trace sets in the browser: what has arrived, in every look, and from there a queue."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from fakes.trace_sets import CALL, batch, sent_span
from servers.browser_pages import new_page
from servers.browsing import check_looks
from servers.service import running
from steelyard.project import open_project
from steelyard.usecases.traces.receive_spans import receive_spans

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SENT = 130
"""Traces, more than a page has."""


@pytest.fixture
def desk(demo_project: Path, tmp_path: Path) -> Generator[str]:
    """The address of a server of the demo's project with a set; some of its traces failed."""
    shutil.copytree(demo_project, tmp_path / "library")
    failed = {"error.type": "timeout", **CALL}
    spans = [
        sent_span(number, 1, failed if number % 7 == 0 else None, status={"code": 2})
        if number % 7 == 0
        else sent_span(number, 1)
        for number in range(1, SENT + 1)
    ]
    with open_project(tmp_path / "library") as project:
        receive_spans(project.trace_ports(), batch(*spans), "desk")
        with running(project) as url:
            yield url


def test_a_set_is_found_read_in_parts_and_leads_to_a_queue(browser: Browser, desk: str) -> None:
    with new_page(browser, desk) as page:
        page.goto("/review")
        page.get_by_role("link", name="Trace sets").click()
        page.get_by_role("link", name="desk").click()
        expect(page.locator("main")).to_contain_text(f"{SENT} traces")
        first = page.locator("tbody tr").count()
        page.get_by_role("link", name="Next").click()
        assert first + page.locator("tbody tr").count() == SENT
        page.go_back()
        assert page.locator("tbody tr").count() == first

        page.get_by_role("link", name="New queue").click()
        expect(page.get_by_label("Run or trace set")).to_have_value("trace set desk")
        page.get_by_label("Name", exact=True).fill("Traces of the desk")
        page.get_by_role("button", name="Make the queue").click()
        expect(page.locator("main")).to_contain_text("of 50 items finished")


@pytest.mark.trials
@pytest.mark.parametrize("address", ["/trace-sets", "/trace-sets/desk"])
def test_trace_sets_are_accessible_in_every_look(
    browser: Browser,
    desk: str,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Path],
    address: str,
) -> None:
    with new_page(browser, desk) as page:
        page.goto(address)
        for look in check_looks(page, check_accessible):
            take_picture(page, f"{address[1:].replace('/', '-')}-{look}", is_whole=False)
