"""The list of runs in a browser: live rows, filters, comparison, trends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.browser_pages import new_page
from servers.browsing import check_looks, tab_to
from servers.service import running
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TREND = "/runs?dataset=library-helpdesk&target=assistant_b"


class SlowTarget(ScriptedTarget):
    """Takes its time."""

    async def ask(self, request: Request) -> Trace:
        """An answer, after half a second."""
        await asyncio.sleep(0.5)
        return await super().ask(request)


@pytest.fixture
def at_work(tmp_path: Path) -> Generator[tuple[str, Callable[[], Thread]]]:
    """A site, and a function that starts a run of some seconds there."""
    written = Project(tmp_path.resolve())
    cases = written.cases([row(f"r{number}") for number in range(12)])

    def start() -> Thread:
        def run() -> None:
            written.run(written.ports(SlowTarget()), cases, max_concurrency=1)

        thread = Thread(target=run)
        thread.start()
        return thread

    with open_project(tmp_path) as project, running(project) as url:
        yield url, start
    written.close()


def chosen(url: str) -> dict[str, list[str]]:
    """What a comparison is asked for."""
    return parse_qs(urlsplit(url).query)


def test_a_run_is_found_by_its_filters_which_the_address_keeps(page: Page) -> None:
    page.goto("/runs")
    page.get_by_label("Part of the dataset").fill("quiz")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("#run-rows tr")
    assert rows.count() == 1
    assert "rules-quiz × assistant_b" in rows.inner_text()
    page.reload()
    assert rows.count() == 1
    page.get_by_role("link", name="Clear all").click()
    assert rows.count() == 7
    page.go_back()
    assert rows.count() == 1
    assert page.get_by_label("Part of the dataset").input_value() == "quiz"


@pytest.mark.trials
def test_rows_follow_runs_without_a_reload(
    browser: Browser, at_work: tuple[str, Callable[[], Thread]]
) -> None:
    url, start = at_work
    first = start()
    with new_page(browser, url) as page:
        page.goto("/runs")
        while not page.locator("#run-rows progress[value]").count():
            page.reload()
        page.evaluate("window.isSame = true")
        bar = page.locator("#run-rows tr").first.locator("progress")
        before = float(bar.get_attribute("value") or 0)
        page.wait_for_function(
            f"() => document.querySelector('#run-rows progress')?.value > {before}"
        )
        second = start()
        page.wait_for_function("() => document.querySelectorAll('#run-rows tr').length === 2")
        page.wait_for_function(
            "() => document.querySelector('#run-rows .v-pass') !== null", timeout=60_000
        )
        # What was chosen stays when other rows change.
        page.get_by_label("Baseline A").first.check()
        page.wait_for_function(
            "() => document.querySelectorAll('#run-rows .v-pass').length === 2", timeout=60_000
        )
        assert page.get_by_label("Baseline A").last.is_checked()
        assert page.evaluate("window.isSame")
        assert not page.locator("#run-rows").get_attribute("data-active")
    first.join()
    second.join()


@pytest.mark.trials
def test_two_runs_are_chosen_and_compared_by_keyboard(page: Page) -> None:
    page.goto("/runs?q=helpdesk")
    runs: list[str] = page.locator("#run-rows tr").evaluate_all("rows => rows.map((r) => r.id)")
    tab_to(page, "Baseline A")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    tab_to(page, "Compare as B")
    page.keyboard.press("ArrowUp")
    page.route("**/compare?*", lambda route: route.fulfill(body="<title>x</title>"))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert chosen(page.url) == {"a": [runs[1]], "b": [runs[0]]}


@pytest.mark.trials
def test_a_comparison_needs_two_runs(page: Page) -> None:
    page.goto("/runs")
    page.get_by_role("button", name="Compare A with B").click()
    assert page.url.endswith("/runs")
    invalid: int = page.evaluate("document.querySelectorAll('input:invalid').length")
    assert invalid > 0


@pytest.mark.trials
def test_the_list_and_the_comparison_work_without_scripts(browser: Browser, site: str) -> None:
    with new_page(browser, site, java_script_enabled=False) as page:
        page.goto("/runs")
        page.get_by_label("Suite").select_option("judged")
        page.get_by_role("button", name="Filter").click()
        assert "suite=judged" in page.url
        page.get_by_label("Baseline A").last.check()
        page.get_by_label("Compare as B").first.check()
        page.route("**/compare?*", lambda route: route.fulfill(body="<title>x</title>"))
        page.get_by_role("button", name="Compare A with B").click()
        page.wait_for_url(re.compile(r"/compare\?"))
        assert chosen(page.url)["a"] < chosen(page.url)["b"]  # run ids begin with their time


@pytest.mark.trials
def test_a_run_of_canaries_says_what_its_judge_passed(page: Page) -> None:
    """It is no quality of a target, and no drift of the judge: list, page and report agree."""
    page.goto("/runs")
    row = page.get_by_role("row").filter(has_text="canaries × canaries")
    expect(row).to_contain_text("Canaries: 4 of 36 answers that must fail were passed.")
    row.get_by_role("link", name="canaries × canaries").click()

    expect(page.locator(".say")).to_have_text(
        "Canaries: 4 of 36 answers that must fail were passed."
    )
    expect(page.locator(".facts")).to_contain_text("judge/helpful@1.0.0")
    expect(page.get_by_text("drifted")).to_have_count(0)
    expect(page.get_by_role("heading", name="Slices and checks")).to_have_count(0)
    first = page.locator(".folds summary").first
    expect(first).to_contain_text("Passed, though they must fail")
    page.get_by_role("link", name="Show all 4 among the records").click()
    expect(page.locator("table.records tbody tr")).to_have_count(4)
    report = page.request.get(page.url.partition("?")[0] + "/report.html").text()
    assert "canaries: 4 of 36 answers that must fail were passed" in report
    assert "drifted" not in report


def test_the_trend_has_a_figure_and_a_table(page: Page) -> None:
    page.goto("/runs")
    page.get_by_role("link", name="history").nth(0).click()
    assert page.url.endswith(TREND)
    figure = page.get_by_role("img", name="Pass rates, oldest first")
    assert "95.7 % [85.2, 98.9] raw, n = 47" in (figure.get_attribute("aria-label") or "")
    assert page.get_by_text("rubric, judge changed").is_visible()
    page.get_by_text("The same as a table").click()
    table = page.get_by_role("table", name="Trend of library-helpdesk")
    assert table.locator("tbody tr").count() == 2
    page.get_by_label("Remove the filter target").click()
    assert page.url.endswith("/runs?dataset=library-helpdesk")


@pytest.mark.trials
def test_the_table_is_downloaded_as_csv(page: Page) -> None:
    page.goto("/runs?q=helpdesk")
    with page.expect_download() as download:
        page.get_by_label("CSV of").first.click()
        page.get_by_role("button", name="Download CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    lines = text.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("library-helpdesk × assistant_b,run_")
    assert "0.957" in lines[1]


@pytest.mark.trials
@pytest.mark.parametrize(("name", "path"), [("runs", "/runs"), ("trend", TREND)])
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
