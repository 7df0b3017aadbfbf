"""The page of a record in Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from fakes.agent_runs import SPANS, make_agent_run
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.browser_pages import NARROW, new_page
from servers.service import running
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Check = Callable[["Page"], None]


class Desk(NamedTuple):
    """The demo's project with what people say of its conversations."""

    url: str
    conversations: str
    answers: str
    """A run in which one record has no answer."""
    judged: str
    """A run with a jury, of which one juror refused."""


@pytest.fixture(scope="module")
def desk(demo_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Desk]:
    """A copy, which tests may change."""
    root = tmp_path_factory.mktemp("desk") / "library"
    shutil.copytree(demo_project, root)
    with open_project(root) as project:
        # In the order of the demo's story; ids begin with the time.
        runs = sorted(one.name for one in (root / ".steelyard" / "runs").iterdir())
        run = runs[3]
        command = ["review", "import", "labels/conversations.jsonl", "--run", run]
        subprocess.run(
            [sys.executable, "-P", "-m", "steelyard", *command],
            cwd=root,
            check=True,
            capture_output=True,
        )
        with running(project) as url:
            yield Desk(
                url=url,
                conversations=run,
                answers=runs[1],
                judged=runs[4],
            )


@pytest.fixture
def page(browser: Browser, desk: Desk) -> Generator[Page]:
    """A wide, light page of that project."""
    with new_page(browser, desk.url) as opened:
        yield opened


def open_record(page: Page, run: str, index: int, query: str = "") -> None:
    """Open the page of a record."""
    page.goto(f"/runs/{run}/records/{index}{query}")


def test_judge_and_people_stand_side_by_side(
    page: Page, desk: Desk, check_accessible: Check
) -> None:
    """Which turn is wrong, who says so, and on what evidence."""
    open_record(page, desk.conversations, 2)
    assert page.locator("h1").inner_text().startswith("desk-large-print")
    assert page.locator("h1 .badge").all_inner_texts() == [
        "Pass, 0.94",
        "People disagree",
        "People against the judge",
    ]
    last = page.locator("#turn-4")
    assert "it waits two full weeks for her" in last.locator("mark.pass").inner_text()
    assert last.locator(".said .v").all_inner_texts() == ["Right", "0 of 3 right"]
    row = page.locator(".qa tbody tr").first
    assert row.locator(".v").all_inner_texts() == ["Yes", "1 of 3 yes"]
    assert page.get_by_text("jonas: 7 days, not two weeks.").is_visible()
    assert page.get_by_text("record 3 of 8").is_visible()
    assert page.get_by_text("never validated").is_visible()
    check_accessible(page)


@pytest.mark.trials
def test_judges_prompts_are_folded_and_open(page: Page, desk: Desk) -> None:
    """One click shows what the judge was asked and said."""
    open_record(page, desk.conversations, 2)
    fold = page.locator("#judges .fold").first
    assert not fold.locator(".judged").is_visible()
    fold.locator("summary").click()
    assert "My grandmother would like to read" in fold.locator(".code").nth(1).inner_text()
    assert "answers" in fold.locator(".code").last.inner_text()


@pytest.mark.trials
def test_raw_and_formatted_stay_in_the_address(page: Page, desk: Desk) -> None:
    """Reload keeps the view, and back returns to the other."""
    open_record(page, desk.conversations, 2)
    assert page.locator(".trace .md").count() > 0
    page.get_by_role("link", name="Raw", exact=True).click()
    assert "view=raw" in page.url
    page.reload()
    assert page.locator(".trace .md").count() == 0
    page.go_back()
    assert page.locator(".trace .md").count() > 0


@pytest.mark.trials
def test_arrows_walk_the_filtered_list_by_keyboard(page: Page, desk: Desk) -> None:
    """Only failing records follow each other, and the way back to the run keeps the filter."""
    open_record(page, desk.conversations, 1, "?from=passed%3Dfalse")
    assert "in the filtered list" in page.locator(".meta").inner_text()
    following = page.get_by_role("link", name="Next record")
    following.focus()
    page.keyboard.press("Enter")
    page.wait_for_load_state()
    assert page.locator("h1 .badge").first.inner_text().startswith("Fail")
    assert "from=passed%3Dfalse" in page.url
    crumb = page.locator(".crumbs a").nth(1)
    assert crumb.get_attribute("href") == f"/runs/{desk.conversations}?passed=false"
    page.go_back()
    assert "/records/1?" in page.url


@pytest.mark.trials
def test_a_record_without_an_answer_says_why(
    page: Page, desk: Desk, check_accessible: Check
) -> None:
    """In words and in those of the provider, with every attempt and pause."""
    open_record(page, desk.answers, 12)
    note = page.get_by_role("status").filter(has_text="No score")
    assert "did not answer in time" in note.inner_text()
    assert page.locator("#attempts tbody tr").count() == 3
    assert page.locator("#attempts svg line.wait").count() == 2
    check_accessible(page)


@pytest.mark.trials
def test_a_jury_is_shown_juror_by_juror(page: Page, desk: Desk, check_accessible: Check) -> None:
    """One that refused has no score, and no zero."""
    open_record(page, desk.judged, 43)
    table = page.locator("table.qa").filter(has_text="Juror")
    assert table.locator("tbody .v").all_inner_texts() == ["No score", "Pass"]
    assert "none" in table.inner_text()
    check_accessible(page)


def test_the_panel_leads_to_the_form_that_adds_the_record(browser: Browser, desk: Desk) -> None:
    """The address names a field of the form, and a browser opens what it is folded in."""
    with new_page(browser, desk.url) as page:
        page.goto(f"/runs/{desk.answers}?only=look")
        page.locator("tr[data-row] .row-link").first.click()
        page.locator(".side").get_by_role("link", name="Add to dataset").click()
        page.wait_for_url("**/records/*")
        page.get_by_label("Name of a new dataset").wait_for()


@pytest.mark.trials
def test_a_record_is_added_to_a_dataset_and_the_second_extends_it(page: Page, desk: Desk) -> None:
    """From the page, with what was carried over said in words."""
    open_record(page, desk.conversations, 1)
    page.get_by_text("Add to dataset").click()
    page.get_by_label("Name of a new dataset").fill("desk-failures")
    page.get_by_role("button", name="Add this record").click()
    assert page.get_by_role("link", name="dataset/desk-failures@1").is_visible()
    assert page.get_by_text("The case was carried over as its dataset has it").is_visible()
    open_record(page, desk.conversations, 2)
    page.get_by_text("Add to dataset").click()
    page.get_by_label("A dataset that can still be changed").select_option(
        "dataset/desk-failures@1"
    )
    page.get_by_role("button", name="Add this record").click()
    page.get_by_role("link", name="dataset/desk-failures@1").click()
    assert page.get_by_text("desk-large-print").first.is_visible()


@pytest.mark.trials
def test_a_wrong_name_keeps_what_was_typed(browser: Browser, desk: Desk) -> None:
    """The message stands at the field; a browser logs the refused form."""
    context = browser.new_context(base_url=desk.url)
    opened = context.new_page()
    open_record(opened, desk.conversations, 1)
    opened.get_by_text("Add to dataset").click()
    opened.get_by_label("Name of a new dataset").fill("no such name!")
    opened.get_by_role("button", name="Add this record").click()
    assert "cannot be the name" in opened.get_by_role("alert").inner_text()
    assert opened.get_by_label("Name of a new dataset").input_value() == "no such name!"
    context.close()


@pytest.mark.trials
def test_the_link_and_the_json_can_be_copied(browser: Browser, desk: Desk) -> None:
    """A colleague gets the same page; a program the same JSON."""
    with new_page(browser, desk.url, permissions=["clipboard-read", "clipboard-write"]) as page:
        open_record(page, desk.conversations, 2, "?view=raw")
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("Link copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        page.get_by_role("link", name="Raw JSON").click()
        page.get_by_role("button", name="Copy JSON").click()
        page.get_by_text("JSON copied").wait_for()
        assert '"record_id": "desk-large-print"' in page.evaluate("navigator.clipboard.readText()")
        page.go_back()
        assert "tab=json" not in page.url


@pytest.mark.trials
@pytest.mark.parametrize("path", ["", "/panel", "?view=raw", "?tab=json"])
@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": NARROW}])
def test_pages_are_accessible_in_the_dark_and_on_small_screens(
    browser: Browser, desk: Desk, check_accessible: Check, path: str, options: dict[str, object]
) -> None:
    """The same in either theme, and no page scrolls sideways."""
    with new_page(browser, desk.url, **options) as page:
        page.goto(f"/runs/{desk.conversations}/records/2{path}")
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.trials
def test_every_control_is_reached_by_keyboard(page: Page, desk: Desk) -> None:
    """Tab comes to neighbours, form, copy, views, folds and tables."""
    open_record(page, desk.conversations, 2)
    name_of = "(one => (one.ariaLabel || one.textContent).trim())(document.activeElement)"
    reached: set[str] = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(name_of))
    assert {"Previous record", "Next record", "Add to dataset", "Copy link"} <= reached
    assert {"Raw JSON", "Formatted", "Raw"} <= reached
    assert any(one.startswith("questions, solved") for one in reached)
    assert any(one.startswith("Attempts") for one in reached)


def _list_of(desk: Desk, html: str) -> str:
    """A page with rows that open the panels of two records, and the frame of another page."""
    row = (
        '<tr data-row="{0}" data-panel="/runs/{1}/records/{0}/panel">'
        '<th><a class="row-link" href="/runs/{1}/records/{0}">record {0}</a></th></tr>'
    )
    rows = "".join(row.format(index, desk.conversations) for index in (1, 2))
    table = f'<table class="t"><tbody>{rows}</tbody></table>'
    split = f'<div class="split" data-panel><p data-panel-say></p>{table}</div>'
    before, _, after = html.partition('<main id="main">')
    return f'{before}<main id="main">{split}</main>{after.partition("</main>")[2]}'


@pytest.mark.trials
def test_the_panel_opens_beside_a_list(page: Page, desk: Desk) -> None:
    """A row opens it, arrows move, Escape closes, and the address keeps what is open."""
    html = _list_of(desk, httpx.get(f"{desk.url}/").text)
    page.route("**/list*", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto("/list")
    page.get_by_text("record 1").click()
    side = page.locator(".side")
    side.locator("h2", has_text="desk-late-films").wait_for()
    assert "open=1" in page.url
    page.keyboard.press("ArrowDown")
    side.locator("h2", has_text="desk-large-print").wait_for()
    side.get_by_role("button", name="Previous record").click()
    side.locator("h2", has_text="desk-late-films").wait_for()
    page.reload()
    side.locator("h2", has_text="desk-late-films").wait_for()
    assert side.get_by_text("Answer", exact=True).is_visible()
    page.keyboard.press("Escape")
    side.wait_for(state="detached")
    page.get_by_text("record 2").click()
    side.get_by_role("link", name="Attempts").click()
    assert page.url.endswith(f"/runs/{desk.conversations}/records/2#attempts")


def _long_run(root: Path) -> str:
    """A run of one record with 300 messages, one of them very long, and calls that took time."""
    call = ToolCall(
        tool="look",
        id="c1",
        input={"title": "The Salt Road"},
        output={"rows": [{"mark": f"LP {number}", "floor": number} for number in range(30)]},
        extra={"duration_ms": 120},
    )
    messages = [Message(role="assistant", content=f"Message {number}.") for number in range(298)]
    long = Message(role="assistant", content="A long line of words.\n" * 1000, tool_calls=(call,))
    trace = Trace(messages=(long, *messages, Message(role="assistant", content="yes")))
    project = Project(root)
    ports = project.ports(ScriptedTarget(otherwise=trace))
    done = project.run(ports, project.cases([row("long")]))
    project.close()
    return done.run_id


@pytest.mark.trials
def test_long_traces_come_in_parts_with_folds(
    browser: Browser, tmp_path: Path, check_accessible: Check
) -> None:
    """Clipped texts and long lists open, parts of the trace are addresses, times are drawn."""
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(_long_run, tmp_path).result()
    with (
        open_project(tmp_path) as project,
        running(project) as url,
        new_page(browser, url) as page,
    ):
        open_record(page, run, 0)
        clipped = page.locator(".clipped")
        assert clipped.locator(".clip-head").is_visible()
        clipped.get_by_text("Show all 22,000 characters").click()
        assert not clipped.locator(".clip-head").is_visible()
        fold = page.locator(".j-fold")
        assert "LP 29" not in fold.inner_text()
        fold.locator("summary").click()
        assert "LP 29" in fold.inner_text()
        assert page.locator("#spans tbody tr").count() == 2
        check_accessible(page)
        page.get_by_role("link", name="Last", exact=True).first.click()
        assert "part=4" in page.url
        page.reload()
        assert page.get_by_text("Messages 301 to 301 of 301").first.is_visible()
        page.go_back()
        assert page.locator("#turn-1").count() == 1


@pytest.mark.trials
def test_repeats_stand_side_by_side_with_their_waterfall(
    browser: Browser, tmp_path: Path, check_accessible: Check
) -> None:
    """Each bar begins where its span does, and an address shows one of the repeats."""
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(make_agent_run, tmp_path).result()
    with (
        open_project(tmp_path) as project,
        running(project) as url,
        new_page(browser, url) as page,
    ):
        open_record(page, run, 0)
        table = page.locator("table.repeats")
        assert table.locator("thead th").all_inner_texts()[1:] == [
            "Repeat 0, on show",
            "Repeat 1",
            "Repeat 2",
        ]
        assert table.locator("tbody tr").first.locator(".v").all_inner_texts() == [
            "Pass",
            "Fail",
            "Fail",
        ]
        bars = page.locator("#spans svg rect")
        boxes = [one.bounding_box() for one in bars.all()]
        begins = [box["x"] for box in boxes if box]
        widths = [box["width"] for box in boxes if box]
        assert len(boxes) == len(SPANS)
        assert sorted(begins) == begins or begins[4] < begins[3]
        assert widths[0] > widths[4] > widths[1] > widths[2] > widths[3]
        check_accessible(page)

        table.get_by_role("link", name="Repeat 2").click()
        assert "repeat=2" in page.url
        assert "catalogue: 503 after 400 ms" in page.locator("#spans").inner_text()
        assert page.locator("#spans .err").count() > 0
        page.reload()
        assert table.locator("[aria-current]").inner_text() == "Repeat 2, on show"
        page.go_back()
        assert table.locator("[aria-current]").inner_text() == "Repeat 0, on show"


@pytest.mark.trials
def test_pictures(
    browser: Browser, desk: Desk, page: Page, take_picture: Callable[..., Path]
) -> None:
    """The page as README and guide show it."""
    open_record(page, desk.conversations, 2)
    take_picture(page, "record")
    with new_page(browser, desk.url, color_scheme="dark") as dark:
        open_record(dark, desk.answers, 12)
        take_picture(dark, "record-without-score-dark")
    with new_page(browser, desk.url, viewport=NARROW) as narrow:
        open_record(narrow, desk.conversations, 2)
        take_picture(narrow, "record-narrow")
