"""Annotators see nothing of the judge or of others before they have answered."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from playwright.sync_api import Error as PlaywrightError

from fakes.annotated_desk import SECRET
from servers.accounts import PASSWORD, add_users
from servers.browser_pages import new_page
from servers.review_site import ReviewSite, log_in, press, review_site, submit, wait_saved
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.access.users import add_user

pytestmark = pytest.mark.trials
OTHER = "zebulon"
HIDDEN = (
    SECRET,
    OTHER,
    "stratum",
    "strata",
    "inclusion",
    "near_threshold",
    "jury_split",
    "judged_by",
)
"""What no byte may hold before one's own answers are committed."""


@pytest.fixture
def guarded(desk_project: Path, tmp_path: Path) -> Generator[ReviewSite]:
    """A server with login and a queue drawn by verdict."""
    made = review_site(desk_project, tmp_path, reviews=2, size=6, by="verdict", has_login=True)
    with made as site:
        add_users(site.project)
        add_user(site.project.access_ports(), OTHER, "annotator", PASSWORD)
        yield site


class Received:
    """Every byte that a page is sent: all of it passes through here."""

    def __init__(self, page: Page) -> None:
        self._parts: list[str] = []
        page.route("**/*", self._pass)

    def _pass(self, route: Route) -> None:
        answer = route.fetch(max_redirects=0)
        self._parts += [answer.url, *answer.headers.values()]
        if "/assets/" not in answer.url:  # style sheets and scripts are the same for everybody
            self._parts.append(answer.body().decode("utf-8", "replace"))
        with suppress(PlaywrightError):  # the page may have left before its answer is here
            route.fulfill(response=answer)

    @property
    def text(self) -> str:
        """Addresses, headers and bodies."""
        return "\n".join(self._parts)


def test_no_byte_says_what_judge_or_others_answered_before_one_has(
    browser: Browser, guarded: ReviewSite
) -> None:
    with new_page(browser, guarded.url) as other:
        log_in(other, OTHER)
        other.goto(guarded.page)
        for _ in range(3):
            press(other, "n", "2", "3")
            submit(other)
    with new_page(browser, guarded.url) as page:
        log_in(page, "annotator")
        received = Received(page)
        for path in ("/", "/review", f"{guarded.page}/answers", f"{guarded.page}?view=raw"):
            page.goto(path)
        for state in ("waiting", "submitted", "taken"):
            page.goto(f"{guarded.page}?state={state}")
        page.goto(guarded.page)
        press(page, "y", "4", "1")
        wait_saved(page)
        press(page, "f", "Space", "Enter")
        expect(page.locator("[data-toast]")).to_have_text("Flagged")
        for path in ("", "/items", "/answers", "/claim"):
            method = "POST" if path == "/claim" else "GET"
            status = page.evaluate(
                "async ([method, path, token]) => (await fetch(path, {method, "
                "headers: {'content-type': 'application/json', 'x-form-token': token}, "
                "body: method === 'POST' ? '{}' : undefined})).status",
                [method, f"/v1/queues/{guarded.queue_id}{path}", _token(page)],
            )
            assert status == 200, path
        assert guarded.items[0] in received.text
        for word in HIDDEN:
            assert word not in received.text, word
        submit(page)
        page.get_by_role("link", name="See what others answered").click()

        expect(page.locator(".rv-asks")).to_contain_text(f"{SECRET} reasoning")
        expect(page.locator(".rv-asks")).to_contain_text(OTHER)
    (label,) = [
        one.row
        for one in guarded.project.review_ports().annotations.all(Wanted())
        if one.row["annotator"] == "annotator"
    ]
    assert label["exposure"] == "blind"


def _token(page: Page) -> str:
    found: str = page.evaluate("document.body.dataset.formToken")
    return found


def test_an_annotator_sees_queues_and_nothing_else(browser: Browser, guarded: ReviewSite) -> None:
    run = guarded.ports.queues.find(guarded.queue_id).source.id
    refused = (
        *("/runs", f"/runs/{run}", f"/runs/{run}/records/0", "/compare", "/rubrics", "/judges"),
        *("/datasets", "/suites", "/targets", "/settings", "/goto", "/review/new"),
        *(f"{guarded.page}/progress", f"{guarded.page}/adjudicate"),
        *(f"/agreement/{guarded.queue_id}", f"/v1/queues/{guarded.queue_id}/progress"),
        *(f"/v1/agreement/{guarded.queue_id}", f"/v1/runs/{run}/records"),
        f"/v1/annotations/{guarded.items[0]}/disputed",
    )
    context = browser.new_context(base_url=guarded.url)
    page = context.new_page()  # the console notes each refusal
    log_in(page, "annotator")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    assert [one.inner_text() for one in links.all()] == ["Review"]
    expect(page.get_by_role("heading", name="Waits for you")).to_be_visible()
    for path in refused:
        answer = page.goto(path)
        assert answer
        assert answer.status == 403, path
        assert SECRET not in answer.text()
    page.goto("/review")
    expect(page.get_by_role("link", name="Agreement")).to_have_count(0)
    expect(page.get_by_role("link", name="New queue")).to_have_count(0)
    assert page.goto(f"/v1/annotations/{guarded.items[0]}/revealed")
    expect(page.locator("body")).to_contain_text("submit your own answers")
    context.close()


def test_a_viewer_reads_agreement_and_answers_nothing(
    browser: Browser, guarded: ReviewSite
) -> None:
    context = browser.new_context(base_url=guarded.url)
    page = context.new_page()
    log_in(page, "viewer")
    for path, status in (
        ("/review", 403),
        (guarded.page, 403),
        (f"{guarded.page}/adjudicate", 403),
        (f"{guarded.page}/progress", 200),
        (f"/agreement/{guarded.queue_id}", 200),
    ):
        answer = page.goto(path)
        assert answer
        assert answer.status == status, path
    context.close()


def test_without_login_nobody_is_blind_once_the_results_were_opened(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with review_site(desk_project, tmp_path, size=3) as desk, new_page(browser, desk.url) as page:
        page.goto(desk.page)
        page.get_by_label("Name").fill("mara")
        page.get_by_role("button", name="Go on").click()
        page.wait_for_selector(".ask.focus")
        line = page.locator(".rv-rubric")
        expect(line).to_contain_text("You answer blind: the judge and other people show after")
        press(page, "y")
        submit(page)
        page.goto(f"/runs/{desk.ports.queues.find(desk.queue_id).source.id}")
        page.goto(desk.page)
        expect(line).to_contain_text("Results of this record were opened before on this server")
        expect(line).to_contain_text("kept as suggested")
        expect(line).not_to_contain_text("blind")
        press(page, "y")
        submit(page)
        press(page, "u")
        page.wait_for_url("**item=**")
        expect(line).to_contain_text("kept as suggested")
        submit(page)
        page.goto(f"{desk.page}?item={desk.items[0]}")
        with page.expect_navigation():
            page.get_by_role("button", name="Change my answers").click()
        expect(line).to_contain_text("A changed answer is kept as after commit")
        submit(page)
        page.goto(f"/agreement/{desk.queue_id}")
        expect(page.locator(".note")).to_contain_text("1 label was not given blind")
        page.goto(f"{desk.page}/answers")

        rows = page.locator("tbody tr")
        expect(rows.nth(0)).to_contain_text("blind")
        expect(rows.nth(1)).to_contain_text("suggested")
