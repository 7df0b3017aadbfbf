"""The pictures of the guide: `PAGE_PICTURES=docs/images` writes them anew."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from servers.accounts import add_users
from servers.browser_pages import NARROW, new_page
from servers.review_site import review_site, reviewer
from servers.service import running
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
WIDTH = 1140
MOST_BYTES = 150_000
MOST_OF_ALL = 4_000_000
BROKEN = {
    "name": "Conversations",
    "version": "conversations-v9",
    "questions": [
        {"key": "solved", "label": "Is the question answered?", "type": "yes_no"},
        {"key": "tone", "label": "How friendly is it?", "type": "score", "guidence": "5 = warm"},
        {"key": "why", "label": "Why?", "type": "coment"},
    ],
}


def _stay(_page: Page) -> None:
    """The page as it opens."""


def _write_rubric(page: Page) -> None:
    page.get_by_label("Rubric JSON").fill(json.dumps(BROKEN, indent=2))
    page.locator(".findings li").nth(1).wait_for()


def _save_strict(page: Page) -> None:
    page.get_by_label("Name").fill("opening-day")
    page.get_by_label("Dataset", exact=True).fill("datasets/opening-day.yaml")
    page.get_by_label("Target").fill("assistant_a")
    page.get_by_label("Rubric").fill("rubric/none@1.0")
    page.get_by_label("Strict validation").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Nothing is saved").first.wait_for()


def _ask(page: Page) -> None:
    page.get_by_label("Target", exact=True).select_option("echo")
    page.get_by_role("textbox", name="Prompt").fill("When does the reading room close on Friday?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("Answer of echo").scroll_into_view_if_needed()


def _open_row(page: Page) -> None:
    page.locator("table.records .row-link").first.click()
    page.locator(".side").wait_for()
    page.locator("#records").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#records').scrollIntoView()")


def _at(part: str) -> Callable[[Page], None]:
    return lambda page: page.evaluate("(id) => document.querySelector(id).scrollIntoView()", part)


def _find(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("help")
    page.get_by_role("option").first.wait_for()


class Shot(NamedTuple):
    """A picture of a page."""

    address: str
    height: int = 640
    act: Callable[[Page], None] = _stay
    """What is done on the page before."""
    look: dict[str, Any] | None = None


DARK: dict[str, Any] = {"color_scheme": "dark"}
SHOTS = {
    "home": Shot("/"),
    "switcher": Shot("/", 480, _find),
    "runs": Shot("/runs?dataset=library-helpdesk&target=assistant_b"),
    "run": Shot("/runs/{judged}?only=look", 800),
    "records": Shot("/runs/{judged}?only=look", 690, _open_row),
    "run-dark": Shot("/runs/{judged}", 640, look=DARK),
    "run-narrow": Shot("/runs/{judged}", look={"viewport": NARROW}),
    "slices": Shot("/runs/{judged}/slices", 480),
    "record": Shot("/runs/{talked}/records/2"),
    "choose": Shot("/compare", 480),
    "compare": Shot("/compare?a={other}&b={judged}"),
    "group": Shot("/groups/{group}"),
    "judges": Shot("/judges", 480),
    "judge": Shot("/judges/helpful%401.0.0"),
    "rubrics": Shot("/rubrics", 480),
    "rubric": Shot("/rubrics/desk-conversation-v1"),
    "trial": Shot("/rubrics/helpdesk%401.0.0?run={judged}", 640, _at("#trial")),
    "import": Shot("/rubrics/import", 720, _write_rubric),
    "datasets": Shot("/datasets"),
    "cases": Shot("/datasets/file?path=datasets/helpdesk.jsonl"),
    "suites": Shot("/suites/new", 900, _save_strict),
    "targets": Shot("/targets", 720, _ask),
    "queues": Shot("/review", 480),
    "queue": Shot("/review/new?run={judged}"),
    "settings": Shot("/settings", 480),
    "keys": Shot("/settings/keys", 480),
    "audit": Shot("/settings/audit", 480),
    "docs": Shot("/docs"),
}
"""The pages by the names of their pictures."""
REVIEW = {
    "progress": Shot("{page}/progress", 560),
    "adjudicate": Shot("{page}/adjudicate", 800),
    "agreement": Shot("/agreement/{queue}", 800),
}
"""Pages of a queue that two people have answered."""
FILES = {
    "report": ("report", "latest"),
    "comparison": ("compare", "latest~1", "latest", "--format", "html"),
}
"""Files that commands write."""


@pytest.fixture(scope="session")
def ids(site: str) -> dict[str, str]:
    """The runs of the demo that the guide shows."""
    runs = httpx.get(f"{site}/v1/runs", params={"limit": 100}).json()["data"]

    def found(dataset: str, target: str, *, is_regraded: bool) -> str:
        return next(
            run["run_id"]
            for run in runs
            if (run["dataset_id"], run["target"]) == (dataset, target)
            and (run["derived_from"] is not None) == is_regraded
        )

    return {
        "judged": found("library-helpdesk", "assistant_b", is_regraded=True),
        "other": found("library-helpdesk", "assistant_a", is_regraded=True),
        "talked": found("conversations", "assistant_b", is_regraded=False),
        "group": next(
            run["group_id"]
            for run in runs
            if run["group_id"] and run["dataset_id"] == "library-helpdesk"
        ),
    }


@contextmanager
def opened(browser: Browser, url: str, shot: Shot) -> Generator[Page]:
    size = {"width": WIDTH, "height": shot.height}
    with new_page(browser, url, **{"viewport": size, **(shot.look or {})}) as page:
        yield page


@pytest.fixture
def keep(take_picture: Callable[..., Path]) -> Callable[[Page, str], None]:
    """Takes the picture of what a page shows; it must be small, and kept in the repository."""

    def take(page: Page, name: str) -> None:
        taken = take_picture(page, f"guide-{name}", is_whole=False)
        assert taken.stat().st_size < MOST_BYTES
        assert (IMAGES / taken.name).exists()

    return take


@pytest.mark.trials
@pytest.mark.parametrize("name", SHOTS)
def test_the_guide_has_a_picture_of_the_page(
    browser: Browser, site: str, ids: dict[str, str], keep: Callable[[Page, str], None], name: str
) -> None:
    with opened(browser, site, SHOTS[name]) as page:
        page.goto(SHOTS[name].address.format(**ids))
        SHOTS[name].act(page)
        keep(page, name)


@pytest.mark.trials
def test_the_guide_has_pictures_of_review(
    browser: Browser, desk_project: Path, tmp_path: Path, keep: Callable[[Page, str], None]
) -> None:
    with review_site(desk_project, tmp_path, reviews=2, size=20) as desk:
        for number in range(20):
            desk.answer("mara")
            desk.answer("jon", is_agreeing=number > 0)
        with reviewer(browser, desk, "mara") as page:
            for name, shot in REVIEW.items():
                page.set_viewport_size({"width": WIDTH, "height": shot.height})
                page.goto(shot.address.format(page=desk.page, queue=desk.queue_id))
                keep(page, name)


@pytest.mark.trials
def test_the_guide_has_a_picture_of_the_login(
    browser: Browser, tmp_path: Path, keep: Callable[[Page, str], None]
) -> None:
    shot = Shot("/login", 360)
    with open_project(tmp_path) as project:
        add_users(project)
        with (
            running(project, has_login=True) as url,
            opened(browser, url, shot) as page,
        ):
            page.goto(shot.address)
            keep(page, "login")


@pytest.mark.trials
@pytest.mark.parametrize("name", FILES)
def test_the_guide_has_pictures_of_files(
    browser: Browser,
    demo_project: Path,
    tmp_path: Path,
    keep: Callable[[Page, str], None],
    name: str,
) -> None:
    file = tmp_path / f"{name}.html"
    command = [sys.executable, "-P", "-m", "steelyard", *FILES[name], "-o", str(file)]
    subprocess.run(command, cwd=demo_project, check=True, capture_output=True)
    with opened(browser, file.as_uri(), Shot(file.as_uri(), 560)) as page:
        page.goto(file.as_uri())
        keep(page, name)


def test_every_picture_of_the_guide_exists_and_every_picture_is_shown() -> None:
    shown = set(re.findall(r"\(images/(guide-[a-z-]+\.png)\)", GUIDE.read_text(encoding="utf-8")))

    assert shown == {f"guide-{name}.png" for name in (*SHOTS, *REVIEW, *FILES, "login")}
    assert shown <= {path.name for path in IMAGES.iterdir()}
    assert sum(path.stat().st_size for path in IMAGES.glob("*.png")) < MOST_OF_ALL
