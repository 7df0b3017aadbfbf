"""A server of a project with a review queue, and people who open it in browsers of their own."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from servers.accounts import PASSWORD
from servers.browser_pages import WIDE, watched
from servers.service import running
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import FilledBy, QueueSource
from steelyard.project import Project, open_project
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    submit_answers,
)
from steelyard.usecases.review.queues.create_queue import Fill, NewQueue, create_queue
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.web.review.reviewer import COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@dataclass(frozen=True)
class ReviewSite:
    """A server with one queue."""

    project: Project
    url: str
    queue_id: str

    @property
    def ports(self) -> QueuePorts:
        """What the use cases of queues need."""
        return self.project.queue_ports()

    @property
    def page(self) -> str:
        """The path of the annotation page."""
        return f"/review/{self.queue_id}"

    @property
    def items(self) -> list[str]:
        """The ids of the items, in order."""
        return [one.item_id for one in self.ports.queues.items(self.queue_id)]

    def draft(self, number: int, who: str) -> JsonObject | None:
        """What a person has answered so far, by the place of the item."""
        found = self.ports.assignments.draft(self.items[number - 1], who)
        return found.answers if found else None

    def standing(self, number: int, who: str) -> str | None:
        """What a person has done with an item."""
        found = self.ports.assignments.draft(self.items[number - 1], who)
        return found.standing if found else None

    def answer(self, who: str, *, is_agreeing: bool = True) -> str:
        """Let a person claim and submit the next item, as the judge would or not; its id."""
        person = Annotator(name=who, has_login=False)
        claimed = claim_item(self.ports, self.queue_id, person)
        assert claimed
        claim = claimed.claim
        is_right = (int(claim.item.record_id.rpartition("-")[2]) % 4 > 0) is is_agreeing
        answers: JsonObject = {
            "right": int(is_right),
            "level": 4 if is_right else 1,
            "tone": "warm",
        }
        given = GivenAnswers(claim.token, claim.draft.revision, {"trace": answers})
        submit_answers(self.ports, claim.item.item_id, given, person)
        return claim.item.item_id

    def expire_leases(self) -> None:
        """Let the lease of every claim run out."""
        with self.project.store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE review_slots SET lease_until = 1.0")


@contextmanager
def review_site(
    source: Path,
    folder: Path,
    *,
    rubric: str = "quick-v1",
    size: int = 4,
    reviews: int = 1,
    dataset: str = "desk",
    by: FilledBy = "random",
    **settings: Any,
) -> Generator[ReviewSite]:
    """A copy of a project, served, with a queue of one of its runs."""
    shutil.copytree(source, folder / "project")
    with open_project(folder / "project") as project:
        runs = {one.dataset: one.run_id for one in list_runs(project.store, limit=20).runs}
        new = NewQueue(
            name="Answers of the desk",
            source=QueueSource(kind="run", id=runs[dataset]),
            fill=Fill(size=size, by=by),
            rubric=f"rubric/{rubric}",
            reviews_required=reviews,
            instructions="Read the **house rules** first.",
        )
        made = create_queue(project.queue_ports(), new)
        with running(project, **settings) as url:
            yield ReviewSite(project, url, made.queue.queue_id)


@contextmanager
def reviewer(
    browser: Browser, site: ReviewSite, name: str, *, is_watched: bool = True, **options: Any
) -> Generator[Page]:
    """The browser of a person who has given their name; watched, it must not complain."""
    settings: dict[str, Any] = {"viewport": WIDE, "base_url": site.url, **options}
    context = browser.new_context(**settings)
    context.add_cookies([{"name": COOKIE, "value": name, "url": site.url}])
    try:
        if is_watched:
            with watched(context, site.url) as page:
                yield page
        else:
            yield context.new_page()
    finally:
        context.close()


def log_in(page: Page, name: str) -> None:
    """Log in by the form."""
    page.goto("/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def press(page: Page, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def wait_saved(page: Page) -> None:
    """Wait until the page says that everything is saved."""
    page.wait_for_selector('[data-saved][data-state="saved"]')


def submit(page: Page) -> None:
    """Submit by keyboard, and wait for the next item."""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.wait_for_load_state("load")
