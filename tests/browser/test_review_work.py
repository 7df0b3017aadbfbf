"""People at work on one queue in real browsers: together, offline, in two windows, too late."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from fakes.annotated_desk import LONG
from servers.browser_pages import NARROW
from servers.review_site import ReviewSite, press, review_site, reviewer, submit, wait_saved
from steelyard.model.labels.annotation import Wanted

pytestmark = pytest.mark.trials


@pytest.fixture
def desk(desk_project: Path, tmp_path: Path) -> Generator[ReviewSite]:
    with review_site(desk_project, tmp_path) as site:
        yield site


def answer(page: Page, *keys: str) -> None:
    """Answer the three questions of an item and submit it."""
    press(page, *(keys or ("y", "4", "1")))
    submit(page)


def trace(site: ReviewSite, number: int, who: str = "mara") -> Any:
    """The answers of a person about the whole of an item."""
    draft = site.draft(number, who)
    return draft and draft["trace"]


def elements_restyled(page: Page, act: Callable[[], None]) -> int:
    """The elements whose style Chromium computes while something is done; at least one."""
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["blink", "devtools.timeline"])
    act()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    counts = [one["args"].get("elementCount", 0) for one in events if "args" in one]
    assert any(counts)
    return sum(counts)


def test_two_people_share_a_queue_without_losing_an_item(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as mara, reviewer(browser, desk, "jon") as jon:
        mara.goto(desk.page)
        jon.goto(desk.page)
        assert mara.locator(".rv-bar h1").inner_text() != jon.locator(".rv-bar h1").inner_text()
        answer(mara)
        answer(jon)
        answer(mara)
        answer(jon)
        for page in (mara, jon):
            expect(
                page.get_by_role("heading", name="Nothing is left for you here")
            ).to_be_visible()
            expect(page.locator(".items")).to_contain_text("answered by others")

    people = {one.annotator: one.submitted for one in desk.ports.progress.people(desk.queue_id)}
    assert people == {"jon": 2, "mara": 2}
    assert desk.ports.progress.counts(desk.queue_id).complete == 4


def test_two_people_answer_each_item_where_two_reviews_are_required(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with review_site(desk_project, tmp_path, reviews=2, size=2) as desk:
        for who in ("mara", "jon"):
            with reviewer(browser, desk, who) as page:
                page.goto(desk.page)
                answer(page)
                answer(page, "n", "2", "2")
        counts = desk.ports.progress.counts(desk.queue_id)
        assert (counts.complete, counts.reviews) == (2, 4)


def test_answers_given_offline_are_sent_in_order_and_submit_waits_for_them(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara", is_watched=False) as page:
        page.goto(desk.page)
        page.context.set_offline(True)
        press(page, "y", "4", "1")
        expect(page.locator("[data-saved]")).to_contain_text("Offline: 1 kept")
        press(page, "Control+Enter")
        expect(page.locator("[data-toast]")).to_contain_text(
            "as soon as the server can be reached"
        )
        assert trace(desk, 1) == {}

        with page.expect_navigation():
            page.context.set_offline(False)
        assert desk.standing(1, "mara") == "submitted"
        assert trace(desk, 1) == {"right": 1, "level": 4, "tone": "warm"}
        kept = page.evaluate("Object.keys(localStorage).filter(one => one.includes('answers'))")
        assert kept == []


def test_an_item_stays_open_while_there_is_no_connection(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara", is_watched=False) as page:
        page.goto(desk.page)
        begun = page.url
        page.context.set_offline(True)
        press(page, "y", "4", "1")
        expect(page.locator("[data-saved]")).to_contain_text("Offline: 1 kept")
        for leave in (
            lambda: press(page, "ArrowRight"),
            page.locator(".items a").nth(2).click,
            page.get_by_role("link", name="Queues").click,
        ):
            leave()
            expect(page.locator("[data-toast]")).to_contain_text("this item stays open")
            press(page, "4")
            expect(page.locator("[data-toast]")).to_be_hidden()
        press(page, "Control+Enter", "ArrowRight")
        expect(page.locator("[data-toast]")).to_contain_text("this item stays open")
        assert page.url == begun
        page.context.set_offline(False)
        page.wait_for_url("**done=**")
        assert desk.standing(1, "mara") == "submitted"


def test_answers_that_a_closed_window_kept_are_sent_when_the_page_opens_again(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara", is_watched=False) as page:
        page.goto(desk.page)
        page.context.set_offline(True)
        press(page, "n", "2")
        expect(page.locator("[data-saved]")).to_contain_text("Offline")
        page.close()
        page.context.set_offline(False)
        again = page.context.new_page()
        again.goto(desk.page)

        wait_saved(again)
        expect(again.get_by_role("radio", name="No")).to_be_checked()
        assert trace(desk, 1) == {"right": 0, "level": 2}


@pytest.mark.parametrize(("choice", "right"), [("mine", 0), ("theirs", 1)])
def test_a_conflict_of_two_windows_asks(
    browser: Browser, desk: ReviewSite, choice: str, right: int
) -> None:
    with reviewer(browser, desk, "mara", is_watched=False) as page:
        page.goto(desk.page)
        other = page.context.new_page()
        other.goto(desk.page)
        press(other, "y")
        wait_saved(other)

        press(page, "n")
        dialog = page.get_by_role("dialog", name="Changed elsewhere")
        expect(dialog).to_contain_text("Is it right? Here: No. There: Yes.")
        dialog.locator(f'[data-keep="{choice}"]').click()

        expect(dialog).to_be_hidden()
        wait_saved(page)
        name = "Yes" if right else "No"
        expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()
        assert trace(desk, 1) == {"right": right}


def test_a_lease_that_expires_is_renewed_or_lost_to_somebody_else(
    browser: Browser, desk: ReviewSite
) -> None:
    with (
        reviewer(browser, desk, "mara", is_watched=False) as mara,
        reviewer(browser, desk, "jon") as jon,
    ):
        mara.goto(desk.page)
        desk.expire_leases()
        press(mara, "y")
        wait_saved(mara)
        assert trace(desk, 1) == {"right": 1}

        desk.expire_leases()
        jon.goto(f"{desk.page}?item={desk.items[0]}")
        expect(jon.locator(".rv-asks input:checked")).to_have_count(0)
        press(mara, "2")
        expect(mara.locator("[data-saved]")).to_contain_text("No longer yours")
        press(jon, "n", "5", "3")
        submit(jon)
    assert desk.standing(1, "jon") == "submitted"
    assert trace(desk, 1) == {"right": 1}


def test_undo_takes_back_what_was_submitted_skipped_or_deferred(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        answer(page)
        expect(page.locator(".rv-done")).to_contain_text("submitted")
        with page.expect_navigation():
            press(page, "u")
        expect(page.locator(".rv-title")).to_contain_text("1 of 4")
        expect(page.get_by_role("radio", name="Yes")).to_be_checked()
        assert desk.standing(1, "mara") == "open"
        assert list(desk.project.review_ports().annotations.all(Wanted())) == []

        for key in ("d", "s"):
            press(page, key)
            if key == "s":
                press(page, "Space", "Enter")
            page.wait_for_url("**done=*")
            with page.expect_navigation():
                press(page, "u")
            expect(page.locator(".rv-title")).to_contain_text("1 of 4")
        answer(page, "ArrowUp", "ArrowUp", "n")
        assert desk.standing(1, "mara") == "submitted"


def test_a_required_question_keeps_an_item_from_being_submitted(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        expect(page.locator("[data-left-over]")).to_contain_text("Question 1 is required")
        press(page, "ArrowDown", "4", "Control+Enter")
        expect(page.locator("[data-toast]")).to_contain_text("required")
        assert page.locator(".ask.focus").get_attribute("data-ask") == "trace.right"
        press(page, "y")
        expect(page.locator("[data-left-over]")).to_be_hidden()
        submit(page)
    assert desk.standing(1, "mara") == "submitted"


def test_a_long_item_has_a_way_to_its_questions_on_a_telephone(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara", viewport=NARROW) as page:
        page.goto(desk.page)
        bar = page.get_by_role("navigation", name="On this page")
        bar.get_by_role("link", name="Questions").click()
        expect(page.get_by_role("heading", name="Your answers")).to_be_in_viewport()
        page.locator('[data-ask="trace.right"] .opt').first.click()
        bar.get_by_role("button", name="Undo").click()
        expect(page.locator('[data-ask="trace.right"] input:checked')).to_have_count(0)
        for name in ("Queues", "Keys", "mara"):
            expect(page.get_by_role("banner").get_by_role("link", name=name)).to_be_visible()
        bar.get_by_role("button", name="Submit").click()
        toast = page.locator("[data-toast]")
        expect(toast).to_have_text("A required question is still open")
        said, below = toast.bounding_box(), bar.bounding_box()
        assert said
        assert below
        assert said["y"] + said["height"] <= below["y"]
        page.locator('[data-ask="trace.right"] .opt').first.click()
        expect(toast).to_be_hidden()


def test_words_typed_over_a_reason_that_is_offered_are_the_reason(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "wanda") as page:
        page.goto(desk.page)
        page.keyboard.press("s")
        expect(page.locator("#skip-dialog input:focus")).to_have_attribute("type", "radio")
        page.keyboard.type("too hard")
        expect(page.locator("#skip-reason")).to_have_value("too hard")
        page.keyboard.press("Enter")
        expect(page.locator(".items")).to_contain_text("skipped: too hard")


def test_the_page_works_without_scripts(browser: Browser, desk: ReviewSite) -> None:
    with reviewer(browser, desk, "mara", is_watched=False, java_script_enabled=False) as page:
        page.goto(desk.page)
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("alert")).to_contain_text("answers.trace.right")
        page.get_by_role("radio", name="Yes").click()
        page.get_by_role("radio", name="3", exact=True).click()
        page.get_by_role("button", name="Save", exact=True).last.click()
        expect(page.get_by_role("radio", name="3", exact=True)).to_be_checked()
        page.get_by_role("button", name="Submit").click()
        expect(page.locator(".rv-done")).to_contain_text("submitted")
        page.get_by_role("link", name="Skip", exact=True).click()
        page.get_by_label("I do not know the subject well enough").check()
        page.locator("#skip-dialog").get_by_role("button", name="Skip").click()
        expect(page.locator(".rv-done")).to_contain_text("skipped")
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Defer").click()

    assert trace(desk, 1) == {"right": 1, "level": 3}
    assert [desk.standing(number, "mara") for number in (1, 2)] == ["submitted", "deferred"]


def test_the_list_says_how_far_each_item_is_and_finds_flagged_ones(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        row = page.locator(".items [aria-current] small")
        expect(row).to_have_text("draft, 0 of 3 answered")
        press(page, "y", "4")
        expect(row).to_have_text("draft, 2 of 3 answered")
        wait_saved(page)
        press(page, "f", "Space", "Enter")
        expect(page.locator("[data-toast]")).to_have_text("Flagged")
        page.reload()
        expect(row).to_have_text("draft, 2 of 3 answered, flagged: guideline gap")
        press(page, "1")
        submit(page)

        page.get_by_label("State").select_option("Flagged by you")
        page.wait_for_url("**state=flagged**")
        expect(page.locator(".items small")).to_have_text(
            ["submitted, flagged: guideline gap"], use_inner_text=True
        )


def test_questions_about_turns_count_once_for_every_turn(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with (
        review_site(desk_project, tmp_path, rubric="turns-v1", size=2) as desk,
        reviewer(browser, desk, "mara") as page,
    ):
        page.goto(desk.page)
        rows = page.locator(".items small")
        expect(rows.first).to_have_text("draft, 0 of 3 answered")
        press(page, "y", "y")
        wait_saved(page)
        with page.expect_navigation():
            press(page, "ArrowRight")

        expect(rows.first).to_have_text("draft, 2 of 3 answered")
        expect(rows.last).to_have_text("draft, 0 of 3 answered")


def test_the_list_folds_away_as_a_whole_and_stays_so(browser: Browser, desk: ReviewSite) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        button = page.get_by_role("button", name="Items", exact=True)
        left = page.locator(".rv-trace").evaluate("one => one.getBoundingClientRect().left")
        button.click()
        expect(button).to_have_attribute("aria-expanded", "false")
        expect(page.locator(".rv-list")).to_be_hidden()
        assert left > 200
        assert page.locator(".rv-trace").evaluate("one => one.getBoundingClientRect().left") == 0
        with page.expect_navigation():
            press(page, "ArrowRight")
        expect(page.locator(".rv-title")).to_contain_text("2 of 4")
        expect(page.locator(".rv-list")).to_be_hidden()

        button.click()
        page.reload()
        expect(page.locator(".rv-list")).to_be_visible()
        page.set_viewport_size({"width": 900, "height": 800})
        expect(button).to_be_hidden()
        expect(page.locator(".items")).to_be_hidden()
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator(".items")).to_be_visible()


def test_a_trace_of_a_thousand_turns_is_answered_by_keys(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    with (
        review_site(desk_project, tmp_path, rubric="turns-v1", dataset="long", size=1) as desk,
        reviewer(browser, desk, "mara") as page,
    ):
        page.goto(desk.page)
        expect(page.locator(".turn[id^='turn-']")).to_have_count(LONG)
        restyled = elements_restyled(page, lambda: press(page, *["y"] * 20))
        press(page, "]", "]", "n")
        expect(page.locator("[data-turns]")).to_have_text(f"21 of {LONG} turns answered")
        page.locator(f"#turn-{LONG} [data-ask]").evaluate(
            "ask => { ask.tabIndex = -1; ask.focus(); }"
        )
        press(page, "n", "y")
        submit(page)

        turns: Any = (desk.draft(1, "mara") or {})["turns"]
        assert turns["turn_20"] == {"fine": 1}
        assert turns["turn_23"] == {"fine": 0}
        assert turns[f"turn_{LONG}"] == {"fine": 0}
        assert json.dumps(trace(desk, 1)) == '{"right": 1}'
        assert restyled / 20 < LONG / 4
