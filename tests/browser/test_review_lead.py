"""Make a queue, follow it, settle disagreements and read agreement, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from servers.browser_pages import new_page
from servers.browsing import check_looks
from servers.review_site import ReviewSite, press, review_site, reviewer, submit, wait_saved
from steelyard.reports.review_keys import ADJUDICATION_KEYS

pytestmark = pytest.mark.trials
RECORD = re.compile(r"^/runs/run_\w+/records/\d+")
PAGES = {
    "queues": "/review",
    "new": "/review/new",
    "item": "{page}?item={first}",
    "answers": "{page}/answers",
    "progress": "{page}/progress",
    "adjudicate": "{page}/adjudicate",
    "agreement": "/agreement/{queue}",
    "name": "/review/name",
}


@pytest.fixture
def answered(desk_project: Path, tmp_path: Path) -> Generator[ReviewSite]:
    """A queue of twenty items that two people have answered, one of them differently."""
    with review_site(desk_project, tmp_path, reviews=2, size=20) as site:
        for number in range(20):
            site.answer("mara")
            site.answer("jon", is_agreeing=number > 0)
        yield site


def test_a_queue_is_made_by_a_form_that_says_what_labels_are_worth(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with review_site(desk_project, tmp_path) as desk, new_page(browser, desk.url) as page:
        run = desk.ports.queues.find(desk.queue_id).source.id
        page.goto(f"/runs/{run}")
        page.get_by_role("link", name="Review…").click()
        expect(page.get_by_text("93 labels give a rate to ± 10 points")).to_be_visible()
        page.get_by_label("Name", exact=True).fill("Second look")
        page.get_by_label("Draw items").select_option("near_threshold")
        page.get_by_label("Items", exact=True).fill("5")
        page.get_by_label("People per item").fill("3")
        page.get_by_role("button", name="Make the queue").click()

        expect(page.get_by_role("heading", name="Second look")).to_be_visible()
        expect(page.get_by_text("5 items of 24 records")).to_be_visible()
        page.goto("/review")
        expect(page.get_by_role("row", name="Second look")).to_contain_text("5 items")


def test_a_form_that_is_refused_keeps_what_was_typed(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with review_site(desk_project, tmp_path) as desk:
        context = browser.new_context(base_url=desk.url)
        page = context.new_page()  # the console notes the status of 400
        page.goto("/review/new")
        page.get_by_label("Name", exact=True).fill("Too many")
        page.get_by_label("Items", exact=True).fill("500")
        page.get_by_role("button", name="Make the queue").click()
        expect(page.locator("#size-hint")).to_contain_text("500 records are asked for")
        expect(page.get_by_label("Name", exact=True)).to_have_value("Too many")
        context.close()


def test_the_lead_sees_who_did_what_and_who_disagrees(
    browser: Browser, answered: ReviewSite
) -> None:
    with new_page(browser, answered.url) as page:
        page.goto(f"{answered.page}/progress")
        people = page.get_by_role("table", name="Progress per annotator")
        expect(people.get_by_role("row", name="mara")).to_contain_text("20")
        pair = page.get_by_role("row", name="jon and mara")
        expect(pair).to_contain_text("58 of 60")
        expect(pair).to_contain_text("19 of 20")
        page.once("dialog", lambda box: box.accept())
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_role("button", name="Open again")).to_be_visible()


def test_an_item_is_taken_from_one_person_and_given_to_another(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with review_site(desk_project, tmp_path, size=1) as desk:
        with reviewer(browser, desk, "mara") as page:
            page.goto(desk.page)
        with new_page(browser, desk.url) as lead:
            lead.goto(f"{desk.page}/progress")
            lead.get_by_label("To whom").fill("jon")
            lead.get_by_role("button", name="Reassign").click()
        with reviewer(browser, desk, "mara") as page:
            page.goto(desk.page)
            expect(page.get_by_role("heading", name="Nothing is left")).to_be_visible()
        with reviewer(browser, desk, "jon") as page:
            page.goto(desk.page)
            press(page, "y")
            submit(page)
        assert desk.standing(1, "jon") == "submitted"


def test_a_disagreement_is_settled_without_names_and_then_answers_are_fixed(
    browser: Browser, answered: ReviewSite
) -> None:
    with reviewer(browser, answered, "mara", is_watched=False) as page:
        page.goto(f"{answered.page}/adjudicate")
        expect(page.locator(".rv-list .items a")).to_have_count(1)
        form = page.locator("form.rv-judge")
        expect(form.locator(".said-chips.split")).to_have_count(2)
        assert "mara" not in form.inner_text()
        assert "jon" not in form.inner_text()
        tone = form.get_by_role("group", name="Which tone?")
        expect(tone.get_by_role("radio", name="Warm")).to_be_checked()
        form.get_by_role("group", name="Is it right?").get_by_role("radio", name="No").click()
        form.get_by_label("Why").fill("the price is wrong")
        form.get_by_role("button", name="Keep as the gold label").click()
        expect(page.get_by_text("Nothing is disputed")).to_be_visible()

        (gold,) = answered.ports.decisions.gold(answered.queue_id).values()
        assert gold.answers == {"trace": {"right": 0, "tone": "warm"}, "turns": {}}
        assert gold.note == "the price is wrong"
        assert {one["annotator"] for one in gold.provenance["from"]} == {"mara", "jon"}  # type: ignore[union-attr,index,call-overload]
        page.goto(f"{answered.page}?item={gold.item_id}")
        expect(page.locator(".rv-asks")).to_contain_text("gold label")
        expect(page.get_by_role("button", name="Change my answers")).to_have_count(0)


def test_a_disagreement_is_settled_by_keyboard_and_shows_beside_the_judge(
    browser: Browser, answered: ReviewSite
) -> None:
    with reviewer(browser, answered, "mara") as page:
        page.goto(f"{answered.page}/adjudicate")
        marked = page.locator(".ask.focus")
        expect(marked).to_have_attribute("data-ask", "trace.right")
        press(page, "?")
        sheet = page.get_by_role("dialog", name="Keys")
        expect(sheet.locator("tbody tr")).to_have_count(len(ADJUDICATION_KEYS))
        press(page, "Escape", "n")
        expect(marked).to_have_attribute("data-ask", "trace.level")
        press(page, "2", "c")
        page.keyboard.type("the price is wrong")
        press(page, "Escape", "ArrowUp", "ArrowDown")
        expect(marked).to_have_attribute("data-ask", "trace.level")
        with page.expect_navigation():
            press(page, "Control+Enter")
        expect(page.get_by_text("Nothing is disputed")).to_be_visible()
        (gold,) = answered.ports.decisions.gold(answered.queue_id).values()
        assert gold.answers == {"trace": {"right": 0, "level": 2, "tone": "warm"}, "turns": {}}
        assert gold.note == "the price is wrong"

        page.goto(f"/agreement/{answered.queue_id}")
        expect(page.locator("#q-right")).to_contain_text(
            "1 item settled by an adjudicator. 1 of 2 answers of people were confirmed"
        )
        level = page.locator("#q-level")
        expect(level).to_contain_text("0 of 2 answers of people were confirmed")
        expect(level).to_contain_text("the judge says the same in 0 of 1")
        expect(level.locator(".bullets a")).to_have_attribute("href", RECORD)


def test_agreement_leads_from_a_cell_to_its_items_and_validates_the_judge(
    browser: Browser, answered: ReviewSite
) -> None:
    with new_page(browser, answered.url) as page:
        page.goto(f"/agreement/{answered.queue_id}")
        question = page.locator("#q-right")
        expect(question).to_contain_text("People with each other")
        expect(question).to_contain_text("TPR")
        matrix = question.get_by_role("table", name="Confusion matrix").first
        matrix.get_by_role("link").first.click()
        expect(page.locator("#q-right .bullets a").first).to_have_attribute("href", RECORD)
        page.get_by_role("button", name="Validate the judge with these labels").click()
        found = page.get_by_role("status")
        expect(found).to_contain_text("is measured, not validated, with 40 labels")
        expect(page.locator(".note.bad")).to_have_count(0)
        found.get_by_role("link", name="judge/questionnaire").click()
        page.wait_for_url("**/judges/**")


@pytest.mark.parametrize("width", [1280, 1600])
def test_every_interval_of_agreement_is_drawn_and_no_column_is_cut_off(
    browser: Browser, answered: ReviewSite, width: int
) -> None:
    with new_page(browser, answered.url) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/agreement/{answered.queue_id}")
        drawn = page.locator(".agree-sides svg.iv").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width)"
        )
        cut = page.locator(".agree-sides .wrap").evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
        )

        assert len(drawn) > 10
        assert min(drawn) > 60
        assert cut == 0
        expect(page.locator("#q-right")).to_contain_text("left out: 1 item with tied labels.")
        expect(page.locator("#q-level")).to_contain_text(
            "No interval: weighted κ of two raters has one from 40 items on"
        )


def test_auto_judgment_starts_from_the_page(browser: Browser, answered: ReviewSite) -> None:
    with new_page(browser, answered.url) as page:
        page.goto(f"/agreement/{answered.queue_id}")
        page.get_by_text("Auto Judgment…").click()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("status")).to_contain_text("The judge is at work in run_")
    assert len(answered.ports.queues.find(answered.queue_id).judged_by) == 1


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_accessible_in_every_look(
    browser: Browser,
    answered: ReviewSite,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Any],
    name: str,
) -> None:
    address = PAGES[name].format(
        page=answered.page, queue=answered.queue_id, first=answered.items[0]
    )
    with reviewer(browser, answered, "mara") as page:
        page.goto(address)
        for look in check_looks(page, check_accessible):
            take_picture(page, f"review-{name}-{look}")


def test_the_annotation_page_is_accessible_in_every_look(
    browser: Browser,
    desk_project: Path,
    tmp_path: Path,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Any],
) -> None:
    with (
        review_site(desk_project, tmp_path, rubric="every-v1") as desk,
        reviewer(browser, desk, "mara") as page,
    ):
        page.goto(desk.page)
        for look in check_looks(page, check_accessible):
            take_picture(page, f"review-every-{look}")
        page.set_viewport_size({"width": 1280, "height": 900})
        for key, name in (("?", "keys"), ("s", "skip"), ("f", "flag"), ("g", "guidelines")):
            page.keyboard.press(key)
            for _ in check_looks(page, check_accessible):
                pass
            take_picture(page, f"review-{name}", is_whole=False)
            page.keyboard.press("Escape")


def test_the_guide_for_annotators_shows_the_page_as_it_is(
    browser: Browser, demo_project: Path, tmp_path: Path, take_picture: Callable[..., Any]
) -> None:
    made = review_site(
        demo_project,
        tmp_path,
        rubric="desk-conversation-v1",
        dataset="conversations",
        size=8,
        reviews=2,
    )
    with made as desk:
        for who in ("jon", "mara"):
            with reviewer(browser, desk, who) as page:
                page.goto(desk.page)
                page.set_viewport_size({"width": 1124, "height": 600})
                _answer(page, "n" if who == "jon" else "y")
                submit(page)
                press(page, "1", "1")
                wait_saved(page)
                if who == "mara":
                    take_picture(page, "review-item", is_whole=False)
                    press(page, "?")
                    take_picture(page, "review-keys", is_whole=False)
                    press(page, "Escape")
                    page.get_by_role("link", name="See what others answered").click()
                    expect(page.locator(".rv-asks .other")).to_have_count(5)
                    take_picture(page, "review-submitted", is_whole=False)


def _answer(page: Page, right: str) -> None:
    """Every turn is right; then the questions about the whole."""
    press(page, *["1"] * page.locator(".ask-turn").count(), right, "4", "0")
