"""The page of a run in a real Chromium: read, filtered, sorted, paged, followed while it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import expect

from servers.browser_pages import NARROW, new_page
from servers.run_service import RunService, document, record, run_service, write_project
from servers.service import running
from steelyard import evaluate
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = '<img src=x onerror="document.title=1">'
RUBRIC = """\
id: agrees
version: 1.0.0
checks:
  - {id: says_yes, kind: must_contain_any, phrases: ["yes"]}
scoring: {combine: all_pass}
"""


@pytest.fixture(scope="session")
def judged(site: str) -> str:
    """The address of the run of the demo that a judge and people have looked at."""
    runs = httpx.get(f"{site}/v1/runs", params={"q": "library-helpdesk"}).json()["data"]
    found = next(
        run for run in runs if run["target"] == "assistant_b" and run["derived_from"] is not None
    )
    return f"/runs/{found['run_id']}"


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a run of 130 records with hostile texts, on a site of its own."""
    root = tmp_path_factory.mktemp("many")
    (root / "rubrics").mkdir()
    (root / "rubrics" / "agrees.yaml").write_text(RUBRIC, encoding="utf-8")
    rows = [
        {
            "record_id": f"n{number:03} {HOSTILE if number == 1 else ''}".strip(),
            "input": {"prompt": f"Number {number}? {HOSTILE}"},
            "tags": [HOSTILE, "even" if number % 2 == 0 else "odd"],
        }
        for number in range(130)
    ]
    (root / "steelyard.yaml").write_text("slices: [tags]\n", encoding="utf-8")
    (root / "cases.json").write_text(json.dumps(document(rows)), encoding="utf-8")

    def answer(prompt: str) -> str:
        return f"no {HOSTILE}" if "7?" in prompt else f"yes {HOSTILE}"

    with open_project(root) as project:
        run = evaluate("cases.json", target=answer, rubric="rubric/agrees@1.0", project=project)
        with running(project) as url:
            yield f"{url}/runs/{run.run_id}"


def verdicts(page: Page) -> list[str]:
    return page.locator("table.records tbody tr td:first-child").all_inner_texts()


def names(page: Page) -> list[str]:
    return page.locator("table.records tbody th a").all_inner_texts()


def test_a_reader_sees_the_result_and_the_failing_record(
    page: Page, judged: str, check_accessible: Callable[[Page], None]
) -> None:
    """The defended rate is the largest figure; the failure is the first thing to look at."""
    page.goto(judged)

    assert page.locator(".say").inner_text().startswith("About 74 of 100 answers are good.")
    sizes = page.locator(".f-fig b").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert sizes[0] == max(sizes) > sizes[1]
    first = page.locator(".folds details.fold").first
    assert first.get_attribute("open") is not None
    assert "No score: timeout" in first.inner_text()
    assert "timeout, given up" in first.inner_text()
    assert verdicts(page)[:3] == ["Timeout", "Fail", "Fail"]
    check_accessible(page)


@pytest.mark.trials
@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": NARROW}])
def test_it_is_accessible_dark_and_narrow(
    browser: Browser,
    site: str,
    judged: str,
    options: dict[str, Any],
    check_accessible: Callable[[Page], None],
) -> None:
    """Nothing but tables scrolls sideways on a small screen."""
    with new_page(browser, site, **options) as page:
        page.goto(judged)
        for fold in page.locator("details.fold > summary").all()[1:]:
            fold.click()
        check_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == page.evaluate("innerWidth")


@pytest.mark.trials
def test_filters_are_in_the_address_and_the_back_button_returns(page: Page, judged: str) -> None:
    """A chip filters; back and reload keep what was chosen."""
    page.goto(judged)
    page.get_by_role("link", name="needs a look").click()
    page.wait_for_url("**only=look*")
    assert len(names(page)) == 14
    page.get_by_role("link", name="Fail 2").click()
    page.wait_for_url("**passed=false*")
    assert verdicts(page) == ["Fail", "Fail"]
    page.reload()
    assert verdicts(page) == ["Fail", "Fail"]
    page.go_back()
    page.wait_for_url("**only=look*")
    assert len(names(page)) == 14
    page.get_by_role("link", name="needs a look").click()
    page.wait_for_url(lambda url: "?" not in url)
    assert len(names(page)) == 48


@pytest.mark.trials
def test_what_to_look_at_and_slices_lead_to_their_records(page: Page, judged: str) -> None:
    """Rows of both parts link to filtered records."""
    page.goto(judged)
    page.get_by_text("Not passed: helpful").click()
    page.get_by_role("link", name="Show all 2 among the records").click()
    page.wait_for_url("**check=helpful*")
    assert sorted(names(page)) == ["accessibility-helper-card", "privacy-newsletter"]
    page.locator("table.heat th a", has_text="privacy").click()
    page.wait_for_url("**tag=privacy*")
    assert len(names(page)) == 9
    page.get_by_text("Add filter").click()
    page.locator(".menu-box .chip", has_text="timeout").click()
    page.wait_for_url("**label=timeout*")
    assert page.get_by_text("No record fits these filters.").is_visible()
    page.get_by_role("link", name="Show all records").click()
    page.wait_for_url(lambda url: "?" not in url)


@pytest.mark.trials
def test_people_and_juries_have_filters(page: Page, judged: str) -> None:
    """Labels and split juries are counted and found."""
    page.goto(judged)
    for chip, number in (
        ("judge ≠ people 4", 4),
        ("read by people 16", 16),
        ("jury split 10", 10),
    ):
        page.get_by_role("link", name=chip).click()
        page.wait_for_url("**only=*")
        assert len(names(page)) == number
        page.goto(judged)


@pytest.mark.trials
def test_search_sort_and_pages_work_on_the_server(browser: Browser, many: str) -> None:
    """130 records: 50 on a page, previous and next, a search, an order."""
    with new_page(browser, many.partition("/runs")[0]) as page:
        page.goto(many)
        assert page.get_by_text("1–50 of 130").first.is_visible()
        page.get_by_role("link", name="Record and question").click()
        page.wait_for_url("**sort=index*")
        assert names(page)[0].startswith("n000")
        page.get_by_role("link", name="Next").click()
        page.wait_for_url("**from=51*")
        page.get_by_role("link", name="Next").click()
        page.wait_for_url("**from=101*")
        assert page.get_by_text("101–130 of 130").first.is_visible()
        page.get_by_role("link", name="Previous").click()
        page.wait_for_url("**from=51*")
        assert names(page)[0] == "n050"
        page.reload()
        assert names(page)[0] == "n050"
        page.get_by_label("Search questions and answers").fill("Number 12")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=Number*")
        assert len(names(page)) == 11


@pytest.mark.trials
def test_hostile_texts_stay_texts(browser: Browser, many: str) -> None:
    """Ids, questions, answers and tags cannot become markup."""
    with new_page(browser, many.partition("/runs")[0]) as page:
        page.goto(f"{many}?cols=answer~tags~reason&q=n001")
        assert names(page) == [f"n001 {HOSTILE}"]
        assert page.locator("main img, main script").count() == 0
        page.goto(f"{many}?tag={HOSTILE}")
        assert page.locator("main img, main script").count() == 0
        assert page.title().endswith("Steelyard")


@pytest.mark.trials
def test_a_row_opens_beside_the_table(page: Page, judged: str) -> None:
    """A click opens it, arrows move, Escape closes; the address keeps what is open."""
    page.goto(f"{judged}?only=look")
    page.locator("table.records").get_by_role("link", name="fees-blocked-card").click()
    page.locator(".side h2", has_text="fees-blocked-card").wait_for()
    assert "open=12" in page.url
    page.keyboard.press("ArrowDown")
    page.locator(".side h2", has_text="accessibility-helper-card").wait_for()
    assert "open=12" not in page.url
    assert page.locator("tr[aria-current]").count() == 1
    page.reload()
    page.locator(".side h2", has_text="accessibility-helper-card").wait_for()
    page.keyboard.press("Escape")
    page.locator(".side").wait_for(state="detached")
    assert "open=" not in page.url


def test_the_back_button_closes_the_row_and_stays_on_the_page(page: Page, judged: str) -> None:
    page.goto(f"{judged}?only=look")
    page.locator("table.records").get_by_role("link", name="fees-blocked-card").click()
    page.locator(".side h2", has_text="fees-blocked-card").wait_for()
    page.keyboard.press("ArrowDown")
    page.locator(".side h2", has_text="accessibility-helper-card").wait_for()
    page.go_back()
    page.locator(".side").wait_for(state="detached")
    assert page.url.endswith(f"{judged}?only=look")
    page.go_forward()
    page.locator(".side h2", has_text="accessibility-helper-card").wait_for()


@pytest.mark.trials
@pytest.mark.parametrize("width", [1280, 390])
def test_a_panel_that_is_opened_by_key_has_the_focus(
    browser: Browser, site: str, judged: str, width: int
) -> None:
    """It is announced; where it covers the page, the keyboard reaches nothing else of it."""
    where = "document.activeElement.closest('.side, .top, main')?.className ?? ''"
    with new_page(browser, site, viewport={"width": width, "height": 844}) as page:
        page.goto(f"{judged}?only=look")
        page.locator("tr[data-row] .row-link").first.focus()
        page.keyboard.press("Enter")
        page.locator(".side h2").wait_for()
        assert "side" in page.evaluate(where)
        expect(page.locator("[data-panel-say]")).to_contain_text(re.compile(r"Row 1 of \d+: \w"))
        page.keyboard.press("ArrowDown")
        expect(page.locator("[data-panel-say]")).to_contain_text("Row 2 of")
        assert "side" in page.evaluate(where)
        reached: set[str] = set()
        for _ in range(20):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(f"document.activeElement === document.body ? '' : {where}"))
        assert ("top" in reached) == (width == 1280)
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.className") == "row-link"
        assert page.locator("[inert]").count() == 0


@pytest.mark.trials
@pytest.mark.parametrize("look", [{"viewport": NARROW}, {"color_scheme": "dark"}])
def test_the_slices_are_a_page_with_intervals_and_links(
    browser: Browser,
    site: str,
    judged: str,
    look: dict[str, Any],
    check_accessible: Callable[[Page], None],
) -> None:
    with new_page(browser, site, **look) as page:
        page.goto(f"{judged}/slices")
        expect(page.locator(".page-head")).to_contain_text("slices, lowest rate first")
        bars = page.locator("tbody .iv-cell svg")
        assert bars.count() > 10
        spans = "all => all.map(one => [one.getBoundingClientRect().x, one.clientWidth].join())"
        assert len(set(bars.evaluate_all(spans))) == 1
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        name = page.locator("tbody th a").first.inner_text()
        page.locator("tbody th a").first.click()
        expect(page.locator(".chip.on")).to_contain_text(name)


@pytest.mark.trials
def test_a_record_knows_the_list_that_it_was_opened_from(page: Page, judged: str) -> None:
    """Its page counts within the filtered list, and leads back to it."""
    page.goto(f"{judged}?only=differs")
    page.goto(str(page.locator("table.records tbody th a").first.get_attribute("href")))
    assert page.get_by_text("record 1 of 4").is_visible()
    page.locator("nav.crumbs a").nth(1).click()
    page.wait_for_url("**only=differs*")


@pytest.mark.trials
def test_columns_are_chosen_and_views_are_saved(page: Page, judged: str) -> None:
    """The address keeps columns; the browser keeps named views."""
    page.goto(f"{judged}?passed=false")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Tags").check()
    page.get_by_label("panel").uncheck()
    page.get_by_role("button", name="Show these").click()
    page.wait_for_url("**cols=*")
    heads = page.locator("table.records thead th").all_inner_texts()
    assert "Tags" in heads
    assert "panel" not in heads
    page.get_by_text("Save view", exact=True).click()
    page.get_by_label("Name of the view").fill("failed, with tags")
    page.keyboard.press("Enter")
    page.goto(judged)
    page.get_by_role("link", name="failed, with tags").click()
    page.wait_for_url("**passed=false*")
    assert "Tags" in page.locator("table.records thead th").all_inner_texts()
    page.get_by_role("button", name="Delete the view failed, with tags").click()
    page.reload()
    assert page.get_by_role("link", name="failed, with tags").count() == 0


@pytest.mark.trials
def test_columns_and_views_are_there_in_other_runs_of_the_same_kind(
    page: Page, judged: str, site: str
) -> None:
    """They belong to dataset and rubric; a run by another rubric has its own."""
    runs = httpx.get(f"{site}/v1/runs", params={"q": "library-helpdesk"}).json()["data"]
    regraded = [f"/runs/{one['run_id']}" for one in runs if one["derived_from"]]
    plain = next(f"/runs/{one['run_id']}" for one in runs if not one["derived_from"])
    other = next(one for one in regraded if one != judged)
    page.goto(f"{judged}?passed=false")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Tags").check()
    page.get_by_role("button", name="Show these").click()
    page.wait_for_url("**cols=*")
    page.get_by_text("Save view", exact=True).click()
    page.get_by_label("Name of the view").fill("failed")
    page.keyboard.press("Enter")
    page.goto(other)
    page.wait_for_url("**cols=*")
    assert "Tags" in page.locator("table.records thead th").all_inner_texts()
    assert page.get_by_role("link", name="failed", exact=True).count() == 1
    page.goto(plain)
    assert "Tags" not in page.locator("table.records thead th").all_inner_texts()
    assert page.get_by_role("link", name="failed", exact=True).count() == 0
    page.goto(judged)
    page.wait_for_url("**cols=*")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("button", name="The usual ones").click()
    page.wait_for_url(lambda url: "cols=" not in url)


@pytest.mark.trials
def test_menus_stay_within_the_page(browser: Browser, many: str, judged: str, site: str) -> None:
    """Long values are broken, wherever the button of a menu stands."""
    long = "x" * 120
    for address in (f"{many}?tag={HOSTILE}&check={long}", f"{many}?q={long}", f"{site}{judged}"):
        for width in (1280, 1024, 390):
            size = {"width": width, "height": 900}
            with new_page(browser, address.partition("/runs")[0], viewport=size) as page:
                page.goto(address)
                for menu in page.locator("details.menu > summary:visible").all():
                    menu.click()
                    assert page.evaluate("document.documentElement.scrollWidth") == width
                    box = page.locator("details.menu[open] > .menu-box").bounding_box()
                    assert box
                    assert box["x"] >= 0
                    page.keyboard.press("Escape")


@pytest.mark.trials
def test_the_search_box_says_what_is_searched_for(browser: Browser, many: str) -> None:
    """After a step back it does not keep words that are not in force."""
    with new_page(browser, many.partition("/runs")[0]) as page:
        page.goto(many)
        page.get_by_label("Search questions and answers").fill("Number 12")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=Number*")
        page.go_back()
        page.wait_for_url(lambda url: "q=" not in url)
        assert page.get_by_label("Search questions and answers").input_value() == ""


@pytest.mark.trials
def test_small_slices_are_fetched_when_they_are_opened(page: Page, judged: str) -> None:
    """They are no part of the page; the link in their place works without script."""
    page.goto(judged)
    fold = page.locator("details[data-load]")
    assert fold.locator("table").count() == 0
    assert str(fold.locator("a").get_attribute("href")).endswith("/slices?few=true")
    fold.locator("summary").click()
    fold.locator("tbody tr").first.wait_for()
    assert fold.locator("tbody tr").count() == 40


@pytest.mark.trials
def test_menus_offer_comparisons_and_files(page: Page, judged: str) -> None:
    """They open by keyboard and close with Escape."""
    page.goto(judged)
    menu = page.locator("summary", has_text="Compare with…")
    menu.focus()
    page.keyboard.press("Enter")
    others = page.locator(".menu[open] .menu-list a")
    assert others.count() == 3
    assert re.search(r"/compare\?a=run_\w+&b=run_\w+$", str(others.first.get_attribute("href")))
    page.keyboard.press("Escape")
    assert page.locator(".menu[open]").count() == 0
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Records as CSV").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("index,record_id")
    page.get_by_role("button", name="Copy link").click()


@pytest.mark.trials
def test_everything_is_reached_with_the_tab_key(page: Page, judged: str) -> None:
    """The first stops are the link past the navigation, then the navigation."""
    page.goto(f"{judged}?only=unscored")
    reached: list[str] = []
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label') "
                "|| document.activeElement.textContent.trim()"
            )
        )
    for wanted in ("Skip to content", "Export", "Copy link", "fees-blocked-card", "Columns"):
        assert any(wanted in text for text in reached), wanted
    assert any("needs a look" in text for text in reached)


@pytest.fixture
def service(tmp_path: Path) -> Generator[RunService]:
    """A server with a worker."""
    write_project(tmp_path)
    with run_service(tmp_path) as running_service:
        yield running_service


@pytest.mark.trials
def test_a_run_is_followed_without_reload_and_ends_with_results(
    browser: Browser, service: RunService, check_accessible: Callable[[Page], None]
) -> None:
    """Progress moves by itself; at the end the page shows the result."""
    rows = document([record(f"r{number}") for number in range(600)])
    run_id = service.post(rows, target="slow").json()["run_id"]
    with new_page(browser, str(service.client.base_url)) as page:
        page.goto(f"/runs/{run_id}")
        page.evaluate("window.isSame = true")
        done = page.locator("#run-progress progress")
        page.locator("#run-progress p", has_text=re.compile(r"[1-9][0-9] of 600 done")).wait_for()
        assert page.evaluate("window.isSame") is True
        assert float(str(done.get_attribute("max"))) == 600
        check_accessible(page)
        page.locator(".say").wait_for(timeout=60_000)
        assert page.locator(".say").inner_text().startswith("600 of 600 answers pass.")
        assert page.locator("#run-progress").count() == 0


@pytest.mark.trials
def test_records_of_a_run_appear_without_reload(browser: Browser, service: RunService) -> None:
    """Rows, counts and the rate so far are renewed; what a reader uses stays as it is."""
    rows = document([record(f"r{number}") for number in range(900)])
    run_id = service.post(rows, target="slow").json()["run_id"]
    with new_page(browser, str(service.client.base_url)) as page:
        page.goto(f"/runs/{run_id}?sort=index")
        page.evaluate("window.isSame = true")
        page.get_by_label("Search questions and answers").fill("not sent yet")
        page.locator("#records-rows tr[data-row]").first.wait_for(timeout=60_000)
        assert page.get_by_text("No record is finished yet.").count() == 0
        page.locator("#records-chips .chip b").first.wait_for()
        page.locator("#run-progress", has_text="of the").get_by_text("So far").wait_for()
        page.locator("table.records tbody a").first.click()
        page.locator(".side h2").wait_for()
        before = page.locator("#records-place").inner_text()
        assert before.endswith("so far")
        expect(page.locator("#records-place")).not_to_have_text(before, timeout=60_000)
        assert page.locator(".side h2").count() == 1
        assert page.locator("tr[aria-current]").count() == 1
        search = page.get_by_label("Search questions and answers")
        assert search.input_value() == "not sent yet"
        assert page.evaluate("window.isSame") is True


@pytest.mark.trials
def test_a_run_is_cancelled_with_a_button(browser: Browser, service: RunService) -> None:
    """The page asks first; the form stops it; the page says so."""
    rows = document([record(f"r{number}") for number in range(2000)])
    run_id = service.post(rows, target="slow").json()["run_id"]
    service.when(run_id, "running")
    with new_page(browser, str(service.client.base_url)) as page:
        page.goto(f"/runs/{run_id}")
        page.locator("summary", has_text="Cancel…").click()
        assert page.get_by_text("Cancelling ends this run for good.").is_visible()
        assert service.client.get(f"/v1/runs/{run_id}").json()["status"] == "running"
        page.get_by_role("button", name="Cancel this run").click()
        page.get_by_text("Cancelled").first.wait_for(timeout=30_000)


@pytest.mark.trials
def test_pictures(
    browser: Browser, site: str, judged: str, take_picture: Callable[..., Path]
) -> None:
    """Of the page for the guide: light, dark and narrow."""
    for name, options in (
        ("run", {}),
        ("run-dark", {"color_scheme": "dark"}),
        ("run-narrow", {"viewport": NARROW}),
    ):
        with new_page(browser, site, **options) as page:
            page.goto(f"{judged}?only=look")
            take_picture(page, name)
