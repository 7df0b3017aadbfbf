"""Nothing that a model, a dataset or a judge says runs, loads, covers or restyles anything.

Another page joins by its address in `PATHS`, with the names of `filled`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from fakes.hostile_pages import (
    GROUP,
    HOSTILE,
    QUESTIONS,
    TRACE_SET,
    HostileRun,
    make_hostile_queue,
    make_hostile_run,
)
from servers.service import running
from steelyard.project import open_project
from steelyard.web.review.reviewer import COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

from servers.browser_pages import NARROW, new_page

RECORD = "/runs/{run}/records/{index}"
PATHS = (
    RECORD,
    f"{RECORD}/panel",
    f"{RECORD}?view=raw",
    f"{RECORD}?tab=json",
    f"{RECORD}?repeat=1&from=q%3D%253Cscript%253E",
    "/",
    "/runs",
    "/groups/{group}",
    "/rubrics",
    "/rubrics/hostile%401.0.0?run={run}",
    "/rubrics/{questions}",
    "/judges",
    "/judges/kind%401.0.0",
    "/datasets",
    "/compare",
    "/trace-sets",
    "/trace-sets/{set}",
    "/runs/{run}",
    "/runs/{run}?only=look&open={index}.0",
    "/runs/{run}/slices",
    "/runs/{run}/review?record={index}.0",
    "/compare?a={run}&b={other}&show=all",
    "/compare?a={other}&b={run}&how=changes",
    "/datasets/file?path=datasets/hostile.jsonl",
    "/goto?q=<script>window.ran=1</script>",
)
"""Pages that show texts of a run; add yours."""
REVIEW = (
    "/review",
    "/review/{queue}",
    "/review/{queue}?view=raw",
    "/review/{queue}/answers",
    "/review/{queue}/progress",
    "/review/{queue}/adjudicate",
    "/agreement/{queue}",
)
"""Pages of a queue whose questions, instructions, flags and comments are hostile."""
_MARKS = "script, style, iframe, object, embed, base, meta, link, img, video, audio, [style]"
_COVERED = """() => [...document.querySelectorAll(".brand, .nav a, [data-theme-toggle]")]
  .filter((one) => { const box = one.getBoundingClientRect();
    const x = box.x + box.width / 2, y = box.y + box.height / 2;
    if (!box.width || x < 0 || x > innerWidth) return false;
    const top = document.elementFromPoint(x, y);
    return !(top && (one.contains(top) || top.contains(one))); }).length"""
_LOOK = """() => [".top", ".brand", "body", "main"].map((name) => {
  const look = getComputedStyle(document.querySelector(name));
  return [look.display, look.visibility, look.backgroundColor, look.color].join(); })"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileRun:
    """A run in which everything is hostile; in a thread, since the browser's has a loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(make_hostile_run, tmp_path_factory.mktemp("hostile")).result()


@pytest.fixture(scope="module")
def hostile_site(hostile: HostileRun) -> Generator[str]:
    """Its project, served."""
    with open_project(hostile.root) as project, running(project) as url:
        yield url


def filled(path: str, hostile: HostileRun, index: int) -> str:
    """An address of the project with its names."""
    return path.format(
        run=hostile.run_id,
        other=hostile.other,
        index=index,
        group=GROUP,
        set=TRACE_SET,
        questions=QUESTIONS,
    )


def assert_harmless(page: Page, address: str) -> None:
    """Open a page, and whatever folds on it, without anything happening."""
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    page.goto("/")
    usual = page.evaluate(_LOOK)
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.mouse.move(200, 300)
    page.keyboard.press("Tab")
    page.wait_for_timeout(50)
    page.evaluate("document.activeElement.blur()")  # the link to skip the frame lies over it
    assert page.evaluate("window.ran") is None
    assert dialogs == []
    assert page.locator("main").locator(_MARKS).count() == 0
    assert page.locator("main").count() == 1
    assert page.locator("[data-toast]").count() == 1
    assert (
        page.locator(
            "main form[action^='http'], main a[href^='javascript'], main a[href^='data']"
        ).count()
        == 0
    )
    assert page.evaluate(_COVERED) == 0
    assert page.evaluate(_LOOK) == usual
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    "path", [RECORD, *(pytest.param(one, marks=pytest.mark.trials) for one in PATHS[1:])]
)
def test_nothing_runs_with_all_texts_in_one_record(
    browser: Browser, hostile: HostileRun, hostile_site: str, path: str
) -> None:
    """The last record holds every text, the judge repeats them all, and one has no answer."""
    last = (hostile.records - 1, hostile.records - 2)
    for index in last if "{index}" in path else last[:1]:
        with new_page(browser, hostile_site) as page:
            assert_harmless(page, filled(path, hostile, index))


@pytest.fixture(scope="module")
def hostile_queue(hostile: HostileRun, hostile_site: str) -> str:
    """A queue of the run, once it is served."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(make_hostile_queue, hostile.root, hostile.run_id).result()


@pytest.mark.trials
@pytest.mark.parametrize("path", REVIEW)
def test_nothing_runs_on_the_pages_of_a_queue(
    browser: Browser, hostile_queue: str, hostile_site: str, path: str
) -> None:
    """Questions, guidance, instructions in Markdown, flags, reasons and comments are texts."""
    with new_page(browser, hostile_site) as page:
        cookie = {"name": COOKIE, "value": "ann", "url": hostile_site}
        page.context.add_cookies([cookie])  # type: ignore[list-item]
        assert_harmless(page, path.format(queue=hostile_queue))
        page.keyboard.press("g")
        assert page.locator("dialog").locator(_MARKS).count() == 0
        assert page.evaluate("window.ran") is None


@pytest.mark.trials
@pytest.mark.parametrize(("path", "what"), list(product(PATHS[:2], HOSTILE)))
def test_nothing_runs_whatever_the_text(
    browser: Browser, hostile: HostileRun, hostile_site: str, path: str, what: str
) -> None:
    """Each text in ids, tags, prompts, answers, names of tools and their results."""
    index = list(HOSTILE).index(what)
    with new_page(browser, hostile_site) as page:
        assert_harmless(page, filled(path, hostile, index))


@pytest.mark.trials
@pytest.mark.parametrize("what", HOSTILE)
def test_a_small_screen_is_not_pushed_apart(
    browser: Browser, hostile: HostileRun, hostile_site: str, what: str
) -> None:
    """No text makes the page wider than the screen."""
    index = list(HOSTILE).index(what)
    with new_page(browser, hostile_site, viewport=NARROW) as page:
        assert_harmless(page, filled(RECORD, hostile, index))


@pytest.mark.trials
@pytest.mark.parametrize("words", [("report", "{run}"), ("compare", "{other}", "{run}")])
def test_nothing_runs_in_a_file(
    browser: Browser, hostile: HostileRun, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Every text is in the file, which has its records and its look as ever."""
    file = tmp_path / "file.html"
    more = ("--format", "html") if words[0] == "compare" else ()
    told = [filled(word, hostile, 0) for word in words]
    command = [sys.executable, "-P", "-m", "steelyard", *told, *more, "-o", str(file)]
    done = subprocess.run(command, cwd=hostile.root, capture_output=True, check=False)
    assert file.exists(), done.stderr
    with new_page(browser, file.as_uri()) as page:
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        page.keyboard.press("Tab")
        page.mouse.move(200, 300)
        page.wait_for_timeout(50)

        assert page.evaluate("window.ran") is None
        assert page.locator("main").locator(_MARKS).count() == 0
        assert page.locator("main").count() == 1
        assert page.locator("[data-record]").count() >= hostile.records - 2
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_templates_in_texts_stay_texts(hostile: HostileRun, hostile_site: str) -> None:
    """What looks like a template is shown and not worked out; control characters do no harm."""
    index = list(HOSTILE).index("template")
    html = httpx.get(f"{hostile_site}/runs/{hostile.run_id}/records/{index}").text
    assert "{{7*7}}" in html
    assert " 49 " not in html
    null = list(HOSTILE).index("null")
    assert "\x00" not in httpx.get(f"{hostile_site}/runs/{hostile.run_id}/records/{null}").text
